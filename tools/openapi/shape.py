"""One operation as the document has it, in the shape of OpenAPI 3 whatever the version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.openapi import swagger
from tools.openapi.document import Document
from tools.openapi.faults import Unservable


@dataclass(frozen=True, slots=True)
class Shape:
    """Parameters with their references followed, the request body if any, the responses."""

    parameters: tuple[Mapping[str, Any], ...]
    body: Mapping[str, Any] | None
    responses: Mapping[str, Any]


def shape_of(document: Document, item: Mapping[str, Any], node: Mapping[str, Any]) -> Shape:
    """The operation `node` of the path `item`.

    Raises:
        Unservable: a part of it cannot be used.
    """
    parameters = _merged(document, item.get("parameters"), node.get("parameters"))
    responses = node.get("responses")
    responses = responses if isinstance(responses, Mapping) else {}
    if document.is_swagger:
        modern, body = swagger.split(parameters, _types(document, node, "consumes"))
        produced = _types(document, node, "produces")
        return Shape(tuple(modern), body, swagger.responses(document, responses, produced))
    stated = node.get("requestBody")
    body = None if stated is None else document.resolved(stated, "The request body")
    return Shape(tuple(parameters), body, responses)


def _merged(document: Document, *lists: Any) -> list[Mapping[str, Any]]:
    """Parameters of the path and of the operation; those of the operation win."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for stated in lists:
        if stated is not None and not isinstance(stated, list):
            raise Unservable("Its parameters are not a list. Correct the document.")
        for node in stated or ():
            parameter = document.resolved(node, "A parameter")
            name, place = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or not name or not isinstance(place, str):
                raise Unservable("A parameter has no name or no place. Correct the document.")
            found[name, place] = parameter
    return list(found.values())


def _types(document: Document, node: Mapping[str, Any], key: str) -> list[str]:
    stated = node.get(key, document.root.get(key))
    return [one for one in stated if isinstance(one, str)] if isinstance(stated, list) else []
