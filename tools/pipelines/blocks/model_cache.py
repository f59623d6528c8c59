"""Model graphs as files: built once per machine, kept in VAR_DIR/models, loaded by every process."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import onnxruntime as ort
from django.conf import settings

logger = logging.getLogger(__name__)

# One core; the event loop, and the other processes of a worker, keep the rest.
THREADS: Final = 1


def models_folder() -> Path:
    """Where built graphs are kept."""
    return Path(settings.VAR_DIR) / "models"


def kept_session(
    name: str, build: Callable[[], bytes], folder: Path, threads: int = THREADS
) -> ort.InferenceSession:
    """The graph called `name` ready to run: the kept one, or a new one when there is none that loads.

    The name must change whenever `build` would give another graph.
    """
    kept = folder / f"{name}.onnx"
    options = _options(threads)
    if kept.exists():
        try:
            return ort.InferenceSession(str(kept), options, ["CPUExecutionProvider"])
        except Exception:
            # The runtime's errors share no base class; whatever it is, the weights are there.
            logger.exception("%s does not load and is built anew", kept.name)
    content = build()
    try:
        _write(kept, content)
    except OSError as fault:
        logger.warning("%s cannot be kept and is built at every start: %s", kept.name, fault)
    return ort.InferenceSession(content, options, ["CPUExecutionProvider"])


def _options(threads: int) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return options


def _write(path: Path, content: bytes) -> None:
    """Written aside and moved into place: other processes see the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(aside, path)
    except OSError:
        os.unlink(aside)
        raise
