"""What of an answer a tool gives: picked by a JMESPath expression."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult


class BadSelection(Exception):
    """The expression cannot be read, or does not fit the answer. The message is for the operator."""


def select(expression: str, data: Any) -> Any:
    """The part of `data` that `expression` picks; all of it without one.

    Raises:
        BadSelection: naming what is wrong.
    """
    if not expression:
        return data
    try:
        return _compiled(expression).search(data)
    except (JMESPathError, RecursionError, ArithmeticError) as fault:
        raise BadSelection(" ".join(str(fault).split())[:300]) from fault


@lru_cache(maxsize=512)
def _compiled(expression: str) -> ParsedResult:
    return jmespath.compile(expression)
