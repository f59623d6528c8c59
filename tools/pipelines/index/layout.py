"""Where indexes are: one folder for the parts of all documents, and one per index version.

INDEX_DIR/parts/<first two characters>/<key>.npz
INDEX_DIR/<corpus>/<number>/              a version, whole from the moment it is there
INDEX_DIR/<corpus>/<number>.aside-*/      one that is being written
INDEX_DIR/<corpus>/<number>.lock          held by whoever writes it
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from tools.conf import deployment

META: Final = "meta.json"
LEXICAL: Final = "lexical"
TOKENS: Final = "tokens"
SENTENCES: Final = "sentences"
GRAPH: Final = "graph"
COMMUNITIES: Final = "communities"


def root() -> Path:
    return Path(deployment().rag.index_dir)


def parts_folder() -> Path:
    return root() / "parts"


def part_path(key: str) -> Path:
    return parts_folder() / key[:2] / f"{key}.npz"


def version_folder(folder: str) -> Path:
    """The folder of a version by the name that its `IndexSpec` gives."""
    return root() / folder


@contextmanager
def written_aside(target: Path) -> Iterator[Path]:
    """A new folder that becomes `target` at the end, if all went well; what is left of others goes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f"{target.name}.aside-*"):
        shutil.rmtree(left, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f"{target.name}.aside-"))
    try:
        yield aside
        os.rename(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def written_file(target: Path) -> Iterator[IO[bytes]]:
    """A new file that becomes `target` at the end: readers see the whole of it or none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.replace(aside, target)
    finally:
        Path(aside).unlink(missing_ok=True)


@contextmanager
def only_one(path: Path) -> Iterator[bool]:
    """Whether nobody else is inside for this path. A process that dies is outside again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def version_lock(folder: str) -> Path:
    target = version_folder(folder)
    return target.with_name(f"{target.name}.lock")


def document_lock(document_id: int) -> Path:
    """Few files serve all documents: two that share one merely wait for each other."""
    return root() / "locks" / f"{document_id % 4096:03x}"


def remove_version(folder: str) -> None:
    """Remove a version's files. Processes that have them open keep them until they let go."""
    target = version_folder(folder)
    # Out of sight first, so that nobody opens half of it.
    doomed = target.with_name(f"{target.name}.aside-removed")
    shutil.rmtree(doomed, ignore_errors=True)
    if target.exists():
        os.rename(target, doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def remove_corpus(corpus_id: int) -> None:
    shutil.rmtree(root() / str(corpus_id), ignore_errors=True)
