"""The passages of an index version on disk: read one at a time from mapped files, never as a whole."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, overload

import numpy as np
import orjson
from typing_extensions import override

from tools.pipelines.contracts import Mask, Passage

PASSAGES: Final = "passages"
DOCUMENTS: Final = "documents"


class Records:
    """JSON values in one file, found by their number through a table of offsets."""

    def __init__(self, folder: Path, name: str) -> None:
        self._offsets = np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray)
        path = folder / f"{name}.jsonl"
        with path.open("rb") as file:
            # An empty file cannot be mapped.
            size = path.stat().st_size
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def read(self, number: int) -> Any:
        start, end = self._offsets[number], self._offsets[number + 1]
        return orjson.loads(self._content[start:end])


class RecordWriter:
    """Writes what `Records` reads."""

    def __init__(self, folder: Path, name: str) -> None:
        self._table = folder / f"{name}.npy"
        self._file: IO[bytes] = (folder / f"{name}.jsonl").open("wb")
        self._offsets = [0]

    def write(self, value: Any) -> None:
        line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        self._file.write(line)
        self._offsets.append(self._offsets[-1] + len(line))

    def close(self) -> None:
        self._file.close()
        np.save(self._table, np.array(self._offsets, np.int64))


class PassageWriter:
    """Writes passages, document by document."""

    def __init__(self, folder: Path) -> None:
        self._documents = RecordWriter(folder, DOCUMENTS)
        self._passages = RecordWriter(folder, PASSAGES)
        self._number = -1

    def document(self, name: str, metadata: Mapping[str, Any]) -> None:
        """Begin a document: what follows belongs to it."""
        self._documents.write({"name": name, "metadata": dict(metadata)})
        self._number += 1

    def passage(self, passage_id: str, text: str, title: str, metadata: Mapping[str, Any]) -> None:
        self._passages.write([self._number, passage_id, text, title, dict(metadata)])

    def close(self) -> None:
        self._documents.close()
        self._passages.close()


class Passages(Sequence[Passage]):
    """All passages of a version. Metadata of the passage wins over that of its document."""

    def __init__(self, folder: Path) -> None:
        self._documents = Records(folder, DOCUMENTS)
        self._passages = Records(folder, PASSAGES)

    @override
    def __len__(self) -> int:
        return len(self._passages)

    @overload
    def __getitem__(self, row: int) -> Passage: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Passage]: ...

    @override
    def __getitem__(self, row: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        if not 0 <= row < len(self):
            raise IndexError(row)
        number, passage_id, text, title, metadata = self._passages.read(row)
        document = self._documents.read(number)
        return Passage(
            row=row,
            passage_id=passage_id,
            document=document["name"],
            text=text,
            title=title,
            metadata={**document["metadata"], **metadata},
        )

    def mask(self, wanted: Mapping[str, Any]) -> Mask:
        """The rows whose metadata has all of `wanted`; of a list any one will do.

        A value matches itself, and a list that contains it.
        """
        rows = (_matches(passage.metadata, wanted) for passage in self)
        return np.fromiter(rows, np.bool_, len(self))


def _matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_among(metadata.get(key), value) for key, value in wanted.items())


def _among(found: Any, wanted: Any) -> bool:
    wanted_values = wanted if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
    found_values = found if isinstance(found, list) else [found]
    return any(value in found_values for value in wanted_values)
