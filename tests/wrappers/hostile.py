"""Tools as a service would describe them that means harm, or is merely strange."""

from __future__ import annotations

from typing import Any, Final

from tests.wrappers.foreign import tool

# Each would leave a file `pwned` behind where it is taken for anything but text.
TEXTS: Final = (
    '"; touch pwned; "',
    "'; touch pwned; '",
    "$(touch pwned)",
    "`touch pwned`",
    '"""\nimport os; os.system("touch pwned")\n"""',
    '*/ require("fs").writeFileSync("pwned", ""); /*',
    "\nEOF\ntouch pwned\nEOF\n",
    "line\r\ntouch pwned\r",
    "line\u2028touch pwned\u2029end\x85",
    "\\",
    'ends with a quote"',
    "%(prog)s %s %d %% 100 % {{ 7 * 7 }} {% raw %} ${HOME} #{x}",
    "\x1b[31mred\x1b[0m \x07 \x00 nul \u202eturned",
    "😀 👩‍👩‍👧 Grüße 漢字",
    "---\nname: other\n---\n<script>alert(1)</script> `tick` | pipe",
    "x" * 8_000,
    "half \ud83d",
    # These are code wherever they stand, not only at the beginning of a line.
    '""" + str(__import__("os").system("touch pwned")) + """',
    '*/ process.getBuiltinModule("fs").writeFileSync("pwned", ""); /*',
)
NAMES: Final = (
    *("class", "def", "self", "cls", "None", "import", "list", "str", "type", "print", "Any"),
    *("tool", "url", "body", "key", "timeout", "json", "help", "retry", "service_url", "values"),
    *("arguments", "arguments_", "UNSET", "options", "names", "fail", "PATH", "IFS", "HOME"),
    *(
        "__init__",
        "__proto__",
        "constructor",
        "toString",
        "then",
        "toJSON",
        "valueOf",
        "1st",
        "max depth",
        "maxDepth",
    ),
    *(
        "max_depth",
        "MAX_DEPTH",
        "--flag",
        "-n",
        "a.b",
        "a/b",
        "../../up",
        "$x",
        "`x`",
        "é",
        "漢字",
        "",
    ),
    *(
        "quote'quote",
        'double"double',
        "new\nline",
        "back\\slash",
        "*/",
        "😀",
        "%s",
        "{{x}}",
        "key]",
    ),
)
VALUES: Final = (
    *TEXTS[:12],
    *("-", "--", "--help", "-1", "null", "true", "3", '{"a": 1}', "@/etc/passwd", " space "),
    *("tab\tand\nlines\n", "Grüße 😀 漢字", "x" * 8_000, "~", "*", "a=b", "$'\\x41'"),
)


def hostile_tools() -> list[dict[str, Any]]:
    """A tool for each text, one with every name there is, and tools by such names."""
    texts = [
        tool(
            f"text_{place}", text, word={"type": "string", "description": text, "enum": ["a", text]}
        )
        for place, text in enumerate(TEXTS)
    ]
    every = tool("every_name", "Has them all.", **{name: {"type": "string"} for name in NAMES})
    named = [tool(name, "Is called so.") for name in dict.fromkeys(NAMES) if name.strip()]
    plain = tool("plain", "Takes anything.", word={"type": "string"}, **KINDS)
    many = tool(
        "many", "Takes many.", **{f"w{place}": {"type": "string"} for place in range(len(VALUES))}
    )
    return [*texts, every, *named, plain, many]


KINDS: Final[dict[str, Any]] = {
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "truth": {"type": "boolean"},
    "items": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
    "anything": {},
    "maybe": {"type": ["string", "null"]},
}
