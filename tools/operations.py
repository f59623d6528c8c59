"""Operations of HTTP APIs as plain values: what is asked for by a call, and how the arguments travel.

They are kept as JSON in the catalogue, made by hand, by an import of OpenAPI or by the shipped NSIP
service, and carried out by the backend of HTTP APIs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY")
# RFC 9110: repeating one of these is as good as sending it once, so it may be tried again.
IDEMPOTENT_METHODS: Final = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY"})
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})


class Place(StrEnum):
    """Where in the request an argument goes. `BODY` is the whole body, `FIELD` one key of it."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY = "body"
    FIELD = "field"


# How OpenAPI writes lists and objects, by place, where a parameter does not say.
DEFAULT_STYLES: Final[Mapping[Place, str]] = {
    Place.PATH: "simple",
    Place.QUERY: "form",
    Place.HEADER: "simple",
    Place.COOKIE: "form",
}
STYLES: Final[Mapping[Place, frozenset[str]]] = {
    Place.PATH: frozenset({"simple", "label", "matrix"}),
    Place.QUERY: frozenset({"form", "spaceDelimited", "pipeDelimited", "deepObject"}),
    Place.HEADER: frozenset({"simple"}),
    Place.COOKIE: frozenset({"form"}),
}
# Of a key of a form. One that has none is written as browsers do.
FIELD_STYLES: Final = STYLES[Place.QUERY]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of the tool and its way into the request.

    `argument` is what agents call it, `name` what the API does. `style` and `explode` are those of
    OpenAPI; `media_type` is given where the value is written as JSON or another type inside its place.
    """

    argument: str
    name: str
    place: Place
    style: str = ""
    explode: bool | None = None
    allow_reserved: bool = False
    media_type: str = ""

    @property
    def written_as(self) -> str:
        """The style that holds."""
        return self.style or DEFAULT_STYLES.get(self.place, "")

    @property
    def exploded(self) -> bool:
        """Whether lists and objects are written as several values; only `form` does by default."""
        return self.written_as == "form" if self.explode is None else self.explode

    def to_json(self) -> dict[str, Any]:
        """As the catalogue keeps it; what is as usual is left out."""
        written: dict[str, Any] = {"argument": self.argument, "in": self.place.value}
        if self.name != self.argument:
            written["name"] = self.name
        for key in ("style", "explode", "allow_reserved", "media_type"):
            if value := getattr(self, key):
                written[key] = value
        if self.explode is False:
            written["explode"] = False
        return written

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Parameter:
        """Raises KeyError, TypeError and ValueError for what is not a parameter."""
        argument = str(written["argument"])
        return cls(
            argument=argument,
            name=str(written.get("name", argument)),
            place=Place(written["in"]),
            style=str(written.get("style", "")),
            explode=written.get("explode"),
            allow_reserved=bool(written.get("allow_reserved", False)),
            media_type=str(written.get("media_type", "")),
        )


@dataclass(frozen=True, slots=True)
class Operation:
    """One request that a tool makes.

    `path` is below the service's address and may name path parameters in braces. `query`, `headers`
    and `body` are sent with every call; arguments win over them. `select` is a JMESPath expression
    that picks from the answer what the tool gives.
    """

    method: str
    path: str
    parameters: tuple[Parameter, ...] = ()
    body_type: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    accept: str = "application/json"
    select: str = ""

    @property
    def repeatable(self) -> bool:
        """Whether sending it again does no more than sending it once."""
        return self.method in IDEMPOTENT_METHODS

    def to_json(self) -> dict[str, Any]:
        """As the catalogue keeps it; what is empty is left out."""
        written: dict[str, Any] = {"method": self.method, "path": self.path}
        if self.parameters:
            written["parameters"] = [parameter.to_json() for parameter in self.parameters]
        for key in ("body_type", "query", "headers", "body", "select"):
            if value := getattr(self, key):
                written[key] = dict(value) if isinstance(value, Mapping) else value
        if self.accept != "application/json":
            written["accept"] = self.accept
        return written

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Operation:
        """Raises KeyError, TypeError and ValueError for what is not an operation."""
        method = str(written["method"]).upper()
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}")
        return cls(
            method=method,
            path=str(written["path"]),
            parameters=tuple(Parameter.from_json(one) for one in written.get("parameters", ())),
            body_type=str(written.get("body_type", "")),
            query=dict(written.get("query", {})),
            headers={str(key): str(value) for key, value in written.get("headers", {}).items()},
            body=dict(written.get("body", {})),
            accept=str(written.get("accept", "application/json")),
            select=str(written.get("select", "")),
        )


@dataclass(frozen=True, slots=True)
class Service:
    """An HTTP API as the backend knows it. `secret` is encrypted; only the backend opens it."""

    slug: str
    base_url: str
    auth: str = "none"
    auth_name: str = ""
    username: str = ""
    secret: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 30
    retries: int = 2
    rate_per_minute: int | None = None
    allowed_networks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As a tool's binding carries it."""
        return {
            "slug": self.slug,
            "base_url": self.base_url,
            "auth": self.auth,
            "auth_name": self.auth_name,
            "username": self.username,
            "secret": self.secret,
            "headers": dict(self.headers),
            "timeout_seconds": self.timeout_seconds,
            "retries": self.retries,
            "rate_per_minute": self.rate_per_minute,
            "allowed_networks": list(self.allowed_networks),
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Service:
        """The inverse of `to_json`."""
        values = dict(written)
        values["allowed_networks"] = tuple(values.get("allowed_networks", ()))
        return cls(**values)
