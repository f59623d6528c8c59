"""What an import gives: operations ready to become tools, and those that cannot with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.operations import Operation


@dataclass(frozen=True, slots=True)
class AuthScheme:
    """A way to prove who calls, as the document declares it.

    `kind` is one of the kinds that a service knows, or `unsupported`; `name` is that of the header,
    query parameter or cookie; `note` tells what the operator has to do or know.
    """

    key: str
    kind: str
    name: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that cannot become a tool."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedOperation:
    """One operation of a document as a tool; `key` is its method and path."""

    key: str
    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    operation: Operation
    read_only: bool
    destructive: bool
    idempotent: bool
    tags: tuple[str, ...] = ()
    deprecated: bool = False
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is kept to be compared with a later import."""
        return {
            "key": self.key,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "input_schema": dict(self.input_schema),
            "output_schema": None if self.output_schema is None else dict(self.output_schema),
            "operation": self.operation.to_json(),
            "read_only": self.read_only,
            "destructive": self.destructive,
            "idempotent": self.idempotent,
            "tags": list(self.tags),
            "deprecated": self.deprecated,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> ImportedOperation:
        """The inverse of `to_json`. Raises KeyError, TypeError and ValueError for anything else."""
        return cls(
            **{
                **written,
                "operation": Operation.from_json(written["operation"]),
                "tags": tuple(written.get("tags", ())),
                "warnings": tuple(written.get("warnings", ())),
            }
        )


@dataclass(frozen=True, slots=True)
class Imported:
    """All that a document offers. `security` lists the ways to prove who calls, the usual one first."""

    title: str
    version: str
    servers: tuple[str, ...]
    security: tuple[AuthScheme, ...]
    operations: tuple[ImportedOperation, ...]
    refused: tuple[Refused, ...]
