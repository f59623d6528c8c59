"""W3C trace context: taken from where a call came in, passed on to where it goes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

# The names of the headers, which are those of the keys in `_meta` as well.
TRACE_HEADERS: Final = ("traceparent", "tracestate", "baggage")
LONGEST: Final = 8192
_PARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}\Z"
)
_VISIBLE: Final = re.compile(r"[\x20-\x7e]*\Z")
_NONE: Final[Mapping[str, str]] = {}


def trace_of(meta: Mapping[str, Any], headers: Mapping[str, str]) -> Mapping[str, str]:
    """The trace context of a call; what its message says goes before what its request says.

    Without a sound `traceparent` there is none: the other two belong to it.
    """
    parent = meta.get("traceparent") or headers.get("traceparent")
    if not isinstance(parent, str) or not _PARENT.match(parent):
        return _NONE
    given = {name: meta.get(name) or headers.get(name) for name in TRACE_HEADERS}
    return {name: str(value) for name, value in given.items() if _is_sound(value)}


def without_baggage(trace: Mapping[str, str]) -> dict[str, str]:
    """`trace` for those who need not know each other: what callers put into baggage is not theirs."""
    return {name: value for name, value in trace.items() if name != "baggage"}


def _is_sound(value: Any) -> bool:
    return (
        isinstance(value, str) and 0 < len(value) <= LONGEST and _VISIBLE.match(value) is not None
    )
