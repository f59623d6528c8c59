"""Many texts as two arrays, so that they can be mapped: their bytes, and where each begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all texts, and where each begins; one more entry says where the last one ends."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    sizes = np.array([len(one) for one in encoded], np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    return np.frombuffer(b"".join(encoded), np.uint8), starts


def unpack(content: NDArray[Any], starts: NDArray[Any], place: int) -> str:
    """One of the texts."""
    return content[starts[place] : starts[place + 1]].tobytes().decode("utf-8", "replace")
