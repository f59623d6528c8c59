"""Brings one answer below its budget: by its summary, its rules, or its shape alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from tools.context.cutter import ShrinkResult
from tools.context.prune import prune
from tools.context.rules import Rules
from tools.context.shrink import shrink
from tools.context.summaries import fitted, forms_of


def reduce(
    data: Any, *, tokens: int, budget: int, rules: Rules, preserve: Collection[str] = ()
) -> ShrinkResult | None:
    """`data`, which has `tokens` tokens, in a shorter form; at least 70 % smaller.

    None when it may stay as it is: it is within the budget and has no summary that is so much
    smaller.

    Raises:
        SummarizationFailed: what must be preserved is too large in itself.
    """
    forms = forms_of(rules.summary, data, metadata=rules.metadata) if rules.summary else None
    if forms is not None:
        summary = fitted(forms, tokens=tokens, budget=budget)
        if summary is not None:
            return summary
        rules = replace(rules, keep=(*rules.keep, *forms.keep), drop=(*rules.drop, *forms.drop))
    if tokens <= budget:
        return None
    if not rules.structural:
        return shrink(data, budget=budget, preserve=preserve, tokens=tokens, cursors=True)
    pruned, marks = prune(data, rules, preserve)
    return shrink(pruned, budget=budget, tokens=tokens, marks=marks, cursors=True)
