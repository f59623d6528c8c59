"""JSON that a person typed: read, or told what is wrong with it."""

from __future__ import annotations

import json
from typing import Any, Final

# Beyond this neither pages nor services can handle it.
DEEPEST: Final = 100


def parse(text: str) -> tuple[Any, str]:
    """The JSON value of `text`, or why it has none."""
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as fault:
        return None, f"Not valid JSON at line {fault.lineno}, column {fault.colno}: {fault.msg}."
    except UnicodeEncodeError:
        return None, "Not valid JSON: it holds half a character (\\ud800 to \\udfff)."
    except RecursionError:
        return None, "Not valid JSON: nested too deeply."
    except ValueError:
        return None, "Not valid JSON: it holds a number that JSON does not have."
    return (None, "Nested too deeply.") if _is_deep(value) else (value, "")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level if _holds(one)]
        level = [one for many in inner for one in many]
        if not level:
            return False
    return True


def _holds(value: Any) -> bool:
    return isinstance(value, dict | list)


def _refuse(name: str) -> Any:
    raise ValueError(name)
