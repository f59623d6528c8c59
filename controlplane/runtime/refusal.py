"""Why a start is refused."""

from __future__ import annotations


class StartRefused(Exception):
    """The control plane cannot start; the message tells an operator why and what to change."""
