"""An envelope as the result of tools/call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tools.contracts import Envelope, wire_time
from tools.mcp_server.failures import failed_call
from tools.mcp_server.older import BEFORE_RESOURCE_LINKS, readable

RESULT_URI: Final = "result://{request_id}"
# What is told of a file in place of its bytes.
FILE_KEYS: Final = frozenset({"content_type", "bytes", "sha256", "url", "note"})


def call_result(envelope: Envelope, version: str) -> dict[str, Any]:
    """The wire form of a call's answer.

    Raises:
        MCPError: when the failure is one for the client program.
    """
    if envelope.asked is not None:
        return {**envelope.asked, "_meta": _meta(envelope)}
    if not envelope.success or envelope.data is None:
        result = readable(failed_call(envelope), version)
    elif envelope.result is not None:
        result = {**readable(envelope.result, version), "isError": False}
    else:
        text = envelope.encoded or json.dumps(envelope.data, ensure_ascii=False)
        result = {
            "content": [
                {"type": "text", "text": text},
                *_whole(envelope, version),
                *_file(envelope.data, version),
                *envelope.media,
            ],
            "structuredContent": dict(envelope.data),
            "isError": False,
        }
    result["_meta"] = {**result.get("_meta", {}), **_meta(envelope)}
    result["resultType"] = "complete"
    return result


def _meta(envelope: Envelope) -> dict[str, Any]:
    meta = {name: value for name, value in envelope.meta.items() if name != "details"}
    if envelope.code is not None:
        meta["code"] = str(envelope.code)
    return {
        "request_id": str(envelope.request_id),
        "timestamp": wire_time(envelope.timestamp),
        **meta,
    }


def _file(data: Mapping[str, Any], version: str) -> list[dict[str, Any]]:
    """A link to the file that an HTTP API answered with: its bytes are of no use to a model."""
    if set(data) != FILE_KEYS or version in BEFORE_RESOURCE_LINKS:
        return []
    return [
        {
            "type": "resource_link",
            "uri": data["url"],
            "name": str(data["url"]).partition("?")[0].rpartition("/")[2] or "file",
            "mimeType": data["content_type"],
            "size": data["bytes"],
        }
    ]


def _whole(envelope: Envelope, version: str) -> list[dict[str, Any]]:
    """Where the whole of a shortened answer is: in words, and as a link for clients that follow it."""
    budget = envelope.meta.get("budget")
    if not isinstance(budget, Mapping) or not budget.get("applied"):
        return []
    uri = RESULT_URI.format(request_id=envelope.request_id)
    words = (
        f"This answer was shortened from {budget['tokens_before']} to {budget['tokens_after']} "
        f"tokens. The whole is kept for a while: read the resource {uri}, or call read_result with "
        f'{{"request_id": "{envelope.request_id}"}} and a pointer or page.'
    )
    blocks: list[dict[str, Any]] = [{"type": "text", "text": words}]
    if version not in BEFORE_RESOURCE_LINKS:
        blocks.append(
            {
                "type": "resource_link",
                "uri": uri,
                "name": f"result-{envelope.request_id}",
                "title": "The whole result",
                "mimeType": "application/json",
            }
        )
    return blocks
