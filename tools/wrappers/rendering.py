"""Templates and what they make of a tool."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import ChoiceLoader, FileSystemLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tools.wrappers.kinds import WrapperTemplate
from tools.wrappers.naming import Names
from tools.wrappers.python_types import PythonTypes, Shape, python_type
from tools.wrappers.quoting import FILTERS
from tools.wrappers.registry import ServiceEntry
from tools.wrappers.schemas import Steps
from tools.wrappers.tool_list import ListedTool
from tools.wrappers.typescript_types import typescript_type, typescript_types
from tools.wrappers.wrapped import WrappedService, WrappedTool, wrap_service

# What the module of Python uses itself.
OWN_WORDS: Final = (
    *dir(builtins),
    *("asyncio", "email", "enum", "http", "io", "json", "os", "socket", "ssl", "time", "uuid"),
    *("Any", "Awaitable", "Callable", "Final", "Literal", "Mapping", "NamedTuple", "NotRequired"),
    *(
        "Answer",
        "JsonObject",
        "Request",
        "TOOLS",
        "TypedDict",
        "UNSET",
        "Unsent",
        "Unset",
        "send",
        "urlsplit",
    ),
)
TEMPLATES: Final = Path(__file__).resolve().parent / "templates"


class RenderFault(Exception):
    """A template cannot be had or fails. The message names it and says why."""


@dataclass(frozen=True, slots=True)
class ToolTypes:
    """The types of one tool's arguments in Python, by name, and the TypedDict of all."""

    whole: str
    by_key: Mapping[str, str]


class Templates:
    """The templates of this package; a folder of one's own comes first, file by file."""

    def __init__(self, own: Path | None = None, now: datetime | None = None) -> None:
        folders = [own, TEMPLATES] if own is not None else [TEMPLATES]
        self._environment = ImmutableSandboxedEnvironment(
            loader=ChoiceLoader([FileSystemLoader(folder) for folder in folders]),
            undefined=StrictUndefined,
            # No HTML is made here; every text goes through a filter for the language it stands in.
            autoescape=False,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update({**FILTERS, "python_type": python_type})
        moment = (now or datetime.now(UTC)).astimezone(UTC)
        self._timestamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def render(
        self, template: WrapperTemplate, service: WrappedService, tool: WrappedTool | None = None
    ) -> str:
        """What `template` makes of `tool`, or of all tools of `service`.

        Raises:
            RenderFault: it cannot be rendered.
        """
        context = {
            "tool_name": tool.name if tool else "",
            "description": tool.description if tool else "",
            "arguments": dict(tool.listed.properties) if tool else {},
            "service_url": service.url,
            "service_name": service.name,
            "service_version": service.version,
            "service": service,
            "tool": tool,
            "tools": service.tools,
            "generation_timestamp": self._timestamp,
        }
        context = {name: context[name] for name in template.variables}
        try:
            if template.per_service:
                context |= _types(service)
            made = self._environment.get_template(template.template_path).render(context)
            # What cannot be written would be found out in the middle of writing.
            made.encode()
            return made
        except TemplateError as fault:
            place = f", line {line}" if (line := getattr(fault, "lineno", None)) else ""
            raise RenderFault(f"{template.template_path}{place}: {fault}") from fault
        # Whatever an expression of somebody's own template may raise.
        except Exception as fault:
            told = f"{template.template_path}: {type(fault).__name__}: {fault}"
            raise RenderFault(told) from fault


def render(template: WrapperTemplate, tool: ListedTool, service_url: str) -> str:
    """The wrapper of one tool at `service_url`."""
    service = wrap_service(ServiceEntry("service", service_url), "", [tool])
    return Templates().render(template, service, service.tools[0])


def _types(service: WrappedService) -> dict[str, Any]:
    shapes, types = _python_types(service)
    typescript = {"typescript_type": typescript_type, "typescript_types": typescript_types}
    return {"shapes": shapes, "types": types, **typescript}


def _python_types(service: WrappedService) -> tuple[list[Shape], dict[str, ToolTypes]]:
    own = service.class_name
    reserved = (f"{own}Client", f"Async{own}Client", service.error_name)
    # Methods and parameters hide types of the same name where those are used.
    within = [name for tool in service.tools for name in (tool.method, *_parameters(tool))]
    made = PythonTypes(Names((*reserved, *OWN_WORDS, *within)))
    types: dict[str, ToolTypes] = {}
    for tool in service.tools:
        root: Mapping[str, Any] = tool.input_schema
        by_key = {}
        made.steps = Steps()
        for one in tool.arguments:
            by_key[one.key] = made.of(
                root["properties"][one.key], root, f"{tool.class_name} {one.key}"
            )
        types[tool.name] = ToolTypes(_whole(made, tool, by_key), by_key)
    return made.shapes, types


def _parameters(tool: WrappedTool) -> list[str]:
    return [one.name for one in tool.arguments]


def _whole(made: PythonTypes, tool: WrappedTool, by_key: Mapping[str, str]) -> str:
    name = f"{tool.class_name}Arguments"
    fields = [
        (repr(one.key), by_key[one.key] if one.required else f"NotRequired[{by_key[one.key]}]")
        for one in tool.arguments
    ]
    return made.shape(name, fields)
