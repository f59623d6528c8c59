"""How the values of environment variables are read; ValueError says what was expected."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tools.conf import LOOPBACK

COMMAND_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def text(value: str) -> str:
    return value.strip()


def boolean(value: str) -> bool:
    lowered = value.strip().lower()
    if lowered in {"1", "true", "yes", "on"}:
        return True
    if lowered in {"0", "false", "no", "off"}:
        return False
    raise ValueError("expected true or false")


def integer(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        try:
            number = int(value.strip())
        except ValueError:
            raise ValueError(f"expected a whole number from {minimum} to {maximum}") from None
        if not minimum <= number <= maximum:
            raise ValueError(f"expected a whole number from {minimum} to {maximum}")
        return number

    return parse


def choice(*words: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.strip().lower() not in words:
            raise ValueError(f"expected one of {', '.join(words)}")
        return value.strip().lower()

    return parse


# Which traces are exported, as OpenTelemetry calls it.
sampler = choice(
    *("always_on", "always_off", "traceidratio"),
    *("parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"),
)


def share(value: str) -> str:
    """A part of the whole, left as written for the package that reads it."""
    try:
        fits = 0 <= float(value) <= 1
    except ValueError:
        fits = False
    if not fits:
        raise ValueError("expected a number from 0 to 1")
    return value.strip()


def comma_list(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def directory(value: str) -> Path:
    return Path(value.strip()).expanduser().resolve()


def database_url(value: str) -> str:
    parts = urlsplit(value.strip())
    try:
        port = parts.port
    except ValueError:
        raise ValueError("its port is not a number from 1 to 65535") from None
    if parts.scheme == "sqlite" and not parts.netloc and parts.path.strip("/"):
        return value.strip()
    if parts.scheme in {"postgres", "postgresql"} and parts.path.strip("/") and port != 0:
        return value.strip()
    raise ValueError(
        "expected sqlite:////absolute/path/to/file or postgres://user:password@host:port/name"
    )


def redis_url(value: str) -> str:
    parts = urlsplit(value.strip())
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("its port is not a number from 1 to 65535") from None
    if parts.scheme in {"redis", "rediss"} and parts.hostname:
        return value.strip()
    if parts.scheme == "unix" and parts.path:
        return value.strip()
    raise ValueError("expected redis://host:port/0, rediss://host:port/0 or unix:///path/to/socket")


def web_address(value: str) -> str:
    """An address that others can be sent to: https, or http on this machine."""
    expected = "expected https://host/path (http only for 127.0.0.1, localhost and [::1])"
    try:
        parts = urlsplit(value.strip())
        usable = parts.port != 0 and bool(parts.hostname)
    except ValueError:
        raise ValueError(expected) from None
    secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    plain = re.fullmatch(r"[!#-;=?-\[\]_a-z~]+", value.strip(), re.IGNORECASE)
    if not (usable and secure and plain) or "@" in parts.netloc or parts.fragment:
        raise ValueError(expected)
    return value.strip()


def api_address(value: str) -> str:
    """Where an API is served that this service itself calls: model servers inside a network often
    have no certificate."""
    expected = "expected https://host/path or http://host/path without a name, key, ? or # in it"
    try:
        parts = urlsplit(value.strip())
        usable = parts.port != 0 and bool(parts.hostname) and parts.scheme in {"http", "https"}
    except ValueError:
        raise ValueError(expected) from None
    plain = re.fullmatch(r"[!$-;=A-\[\]_a-z~]+", value.strip(), re.IGNORECASE)
    if not (usable and plain) or "@" in parts.netloc:
        raise ValueError(expected)
    return value.strip().rstrip("/")


def identifier_address(value: str) -> str:
    """A web address that stands for somebody: nothing after the path."""
    if "?" in value or "#" in value:
        raise ValueError("expected https://host/path without anything after the path")
    return web_address(value)


def scopes(value: str) -> tuple[str, ...]:
    names = comma_list(value)
    if not all(re.fullmatch(r"[!#-\[\]-~]+", name) for name in names):
        raise ValueError("expected names of scopes, separated by commas")
    return names


def commands(value: str) -> dict[str, dict[str, Any]]:
    """Commands by name, each as {"command": [...], "environment": [...], "directory": ...}."""
    try:
        written = json.loads(value)
    except ValueError:
        written = None
    if not isinstance(written, dict):
        raise ValueError('expected a JSON object such as {"files": ["mcp-files", "--read-only"]}')
    return {name: _command(name, entry) for name, entry in written.items()}


def _command(name: str, entry: Any) -> dict[str, Any]:
    if not COMMAND_NAME.fullmatch(name):
        raise ValueError(
            f"expected names of letters, digits, dots, hyphens and underscores, not {name!r}"
        )
    parts = entry if isinstance(entry, Mapping) else {"command": entry}
    if unknown := sorted(set(parts) - {"command", "environment", "directory"}):
        raise ValueError(
            f"expected command, environment and directory for {name}, not {unknown[0]!r}"
        )
    folder = parts.get("directory")
    if not isinstance(folder, str | None):
        raise ValueError(f"expected a path as directory of {name}")
    return {
        "command": _words(name, parts.get("command")),
        "environment": _variables(name, parts.get("environment", [])),
        "directory": str(Path(folder).expanduser()) if folder else None,
    }


def _words(name: str, command: Any) -> list[str]:
    """The program and its arguments; a text is split as a shell would, but no shell ever runs it."""
    expected = f"expected {name} to be a command: a list of texts, or a text with spaces in between"
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError:
            raise ValueError(expected) from None
    fits = isinstance(command, list) and all(isinstance(word, str) for word in command)
    if not (fits and command and command[0]) or any("\0" in word for word in command):
        raise ValueError(expected)
    return list(command)


def _variables(name: str, variables: Any) -> list[str]:
    fits = isinstance(variables, list) and all(
        isinstance(one, str) and VARIABLE_NAME.fullmatch(one) for one in variables
    )
    if not fits:
        raise ValueError(
            f"expected environment of {name} to be a list of the variables operators may set"
        )
    return list(variables)
