"""Texts of strangers, written so that no language takes them for anything but text."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, Final

import yaml

from tools.wrappers import naming

_WIDTH: Final = 96
_SPACES: Final = re.compile(r"\s+")
_LONG_WORD: Final = re.compile(rf"\S{{{_WIDTH}}}(?=\S)")


def visible(text: str) -> str:
    """`text` with every character that cannot be seen written as its number; line ends stay.

    Nothing in it moves a cursor, turns the direction of reading or ends a line where Python or a
    shell see none.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return "".join(one if one.isprintable() or one == "\n" else _escaped(one) for one in plain)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def one_line(text: str, most: int = 0) -> str:
    """`text` on one line, and not longer than `most` characters."""
    line = _SPACES.sub(" ", visible(text)).strip()
    return line if not most or len(line) <= most else line[: most - 1].rstrip() + "…"


def sh(text: object) -> str:
    """A word of a shell."""
    return shlex.quote(str(text).replace("\0", "�"))


def sh_lines(text: str, indent: int = 0) -> str:
    """A text of several lines as one word of a shell, shown as it is."""
    return sh(textwrap.indent(wrapped(text), " " * indent))


def py(value: object) -> str:
    """A literal of Python."""
    return repr(value)


def docstring(text: str, indent: int = 4) -> str:
    """What stands between three quotes, wrapped, from its second line on indented."""
    quoted = wrapped(text).replace("\\", "\\\\").replace('"', '\\"')
    return textwrap.indent(quoted, " " * indent).strip()


def argparse_help(text: str) -> str:
    """A literal of Python that argparse prints as `text`: it takes % for something else."""
    return repr(one_line(text).replace("%", "%%"))


def js(value: object) -> str:
    """A literal of JavaScript."""
    return json.dumps(value)


def jsdoc(text: str, indent: int = 2) -> str:
    """Lines of a comment of TypeScript."""
    lines = wrapped(text).replace("*/", "*\\/").split("\n")
    return "\n".join(f"{' ' * indent} * {line}".rstrip() for line in lines).strip()


def jsdoc_line(text: str, most: int = 0) -> str:
    """What stands in a comment of TypeScript that is one line."""
    return one_line(text, most).replace("*/", "*\\/")


def yaml_text(text: str) -> str:
    """One line of YAML that is this text, whatever it looks like."""
    written: str = yaml.safe_dump(text, allow_unicode=True, width=1_000_000, default_style='"')
    return written.strip()


def cell(text: str) -> str:
    """A cell of a table in Markdown."""
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")


def quoted_lines(text: str) -> str:
    """Paragraphs of Markdown that are somebody else's words."""
    return "\n".join(f"> {line}".rstrip() for line in visible(text).strip().split("\n"))


def to_json(value: object, indent: int = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


def wrapped(text: str) -> str:
    """`text` in lines that can be read, its own line ends kept."""
    # Words longer than a line are cut beforehand: textwrap takes the square of their length for it.
    lines = _LONG_WORD.sub(r"\g<0> ", visible(text).strip()).split("\n")
    return "\n".join(textwrap.fill(line, _WIDTH, break_on_hyphens=False) for line in lines)


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "argparse_help": argparse_help,
    "camel_to_snake": naming.camel_to_snake,
    "cell": cell,
    "docstring": docstring,
    "js": js,
    "jsdoc": jsdoc,
    "jsdoc_line": jsdoc_line,
    "kebab": lambda text: naming.kebab(text, "x"),
    "one_line": one_line,
    "py": py,
    "quoted_lines": quoted_lines,
    "sh": sh,
    "sh_lines": sh_lines,
    "snake_to_camel": naming.snake_to_camel,
    "to_json": to_json,
    "upper_first": naming.upper_first,
    "visible": visible,
    "wrapped": wrapped,
    "yaml_text": yaml_text,
}
