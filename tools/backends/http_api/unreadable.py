"""The failure of reading."""

from __future__ import annotations


class Unreadable(Exception):
    """An answer is not what it says it is. The message is for callers and says in what way."""
