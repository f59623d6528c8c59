"""A request as it goes out, and what comes back: plain values whose reprs show no secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from typing_extensions import override

DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class BadAddress(ValueError):
    """Not the address of an HTTP server."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom a request is for. `host` is in ASCII, without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """As the Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @override
    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request. `template` is the path without arguments, which is all that is written down.

    `target` may hold a credential and `headers` often do; `secrets` are the texts that no answer may
    carry further. `public` is the whole address as it may be told, empty where a credential is a part of it.
    """

    method: str
    origin: Origin
    template: str
    target: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    public: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an API answered, decompressed.

    `headers` are by lower-case name; `url` is where it was asked for, as it may be told. Of a failure
    the body is only the beginning.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    url: str = field(default="", repr=False)

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The encoding the API says the text has."""
        for parameter in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return value.strip().strip("\"'").lower()
        return ""


def split_address(address: str) -> tuple[Origin, SplitResult]:
    """The origin and the parts of `address`; a user name in it is left out.

    Raises:
        BadAddress: it is not http or https, has no host or is no address at all.
    """
    try:
        parts = urlsplit(address.strip())
        port, host = parts.port, (parts.hostname or "").rstrip(".")
        if ":" not in host:
            host = host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError) as fault:
        raise BadAddress("it cannot be read as an address") from fault
    if parts.scheme not in DEFAULT_PORTS:
        raise BadAddress("only http and https are spoken")
    if not host or any(letter <= " " or letter in "%/\\@" for letter in host):
        raise BadAddress("it has no host")
    if port == 0:
        raise BadAddress("it has no port")
    return Origin(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme]), parts
