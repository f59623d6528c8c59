"""The names under which tools and prompts of upstream servers are known here.

A name is an ASCII identifier of at most 64 characters, no keyword, with the prefix of its server.
The same names come out whenever the same things are named in the same order.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Collection, Iterable
from typing import Final

LONGEST_NAME: Final = 64
_HASH_LENGTH: Final = 8
_OTHER: Final = re.compile(r"[^A-Za-z0-9_]")


def exposed_name(remote_name: str, prefix: str = "") -> str:
    """What `remote_name` becomes when nothing else has that name."""
    return _finished(_cleaned(remote_name), prefix, remote_name)


def unique_name(remote_name: str, slug: str, prefix: str, taken: Collection[str]) -> str:
    """A name that is not taken: its own, else one with the name of the server before it."""
    if (name := exposed_name(remote_name, prefix)) not in taken:
        return name
    cleaned = f"{slug.replace('-', '_')}__{_cleaned(remote_name)}"
    name = _finished(cleaned, prefix, remote_name)
    attempt = 0
    while name in taken:
        attempt += 1
        # Other names of the same server come out alike, such as a-b and a.b.
        name = _marked(_finished(cleaned, prefix, remote_name), f"{remote_name} {attempt}")
    return name


def in_naming_order(remote_names: Iterable[str]) -> list[str]:
    """The order in which to name them: those that can keep their names come first."""
    return sorted(remote_names, key=lambda name: (_OTHER.search(name) is not None, name))


def _cleaned(remote_name: str) -> str:
    cleaned = _OTHER.sub("_", remote_name)
    # Of names in other scripts nothing is left that can be read.
    return cleaned if cleaned.strip("_") else f"tool_{_digest(remote_name)}"


def _finished(cleaned: str, prefix: str, remote_name: str) -> str:
    has_prefix = cleaned.startswith(prefix) and len(cleaned) > len(prefix)
    name = cleaned if has_prefix else prefix + cleaned
    if name[0].isdigit():
        name = f"_{name}"
    if keyword.iskeyword(name):
        name = f"{name}_"
    return name if len(name) <= LONGEST_NAME else _marked(name, remote_name)


def _marked(name: str, text: str) -> str:
    """`name` with a hash of `text` at its end, cut so that both fit."""
    return f"{name[: LONGEST_NAME - _HASH_LENGTH - 1]}_{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
