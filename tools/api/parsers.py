"""JSON request bodies, read strictly: what is not exactly JSON in UTF-8 is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from rest_framework.parsers import BaseParser
from typing_extensions import override

from tools.errors import ErrorDetails, MalformedRequest

# Digits; Python refuses to read much longer ones, and nobody means them.
LONGEST_NUMBER = 4000


class StrictJSONParser(BaseParser):
    """Parses `application/json`; refuses NaN, bad UTF-8, half characters and bottomless nesting."""

    media_type = "application/json"

    @override
    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            text = stream.read().decode("utf-8")
            value = json.loads(
                text,
                parse_constant=_refuse_number,
                parse_float=_finite,
                parse_int=_whole,
                object_pairs_hook=_unambiguous,
            )
            if "\\ud" in text.lower():
                _refuse_half_characters(value)
        except UnicodeError:
            raise _malformed("The body is not valid UTF-8 text") from None
        except RecursionError:
            raise _malformed("The body is nested too deeply") from None
        except json.JSONDecodeError as fault:
            raise _malformed(
                f"The body is not valid JSON: {fault.msg} at line {fault.lineno} column {fault.colno}"
            ) from None
        return value


def _refuse_number(text: str) -> NoReturn:
    raise _malformed(f"The body holds a number that cannot be read: {text[:40]}")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _whole(text: str) -> int:
    return int(text) if len(text) <= LONGEST_NUMBER else _refuse_number(text)


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different; two readers of the same key may choose differently."""
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _malformed(f"The body has the key {twice[:100]!r} twice in one object")
    return value


def _refuse_half_characters(value: Any) -> None:
    """An escaped lone surrogate is not a character; encoding it raises UnicodeError."""
    json.dumps(value, ensure_ascii=False).encode("utf-8")


def _malformed(message: str) -> MalformedRequest:
    return MalformedRequest(
        message, ErrorDetails(expected="a JSON object", suggestion="Send a JSON object in UTF-8")
    )
