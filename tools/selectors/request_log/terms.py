"""One box for everything that names a call: ids, tools, callers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final
from uuid import UUID

from tools.models import ApiClient, Tool, ToolRequest
from tools.selectors.request_log.sought import Sought
from tools.selectors.request_log.ways import way_to

MOST_MATCHES: Final = 100
_KINDS: Final = ("address", "admin", "local")


def resolved(sought: Sought, term: str) -> Sought:
    """`sought`, narrowed to what `term` names.

    Ids, and names that are whole, are looked for in the log itself; a part of a name may be one of a tool or of
    an API client.
    """
    term = term.strip()
    if not term or "\x00" in term:
        return replace(sought, nothing=True) if term else sought
    whole = _id(term) or _name(term)
    if whole is not None:
        return _narrowed(sought, whole)
    tools = Tool.objects.filter(name__icontains=term).values_list("name", flat=True)
    clients = ApiClient.objects.filter(name__icontains=term).values_list("pk", flat=True)
    names = tuple(tools[:MOST_MATCHES])
    callers = tuple(f"client:{pk}" for pk in clients[:MOST_MATCHES])
    if not names and not callers:
        return replace(sought, nothing=True)
    if len(names) + len(callers) == 1:
        return _narrowed(sought, Sought(tool="".join(names), caller="".join(callers)))
    return replace(sought, tools=names, callers=callers)


def _narrowed(sought: Sought, found: Sought) -> Sought:
    """Both hold; what contradicts leaves nothing."""
    for name in ("identifier", "correlation", "thread", "tool", "caller"):
        value = getattr(found, name)
        if value:
            there = getattr(sought, name)
            clash = bool(there) and there != value
            return replace(sought, **{name: value}, nothing=sought.nothing or clash)
    return sought


def _id(term: str) -> Sought | None:
    tried = [Sought(correlation=term), Sought(thread=term)]
    with suppress(ValueError):
        tried.insert(0, Sought(identifier=UUID(term)))
    return next((one for one in tried if way_to(one).rows.order_by().exists()), None)


def _name(term: str) -> Sought | None:
    if ToolRequest.objects.filter(tool_id=term).order_by().exists():
        return Sought(tool=term)
    callers = (term, *(f"{kind}:{term}" for kind in _KINDS))
    found = ToolRequest.objects.filter(caller__in=callers).order_by()
    caller = found.values_list("caller", flat=True).first()
    return Sought(caller=caller) if caller else None
