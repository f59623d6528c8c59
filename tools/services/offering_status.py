"""Which prompts and resources callers do not get because their rows are bad."""

from __future__ import annotations

from itertools import chain

from tools.models import Prompt, Resource


def flawed_offerings() -> dict[str, list[str]]:
    """The enabled prompts and resources that are left out, with what is wrong with each."""
    rows = chain(Prompt.objects.filter(enabled=True), Resource.objects.filter(enabled=True))
    named = ((f"{row._meta.verbose_name} {row}", row.problems()) for row in rows)
    return {name: faults for name, faults in named if faults}
