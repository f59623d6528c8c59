"""A service and its tools as templates see them."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
    *("call", "close", "constructor", "retry", "timeout", "longest_pause", "base_url", "baseUrl"),
    *("str", "int", "float", "bool", "list", "dict", "object", "Any", "Literal", "UNSET", "Unset"),
    *("JsonObject", "property", "type", "super"),
    # What JavaScript calls by itself on what is awaited, printed or compared, or looks for in every object.
    *("then", "toJSON", "toString", "toLocaleString", "valueOf", "hasOwnProperty"),
    *("isPrototypeOf", "propertyIsEnumerable"),
)
# Errors that Python and JavaScript have.
THEIR_ERRORS: Final = frozenset(
    {*dir(builtins), "AggregateError", "EvalError", "RangeError", "ReferenceError", "URIError"}
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
    # What a script of Python is called: never like a module that those beside it import.
    script: str

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
    """A service of the registry with the tools it lists, and why others are left out, by name."""

    entry: ServiceEntry
    version: str
    tools: tuple[WrappedTool, ...]
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def url(self) -> str:
        return self.entry.base_url

    @cached_property
    def class_name(self) -> str:
        return class_name(self.name)

    @property
    def error_name(self) -> str:
        """What clients raise: never called like an error of their language, which they catch."""
        return _error_name(self.class_name)

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


def _error_name(own: str) -> str:
    usual = f"{own}Error"
    return f"{own}ServiceError" if usual in THEIR_ERRORS else usual


def wrap_service(entry: ServiceEntry, version: str, tools: Iterable[ListedTool]) -> WrappedService:
    """`tools` with names that clash neither with each other nor with what wrappers use."""
    naming = _Naming(entry)
    wrapped: dict[int, WrappedTool] = {}
    faults: dict[str, str] = {}
    # Those whose names can stay as they are come first.
    numbered = sorted(
        enumerate(tools, 1), key=lambda one: one[1].name != identifier(one[1].name, "")
    )
    for number, tool in numbered:
        try:
            wrapped[number] = naming.wrap(tool, number)
        # Whatever a schema nobody thought of leads to: it is the fault of this tool.
        except Exception as fault:  # noqa: BLE001
            faults[tool.name] = f"its schema cannot be read: {type(fault).__name__}: {fault}"
    return WrappedService(entry, version, tuple(wrapped[one] for one in sorted(wrapped)), faults)


def wanted_stem(tool: str, fallback: str) -> str:
    """What files of a tool are called, unless another one is called so."""
    return identifier(tool, fallback)


def wanted_skill(service: str, tool: str, fallback: str) -> tuple[str, str]:
    """What the skill of a tool is called, and how its name begins where another one is called so."""
    wanted = kebab(f"{service} {tool}", fallback)[:LONGEST_SKILL].strip("-")
    return wanted, f"{wanted[: LONGEST_SKILL - 6]}-n"


class _Naming:
    """The names of one service's wrappers."""

    def __init__(self, entry: ServiceEntry) -> None:
        own = class_name(entry.name)
        self._service = entry.name
        self._stems, self._methods, self._skills = Names(), Names(OWN_METHODS), Names()
        self._scripts = Names(sys.stdlib_module_names)
        self._classes = Names((f"{own}Client", f"Async{own}Client", _error_name(own)))

    def wrap(self, tool: ListedTool, number: int) -> WrappedTool:
        arguments = arguments_of(tool)
        named = class_name(tool.name, "Tool")
        wanted = wanted_stem(tool.name, f"tool_{number}")
        skill, otherwise = wanted_skill(self._service, tool.name, f"tool-{number}")
        stem = self._stems.free(wanted, f"{wanted}_")
        return WrappedTool(
            listed=tool,
            stem=stem,
            method=self._methods.free(wanted, f"{wanted}_"),
            class_name=self._classes.free(named, f"{named}_"),
            skill=self._skills.free(skill, otherwise),
            arguments=arguments,
            script=self._scripts.free(stem, f"{stem}_"),
        )
