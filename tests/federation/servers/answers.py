"""What a server answered, in one form whichever way it came, without what differs by nature."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

# Smallest picture there is.
PICTURE: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# Moments, ids of sessions, and who may read the files of a process.
_CHANGING: Final = (
    (re.compile(r"\w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d GMT\S* \([^)]*\)"), "MOMENT"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?"), "MOMENT"),
    (re.compile(r"\d{1,2}:\d\d:\d\d( [AP]M)?"), "MOMENT"),
    (re.compile(r"permissions: \d{3}"), "permissions: SOME"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "SESSION"),
)
_ENVIRONMENT: Final = "get-env"

Answer = dict[str, Any]


def of_result(tool: str, result: CallToolResult, folder: Path) -> Answer:
    """The parts of a result that a caller goes by."""
    written = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    answer = {
        "content": written["content"],
        "structuredContent": written.get("structuredContent"),
        "isError": written.get("isError", False),
    }
    told: Answer = settled(tool, answer, folder)
    return told


def of_error(fault: MCPError) -> Answer:
    """A request that the server declined."""
    return {"declined": fault.error.message}


def settled(tool: str, answer: Any, folder: Path) -> Any:
    """The answer with a word for each moment, session and folder, which no two runs share."""
    text = json.dumps(_opened(answer), ensure_ascii=False).replace(str(folder), "FOLDER")
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    parsed = json.loads(text)
    if tool == _ENVIRONMENT:
        # Each child is started with an environment of its own.
        _forget_environment(parsed)
    return parsed


def over_rest(answer: Answer) -> Any:
    """What REST has to say where a client of MCP gets `answer`."""
    content, structured = answer["content"], answer["structuredContent"]
    if structured is None:
        return {"content": content}
    if all(block["type"] == "text" for block in content):
        return structured
    return {"content": content, "structuredContent": structured}


def texts(answer: Mapping[str, Any]) -> str:
    return "\n".join(block["text"] for block in answer["content"] if block["type"] == "text")


def _opened(value: Any) -> Any:
    """With texts that travel as bytes written out, because there may be moments in them."""
    if isinstance(value, list):
        return [_opened(one) for one in value]
    if not isinstance(value, dict):
        return value
    opened = {key: _opened(one) for key, one in value.items()}
    if isinstance(opened.get("blob"), str):
        with suppress(UnicodeDecodeError):
            opened["blob"] = base64.b64decode(opened["blob"]).decode()
    return opened


def _forget_environment(answer: Mapping[str, Any]) -> None:
    for block in answer.get("data", answer)["content"]:
        assert isinstance(json.loads(block["text"]), dict)
        block["text"] = "ENVIRONMENT"
