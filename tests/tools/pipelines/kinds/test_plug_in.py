"""A technique of one's own, as docs/how-to/add-a-pipeline.md shows it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.indexes import corpus_of_texts
from tests.project.pages import PROJECT, fenced, read
from tests.tools.pipelines.kinds.text_index import text_index
from tools.models import PipelineConfig, Tool
from tools.pipelines.manager import PipelineManager
from tools.pipelines.run import run_query
from tools.techniques import techniques

PAGE = read(PROJECT / "docs" / "how-to" / "add-a-pipeline.md")


@pytest.fixture
def plug_in(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Imports the page's one file, as an app does when it is ready; the registry is put back after."""
    path = tmp_path / "two_words.py"
    path.write_text(fenced(PAGE, "python")[0])
    known = dict(techniques._known)

    def load() -> None:
        spec = importlib.util.spec_from_file_location("two_words", path)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))

    yield load
    techniques._known.clear()
    techniques._known.update(known)


def answer(**arguments: Any) -> dict[str, Any]:
    return run_query(
        "two_words",
        arguments,
        defaults={},
        index=text_index().spec,
        max_tokens=200,
        request_id="5b0e9a1e-6f0a-4d6e-9f57-0f6f3f0d2c11",
        manager=PipelineManager(),
    )


def test_the_technique_of_the_page_answers_like_any_other(plug_in: Callable[[], None]) -> None:
    plug_in()

    told = answer(query="How dense is rye bread?", top_k=3)

    assert told["metadata"]["pipeline_name"] == "two_words"
    assert told["retrieved_documents"][0]["metadata"]["title"] == "Rye bread"
    assert len(told["retrieved_documents"]) <= 3
    assert "dense" in told["answer"]
    assert told["metadata"]["found_by_both"] >= 1


@pytest.mark.django_db
def test_it_can_be_configured_and_becomes_a_tool(plug_in: Callable[[], None]) -> None:
    plug_in()

    PipelineConfig(pipeline_name="two_words", corpus=corpus_of_texts()).save()

    tool = Tool.objects.get(name="rag_two_words")
    assert tool.input_schema["properties"]["least_words"] == {
        "type": "integer",
        "default": 1,
        "minimum": 1,
        "maximum": 5,
        "description": "How many words of the question a passage must share.",
    }


def test_a_second_technique_of_a_name_is_refused(plug_in: Callable[[], None]) -> None:
    plug_in()

    with pytest.raises(RuntimeError, match="two_words is registered already"):
        plug_in()
