"""A corpus with a small index of passages, and a pipeline on it."""

from __future__ import annotations

import json
from typing import Any

from tests.factories import make_corpus, make_pipeline, make_version, numbers
from tools.models import IndexVersion, PipelineConfig
from tools.models.corpora import VersionState
from tools.pipelines.index import layout
from tools.pipelines.index.passages import PassageWriter
from tools.selectors.specs import index_spec

TEXTS = tuple(f"Passage {number} about the moon." for number in range(6))


def make_index(version: IndexVersion, texts: tuple[str, ...] = TEXTS) -> None:
    """The passages of an index version, and nothing that needs a model: enough for the trial."""
    folder = layout.version_folder(index_spec(version)["folder"])
    with layout.written_aside(folder) as aside:
        writer = PassageWriter(aside)
        for number, text in enumerate(texts):
            if number % 2 == 0:
                writer.document(f"moon-{number}.txt", {"source": f"moon-{number}.txt"})
            writer.passage(f"moon#{number}", text, "The moon", {"page": number})
        writer.close()
        (aside / layout.META).write_text(json.dumps({"embedding_model": version.embedding_model}))


def make_trial(*, texts: tuple[str, ...] = TEXTS, **overrides: Any) -> PipelineConfig:
    """The trial pipeline on a corpus with an index in use."""
    corpus = make_corpus()
    # Workers that outlive a test keep indexes open by these numbers.
    version = make_version(
        corpus, number=next(numbers), state=VersionState.ACTIVE, chunks=len(texts)
    )
    make_index(version, texts)
    return make_pipeline(pipeline_name="trial", corpus=corpus, **overrides)
