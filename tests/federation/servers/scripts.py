"""What is asked of each reference server: every tool at least once, in an order that leaves no trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.federation.servers.reference import EVERYTHING, FILESYSTEM, MEMORY, OVER_HTTP

# The tool by the server's own name for it, and the arguments.
Call = tuple[str, Mapping[str, Any]]

# Those that ask the user something have tests of their own: it takes a client that can be asked.
ASKING: Final = frozenset({"trigger-elicitation-request", "trigger-url-elicitation"})
TEXT: Final = "data:text/plain;base64,b3R0ZXJz"
ON_EVERYTHING: Final[Sequence[Call]] = (
    ("echo", {"message": "héllo – 🦦"}),
    ("get-annotated-message", {"messageType": "error"}),
    ("get-annotated-message", {"messageType": "success", "includeImage": True}),
    ("get-env", {}),
    ("get-resource-links", {"count": 4}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 2}),
    ("get-resource-reference", {"resourceType": "Blob", "resourceId": 3}),
    # Its own check: the schema allows it.
    ("get-resource-reference", {"resourceType": "Text", "resourceId": -1}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-sum", {"a": 2, "b": 3.5}),
    ("get-tiny-image", {}),
    ("gzip-file-as-resource", {"name": "a.gz", "data": TEXT, "outputType": "resource"}),
    ("gzip-file-as-resource", {"name": "b.gz", "data": TEXT, "outputType": "resourceLink"}),
    ("gzip-file-as-resource", {"name": "c.gz", "data": "ftp://127.0.0.1/none"}),
    # On, and off again.
    ("toggle-simulated-logging", {}),
    ("toggle-simulated-logging", {}),
    ("toggle-subscriber-updates", {}),
    ("toggle-subscriber-updates", {}),
    ("trigger-long-running-operation", {"duration": 0.2, "steps": 2}),
    # Wants to be run as a task, which neither client offers.
    ("simulate-research-query", {"topic": "otters"}),
)

_OTTER: Final = {"name": "Otter", "entityType": "animal", "observations": ["swims"]}
_RIVER: Final = {"name": "River", "entityType": "place", "observations": []}
_LIVES: Final = {"from": "Otter", "to": "River", "relationType": "lives in"}
ON_MEMORY: Final[Sequence[Call]] = (
    ("create_entities", {"entities": [_OTTER, _RIVER]}),
    ("create_relations", {"relations": [_LIVES]}),
    (
        "add_observations",
        {"observations": [{"entityName": "Otter", "contents": ["sleeps afloat", "swims"]}]},
    ),
    ("add_observations", {"observations": [{"entityName": "Nobody", "contents": ["?"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "afloat"}),
    ("open_nodes", {"names": ["River"]}),
    (
        "delete_observations",
        {"deletions": [{"entityName": "Otter", "observations": ["swims"]}]},
    ),
    ("delete_relations", {"relations": [_LIVES]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Otter", "River"]}),
    ("read_graph", {}),
)


def script(slug: str, folder: Path) -> Sequence[Call]:
    """All calls for one server. Files are made in `folder`, which must be empty."""
    if slug in {EVERYTHING, OVER_HTTP}:
        return ON_EVERYTHING
    if slug == MEMORY:
        return ON_MEMORY
    assert slug == FILESYSTEM
    return _on_files(folder)


def _on_files(folder: Path) -> Sequence[Call]:
    letter, copy, picture = (str(folder / name) for name in ("a.txt", "in/b.txt", "dot.png"))
    edit = {"oldText": "two", "newText": "zwei"}
    return (
        ("list_allowed_directories", {}),
        ("create_directory", {"path": str(folder / "in")}),
        ("write_file", {"path": letter, "content": "one\ntwo\nthree\n"}),
        ("read_file", {"path": letter}),
        ("read_text_file", {"path": letter, "head": 2}),
        ("edit_file", {"path": letter, "edits": [edit], "dryRun": True}),
        ("edit_file", {"path": letter, "edits": [edit]}),
        ("read_text_file", {"path": letter, "tail": 2}),
        ("read_media_file", {"path": picture}),
        ("move_file", {"source": letter, "destination": copy}),
        ("read_multiple_files", {"paths": [copy, letter]}),
        ("list_directory", {"path": str(folder)}),
        ("list_directory_with_sizes", {"path": str(folder), "sortBy": "size"}),
        ("directory_tree", {"path": str(folder)}),
        ("search_files", {"path": str(folder), "pattern": "**/*.txt"}),
        ("get_file_info", {"path": copy}),
        ("read_text_file", {"path": "/etc/hostname"}),
    )
