"""What pipelines are at now, on their list and their pages."""

from __future__ import annotations

import html
import json
import re
import uuid
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from health.record import record
from tests.events import closing
from tests.factories import make_client, make_corpus, make_pipeline, make_version
from tests.health.reports import full_report
from tests.processes import wait_until
from tests.tools.admin.pages import address, text
from tests.tools.backends.pipeline.conftest import lasting_worker, trial
from tests.tools.backends.pipeline.rows import make_trial
from tests.tools.backends.rows import finished, logged, still_open
from tests.workers import Worker
from tools.admin import pipeline_live
from tools.conf import deployment
from tools.execution.trials import cancel_trial, start_trial
from tools.models import PipelineConfig, Tool
from tools.services.fold_figures import fold_figures
from tools.services.pipeline_load import PipelineLoad, RunningQuery
from tools.services.write_journal import write_events
from tools.techniques import techniques

__all__ = ["lasting_worker", "trial"]

LIST = address(PipelineConfig, "changelist")


def words(page: str) -> str:
    """The text of a page on one line."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def live(client: Client, pipeline: PipelineConfig) -> str:
    where = reverse("admin:tools_pipelineconfig_live_one", args=[pipeline.pk])
    return words(text(client.get(where)))


def test_a_running_query_is_shown_with_its_stage_and_those_that_wait_are_counted(
    admin_client: Client, calls_from_pages: None, lasting_worker: Worker, tmp_path: Path
) -> None:
    release = tmp_path / "release"
    pipeline = make_trial(max_concurrent_queries=2, default_parameters={"until": str(release)})
    Tool.objects.update(queue_timeout_seconds=60)
    begun = [start_trial("rag_trial", {"query": "Why the moon?"}, username="ada") for _ in range(3)]

    def shown() -> str:
        return live(admin_client, pipeline)

    # One runs in the only process, one has a slot and waits for it, one waits for a slot.
    counted = "Running 1 Slots taken 2 of 2 Wait for a slot 1 Wait for a worker 1"
    wait_until(lambda: counted in shown() and "retrieve: Looking" in shown(), 20, "a query")
    assert "ada" in shown()
    page = reverse("admin:tools_pipelineconfig_live")
    line = "trial 1 (retrieve) 2 of 2 1, 1 for a slot 1"
    # Workers say every now and then that they are there; the last word may be forgotten.
    wait_until(lambda: line in words(text(admin_client.get(page))), 20, "the pipeline in the list")
    for one in begun:
        cancel_trial(one, "ada")
    release.touch()
    wait_until(lambda: "No query is running." in shown(), 20, "the end of the queries")


@pytest.mark.django_db
def test_a_running_query_names_its_caller_as_the_log_does(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, _ = make_client(name="Chat agent")
    now = datetime.now(UTC)
    query = RunningQuery(str(uuid.uuid4()), f"client:{caller.pk}", "retrieve", "", now, "worker-1")
    load = {"basic": PipelineLoad(workers=1, queries=[query])}
    monkeypatch.setattr(pipeline_live, "pipeline_loads", lambda _: load)
    assert f"Chat agent (client:{caller.pk})" in live(admin_client, make_pipeline())


@pytest.mark.django_db
def test_who_asks_is_shown_to_nobody_who_may_not_see_the_log(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = User.objects.create_user("pipes", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_pipelineconfig"))
    client.force_login(person)
    now = datetime.now(UTC)
    query = RunningQuery(str(uuid.uuid4()), "client:7", "retrieve", "", now, "worker-1")
    load = {"basic": PipelineLoad(workers=1, queries=[query])}
    monkeypatch.setattr(pipeline_live, "pipeline_loads", lambda _: load)
    where = reverse("admin:tools_pipelineconfig_live_one", args=[make_pipeline().pk])
    page = text(client.get(where))
    assert "retrieve" in page
    assert "client:7" not in page
    assert reverse("admin:tools_toolrequest_changelist") not in page


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_the_number_of_those_that_wait_leads_to_them(
    admin_client: Client, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = make_pipeline()
    tool = pipeline.tool.name
    logged([still_open(tool), still_open("another"), finished(tool)])

    def shown(visitor: Client, **load: Any) -> tuple[str, str]:
        loads = {pipeline.pipeline_name: PipelineLoad(workers=1, **load)}
        monkeypatch.setattr(pipeline_live, "pipeline_loads", lambda _: loads)
        one = reverse("admin:tools_pipelineconfig_live_one", args=[pipeline.pk])
        listed = reverse("admin:tools_pipelineconfig_live")
        return text(visitor.get(one)), text(visitor.get(listed))

    for page in shown(admin_client, waiting=1, held_back=2):
        found = re.findall(r'<a href="([^"]*toolrequest[^"]*)">([^<]*)</a>', page)
        assert [words for _, words in found] in (["2", "1"], ["1, 2 for a slot"])
        for link, _ in found:
            rows = admin_client.get(html.unescape(link)).context["cl"].result_list
            assert [(row.tool_id, row.finished_at) for row in rows] == [(tool, None)]
    # Nothing waits, or who looks may not see the log.
    person = User.objects.create_user("pipes", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_pipelineconfig"))
    client.force_login(person)
    for page in (*shown(admin_client), *shown(client, waiting=1, held_back=2)):
        assert "toolrequest" not in page


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_missing_workers_are_told_in_words(admin_client: Client) -> None:
    pipeline = make_pipeline()
    assert "No worker takes its queries, so callers wait in vain." in live(admin_client, pipeline)
    assert '<span class="bad">none</span>' in text(admin_client.get(LIST))


@pytest.mark.django_db
def test_pages_answer_while_redis_is_away_and_say_so(
    admin_client: Client, settings: Any, tmp_path: Path
) -> None:
    pipeline = make_pipeline()
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        assert "Redis cannot be reached: nobody knows" in text(admin_client.get(LIST))
        page = text(admin_client.get(address(PipelineConfig, "change", pipeline.pk)))
        assert "Redis cannot be reached: nobody knows" in page
    finally:
        deployment.cache_clear()


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_the_last_test_query_of_the_health_checks_is_shown(admin_client: Client) -> None:
    well, unwell = make_pipeline(), make_pipeline(pipeline_name="crag")
    other = make_pipeline(pipeline_name="graphrag")
    record(full_report())
    page = words(text(admin_client.get(address(PipelineConfig, "change", well.pk))))
    assert "Last test query healthy" in page
    assert "Answered in 41 ms." in page
    page = text(admin_client.get(address(PipelineConfig, "change", unwell.pk)))
    assert "No worker &lt;b&gt;answers&lt;/b&gt;" in page
    page = text(admin_client.get(address(PipelineConfig, "change", other.pk)))
    assert "None yet: the health checks ask each pipeline" in page
    listed = words(text(admin_client.get(LIST)))
    assert "healthy 41 ms" in listed


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_figures_of_a_day_and_the_latest_calls_lead_into_the_log(admin_client: Client) -> None:
    pipeline = make_pipeline()
    now = datetime.now(UTC).isoformat()
    broken = {"status": "failure", "state": "failed", "code": "EXECUTION_ERROR", "error": "no"}
    kinds: list[dict[str, Any]] = [
        *[{"duration_ms": 12.0}] * 2,
        {"duration_ms": 2.0, "cache_hit": True},
        {"duration_ms": 900.0, **broken},
    ]
    for kind in kinds:
        call = closing(str(uuid.uuid4()), tool="rag_basic", **kind)
        write_events([json.dumps(call | {"received_at": now, "finished_at": now})])
    fold_figures()
    page = text(admin_client.get(address(PipelineConfig, "change", pipeline.pk)))
    day = page.partition("Last 24 hours")[2].partition("Latest calls")[0]
    assert words(day).startswith("Calls 4 Failed 25.0 % p50 12 ms p95 90")
    links = [unescape(link) for link in re.findall(r'href="([^"]+)"', day)]
    assert [admin_client.get(link).context["cl"].result_count for link in links] == [4, 1, 3, 1, 1]
    assert "/admin/tools/toolrequest/?tool__exact=rag_basic" in page


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_pages_cost_few_queries(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    corpus = make_corpus()
    make_version(corpus, state="active")
    rows = [make_pipeline(pipeline_name=name, corpus=corpus) for name in techniques.names()]
    for page in (
        LIST,
        address(PipelineConfig, "change", rows[0].pk),
        reverse("admin:tools_pipelineconfig_live"),
        reverse("admin:tools_pipelineconfig_compare"),
    ):
        with django_assert_max_num_queries(30):
            assert admin_client.get(page).status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_parts_are_for_those_who_may_look(client: Client) -> None:
    pipeline = make_pipeline()
    someone = User.objects.create_user("someone", is_staff=True)
    parts = (
        reverse("admin:tools_pipelineconfig_live"),
        reverse("admin:tools_pipelineconfig_live_one", args=[pipeline.pk]),
    )
    client.force_login(someone)
    assert [client.get(part).status_code for part in parts] == [403, 403]
    someone.user_permissions.add(Permission.objects.get(codename="view_pipelineconfig"))
    client.force_login(User.objects.get(pk=someone.pk))
    assert [client.get(part).status_code for part in parts] == [200, 200]
    page = text(client.get(address(PipelineConfig, "change", pipeline.pk)))
    # The log has permissions of its own.
    assert "Last 24 hours" not in page
    gone = reverse("admin:tools_pipelineconfig_live_one", args=[pipeline.pk + 1])
    assert client.get(gone).status_code == 404
