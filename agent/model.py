"""The language model that the settings name, and what may go wrong with it."""

from __future__ import annotations

from typing import Any, Final

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from agent import texts
from agent.settings import BadSetting, Settings

RETRIES: Final = 1
# Servers inside a network often ask for no key, while their clients insist on one.
NO_KEY: Final = "none"


class ModelUnavailable(Exception):
    """The model did not answer; the text is for people."""


def configured_model(settings: Settings) -> BaseChatModel | None:
    """The model of `MODEL`; None when none is named.

    Raises:
        BadSetting: there is no such provider, or its package is not installed.
    """
    if settings.model is None:
        return None
    options: dict[str, Any] = {"timeout": settings.model_seconds, "max_retries": RETRIES}
    if settings.model_base_url is not None:
        options["base_url"] = settings.model_base_url
    key = settings.model_api_key or (NO_KEY if settings.model_base_url else None)
    if key is not None:
        options["api_key"] = key
    try:
        model: BaseChatModel = init_chat_model(_with_provider(settings), **options)
    except Exception as fault:  # each provider raises its own
        raise BadSetting(f"MODEL {settings.model} cannot be used: {fault}") from fault
    return model


def _with_provider(settings: Settings) -> str:
    name = settings.model or ""
    # Behind an address of one's own is what speaks OpenAI's language, unless said otherwise.
    return name if ":" in name or settings.model_base_url is None else f"openai:{name}"


def unavailable(fault: Exception) -> ModelUnavailable:
    """What to say of a model that failed."""
    status = getattr(fault, "status_code", None)
    refused = isinstance(status, int) and 400 <= status < 500 and status not in {408, 429}
    return ModelUnavailable(texts.MODEL_REFUSED if refused else texts.MODEL_UNAVAILABLE)
