"""What discoveries and decisions hold on to, in the order in which every other change takes it.

Whoever saves a row of the catalogue holds that row and then moves the catalogue's number. To take
the number first would let two transactions wait for each other.
"""

from __future__ import annotations

from typing import Any

from tools.models import CatalogState, Prompt, Resource, Tool, UpstreamServer


def lock_server(**known_by: Any) -> UpstreamServer | None:
    """The server, which nobody else changes until the transaction ends, nor its rows.

    The catalogue's number is held as well: names are unique over all servers, so they are given
    by one transaction at a time.
    """
    server: UpstreamServer | None = (
        UpstreamServer.objects.select_for_update().filter(**known_by).first()
    )
    if server is None:
        return None
    for model in (Tool, Prompt, Resource):
        rows = model.objects.filter(upstream_item__server=server).order_by("pk").only("pk")
        list(rows.select_for_update(of=("self",), no_key=True))
    list(CatalogState.objects.select_for_update().filter(pk=1))
    return server
