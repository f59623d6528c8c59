"""Wrappers as a zip file, run bits included."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from datetime import datetime

from tools.wrappers.making import MadeFile


def to_zip(files: Iterable[MadeFile], notes: str, now: datetime) -> bytes:
    """The files, and `notes` on how they came about."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in sorted(files, key=lambda one: one.path):
            _add(archive, one.path.as_posix(), one.text, 0o755 if one.executable else 0o644, now)
        _add(archive, "SUMMARY.txt", notes, 0o644, now)
    return packed.getvalue()


def _add(archive: zipfile.ZipFile, path: str, text: str, mode: int, now: datetime) -> None:
    about = zipfile.ZipInfo(path, now.timetuple()[:6])
    about.compress_type = zipfile.ZIP_DEFLATED
    about.create_system = 3
    about.external_attr = (0o100000 | mode) << 16
    archive.writestr(about, text)
