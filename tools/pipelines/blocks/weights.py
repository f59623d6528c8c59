"""The files of the model, as a package from the index brought them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.embedder import EmbedderUnavailable

# Names of number types in a safetensors file.
_TYPES: Final[Mapping[str, type[np.generic]]] = {
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
}


def model_folder(package: str, folder: str) -> Path:
    """Where an installed package keeps its model. The package itself is never imported.

    Raises:
        EmbedderUnavailable: the package or its folder is not there.
    """
    try:
        path = Path(str(metadata.distribution(package).locate_file(folder)))
    except metadata.PackageNotFoundError:
        raise EmbedderUnavailable(
            f"{package} is not installed; install requirements-models.txt with pip --no-deps"
        ) from None
    if not path.is_dir():
        raise EmbedderUnavailable(f"{package} is installed without its folder {folder}")
    return path


def check_digest(path: Path, expected: str) -> None:
    """Refuse a file whose SHA-256 is not `expected`.

    Raises:
        EmbedderUnavailable: it is another file, or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise EmbedderUnavailable(f"{path.name} cannot be read: {fault.strerror}") from fault
    if found != expected:
        raise EmbedderUnavailable(f"{path.name} is not the expected file: its SHA-256 is {found}")


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file, mapped and not copied.

    The file starts with the length of a JSON header; the header gives each tensor's type, shape and
    place behind it.
    """
    content = np.memmap(path, dtype=np.uint8, mode="r")
    length = int.from_bytes(content[:8].tobytes(), "little")
    header = json.loads(content[8 : 8 + length].tobytes())
    header.pop("__metadata__", None)
    body = content[8 + length :]
    tensors: dict[str, NDArray[Any]] = {}
    for name, about in header.items():
        start, end = about["data_offsets"]
        tensors[name] = body[start:end].view(_TYPES[about["dtype"]]).reshape(about["shape"])
    return tensors
