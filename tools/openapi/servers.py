"""Addresses of an API: templates filled in, relative ones completed, operations that live elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urljoin

from tools.openapi.document import Document
from tools.openapi.faults import Unservable

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")


def listed(servers: Any, address: str = "") -> tuple[str, ...]:
    """The addresses in a list of server objects, each once; `address` is that of the document."""
    found: dict[str, None] = {}
    for one in servers if isinstance(servers, list) else ():
        url = one.get("url") if isinstance(one, Mapping) else None
        if isinstance(url, str):
            found[_complete(_filled(url, one.get("variables")), address)] = None
    return tuple(found)


def _filled(url: str, variables: Any) -> str:
    """`url` with the default of each variable; one without a default stays as it is."""
    known = variables if isinstance(variables, Mapping) else {}

    def value(found: re.Match[str]) -> str:
        variable = known.get(found[1])
        stated = variable if isinstance(variable, Mapping) else {}
        choices = stated.get("enum")
        first = choices[0] if isinstance(choices, list) and choices else found[0]
        return str(stated.get("default", first))

    return _VARIABLE.sub(value, url)


def _complete(url: str, address: str) -> str:
    if address:
        url = urljoin(address, url)
    elif url.startswith("//"):
        url = f"https:{url}"
    return url.rstrip("/") or "/"


def of_document(document: Document, address: str) -> tuple[str, ...]:
    """Where the API is by what the document says of itself; empty when it does not."""
    if document.is_swagger:
        return _of_swagger(document.root, address)
    return listed(document.root.get("servers"), address)


def _of_swagger(root: Mapping[str, Any], address: str) -> tuple[str, ...]:
    host, base = root.get("host"), root.get("basePath")
    path = "/" + base.strip("/") if isinstance(base, str) else ""
    if not isinstance(host, str) or not host:
        return (_complete(path or "/", address),) if path or address else ()
    schemes = root.get("schemes")
    stated = [one for one in schemes if isinstance(one, str)] if isinstance(schemes, list) else []
    # An address that is safe to use goes first.
    usable = sorted({one for one in stated if one in {"https", "http"}}, reverse=True) or ["https"]
    return tuple(f"{scheme}://{host}{path}".rstrip("/") for scheme in usable)


def most_used(addresses: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """What most operations say, for documents that say nothing for all of them."""
    counted = Counter(one for one in addresses if one)
    if not counted:
        return ("/",)
    return min(counted, key=lambda one: (-counted[one], one))


def _without_scheme(url: str) -> str:
    """`url` as far as it tells one place from another; the service decides how to get there."""
    return url.partition(":")[2].rstrip("/") if "://" in url else url.rstrip("/")


def path_below(own: tuple[str, ...], servers: tuple[str, ...]) -> str:
    """What goes before the path of an operation with addresses of its own, seen from `servers`.

    Raises:
        Unservable: it is somewhere else.
    """
    if not own:
        return ""
    for main in map(_without_scheme, servers):
        for one in map(_without_scheme, own):
            if one == main or (one.startswith(main + "/") and main.startswith("//")):
                return one.removeprefix(main)
    raise Unservable(
        f"It is at another address than the rest, {own[0][:200]}. Make a service of that address for it."
    )
