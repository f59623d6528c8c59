"""Counts of tokens as embedding models see them, for cutting documents into chunks that fit."""

from __future__ import annotations

from collections.abc import Callable

from tokenizers import Tokenizer

from tools.pipelines.blocks import granite, minilm
from tools.pipelines.blocks.embedder import MINILM
from tools.pipelines.blocks.encoder import whole


def counter_of(name: str) -> Callable[[str], int]:
    """The counter of a model by its full id; other models than ours are counted with our default's.

    Raises:
        EmbedderUnavailable: the model's files are missing, or not what they should be.
    """
    tokenizer: Tokenizer = minilm.load_tokenizer() if name == MINILM else granite.load_tokenizer()
    return lambda text: len(tokenizer.encode(whole(text), add_special_tokens=False).ids)
