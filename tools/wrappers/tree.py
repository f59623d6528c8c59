"""The output folder: files are written whole, and those of earlier runs removed when they are stale.

A manifest in the folder says what was written, with a digest of each. What is not in it, or was changed since,
is somebody else's: it is neither overwritten nor removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from tools.wrappers.making import MadeFile

MANIFEST: Final = ".wrappers.json"


@dataclass(slots=True)
class Written:
    """What became of the folder."""

    files: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class TreeFault(Exception):
    """The folder cannot be written to. The message says why."""


def write_tree(
    output: Path, files: Iterable[MadeFile], stale: Callable[[PurePosixPath], bool]
) -> Written:
    """Write `files` below `output`; of earlier ones, remove those that `stale` says are.

    Raises:
        TreeFault: nothing can be written there.
    """
    wanted = {one.path.as_posix(): one for one in files}
    done = Written()
    try:
        output.mkdir(parents=True, exist_ok=True)
        known = _manifest(output)
        digests = {path: _digest(one.text.encode()) for path, one in wanted.items()}
        # Before anything is written: whoever is interrupted knows the files again the next time.
        _keep(
            output,
            {path: {*known.get(path, ()), digest} for path, digest in digests.items()},
            known,
        )
        kept = dict(known)
        for path, one in wanted.items():
            with _telling(path, done):
                _stay_inside(output, path)
                if _is_ours(output / path, {*known.get(path, ()), digests[path]}, done, path):
                    _write(output / path, one.text.encode(), executable=one.executable)
                    kept[path] = {digests[path]}
                    done.files.append(path)
        for path in sorted(set(known) - set(wanted)):
            with _telling(path, done):
                if stale(PurePosixPath(path)) and _remove(output, path, known[path], done):
                    del kept[path]
        _keep(output, kept, {})
    except OSError as fault:
        raise TreeFault(f"{output} cannot be written: {fault}") from fault
    return done


@contextmanager
def _telling(path: str, done: Written) -> Iterator[None]:
    """One path that is not as it should be, such as a folder or a link out of here, stops no other."""
    try:
        yield
    # A link to itself is no OSError.
    except (OSError, RuntimeError) as fault:
        done.errors.append(f"{path}: cannot be written: {fault}")


def _stay_inside(output: Path, path: str) -> None:
    if not (output / path).parent.resolve().is_relative_to(output.resolve()):
        raise OSError("a folder above it is a link that leads elsewhere")


def _manifest(output: Path) -> dict[str, set[str]]:
    """Digests by path; what could lead out of the folder is left out."""
    try:
        document = json.loads((output / MANIFEST).read_bytes())
        files = document["files"]
        return {
            path: {str(digest) for digest in digests}
            for path, digests in files.items()
            if isinstance(digests, list) and _is_inside(path)
        }
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise TreeFault(
            f"{output / MANIFEST} cannot be read ({fault}); move it away, with the files it is about"
        ) from fault


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and len(parts.parts) > 1


def _keep(output: Path, files: Mapping[str, set[str]], more: Mapping[str, set[str]]) -> None:
    listed = {path: sorted(digests) for path, digests in sorted({**more, **files}.items())}
    text = json.dumps({"made_by": "generate_wrappers", "files": listed}, indent=1) + "\n"
    _write(output / MANIFEST, text.encode(), executable=False)


def _is_ours(path: Path, digests: set[str], done: Written, shown: str) -> bool:
    if not path.exists() or _digest(path.read_bytes()) in digests:
        return True
    done.errors.append(f"{shown}: was written or changed by somebody else; move it away")
    return False


def _remove(output: Path, shown: str, digests: set[str], done: Written) -> bool:
    path = output / shown
    _stay_inside(output, shown)
    if path.exists():
        if _digest(path.read_bytes()) not in digests:
            done.errors.append(f"{shown}: is stale, but was changed by somebody else; remove it")
            return False
        path.unlink()
        done.removed.append(shown)
    for folder in path.parents:
        if folder == output:
            break
        # Others may have put something there.
        with suppress(OSError):
            folder.rmdir()
    return True


def _write(path: Path, content: bytes, *, executable: bool) -> None:
    """Replace a file at once: nobody ever sees half of it, and no link is followed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".wrappers-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod((0o777 if executable else 0o666) & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
