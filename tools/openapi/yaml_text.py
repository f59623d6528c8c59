"""YAML as JSON would have it: no dates, no `no` that means false, and no bombs.

Only what JSON can say is recognised: `on`, `yes`, `2020-01-01` and `012` stay texts, as the authors of
API documents mean them. What aliases expand to is counted before anything is built.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from tools.openapi.faults import DocumentFault

MOST_NODES: Final = 2_000_000
LARGEST_INTEGER: Final = 2**63 - 1
_CONTAINERS: Final = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS: Final = (yaml.MappingEndEvent, yaml.SequenceEndEvent)

Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(Base):  # type: ignore[misc]
    """The safe loader with the scalars of JSON."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        """Keys are texts as they are written: 1 and true are two, and 1.10 is not 1.1."""
        self.flatten_mapping(node)
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise DocumentFault("A key of the YAML text is not a text. Use what JSON has.")
            mapping[key.value] = self.construct_object(value, deep)
        return mapping


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^-?(?:0|[1-9][0-9]{0,199})$", "-0123456789"),
    ("float", r"^-?(?:0|[1-9][0-9]{0,199})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,2})?$", "-0123456789"),
    ("merge", r"^(?:<<)$", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def parse_yaml(text: str, deepest: int) -> Any:
    """What `text` says, in the types of JSON.

    Raises:
        DocumentFault: it is not YAML, nested deeper than `deepest`, or grows beyond all bounds.
    """
    try:
        _measure(text, deepest)
        return _plain(yaml.load(text, Loader=_Loader))  # noqa: S506 - the safe loader, narrowed
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as fault:
        if isinstance(fault, DocumentFault):
            raise
        raise DocumentFault(f"The text is not valid YAML: {_where(fault)}. Correct it.") from fault


def _where(fault: Exception) -> str:
    """The parser's complaint on one line, with its place in the text."""
    mark = getattr(fault, "problem_mark", None)
    problem = str(getattr(fault, "problem", None) or fault).strip() or "it cannot be read"
    place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    return f"{problem.splitlines()[0][:200]}{place}"


class _Sizes:
    """How many nodes each anchor stands for once its aliases are followed."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}
        # Open containers: the anchor of each and the nodes in it so far.
        self.open: list[tuple[str | None, int]] = [(None, 0)]

    def add(self, nodes: int) -> None:
        anchor, so_far = self.open[-1]
        self.open[-1] = (anchor, so_far + nodes)
        if so_far + nodes > MOST_NODES:
            raise DocumentFault(
                "The aliases of the YAML text expand to more than two million values. "
                "Write the document without them, or as JSON."
            )

    def close(self) -> None:
        anchor, nodes = self.open.pop()
        if anchor is not None:
            self.of[anchor] = nodes + 1
        self.add(nodes + 1)


def _measure(text: str, deepest: int) -> None:
    sizes = _Sizes()
    for event in yaml.parse(text, Loader=Base):
        if isinstance(event, _CONTAINERS):
            sizes.open.append((event.anchor, 0))
            if event.anchor is not None:
                # Until it is closed, an alias of it would be a loop.
                sizes.of.pop(event.anchor, None)
            if len(sizes.open) - 1 > deepest:
                raise DocumentFault(f"The document is nested deeper than {deepest} levels.")
        elif isinstance(event, _ENDS):
            sizes.close()
        elif isinstance(event, yaml.ScalarEvent):
            if event.anchor is not None:
                sizes.of[event.anchor] = 1
            sizes.add(1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes.of:
                raise DocumentFault(
                    f"The YAML alias *{event.anchor} stands for nothing or for itself. Remove it."
                )
            sizes.add(sizes.of[event.anchor])


def _plain(value: Any) -> Any:
    """`value` with nothing that JSON lacks."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return float(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise DocumentFault(f"The YAML text holds a {type(value).__name__}. Use what JSON has.")
