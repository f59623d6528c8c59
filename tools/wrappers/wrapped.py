"""A service and its tools as templates see them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tools.wrappers.arguments import Argument, arguments_of
from tools.wrappers.naming import RESERVED, Names, class_name, identifier, kebab
from tools.wrappers.quoting import one_line
from tools.wrappers.registry import ServiceEntry
from tools.wrappers.tool_list import ListedTool

# What the classes of the clients have besides a method for each tool, and the words that annotations
# of their methods use: a method of that name would hide them.
OWN_METHODS: Final = (
    *RESERVED,
    *("call", "close", "constructor", "retry", "timeout", "base_url", "baseUrl"),
    *("str", "int", "float", "bool", "list", "dict", "object", "Any", "Literal", "UNSET", "Unset"),
    *("JsonObject", "property", "type", "super"),
)
LONGEST_SKILL: Final = 64
LONGEST_ABOUT: Final = 1024


@dataclass(frozen=True)
class WrappedTool:
    """A tool with a file name, a method name and a class name of its own."""

    listed: ListedTool
    stem: str
    method: str
    class_name: str
    skill: str
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        return self.listed.name

    @property
    def description(self) -> str:
        return self.listed.description

    @property
    def input_schema(self) -> Mapping[str, Any]:
        return self.listed.input_schema

    @property
    def script(self) -> str:
        """What a script of Python is called: never like a module that those beside it import."""
        return f"{self.stem}_" if self.stem in sys.stdlib_module_names else self.stem

    @property
    def required(self) -> list[Argument]:
        return [one for one in self.arguments if one.required]

    @property
    def optional(self) -> list[Argument]:
        return [one for one in self.arguments if not one.required]

    @property
    def about(self) -> str:
        """What agent programs read to decide whether they need it: one line, no tags."""
        return one_line(self.description.replace("<", "(").replace(">", ")"), LONGEST_ABOUT)


@dataclass(frozen=True)
class WrappedService:
    """A service of the registry with the tools it lists."""

    entry: ServiceEntry
    version: str
    tools: tuple[WrappedTool, ...]

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def url(self) -> str:
        return self.entry.base_url

    @cached_property
    def class_name(self) -> str:
        return class_name(self.name)

    @cached_property
    def module(self) -> str:
        return self.name.replace("-", "_") + "_client"

    @property
    def variable(self) -> str:
        """What names of variables of the environment about this service start with."""
        return self.entry.variable

    @property
    def key_variable(self) -> str:
        return self.entry.key_name


def wrap_service(entry: ServiceEntry, version: str, tools: Iterable[ListedTool]) -> WrappedService:
    """`tools` with names that clash neither with each other nor with what wrappers use."""
    stems, methods, skills = Names(), Names(OWN_METHODS), Names()
    own = class_name(entry.name)
    classes = Names((f"{own}Client", f"Async{own}Client", f"{own}Error"))
    wrapped = []
    for number, tool in enumerate(tools, 1):
        stem = identifier(tool.name, f"tool_{number}")
        named = class_name(tool.name, "Tool")
        skill = kebab(f"{entry.name} {tool.name}", f"tool-{number}")[:LONGEST_SKILL].strip("-")
        wrapped.append(
            WrappedTool(
                listed=tool,
                stem=stems.free(stem, f"{stem}_"),
                method=methods.free(stem, f"{stem}_"),
                class_name=classes.free(named, f"{named}_"),
                skill=skills.free(skill, f"{skill[: LONGEST_SKILL - 6]}-n"),
                arguments=arguments_of(tool),
            )
        )
    return WrappedService(entry, version, tuple(wrapped))
