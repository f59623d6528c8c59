"""Takes secrets out of what is about to be written down. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

REDACTED: Final = "[redacted]"
DEEPEST: Final = 40
LONGEST_KNOWN: Final = 64
# Asked in this order: nearly all are of the first two kinds, and to ask for the last takes longest.
_CONTAINERS: Final = (dict, list, tuple, Mapping)

SECRET_NAME: Final = re.compile(
    r"pass(word|wd|phrase)|secret|token(?!s|_(count|used|budget|limit|type))|api[-_ ]?key|authori[sz]ation"
    r"|credential|cookie|private[-_ ]?key|access[-_ ]?key|^(pwd|pin|otp|cvv|jwt|auth|bearer)$",
    re.IGNORECASE,
)
SECRET_VALUE: Final = re.compile(
    r"\bcp_[A-Za-z0-9_-]{20,}"  # our own API keys
    r"|\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}"
    # JSON web tokens. Bounded, and begun only where a word begins: a text made of half tokens must
    # not be read from every one of them to its end.
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,65536}\.[A-Za-z0-9_-]*"
    r"|\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp])[-_][A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",  # user:password in addresses
    re.DOTALL,
)


# Every match of the pattern holds one of these; looking for them first is far cheaper.
MARKS: Final = (
    "cp_", "Bearer", "Basic", "eyJ", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp", "gho", "ghs",
    "xox", "AKIA", "PRIVATE KEY", "://",
)  # fmt: skip
# As programs write them into their logs: name=value, "name": "value", Header: value. All bounded.
_NAMED_VALUE: Final = re.compile(
    r"(?<![\w-])([\w-]{2,64})([\"']?\s{0,3}[=:]\s{0,3}[\"']?)([^\s\"',;&]{1,4096})"
)
_CREDENTIALS: Final = re.compile(
    r"\b((?:proxy-)?authori[sz]ation[\"']?\s{0,3}[=:]|(?:set-)?cookie[\"']?\s{0,3}[=:]).*",
    re.IGNORECASE,
)
# What PostgreSQL's text and JSON cannot hold.
UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def redact(value: Any, depth: int = DEEPEST) -> Any:
    """A copy of a JSON value without secrets: named ones by their key, others by their look."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        # Not a number of JSON, and no database takes it for one.
        return str(value)
    if value is None or isinstance(value, int | float) or not isinstance(value, _CONTAINERS):
        return value
    return _inside(value, depth - 1) if depth else REDACTED


def _inside(value: Any, depth: int) -> Any:
    if isinstance(value, list | tuple):
        return [redact(item, depth) for item in value]
    shown: dict[str, Any] = {}
    for key, item in value.items():
        text = str(key)
        name, secret = _known(text) if len(text) <= LONGEST_KNOWN else _named(text)
        shown[name] = REDACTED if secret and item not in (None, "") else redact(item, depth)
    return shown


def _named(key: str) -> tuple[str, bool]:
    """A name as it may be written down, and whether it names a secret."""
    return redact_text(key), SECRET_NAME.search(key) is not None


# The same few names come with every call.
_known = lru_cache(maxsize=4096)(_named)


def redact_text(text: str) -> str:
    """`text` without anything that looks like a key, a token or a password in an address."""
    if not text.isascii() or "\x00" in text:
        text = UNSTORABLE.sub("\ufffd", text)
    if len(text) >= 8:
        for mark in MARKS:
            if mark in text:
                return SECRET_VALUE.sub(REDACTED, text)
    return text


def redact_line(text: str) -> str:
    """A line of somebody's log: `redact_text`, and without what stands behind the name of a secret."""
    return _NAMED_VALUE.sub(_unnamed, _CREDENTIALS.sub(rf"\1{REDACTED}", redact_text(text)))


def _unnamed(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{REDACTED}" if SECRET_NAME.search(found[1]) else found[0]
