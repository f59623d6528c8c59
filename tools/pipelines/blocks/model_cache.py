"""Model graphs as files: built once per machine, kept in VAR_DIR/models, loaded by every process."""

from __future__ import annotations

import logging
import os
import platform
import tempfile
import threading
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


class Graphs:
    """The two graphs of a model, opened when they are first needed; safe for several threads.

    `precise` is for texts that are stored. `quick` is for queries: its weights have 8 bits, which
    halves the time of a short text, and moves its vector by a hundredth of its length or two.
    """

    def __init__(
        self, name: str, build: Callable[[bool], bytes], folder: Path, threads: int = THREADS
    ) -> None:
        """`name` must change whenever `build` would give other graphs; True asks for the quick."""
        self._name = name
        self._build = build
        self._folder = folder
        self._options = _options(threads)
        self._opening = threading.Lock()
        self._opened: dict[bool, ort.InferenceSession] = {}

    def keep(self) -> None:
        """Build what is not kept yet, so that a model that cannot be built is found out now.

        Raises:
            EmbedderUnavailable: the model's files are not what they should be.
        """
        if not self._kept(quick=False).exists():
            self._make(quick=False)

    def session(self, *, quick: bool) -> ort.InferenceSession:
        """One of the graphs, ready to run.

        Raises:
            EmbedderUnavailable: as `keep` does.
        """
        # Elsewhere the runtime has no fast way to multiply by 8 bits.
        quick = quick and platform.machine() in {"x86_64", "AMD64"}
        with self._opening:
            if quick not in self._opened:
                self._opened[quick] = self._open(quick)
            return self._opened[quick]

    def _kept(self, quick: bool) -> Path:
        return self._folder / f"{self._name}{'-int8' if quick else ''}.onnx"

    def _open(self, quick: bool) -> ort.InferenceSession:
        kept = self._kept(quick)
        if kept.exists():
            try:
                return ort.InferenceSession(str(kept), self._options, ["CPUExecutionProvider"])
            except Exception:
                # The runtime's errors share no base class; whatever it is, the weights are there.
                logger.exception("%s does not load and is built anew", kept.name)
        return ort.InferenceSession(self._make(quick), self._options, ["CPUExecutionProvider"])

    def _make(self, quick: bool) -> bytes:
        content = self._build(quick)
        kept = self._kept(quick)
        try:
            _write(kept, content)
        except OSError as fault:
            logger.warning("%s cannot be kept and is built at every start: %s", kept.name, fault)
        return content


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
