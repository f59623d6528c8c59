"""Addresses of resources: absolute URIs (RFC 3986) and templates with `{var}` (RFC 6570, level 1)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from tools.offerings.placeholders import IDENTIFIER

RESULT_SCHEME: Final = "result"
LONGEST_URI: Final = 500
_ABSOLUTE: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+"
)
_VARIABLE: Final = re.compile(rf"\{{({IDENTIFIER})\}}")
# A value never reaches over the parts of an address, so `notes://{id}` does not swallow a path.
_VALUE: Final = r"[^/?#]+"


def is_absolute(uri: str) -> bool:
    """Whether `uri` is an absolute URI with something after its scheme."""
    if not _ABSOLUTE.fullmatch(uri):
        return False
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.netloc or parts.path.strip("/") or parts.query)


def is_reserved(uri: str) -> bool:
    """Whether `uri` is in the scheme under which kept results are read."""
    return uri.partition(":")[0].lower() == RESULT_SCHEME


def uri_faults(uri: str) -> list[str]:
    """Why `uri` cannot be the address of one resource; empty when it can."""
    if is_reserved(uri):
        return [f"{RESULT_SCHEME}:// is reserved for kept results."]
    if not is_absolute(uri):
        return [
            "Must be an absolute URI such as docs://guide or https://example.org/a; "
            "other characters than RFC 3986 allows are written as %XX."
        ]
    return []


def template_faults(template: str) -> list[str]:
    """Why `template` cannot be the address of a family of resources; empty when it can."""
    names = template_variables(template)
    if not names:
        return ["A template has at least one {variable}."]
    if len(set(names)) < len(names):
        return ["Each variable may stand in the template once."]
    if "}{" in template:
        return ["Between two variables must be a text that tells where the first one ends."]
    if "{" in template.partition(":")[0]:
        return ["The scheme cannot be a variable."]
    # With a digit in place of each variable the rest must be an address; digits fit anywhere.
    if "{" in (plain := _VARIABLE.sub("0", template)) or "}" in plain:
        return ["Use only plain variables such as {name}; operators are not understood."]
    return uri_faults(plain)


def template_variables(template: str) -> tuple[str, ...]:
    """The names in braces, in order."""
    return tuple(_VARIABLE.findall(template))


def literal_length(template: str) -> int:
    """How many characters of `template` stand outside of its variables."""
    return len(_VARIABLE.sub("", template))


def match_template(template: str, uri: str) -> dict[str, str] | None:
    """The decoded variables with which `template` gives `uri`; None when it never does."""
    found = _pattern(template).fullmatch(uri)
    if found is None:
        return None
    return {name: unquote(value) for name, value in found.groupdict().items()}


@lru_cache(maxsize=4096)
def _pattern(template: str) -> re.Pattern[str]:
    """Matches in time linear to the address: what a variable took once is not tried otherwise."""
    pieces = _VARIABLE.split(template)
    literals, names = pieces[::2], pieces[1::2]
    expression = re.escape(literals[0])
    for position, name in enumerate(names, start=1):
        literal = re.escape(literals[position])
        if position < len(names):
            expression += f"(?>(?P<{name}>{_VALUE}?){literal})"
        else:
            expression += f"(?P<{name}>{_VALUE}){literal}"
    return re.compile(expression)
