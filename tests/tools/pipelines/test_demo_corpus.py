"""The demo corpus can be read, is what its questions ask for, and keeps to its size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.pipelines.blocks.embedder import known_models, token_counter
from tools.pipelines.chunking import ChunkSettings, chunk_document
from tools.pipelines.reading import ReadDocument, media_type_of, read_document

FOLDER = Path(__file__).parents[3] / "examples" / "corpus"
FILES = sorted(path for path in FOLDER.iterdir() if path.name != "questions.json")
QUESTIONS: list[dict[str, Any]] = json.loads((FOLDER / "questions.json").read_text())


def read(path: Path) -> ReadDocument:
    content = path.read_bytes()
    return read_document(path.name, media_type_of(path.name, content), content)


DOCUMENTS = {path.name: read(path) for path in FILES}


def text_of(name: str) -> str:
    return " ".join(" ".join(block.text for block in DOCUMENTS[name].blocks).split())


def test_every_article_is_read_whole_under_a_title_of_its_own() -> None:
    titles = [found.title for name, found in DOCUMENTS.items() if not name.endswith(".csv")]
    assert all(titles)
    assert len(set(titles)) == len(titles) >= 36
    assert {name: found.notes for name, found in DOCUMENTS.items() if found.notes} == {}


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name.endswith(".md")])
def test_articles_are_short(name: str) -> None:
    assert 100 <= len(text_of(name).split()) <= 260
    found = chunk_document(DOCUMENTS[name], ChunkSettings(), token_counter(known_models()[0]))
    assert len(found) <= 3


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["question"])
def test_answers_stand_in_the_articles_that_questions_name(asked: dict[str, Any]) -> None:
    texts = [text_of(name) for name in asked["articles"]]
    assert any(asked["answer"] in text for text in texts)
    if asked["kind"] != "single":
        assert len(texts) > 1


def test_questions_are_of_every_kind() -> None:
    kinds = [asked["kind"] for asked in QUESTIONS]
    assert {kind: kinds.count(kind) >= 3 for kind in set(kinds)} == {
        "single": True,
        "multi_hop": True,
        "global": True,
    }
    assert len({asked["question"] for asked in QUESTIONS}) == len(QUESTIONS) >= 24
