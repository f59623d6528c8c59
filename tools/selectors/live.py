"""What is under way at this moment, and who is behind the callers of the request log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tools.models import ApiClient, ToolRequest

MOST_COUNTED: Final = 1000
_CLIENT: Final = "client:"
# Databases know no longer keys.
_LONGEST_NUMBER: Final = 18


def calls_under_way() -> int:
    """How many calls have begun and not ended; `MOST_COUNTED` stands for that many and more."""
    return ToolRequest.objects.filter(finished_at__isnull=True).order_by()[:MOST_COUNTED].count()


def caller_names(callers: Iterable[str]) -> Mapping[str, str]:
    """The names of those callers that are API clients, by what the request log calls them."""
    numbers = [
        int(number)
        for caller in callers
        if caller.startswith(_CLIENT)
        and (number := caller.removeprefix(_CLIENT)).isdecimal()
        and len(number) <= _LONGEST_NUMBER
    ]
    named = ApiClient.objects.filter(pk__in=numbers).values_list("pk", "name")
    return {f"{_CLIENT}{pk}": name for pk, name in named}
