"""Vectors of the tokens and sentences of passages: made at ingest, kept as files, read by queries."""

from tools.pipelines.blocks.sentence_files import SentenceFiles, open_sentences, write_sentences
from tools.pipelines.blocks.token_encoder import (
    EncodedPassage,
    TokenEncoder,
    encoding_id,
    token_encoder,
)
from tools.pipelines.blocks.token_files import TokenFiles, open_tokens, write_tokens

__all__ = [
    "EncodedPassage",
    "SentenceFiles",
    "TokenEncoder",
    "TokenFiles",
    "encoding_id",
    "open_sentences",
    "open_tokens",
    "token_encoder",
    "write_sentences",
    "write_tokens",
]
