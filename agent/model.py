"""The language model that the settings name, and what may go wrong with it."""

from __future__ import annotations

from typing import Any, Final

import httpx
from langchain.chat_models import init_chat_model
from langchain.chat_models.base import _BUILTIN_PROVIDERS
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from agent import texts
from agent.settings import BadSetting, Settings, printable

RETRIES: Final = 1
# Servers inside a network often ask for no key, while their clients insist on one.
NO_KEY: Final = "none"
# A key, an account, an address or a name is wrong: no other request would fare better.
MISCONFIGURED: Final = frozenset({401, 402, 403, 404, 405, 407})
# Of the refusals, those that pass by themselves: too slow, in the way of another, too early, too many.
PASSING: Final = frozenset({408, 409, 425, 429})


class ModelUnavailable(Exception):
    """The model did not answer; the text is for people."""


class ModelRefused(ModelUnavailable):
    """It is there and would not: waiting heals nothing, and says nothing about the next request."""


def configured_model(settings: Settings) -> BaseChatModel | None:
    """The model of `MODEL`; None when none is named.

    Raises:
        BadSetting: there is no such provider, its package is not installed, or what belongs to it cannot be
            used.
    """
    if settings.model is None:
        return None
    options: dict[str, Any] = {"timeout": settings.model_seconds, "max_retries": RETRIES}
    if settings.model_base_url is not None:
        options["base_url"] = _address(settings.model_base_url)
    key = settings.model_api_key or (NO_KEY if settings.model_base_url else None)
    if key is not None:
        options["api_key"] = printable("MODEL_API_KEY", key)
    try:
        model: BaseChatModel = init_chat_model(_with_provider(settings), **options)
    except Exception as fault:  # each provider raises its own
        raise BadSetting(f"MODEL {settings.model} cannot be used: {_why(fault)}") from fault
    return model


def _why(fault: Exception) -> str:
    """The reason without the values that were given: one of them is the key."""
    if isinstance(fault, ValidationError):
        return "; ".join(one["msg"] for one in fault.errors(include_input=False))
    return str(fault)


def _address(given: str) -> str:
    """The address of a model server; one that is none is not shown, it may have a password in it."""
    try:
        url = httpx.URL(given)
    except (httpx.InvalidURL, UnicodeError):
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise BadSetting("MODEL_BASE_URL takes an address that begins with http:// or https://")
    return given


def _with_provider(settings: Settings) -> str:
    name = settings.model or ""
    # Behind an address of one's own is what speaks OpenAI's language, unless said otherwise. Its names may
    # have colons: llama3.2:3b.
    provider, colon, _ = name.partition(":")
    said = bool(colon) and provider in _BUILTIN_PROVIDERS
    return name if said or settings.model_base_url is None else f"openai:{name}"


def unavailable(fault: Exception) -> ModelUnavailable:
    """What to say of a model that failed."""
    status = _status(fault)
    if status in MISCONFIGURED:
        return ModelRefused(texts.MODEL_MISCONFIGURED)
    declined = status is not None and 400 <= status < 500 and status not in PASSING
    if declined or _too_long(fault):
        return ModelRefused(texts.MODEL_REFUSED)
    return ModelUnavailable(texts.MODEL_UNAVAILABLE)


def _too_long(fault: Exception) -> bool:
    """Whether it says so in the middle of its answer, where no status does."""
    code = getattr(fault, "code", None)
    return isinstance(fault, ContextOverflowError) or code == "context_length_exceeded"


def _status(fault: Exception) -> int | None:
    """The status of HTTP, which some providers keep with the response."""
    for one in (fault, getattr(fault, "response", None)):
        status = getattr(one, "status_code", None)
        if isinstance(status, int):
            return status
    return None
