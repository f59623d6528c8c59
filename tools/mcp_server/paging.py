"""Pages of a list in a stable order. A cursor names the last item seen, so changes in between do no harm."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final

import mcp_types as types

from tools.errors import ErrorDetails, InvalidArguments
from tools.mcp_server.failures import protocol_error

PAGE_SIZE: Final = 500


def page_of(
    keys: Sequence[str], cursor: str | None, size: int | None = None
) -> tuple[slice, str | None]:
    """Where the page after `cursor` lies in the sorted `keys`, and the cursor of the next one.

    Pages have `size` items, else PAGE_SIZE.

    Raises:
        MCPError: the cursor is none of ours.
    """
    start = 0 if cursor is None else bisect_right(keys, _key(cursor))
    stop = min(start + (size or PAGE_SIZE), len(keys))
    following = _cursor(keys[stop - 1]) if 0 < stop < len(keys) else None
    return slice(start, stop), following


def page_result(
    name: str,
    keys: Sequence[str],
    items: Sequence[Any],
    params: types.PaginatedRequestParams | None,
) -> dict[str, Any]:
    """One page as the result of a list method."""
    span, following = page_of(keys, params.cursor if params else None)
    result: dict[str, Any] = {name: list(items[span]), "resultType": "complete"}
    if following is not None:
        result["nextCursor"] = following
    return result


def _cursor(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode("ascii")


def _key(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise protocol_error(
            InvalidArguments(
                "Invalid parameter: cursor",
                ErrorDetails(
                    parameter="cursor",
                    value=cursor[:100],
                    expected="the nextCursor of an earlier page",
                    suggestion="List again without a cursor",
                ),
            )
        ) from None
