"""How many tokens an answer has that no budget counted: at the page, not on the way of calls."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from tools.context.tokens import count
from tools.errors import TokenCountingFailed
from tools.execution.trials import Outcome

# Some 20 ms. What is longer is judged by its beginning: who looks at the page waits for it.
MOST_COUNTED: Final = 100_000


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of tokens; `exact` when all of the answer was counted."""

    tokens: int
    exact: bool = True


def counted(outcome: Outcome) -> Counted | None:
    """The tokens of an answer as a budget would count them; None where there is nothing to count."""
    if outcome.envelope is not None:
        text = json.dumps(outcome.envelope.get("data"))
        whole = len(text)
    else:
        text, whole = outcome.excerpt, max(outcome.response_bytes or 0, len(outcome.excerpt))
    beginning = text[:MOST_COUNTED]
    if not beginning:
        return None
    try:
        tokens = count(beginning)
    except TokenCountingFailed:
        return None
    if whole <= len(beginning):
        return Counted(tokens)
    return Counted(round(tokens * whole / len(beginning)), exact=False)
