"""What went wrong with a server, in words for the caller and for the operator.

Callers read what they can do; addresses, commands and the words of the system go to the log.
"""

from __future__ import annotations

import logging
from typing import Final

from tools.backends.upstream.channel import ChannelFault, Garbage, Refused, TooLarge
from tools.backends.upstream.connection import Down
from tools.backends.upstream.session import RpcError
from tools.context.redact import redact_text
from tools.errors import (
    ControlPlaneError,
    ErrorDetails,
    ExecutionFailed,
    HeldBack,
    TransportFault,
    UpstreamFailed,
)
from tools.upstreams import Upstream

logger = logging.getLogger(__name__)

RETRY_AFTER: Final = 5
LONGEST_REASON: Final = 500
INTERNAL_ERROR: Final = -32603
MISSING_CAPABILITY: Final = -32021
LOST: Final = (
    "The connection was lost while the tool ran; whether it did its work is not known. "
    "Look before you try again"
)


def unreachable(server: Upstream, tool: str, fault: ChannelFault) -> ControlPlaneError:
    """The server did not answer, or not in MCP."""
    logger.warning("%s failed at %s: %s", tool, server.slug, fault)
    if isinstance(fault, Refused) and fault.status in {401, 403}:
        return UpstreamFailed(
            f"{server.name} does not accept the credentials it is called with",
            ErrorDetails(suggestion="Tell the operator: check the server's headers"),
        )
    if isinstance(fault, TooLarge):
        return UpstreamFailed(
            f"{server.name} gave an answer that is too large",
            ErrorDetails(suggestion="Ask for less at once"),
        )
    if isinstance(fault, Garbage | Refused):
        return UpstreamFailed(
            f"{server.name} gave an answer that cannot be understood",
            ErrorDetails(suggestion="Try again later, or tell the operator"),
        )
    words = server.unavailable_message or f"{server.name} cannot be reached"
    if isinstance(fault, Down) or not fault.sent:
        return TransportFault(words, RETRY_AFTER)
    return TransportFault(words, RETRY_AFTER, LOST)


def answered_with_error(server: Upstream, tool: str, error: RpcError) -> ControlPlaneError:
    """The server understood and declined, or failed on a bug of its own."""
    logger.warning("%s at %s: error %d %s", tool, server.slug, error.code, error.message[:200])
    if error.code == MISSING_CAPABILITY:
        return cannot_be_asked(tool)
    reason = redact_text(error.message[:LONGEST_REASON]) or "no reason given"
    kind = UpstreamFailed if error.code == INTERNAL_ERROR else ExecutionFailed
    return kind(
        f"{server.name} refused the call: {reason}",
        ErrorDetails(suggestion="Check the arguments, or tell the operator"),
    )


def cannot_be_asked(tool: str, words: str = "") -> ControlPlaneError:
    """The tool has a question, and nobody is there to answer; `words` are what it said to that."""
    then = f". It says: {words}" if words else ""
    return ExecutionFailed(
        f"{tool} has to ask its caller something, and this caller cannot be asked{then}",
        ErrorDetails(suggestion="Call it with an MCP client that supports elicitation"),
    )


def malformed(server: Upstream, tool: str, what: str) -> ControlPlaneError:
    """The server answered with something that is not the result of a tool."""
    logger.warning("%s at %s gave a malformed result: %s", tool, server.slug, what)
    return UpstreamFailed(
        f"{server.name} gave an answer that cannot be understood",
        ErrorDetails(suggestion="Try again later, or tell the operator"),
    )


def held_back(server: Upstream, tool: str, *, gone: bool) -> ControlPlaneError:
    """The tool is not what was approved."""
    logger.warning("%s of %s is %s", tool, server.slug, "gone" if gone else "changed")
    return HeldBack.of(tool, server.name, gone=gone)
