"""The secrets a server is called with, kept out of what it sends back.

Servers that show their caller's headers or their own environment, in a result or an error, would
otherwise hand them to every agent, to the journal and to the log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tools.backends.upstream.channel import ChannelFault, Garbage, Message
from tools.backends.upstream.transports.sealed import opened_texts
from tools.context.redact import REDACTED, SECRET_NAME
from tools.upstreams import Upstream

# Shorter ones stand in texts by chance.
SHORTEST: Final = 8
_ALSO: Final = re.compile(r"auth|key|session|signature", re.IGNORECASE)
_SCHEMES: Final = ("bearer", "basic", "token", "apikey", "digest")


class Secrets:
    """What must not be told of one server."""

    def __init__(self, upstream: Upstream) -> None:
        """Raises ChannelFault when they cannot be opened."""
        named = {
            **opened_texts(upstream.environment, "environment"),
            **opened_texts(upstream.headers, "headers"),
        }
        hidden = {part for name, value in named.items() for part in _parts(name, value)}
        # The longest first: a token is part of the header that carries it.
        self._hidden = sorted(hidden, key=len, reverse=True)

    def without(self, message: Message) -> Message:
        """`message` as it may be told.

        Raises:
            Garbage: it is nested too deeply to be looked through.
        """
        if not self._hidden:
            return message
        try:
            cleaned: Message = self._cleaned(message)
        except RecursionError:
            raise Garbage("it sent what is nested too deeply") from None
        return cleaned

    def hide_in(self, fault: ChannelFault) -> None:
        """Take them out of the words of a fault, which may have come from the server."""
        fault.args = tuple(self._cleaned(part) for part in fault.args)

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret in self._hidden:
                if secret in value:
                    value = value.replace(secret, REDACTED)
            return value
        if isinstance(value, Mapping):
            return {self._cleaned(key): self._cleaned(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._cleaned(item) for item in value]
        return value


def _parts(name: str, value: str) -> list[str]:
    """The value of a secret, and the token in it; nothing when the name says that it is none."""
    if not (SECRET_NAME.search(name) or _ALSO.search(name)):
        return []
    scheme, _, token = value.strip().partition(" ")
    parts = [value.strip(), token.strip() if scheme.lower() in _SCHEMES else ""]
    return [part for part in parts if len(part) >= SHORTEST]
