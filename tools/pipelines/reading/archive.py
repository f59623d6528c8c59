"""Zip archives as the documents in them, without trust in what the archive says of itself."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tools.pipelines.reading.document import UnreadableDocument, clean

MOST_MEMBERS: Final = 10_000
# All that comes out of an archive, as a multiple of what one document may have.
MOST_IN_ALL: Final = 10
# Deflate packs at most 1,030 to 1. Text packs 3 to 10 to 1, tables of figures 50 to 1.
LARGEST_RATIO: Final = 200
RATIO_COUNTS_FROM: Final = 1 << 20
_IGNORED: Final = frozenset(("__macosx", "thumbs.db", "desktop.ini", "$recycle.bin"))
_ZIP_START: Final = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A document in an archive: its path there and its bytes, or why it cannot be had."""

    name: str
    content: bytes | None = None
    error: str = ""


class _Budget:
    """What may still come out of an archive and those in it."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes_left = most_bytes * MOST_IN_ALL
        self.members_left = MOST_MEMBERS


class _Exhausted(Exception):
    pass


def expand_archive(name: str, content: bytes, most_bytes: int) -> Iterator[ArchiveMember]:
    """The documents of a zip archive, one after the other; of archives in it too, but no deeper.

    Folders, hidden files and what systems leave behind are passed over. A member that is refused
    comes with the reason and does not stop the others; when the archive as a whole holds too much,
    the last member says so under the archive's name.

    Raises:
        UnreadableDocument: it is no zip archive, or a damaged one. Raised at the call.
    """
    archive = _open(content)
    return _all_members(name, archive, _Budget(most_bytes))


def _open(content: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as fault:
        raise UnreadableDocument("The zip archive is damaged.") from fault


def _all_members(name: str, archive: zipfile.ZipFile, budget: _Budget) -> Iterator[ArchiveMember]:
    try:
        yield from _members(archive, budget, "", set())
    except _Exhausted as fault:
        yield ArchiveMember(name, error=str(fault))


def _members(
    archive: zipfile.ZipFile, budget: _Budget, folder: str, seen: set[str]
) -> Iterator[ArchiveMember]:
    for info in archive.infolist():
        name = clean(info.filename).replace("\\", "/")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if info.is_dir() or name.endswith("/") or _is_ignored(parts):
            continue
        if budget.members_left <= 0:
            raise _Exhausted(f"The archive has more than {MOST_MEMBERS:,} documents.")
        budget.members_left -= 1
        shown = folder + "/".join(parts)
        refusal = _refusal(info, name, parts) or ("twice" if shown in seen else "")
        if refusal:
            told = "There are two members of this name." if refusal == "twice" else refusal
            yield ArchiveMember(shown, error=told)
            continue
        seen.add(shown)
        member = _unpacked(archive, info, shown, budget)
        if member.content is None or not _is_archive(member.content):
            yield member
        elif folder:
            yield ArchiveMember(shown, error="Archives are opened one level deep, not two.")
        else:
            yield from _nested(shown, member.content, budget, seen)


def _nested(name: str, content: bytes, budget: _Budget, seen: set[str]) -> Iterator[ArchiveMember]:
    try:
        inner = _open(content)
    except UnreadableDocument as fault:
        yield ArchiveMember(name, error=str(fault))
        return
    yield from _members(inner, budget, f"{name}/", seen)


def _is_ignored(parts: list[str]) -> bool:
    return not parts or any(
        part.casefold() in _IGNORED or (part.startswith(".") and part != "..") for part in parts
    )


def _refusal(info: zipfile.ZipInfo, name: str, parts: list[str]) -> str:
    """Why a member is not unpacked, before looking into it."""
    if name.startswith("/") or ".." in parts or (len(name) > 1 and name[1] == ":"):
        return "Its name leads out of the archive."
    if stat.S_ISLNK(info.external_attr >> 16):
        return "It is a link, not a document."
    if info.flag_bits & 1:
        return "It is protected by a password."
    return ""


def _unpacked(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, shown: str, budget: _Budget
) -> ArchiveMember:
    """The bytes of a member: as many as really come out, not as many as it claims."""
    ratio_limit = max(RATIO_COUNTS_FROM, info.compress_size * LARGEST_RATIO)
    most = min(budget.most_bytes, ratio_limit, budget.bytes_left)
    try:
        with archive.open(info) as packed:
            content = packed.read(most + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
        NotImplementedError,
    ):
        return ArchiveMember(shown, error="It is damaged, or packed in a way that is not known.")
    budget.bytes_left -= len(content)
    if len(content) <= most:
        return ArchiveMember(shown, content)
    if most == budget.most_bytes:
        return ArchiveMember(shown, error=f"It is larger than {budget.most_bytes:,} bytes.")
    if most == ratio_limit:
        return ArchiveMember(shown, error=f"It is packed more than {LARGEST_RATIO} to 1.")
    raise _Exhausted(
        f"The archive holds more than {budget.most_bytes * MOST_IN_ALL:,} bytes; the rest is left."
    )


def _is_archive(content: bytes) -> bool:
    """Whether it is a zip archive; Word files and their like are packed the same way."""
    if not content.startswith(_ZIP_START):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "[Content_Types].xml" not in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return True
