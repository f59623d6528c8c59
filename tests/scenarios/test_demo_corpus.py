"""The demo corpus, asked through the REST door: all six techniques, run by a real worker."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from controlplane.env import PROJECT_DIR
from tests.doors import RestDoor
from tests.workers import celery_worker
from tools.models import Corpus
from tools.pipelines.index import layout
from tools.services.corpora import add_document, build_index
from tools.services.seed_pipelines import DEMO_CORPUS, SEEDED, seed_pipelines
from tools.techniques import queue_of

ARTICLES = PROJECT_DIR / "examples" / "corpus"
QUESTIONS = json.loads((ARTICLES / "questions.json").read_text(encoding="utf-8"))
SINGLE = [one for one in QUESTIONS if one["kind"] == "single"]


@pytest.fixture
def asked(door: RestDoor, tmp_path: Path) -> RestDoor:
    """The door of a control plane whose demo corpus is indexed and has a worker."""
    seed_pipelines()
    corpus = Corpus.objects.get(slug=DEMO_CORPUS)
    for path in sorted(ARTICLES.iterdir()):
        if path.suffix in {".md", ".csv", ".html"}:
            add_document(corpus, path.name, path.read_bytes())
    build_index(corpus)
    return door


def ask(door: RestDoor, technique: str, question: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = door.call(f"rag_{technique}", {"query": question["question"], **more})
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


def test_all_techniques_answer_together_and_find_the_articles(
    asked: RestDoor, tmp_path: Path
) -> None:
    # F0-01 F0-16 S0-040 S0-041 S0-042
    orders = [(technique, question) for technique in SEEDED for question in SINGLE]
    queues = tuple(queue_of(name) for name in SEEDED)
    index_dir = str(layout.root())
    with (
        celery_worker(tmp_path / "worker.log", 2, queues=queues, INDEX_DIR=index_dir),
        ThreadPoolExecutor(6) as callers,
    ):
        # The door opens with the first call, which the callers would make together.
        ask(asked, "basic", SINGLE[0])
        answers = list(callers.map(lambda order: ask(asked, *order), orders))
    hits = dict.fromkeys(SEEDED, 0)
    for (technique, question), answer in zip(orders, answers, strict=True):
        documents = answer["retrieved_documents"]
        scores = [document["score"] for document in documents]
        assert scores == sorted(scores, reverse=True)
        assert len(documents) <= 10
        assert answer["metadata"]["pipeline_name"] == technique
        assert answer["metadata"]["generator"] == "extractive"
        hits[technique] += bool({*question["articles"]} & {*answer["sources"]})
    # Community answers look at the whole and may miss a detail; the others may not.
    assert min(hits[name] for name in SEEDED if name != "iris_global_graphrag") == len(SINGLE)
    assert hits["iris_global_graphrag"] >= len(SINGLE) - 2
