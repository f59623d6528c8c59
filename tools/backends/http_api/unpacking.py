"""Bodies of answers, as they come in: decompressed bit by bit and never beyond a limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Final

# What answers may be compressed with; others are not asked for.
ACCEPTED: Final = "gzip, deflate"
_LAYERS: Final = 2
_MOST_FILES: Final = 1_000
_GZIP: Final = zlib.MAX_WBITS | 16
_GZIP_BEGINS: Final = b"\x1f\x8b"


class TooLarge(Exception):
    """The body is above the limit, as it came or decompressed."""


class Undecodable(Exception):
    """The body is not compressed as the API says."""


class _Inflating:
    """One layer of gzip or deflate. Gives at most as much as it is asked for."""

    def __init__(self, coding: str) -> None:
        self._files = 1
        self._may_be_bare = coding == "deflate"
        self._machine = zlib.decompressobj(_GZIP if coding == "gzip" else zlib.MAX_WBITS)

    @property
    def ended(self) -> bool:
        return self._machine.eof

    def feed(self, piece: bytes, most: int) -> bytes:
        given = self._begin(piece, most)
        # A gzip file can be several, one after the other; what comes behind them is nothing.
        while self.ended and self._machine.unused_data.startswith(_GZIP_BEGINS):
            self._files += 1
            if self._files > _MOST_FILES:
                raise Undecodable("it is compressed in too many pieces")
            rest, self._machine = self._machine.unused_data, zlib.decompressobj(_GZIP)
            given += self._machine.decompress(rest, most + 1 - len(given))
            if len(given) > most:
                break
        if len(given) > most:
            raise _too_large(most)
        return given

    def _begin(self, piece: bytes, most: int) -> bytes:
        bare, self._may_be_bare = self._may_be_bare, False
        try:
            return self._machine.decompress(piece, most + 1)
        except zlib.error:
            if not bare:
                raise
            # Some servers send deflate without the frame it should have.
            self._machine = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._machine.decompress(piece, most + 1)


async def gather(pieces: AsyncIterator[bytes], headers: Mapping[str, str], most: int) -> bytes:
    """The whole body.

    Raises:
        TooLarge: there is more than `most` bytes of it.
        Undecodable: it cannot be decompressed.
    """
    if _declared(headers) > most:
        raise _too_large(most)
    body, whole = await _gather(pieces, headers, most)
    if not whole:
        raise _too_large(most)
    return body


async def gather_beginning(
    pieces: AsyncIterator[bytes], headers: Mapping[str, str], most: int
) -> bytes:
    """As much of the body as is wanted and can be had."""
    try:
        return (await _gather(pieces, headers, most))[0]
    except Undecodable:
        return b""


async def _gather(
    pieces: AsyncIterator[bytes], headers: Mapping[str, str], most: int
) -> tuple[bytes, bool]:
    """The body up to the limit, and whether that is all of it."""
    layers = _layers(headers.get("content-encoding", ""))
    body, came = bytearray(), 0
    try:
        async for piece in pieces:
            came += len(piece)
            if came > most:
                return bytes(body), False
            plain = piece
            for layer in layers:
                plain = layer.feed(plain, most - len(body))
            body += plain
            if len(body) > most:
                return bytes(body[:most]), False
    except TooLarge:
        return bytes(body), False
    except zlib.error:
        raise Undecodable("it is not compressed as it says") from None
    if came and not all(layer.ended for layer in layers):
        raise Undecodable("it ends in the middle of what is compressed")
    return bytes(body), True


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"it is larger than {most:,} bytes")


def _layers(written: str) -> list[_Inflating]:
    names = [name.strip().lower().removeprefix("x-") for name in written.split(",")]
    names = [name for name in names if name not in {"", "identity", "utf-8"}]
    if len(names) > _LAYERS or any(name not in {"gzip", "deflate"} for name in names):
        raise Undecodable("it is compressed in a way that was not asked for")
    return [_Inflating(name) for name in reversed(names)]


def _declared(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() and len(length) < 19 else 0
