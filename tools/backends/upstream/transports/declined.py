"""What an answer means that is not the plain answer to a request."""

from __future__ import annotations

from typing import Any, Final

import orjson

from tools.backends.upstream.channel import Garbage, Message, Refused, SessionExpired
from tools.backends.upstream.transports.streams import Reply, read_body
from tools.context.redact import redact_text

_LONGEST_REASON: Final = 200


async def declined(answer: Reply, place: str, request_id: Any, *, in_session: bool) -> Message:
    """The error that the server answered the request with, if that is what it did.

    Without a `request_id` nothing was asked, and this always raises.

    Raises:
        SessionExpired: it no longer knows the session.
        Refused: it declined by a status.
        Garbage: it said that all is well, and gave no answer.
    """
    status = answer.status
    if status < 300:
        raise Garbage(f"{place} gave status {status} and no answer")
    if status < 400:
        raise Refused(
            f"{place} sends its callers on to {_elsewhere(answer)}, which is not followed",
            status=status,
        )
    if status == 404 and in_session:
        raise SessionExpired
    error = _json_rpc_error(await read_body(answer))
    reason = str(error["error"].get("message", "")) if error else ""
    if status == 400 and in_session and "session" in reason.lower():
        raise SessionExpired
    if error and request_id is not None and status not in (401, 403) and status < 500:
        return {**error, "id": request_id}
    raise Refused(f"{place} answered with status {status}{_told(reason)}", status=status)


def _json_rpc_error(body: bytes) -> dict[str, Any] | None:
    try:
        read = orjson.loads(body)
    except ValueError:
        return None
    if isinstance(read, dict) and isinstance(read.get("error"), dict) and "jsonrpc" in read:
        return read
    return None


def _told(reason: str) -> str:
    return f": {redact_text(reason[:_LONGEST_REASON])}" if reason else ""


def _elsewhere(answer: Reply) -> str:
    """Where a redirect leads to, as far as it may be told."""
    try:
        target = answer.url.join(type(answer.url)(answer.headers.get("location", "")))
        return redact_text(str(target.with_query(None).with_fragment(None).with_user(None)))
    except ValueError:
        return "somewhere else"
