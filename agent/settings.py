"""What the agent is told through the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
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
    mcp_url: str | None = field(
        default=None,
        repr=False,
        metadata={
            "MCP_URL": "http or https address of the MCP server whose tools are used, such as"
            " http://127.0.0.1:8000/mcp; without it there are none"
        },
    )
    mcp_headers: Mapping[str, str] = field(
        default_factory=dict,
        repr=False,
        metadata={
            "MCP_API_KEY": "key for that server, sent as Authorization: Bearer <key>",
            "MCP_HEADERS": 'more headers for it as a JSON object: {"X-Team": "search"}',
        },
    )
    mcp_call_seconds: float | None = field(
        default=None,
        metadata={
            "MCP_CALL_TIMEOUT_SECONDS": "how long a tool of that server may take; 65 unless told"
        },
    )
    # Why it cannot be used as it was asked for: what MCP needs never keeps an agent from starting.
    mcp_fault: str | None = None
    model: str | None = field(
        default=None,
        metadata={
            "MODEL": "language model, such as openai:gpt-4o-mini; without it tools are picked by rules"
        },
    )
    model_base_url: str | None = field(
        default=None,
        repr=False,
        metadata={
            "MODEL_BASE_URL": "address of a server that speaks OpenAI's API, such as http://127.0.0.1:8080/v1"
        },
    )
    model_api_key: str | None = field(
        default=None, repr=False, metadata={"MODEL_API_KEY": "key for the model"}
    )
    model_seconds: float = field(
        default=MODEL_SECONDS,
        metadata={
            "MODEL_TIMEOUT_SECONDS": f"how long the model may be silent, {MODEL_SECONDS:g} unless told;"
            " a whole answer may take five times that"
        },
    )

    def __post_init__(self) -> None:
        for name in ("mcp_url", "model", "model_base_url", "model_api_key"):
            object.__setattr__(self, name, _or_none(getattr(self, name)))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """What the environment says now.

        Raises:
            BadSetting: MODEL_TIMEOUT_SECONDS cannot be used.
        """
        given = os.environ if environment is None else environment
        url = _or_none(given.get("MCP_URL"))
        headers, call_seconds, fault = _for_mcp(given) if url else ({}, None, None)
        return cls(
            mcp_url=url,
            mcp_headers=headers,
            mcp_call_seconds=call_seconds,
            mcp_fault=fault,
            model=given.get("MODEL"),
            model_base_url=given.get("MODEL_BASE_URL"),
            model_api_key=given.get("MODEL_API_KEY"),
            model_seconds=_seconds("MODEL_TIMEOUT_SECONDS", given) or MODEL_SECONDS,
        )


def described() -> str:
    """The variables and what they mean, for the help of the programs."""
    told = {name: text for one in fields(Settings) for name, text in one.metadata.items()}
    lines = (f"  {name}\n      {text}" for name, text in told.items())
    return "\n".join(["environment variables:", *lines])


def _or_none(text: str | None) -> str | None:
    return (text or "").strip() or None


def _for_mcp(given: Mapping[str, str]) -> tuple[dict[str, str], float | None, str | None]:
    """MCP_HEADERS, with MCP_API_KEY as the header that the control plane takes, and the time for a call; or why
    the server is not to be asked."""
    try:
        return {**_key(given), **_more(given)}, _seconds("MCP_CALL_TIMEOUT_SECONDS", given), None
    except BadSetting as fault:
        return {}, None, str(fault)


def _key(given: Mapping[str, str]) -> dict[str, str]:
    key = _or_none(given.get("MCP_API_KEY"))
    if key is None:
        return {}
    return {"Authorization": f"Bearer {printable('MCP_API_KEY', key)}"}


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
    if not all(map(_HEADER_NAME.fullmatch, more)):
        raise BadSetting("MCP_HEADERS has a name that no header can have")
    return {name: printable(f"{name} in MCP_HEADERS", value) for name, value in more.items()}


def printable(name: str, value: str) -> str:
    """A value that HTTP can send in a header.

    Raises:
        BadSetting: it cannot; the value is not shown.
    """
    value = value.strip()
    if not value.isascii() or not value.isprintable():
        raise BadSetting(f"{name} takes printable ASCII characters only")
    return value


def _seconds(name: str, given: Mapping[str, str]) -> float | None:
    """The time that a variable names; None where it is not set."""
    text = _or_none(given.get(name))
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise BadSetting(f"{name} takes a number above 0, at most 3600")
    return seconds
