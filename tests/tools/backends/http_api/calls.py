"""Calls of the backend, as the path makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.backends.http_api import HttpApiBackend
from tools.contracts import (
    CallContext,
    Caller,
    CallerKind,
    Deadline,
    Progress,
    ToolSource,
    ToolSpec,
)
from tools.operations import Operation, Parameter, Place, Service

CALLER: Final = Caller(CallerKind.LOCAL, "local", "local", 60)
# Where the servers of tests are.
HERE: Final = ("127.0.0.1/32",)


def service(base_url: str, **settings: Any) -> Service:
    return Service(**{"slug": "shop", "base_url": base_url, "allowed_networks": HERE, **settings})


def spec_of(
    service: Service, operation: Operation | None = None, adapter: str | None = None
) -> ToolSpec:
    binding: dict[str, Any] = {"service": service.to_json()}
    if operation is not None:
        binding["operation"] = operation.to_json()
    if adapter is not None:
        binding["adapter"] = adapter
    return ToolSpec(
        name="shop_find",
        description="Finds things in the shop.",
        input_schema={"type": "object"},
        source=ToolSource.HTTP_API,
        handler="shop_find",
        binding=binding,
    )


def context(seconds: float = 20, progress: Progress | None = None) -> CallContext:
    return CallContext(CALLER, Deadline.after(seconds), progress=progress)


async def call(
    backend: HttpApiBackend,
    service: Service,
    operation: Operation,
    arguments: Mapping[str, Any] | None = None,
    seconds: float = 20,
) -> Any:
    """What the tool answers."""
    result = await backend.call(spec_of(service, operation), arguments or {}, context(seconds))
    return result.data


def get(path: str = "/things", *parameters: Parameter, **settings: Any) -> Operation:
    return Operation("GET", path, parameters, **settings)


def post(path: str = "/things", *parameters: Parameter, **settings: Any) -> Operation:
    return Operation("POST", path, parameters, **settings)


def query(name: str, **settings: Any) -> Parameter:
    return Parameter(name, name, Place.QUERY, **settings)


def in_path(name: str, **settings: Any) -> Parameter:
    return Parameter(name, name, Place.PATH, **settings)


def body_field(name: str, **settings: Any) -> Parameter:
    return Parameter(name, name, Place.FIELD, **settings)
