"""What is gathered while one operation is read: arguments, their way into the request, notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.openapi.arguments import ArgumentNames
from tools.openapi.definitions import Definitions
from tools.operations import Parameter, Place


@dataclass(slots=True)
class Gathered:
    """The tool's arguments so far. `definitions` cleans schemas of what is sent."""

    definitions: Definitions
    names: ArgumentNames = field(default_factory=ArgumentNames)
    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    body_type: str = ""

    def note(self, *texts: str) -> None:
        """Remember what the operator should know, each text once."""
        self.notes.update(dict.fromkeys(texts))

    def clean(self, schema: Any) -> Any:
        """`schema` cleaned; what was left out of it becomes a note."""
        cleaned, notes = self.definitions.clean(schema)
        self.note(*notes)
        return cleaned

    def add(self, name: str, place: Place, schema: Any, *, required: bool, **written: Any) -> None:
        """One more argument, under a name of its own."""
        argument = self.names.take(name, place)
        self.properties[argument] = schema
        if required:
            self.required.append(argument)
        self.parameters.append(Parameter(argument=argument, name=name, place=place, **written))

    def schema(self) -> dict[str, Any]:
        """The arguments as an object; a name that is not among them is a mistake."""
        root: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            root["required"] = self.required
        root["additionalProperties"] = False
        return root


def described(schema: Any, description: Any) -> Any:
    """`schema` with `description` where it has none of its own."""
    if not isinstance(description, str) or not description.strip():
        return schema
    if isinstance(schema, bool):
        return {"description": description} if schema else schema
    known: Mapping[str, Any] = schema
    return {"description": description, **known} if "description" not in known else known
