"""What a server offers beside tools, and what became of it in the catalogue."""

from __future__ import annotations

from tools.models import UpstreamItem, UpstreamServer
from tools.selectors import load_catalogue

META = {"tags": ["crud", "create"], "version": "1.0", "author": "somebody"}
PROMPT = {
    "name": "ask-it",
    "description": "Asks.",
    "arguments": [{"name": "a b", "required": True}],
}
RESOURCE = {"uri": "docs://one", "name": "one", "mimeType": "text/plain"}
TEMPLATE = {"uriTemplate": "docs://{page}", "name": "page"}


def item(server: UpstreamServer, name: str) -> UpstreamItem:
    found: UpstreamItem = UpstreamItem.objects.get(server=server, remote_name=name)
    return found


def served() -> set[str]:
    return set(load_catalogue().tools)
