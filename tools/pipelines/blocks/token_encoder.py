"""Texts to vectors of their tokens and sentences, both out of one pass of all-MiniLM-L6-v2.

A token's vector is its last hidden state, projected from 384 dimensions to 128 by a fixed matrix
(bench/fit_token_projection.py made it), of length 1, kept as int8 with a scale. A sentence's vector is
the mean of those of its tokens. (The mean of the hidden states themselves is three times as large and
found the sentence with the answer less often; see docs/explanation/models.md.)
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.embedder import MINILM, embedder
from tools.pipelines.blocks.encoder import OnnxEncoder, Tokens, batches
from tools.pipelines.contracts import Matrix, Passage

# A stretch of a text: its first character, and the one behind its last.
Span = tuple[int, int]

DIMENSIONS: Final = 128
PROJECTION: Final = Path(__file__).with_name("data") / "minilm_token_projection.npy"
# Part of what stored vectors are known by: raise it whenever they are made differently.
REVISION: Final = 2
KEPT_QUERIES: Final = 256


@dataclass(frozen=True, slots=True)
class EncodedPassage:
    """The vectors of one passage. `tokens` times `scales` are of length 1; sentences may be zero."""

    tokens: NDArray[np.int8]
    scales: Matrix
    sentences: NDArray[np.float16]


class TokenEncoder:
    """Makes the vectors. Safe to call from several threads."""

    def __init__(self, model: OnnxEncoder, projection: Matrix) -> None:
        self._model = model
        self._projection = projection
        self._query = lru_cache(maxsize=KEPT_QUERIES)(self._encode_query)

    def encode_passages(
        self,
        texts: Sequence[str],
        sentence_spans: Sequence[Sequence[Span]],
        titles: Sequence[str] = (),
    ) -> list[EncodedPassage]:
        """The vectors of passages and of their sentences, which are given by their places in `texts`.

        With `titles`, each text is read behind its title, as `Passage.indexed_text` has it. A text
        beyond the model's window is read in several pieces.
        """
        titles = titles or [""] * len(texts)
        read = [
            under_title(title, text, spans)
            for title, text, spans in zip(titles, texts, sentence_spans, strict=True)
        ]
        pieces = [self._model.read_all(text) for text, _ in read]
        states = self._states(pieces)
        return [
            self._encoded(own, [offset for piece in parts for offset in piece.offsets], spans)
            for own, parts, (_, spans) in zip(states, pieces, read, strict=True)
        ]

    def encode_query(self, text: str, most_tokens: int) -> Matrix:
        """One row of length 1 for each of the first `most_tokens` tokens; the window is another end."""
        return self._query(text, most_tokens)[0]

    def encode_question(self, text: str) -> Matrix:
        """What to compare sentences with: a vector of length 1."""
        return self._query(text, self._model.window)[1]

    def forget_queries(self) -> None:
        """Drop the kept vectors: who measures how long a query takes must not be given them."""
        self._query.cache_clear()

    def _encode_query(self, text: str, most_tokens: int) -> tuple[Matrix, Matrix]:
        read = self._model.read(text, most_tokens)
        states = self._model.run([read], "states", quick=True)[0, 1:-1]
        tokens = _unit(states @ self._projection)
        found = tokens, _unit(_mean(tokens))
        for array in found:
            array.flags.writeable = False
        return found

    def _states(self, pieces: Sequence[Sequence[Tokens]]) -> list[Matrix]:
        """The hidden states of the tokens of each text, which comes in pieces."""
        flat = [piece for parts in pieces for piece in parts]
        found: list[Matrix] = [np.empty(0, np.float32)] * len(flat)
        for places in batches([len(piece.ids) for piece in flat]):
            batch = self._model.run([flat[place] for place in places], "states")
            for states, place in zip(batch, places, strict=True):
                found[place] = states[1 : len(flat[place].ids) - 1].copy()
        waiting = iter(found)
        return [np.concatenate([next(waiting) for _ in parts]) for parts in pieces]

    def _encoded(
        self, states: Matrix, offsets: Sequence[Span], spans: Sequence[Span]
    ) -> EncodedPassage:
        vectors = _unit(states @ self._projection)
        tokens, scales = quantised(vectors)
        starts = np.fromiter((start for start, _ in offsets), np.int64, len(offsets))
        sentences = np.zeros((len(spans), DIMENSIONS), np.float16)
        for number, (start, end) in enumerate(spans):
            sentences[number] = _unit(_mean(vectors[(starts >= start) & (starts < end)]))
        return EncodedPassage(tokens, scales, sentences)


_loading: Final = threading.Lock()


def token_encoder() -> TokenEncoder:
    """The encoder of this process; it shares the model with whoever embeds by it.

    Raises:
        EmbedderUnavailable: the model is not installed, or its files are not what they should be.
    """
    with _loading:
        return _token_encoder()


@cache
def _token_encoder() -> TokenEncoder:
    model = cast(OnnxEncoder, embedder(MINILM))
    return TokenEncoder(model, np.load(PROJECTION).astype(np.float32))


@cache
def encoding_id() -> str:
    """What token and sentence vectors are known by; those of another id cannot be compared."""
    projection = hashlib.sha256(PROJECTION.read_bytes()).hexdigest()[:12]
    return f"{MINILM}/{projection}/{REVISION}"


def under_title(title: str, text: str, spans: Sequence[Span]) -> tuple[str, Sequence[Span]]:
    """A text as it is read behind its title, and where its stretches are then."""
    whole = Passage(row=-1, passage_id="", document="", text=text, title=title).indexed_text
    moved = len(whole) - len(text)
    return whole, [(start + moved, end + moved) for start, end in spans]


def quantised(vectors: Matrix) -> tuple[NDArray[np.int8], Matrix]:
    """Rows as int8, and the scale of each that makes it of length 1 again."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=1e-12)
    values = np.rint(vectors * (127 / largest)).astype(np.int8)
    lengths = np.linalg.norm(values.astype(np.float32), axis=1)
    return values, (1 / np.maximum(lengths, 1)).astype(np.float32)


def _mean(vectors: Matrix) -> Matrix:
    total: Matrix = vectors.sum(axis=0) / max(len(vectors), 1)
    return total


def _unit(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    found: Matrix = vectors / np.maximum(lengths, 1e-12)
    return found
