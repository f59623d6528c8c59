"""JSON-RPC messages of clients, read strictly and alike at every door.

What is not exactly JSON in UTF-8 is refused: NaN, numbers beyond any float, half characters,
bottomless nesting. A request with an id that cannot be one is refused as well; taken for a
notification, it would never be answered.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import orjson
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import from_json

from tools.errors import ControlPlaneError, ErrorDetails, InvalidMessage, MalformedRequest
from tools.mcp_server.failures import error_body


def decoded(raw: bytes) -> Any:
    """The JSON in `raw`.

    Raises:
        MalformedRequest: there is none.
    """
    try:
        found = from_json(raw, allow_inf_nan=False)
        if not _every_number_fits(raw):
            json.dumps(found, allow_nan=False)
    except ValueError:
        raise MalformedRequest(
            "The message is not JSON",
            ErrorDetails(
                expected="one JSON-RPC 2.0 message in UTF-8",
                suggestion="Check how the client encodes its messages",
            ),
        ) from None
    return found


def _every_number_fits(raw: bytes) -> bool:
    """Whether it is certain that each number in `raw` is one that a float can hold.

    orjson refuses those that none can, and makes floats of long integers, which stay what they are
    here. To read twice is still cheaper than to look for such numbers in any other way.
    """
    try:
        orjson.loads(raw)
    except ValueError:
        return False
    return True


def parsed(raw: bytes) -> SessionMessage:
    """The message in `raw`.

    Raises:
        MalformedRequest: it is not JSON, or no message (then as InvalidMessage).
    """
    found = decoded(raw)
    try:
        message = types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValidationError:
        raise _invalid() from None
    if isinstance(message, types.JSONRPCNotification) and "id" in found:
        raise _invalid()
    return SessionMessage(message)


def encoded(message: SessionMessage) -> str:
    return message.message.model_dump_json(by_alias=True, exclude_unset=True)


def refusal_of(error: ControlPlaneError) -> dict[str, Any]:
    """What is sent back for a message that cannot be taken; whose it was is not known."""
    return {"jsonrpc": "2.0", "id": None, "error": error_body(error)}


def _invalid() -> InvalidMessage:
    return InvalidMessage(
        "This is no JSON-RPC 2.0 message",
        ErrorDetails(
            expected="one request, notification or response; ids are texts or whole numbers",
            suggestion="Send one message at a time; batches are not taken",
        ),
    )
