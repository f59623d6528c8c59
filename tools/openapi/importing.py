"""A document's operations as tools. One that cannot be served never stops the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from tools.openapi import bodies, names, parameters, security, servers, texts
from tools.openapi.cleaning import Direction
from tools.openapi.composing import compose
from tools.openapi.definitions import Definitions
from tools.openapi.document import Document
from tools.openapi.faults import Unservable
from tools.openapi.finding import Found, find
from tools.openapi.parts import Gathered
from tools.openapi.paths import target, with_query
from tools.openapi.responses import accepted, content_of, output_schema
from tools.openapi.shape import shape_of
from tools.openapi.values import AuthScheme, Imported, ImportedOperation, Refused
from tools.operations import IDEMPOTENT_METHODS, SAFE_METHODS, Operation
from tools.schemas import object_schema_faults

MOST_WARNINGS: Final = 20
MOST_TAGS: Final = 10


def operations(document: Document, *, prefix: str = "", address: str = "") -> Imported:
    """All operations of `document` as tools whose names start with `prefix`.

    `address` is where the document was read, which completes relative addresses of servers.

    Raises:
        ValueError: `prefix` cannot start a name.
    """
    names.check_prefix(prefix)
    found = {one.key: one for one in find(document)}
    reader = _Reader(document, found, prefix, address)
    named = names.tool_names(
        {key: one.operation_id for key, one in found.items() if not one.fault}, prefix
    )
    imported: list[ImportedOperation] = []
    refused: list[Refused] = []
    for key, one in found.items():
        try:
            imported.append(reader.read(one, named.get(key, "")))
        except Unservable as fault:
            refused.append(Refused(key, str(fault)))
        except (RecursionError, orjson.JSONEncodeError):
            refused.append(Refused(key, "Its schemas are nested too deeply. Simplify them."))
    info = document.part("info")
    return Imported(
        title=str(info.get("title") or "API").strip()[:200],
        version=str(info.get("version") or "").strip()[:100],
        servers=reader.servers,
        security=reader.auth,
        operations=tuple(imported),
        refused=tuple(refused),
    )


class _Reader:
    """Reads operations with what the document says for all of them."""

    def __init__(
        self, document: Document, found: Mapping[str, Found], prefix: str, address: str
    ) -> None:
        self._prefix = prefix
        self._document = document
        self._address = address
        self._requests = Definitions(document, Direction.REQUEST)
        self._responses = Definitions(document, Direction.RESPONSE)
        self.auth: tuple[AuthScheme, ...] = security.schemes(document)
        self._auth = {one.key: one for one in self.auth}
        self.servers = servers.of_document(document, address) or servers.most_used(
            self._own_servers(one) for one in found.values()
        )

    def _own_servers(self, found: Found) -> tuple[str, ...]:
        own = servers.listed(found.node.get("servers"), self._address)
        return own or servers.listed(found.item.get("servers"), self._address)

    def read(self, found: Found, name: str) -> ImportedOperation:
        """The operation as a tool.

        Raises:
            Unservable: it cannot be one.
        """
        if found.fault:
            raise Unservable(found.fault)
        method, _, key = found.key.partition(" ")
        goal = target(key)
        below = servers.path_below(self._own_servers(found), self.servers)
        shape = shape_of(self._document, found.item, found.node)
        gathered = Gathered(self._requests)
        parameters.gather(gathered, goal.path, with_query(goal, shape.parameters), self.auth)
        bodies.gather(gathered, method, shape.body)
        schema, notes = compose(gathered.schema(), self._requests)
        if faults := object_schema_faults(schema):
            raise Unservable(f"Its arguments cannot be described: {faults[0]}")
        asked = found.node.get("security", self._document.root.get("security"))
        shortfall = security.shortfall(asked, self._auth)
        content = content_of(self._document, shape.responses)
        tags = found.node.get("tags")
        return ImportedOperation(
            key=found.key,
            name=name,
            title=texts.title(found.node, name.removeprefix(self._prefix)),
            description=texts.describe(found.node, found.key),
            input_schema=schema,
            output_schema=output_schema(content, self._responses),
            operation=Operation(
                method=method,
                path=below + goal.path,
                query=goal.query,
                parameters=tuple(gathered.parameters),
                body_type=gathered.body_type,
                accept=accepted(content),
            ),
            read_only=method in SAFE_METHODS,
            destructive=method == "DELETE",
            idempotent=method in IDEMPOTENT_METHODS,
            tags=_texts(tags),
            deprecated=found.node.get("deprecated") is True,
            warnings=_warnings([*gathered.notes, *notes, shortfall]),
        )


def _texts(tags: Any) -> tuple[str, ...]:
    listed = tags if isinstance(tags, list) else []
    return tuple(tag[:100] for tag in listed if isinstance(tag, str))[:MOST_TAGS]


def _warnings(notes: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for note in notes if note))[:MOST_WARNINGS]
