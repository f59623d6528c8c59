"""What a process shares between queries."""

from __future__ import annotations

import logging

import pytest
from django.db import DEFAULT_DB_ALIAS, connections

from tests.tools.pipelines.sample import SPEC, Sample, Shelf, Writer
from tools.errors import ServiceUnavailable
from tools.pipelines.contracts import Generator, IndexSpec, OpenIndex
from tools.pipelines.manager import PipelineManager, memory_bytes, pipeline_manager
from tools.techniques import techniques


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(techniques._known, "sample", Sample)


def manager() -> PipelineManager:
    return PipelineManager(shelf, writer)


def shelf(spec: IndexSpec) -> OpenIndex:
    return Shelf()  # type: ignore[return-value] # the blocks are not used


def writer(name: str) -> Generator:
    return Writer(name)


def test_process_has_one_manager_and_that_one_instance_of_each_pipeline() -> None:
    # S0-082
    assert pipeline_manager() is pipeline_manager()
    shared = manager()
    assert isinstance(shared.pipeline("sample"), Sample)
    assert shared.pipeline("sample") is shared.pipeline("sample")
    assert shared.pipeline("basic") is not shared.pipeline("sample")


def test_generators_are_made_once_for_each_model() -> None:
    shared = manager()
    assert shared.generator("gpt-4") is shared.generator("gpt-4")
    assert shared.generator("gpt-4") is not shared.generator("")


def test_pipelines_share_the_database_connection_of_the_process() -> None:
    # S0-061
    shared = manager()
    assert shared.database() is connections[DEFAULT_DB_ALIAS]
    assert shared.database() is shared.database()


def test_pipeline_that_this_process_does_not_know_is_unavailable() -> None:
    with pytest.raises(ServiceUnavailable, match="does not know the pipeline newer"):
        manager().pipeline("newer")


def test_warming_goes_on_past_what_cannot_be_made_and_tells_the_memory(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "tools.pipelines.manager"):
        # The shelf has no vectors to search.
        manager().warm([SPEC])
    told = [record.getMessage() for record in caplog.records]
    assert told[0] == "Could not warm the index of moon"
    assert "MB of memory" in told[-1]
    assert memory_bytes() > 10 << 20
