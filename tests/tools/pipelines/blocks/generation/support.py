"""A small index with sentence vectors of the real model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from tools.pipelines.blocks.tokens import open_sentences, token_encoder, write_sentences
from tools.pipelines.contracts import Generator, OpenIndex, Passage, Run
from tools.pipelines.sentences import split_sentences

TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "Lighthouse": "The lighthouse of Skerry Point was built in 1871. It is 32 metres high. Its "
        "lamp is seen from a distance of 21 nautical miles. The last keeper left the tower in 1988.",
        "Bakery": "Sourdough needs flour, water and salt. The dough rests for twelve hours. Bread "
        "is baked in a very hot oven until its crust is dark.",
        "Ferry": "A ferry crosses from Harwick to Skerry Point every two hours. Tickets are sold on "
        "board. The lighthouse of Skerry Point was built in the year 1871.",
        "Ilse Brandt": "She was born in Harwick in 1840. She designed eleven towers along the "
        "northern coast, among them that of Skerry Point. She died in 1912.",
    }
)


class SmallIndex:
    """What generators ask an index for; the sentences and their vectors are those of an ingest."""

    def __init__(self, folder: Path, texts: Mapping[str, str] = TEXTS) -> None:
        self.passages = [
            Passage(row, f"p{row}", f"{title}.txt", text, title, {"source": f"{title}.txt"})
            for row, (title, text) in enumerate(texts.items())
        ]
        bodies = list(texts.values())
        spans = [split_sentences(text) for text in bodies]
        encoded = token_encoder().encode_passages(bodies, spans, list(texts))
        sentences = [
            [text[start:end] for start, end in own] for text, own in zip(bodies, spans, strict=True)
        ]
        vectors = [one.sentences for one in encoded]
        write_sentences(folder, zip(sentences, vectors, strict=True))
        self.sentences = open_sentences(folder)

    def passage(self, row: int) -> Passage:
        return self.passages[row]

    def __len__(self) -> int:
        return len(self.passages)


def run_on(index: SmallIndex, generator: Generator, **more: Any) -> Run:
    """A query under way on such an index."""
    return Run(cast(OpenIndex, index), generator, **more)


def foreign(title: str, text: str) -> Passage:
    """A passage that no index has, such as a result of a web search."""
    return Passage(-1, f"web:{title}", title, text, title, {"source": f"https://{title}.example"})
