"""The summaries there are, by name, and how one is fitted into a number of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from tools.context.animals import nsip_animal
from tools.context.cutter import ShrinkResult
from tools.context.forms import Forms, NotOfThisKind, Summary, stamped
from tools.context.pedigree import nsip_lineage
from tools.context.profile import nsip_profile
from tools.context.rows import nsip_page
from tools.context.shrink import most_tokens

SUMMARIES: Final[Mapping[str, Summary]] = MappingProxyType(
    {
        "nsip_animal": nsip_animal,
        "nsip_lineage": nsip_lineage,
        "nsip_page": nsip_page,
        "nsip_profile": nsip_profile,
    }
)


def forms_of(name: str, data: Any, *, metadata: bool = False) -> Forms | None:
    """The forms a summary has for `data`; None when `data` is not what it was made for."""
    try:
        return SUMMARIES[name](data, metadata)
    except NotOfThisKind:
        return None


def fitted(forms: Forms, *, tokens: int, budget: int) -> ShrinkResult | None:
    """The fullest form that fits `budget` and is at least 70 % smaller than `tokens`.

    Where the budget is too small for all forms, the smallest of them. None when no form is 70 %
    smaller.
    """
    most = most_tokens(tokens)
    smallest = _form(forms, 0, tokens)
    if smallest.tokens > most:
        return None
    return _fullest(forms, tokens, min(budget, most)) or smallest


def _fullest(forms: Forms, tokens: int, target: int) -> ShrinkResult | None:
    whole = _form(forms, forms.fullest, tokens)
    if whole.tokens <= target:
        return whole
    best: ShrinkResult | None = None
    low, high = 0, forms.fullest - 1
    while low <= high:
        middle = (low + high) // 2
        form = _form(forms, middle, tokens)
        if form.tokens <= target:
            best, low = form, middle + 1
        else:
            high = middle - 1
    return best


def _form(forms: Forms, number: int, tokens: int) -> ShrinkResult:
    return ShrinkResult(*stamped(forms.build(number), tokens))
