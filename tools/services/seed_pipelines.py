"""The demo corpus and a pipeline on it for each technique: rows alone, nothing is embedded here."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction

from tools.models import Corpus, PipelineConfig
from tools.techniques import Technique, techniques

DEMO_CORPUS: Final = "demo"
# The techniques of this product; one that a plug-in adds is its operator's to configure.
SEEDED: Final = (
    "basic",
    "basic_rerank",
    "crag",
    "graphrag",
    "pylate_colbert",
    "iris_global_graphrag",
)
# Not worth showing as a choice: they shape the answer, not the search.
UNSAID: Final = frozenset({"query", "include_sources", "include_metadata"})


def seed_pipelines() -> tuple[list[str], list[str]]:
    """Create the corpus and the pipelines on a first start; what was created, and what was not and why."""
    # Once an operator has some, deleted demo rows must not come back.
    if PipelineConfig.objects.exists():
        return [], []
    created: list[str] = []
    skipped: list[str] = []
    corpus, is_new = Corpus.objects.get_or_create(
        slug=DEMO_CORPUS,
        defaults={
            "title": "Demo",
            "description": "This product's own documentation, and short articles to ask about.",
        },
    )
    if is_new:
        created.append(f"corpus {corpus.slug}")
    for technique in filter(None, (techniques.get(name) for name in SEEDED)):
        row = PipelineConfig(
            pipeline_name=technique.name, corpus=corpus, default_parameters=_defaults(technique)
        )
        try:
            with transaction.atomic():
                row.save()
        except ValidationError as fault:
            skipped.append(f"pipeline {technique.name}: {'; '.join(fault.messages)}")
        else:
            created.append(f"pipeline {technique.name}")
    return created, skipped


def _defaults(technique: type[Technique]) -> dict[str, Any]:
    """What the technique does unless told otherwise, for operators to see and to change."""
    values: dict[str, Any] = technique.parameters(query="?").model_dump(mode="json")
    return {name: value for name, value in values.items() if name not in UNSAID}
