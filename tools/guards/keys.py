"""What is stored and compared in place of an API key."""

from __future__ import annotations

import hashlib


def hash_key(key: str) -> str:
    """The SHA-256 digest of `key` in hex.

    A plain digest is enough: keys hold 256 random bits, so there is nothing to guess and no need
    for a slow, salted hash. Whoever reads the table cannot turn a digest back into a key.
    """
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
