"""What the agent is told through the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MODEL_SECONDS: Final = 60.0
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)


class BadSetting(Exception):
    """A variable that cannot be read; the text names it and says what it takes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One agent's configuration.

    `mcp_url` is taken as it comes: whether it leads anywhere shows when it is connected to.
    """

    # Addresses may have a password in them.
    mcp_url: str | None = field(default=None, repr=False)
    mcp_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    model: str | None = None
    model_base_url: str | None = field(default=None, repr=False)
    model_api_key: str | None = field(default=None, repr=False)
    model_seconds: float = MODEL_SECONDS

    def __post_init__(self) -> None:
        for name in ("mcp_url", "model", "model_base_url", "model_api_key"):
            object.__setattr__(self, name, _or_none(getattr(self, name)))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """What the environment says now.

        Raises:
            BadSetting: MCP_API_KEY, MCP_HEADERS or MODEL_TIMEOUT_SECONDS cannot be used.
        """
        given = os.environ if environment is None else environment
        return cls(
            mcp_url=given.get("MCP_URL"),
            mcp_headers=_headers(given),
            model=given.get("MODEL"),
            model_base_url=given.get("MODEL_BASE_URL"),
            model_api_key=given.get("MODEL_API_KEY"),
            model_seconds=_seconds(given.get("MODEL_TIMEOUT_SECONDS")),
        )


def _or_none(text: str | None) -> str | None:
    return (text or "").strip() or None


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    """MCP_HEADERS, and MCP_API_KEY as the header that the control plane takes."""
    key = _or_none(given.get("MCP_API_KEY"))
    named = {"Authorization": f"Bearer {key}"} if key else {}
    return {name: _sendable(name, value) for name, value in {**named, **_more(given)}.items()}


def _more(given: Mapping[str, str]) -> dict[str, str]:
    written = _or_none(given.get("MCP_HEADERS"))
    if written is None:
        return {}
    try:
        more = json.loads(written)
    except (ValueError, RecursionError):
        more = None
    if not isinstance(more, dict) or not all(isinstance(value, str) for value in more.values()):
        raise BadSetting('MCP_HEADERS takes a JSON object of texts: {"X-Team": "search"}')
    return more


def _sendable(name: str, value: str) -> str:
    """The value of a header; one that cannot be sent is named, not shown."""
    if not _HEADER_NAME.fullmatch(name):
        raise BadSetting("MCP_HEADERS has a name that no header can have")
    value = value.strip()
    if not value.isascii() or not value.isprintable():
        raise BadSetting(
            f"The header {name} (MCP_API_KEY, MCP_HEADERS) takes printable ASCII characters only"
        )
    return value


def _seconds(text: str | None) -> float:
    if _or_none(text) is None:
        return MODEL_SECONDS
    try:
        seconds = float(text or "")
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise BadSetting("MODEL_TIMEOUT_SECONDS takes a number above 0, at most 3600")
    return seconds
