"""Takes secrets out of what is about to be written down. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

REDACTED: Final = "[redacted]"
DEEPEST: Final = 40

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
# What PostgreSQL's text and JSON cannot hold.
UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def redact(value: Any, depth: int = DEEPEST) -> Any:
    """A copy of a JSON value without secrets: named ones by their key, others by their look."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        # Not a number of JSON, and no database takes it for one.
        return str(value)
    if depth == 0:
        return REDACTED if isinstance(value, Mapping | list | tuple) else value
    if isinstance(value, Mapping):
        return {
            redact_text(str(key)): REDACTED
            if SECRET_NAME.search(str(key)) and item not in (None, "")
            else redact(item, depth - 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item, depth - 1) for item in value]
    return value


def redact_text(text: str) -> str:
    """`text` without anything that looks like a key, a token or a password in an address."""
    if not text.isascii() or "\x00" in text:
        text = UNSTORABLE.sub("\ufffd", text)
    if len(text) >= 8:
        for mark in MARKS:
            if mark in text:
                return SECRET_VALUE.sub(REDACTED, text)
    return text
