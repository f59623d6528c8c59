"""One question to several pipelines, from the admin: answers side by side, faults in place."""

from __future__ import annotations

import html
import re
import uuid
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from tests.factories import make_pipeline
from tests.processes import wait_until
from tests.tools.admin.pages import text
from tests.tools.backends.pipeline.conftest import lasting_worker, trial
from tests.tools.backends.pipeline.rows import make_trial
from tests.workers import Worker
from tools.conf import deployment
from tools.execution.background import background
from tools.models import PipelineConfig, Tool

__all__ = ["lasting_worker", "trial"]

pytestmark = pytest.mark.usefixtures("calls_from_pages")


@pytest.fixture
def worker(calls_from_pages: None, lasting_worker: Worker) -> Worker:
    """A worker for the technique that does what its arguments say."""
    # What hands queries over is loaded with the first one, which a slow machine may give up for it.
    import_module("tools.tasks")
    return lasting_worker


def ask(client: Client, **values: Any) -> Any:
    return client.post(reverse("admin:tools_pipelineconfig_compare"), values, follow=True)


def page(client: Client, **query: Any) -> str:
    return text(client.get(reverse("admin:tools_pipelineconfig_compare"), query))


def answered(client: Client, shown: str) -> str:
    """The part of the page that follows its calls, once all of them have ended."""
    found = re.search(r'data-follow="([^"]+)"', shown)
    assert found is not None
    part = ""

    def ended() -> bool:
        nonlocal part
        part = text(client.get(html.unescape(found[1])))
        return 'data-busy="no"' in part

    wait_until(ended, 30, "the answers")
    return part


def test_answers_stand_side_by_side_and_a_pipeline_that_fails_says_so_in_its_place(
    admin_client: Client, worker: Worker
) -> None:
    make_trial()
    # An answer from the cache would tell of the cache.
    Tool.objects.update(cache_ttl_seconds=60)
    make_pipeline(pipeline_name="crag")
    before = page(admin_client, question="Why the moon?")
    assert "Why the moon?</textarea>" in before
    assert '<input type="checkbox" name="pipelines" value="crag" checked>' in before
    shown = ask(admin_client, question="Why the moon?", pipelines=["crag", "trial"], top_k="3")
    assert "trial=" in shown.redirect_chain[-1][0]
    part = answered(admin_client, text(shown))
    assert "You asked: Why the moon?" in part
    assert "<strong>SERVICE_UNAVAILABLE</strong>" in part
    # Three passages of two documents, with scores; the times and tokens of the pipeline.
    assert part.count('<p class="excerpt">') == 3
    assert part.count("moon-0.txt") == 3
    assert '<span class="score">1.000</span>' in part
    assert "Retrieval" in part
    assert ">7</dd>" in part
    assert "<dt>generator</dt><dd>trial</dd>" in part
    assert "Documents across pipelines" in part
    assert "/admin/tools/toolrequest/" in part


def test_the_same_document_has_one_number_in_all_columns(
    admin_client: Client, worker: Worker
) -> None:
    make_trial()
    ids: list[str] = []
    for passages in ("1", "3"):
        shown = text(ask(admin_client, question="Why?", pipelines=["trial"], top_k=passages))
        assert "found by" not in answered(admin_client, shown)
        ids += set(re.findall(r"trial=([0-9a-f-]{36})", shown))
    part = page(admin_client, trial=ids)
    assert part.count("found by 2 of 2") == 3
    assert part.count("found here alone") == 1
    assert '<span class="number">1</span> moon-0.txt' in part


def test_a_running_comparison_is_cancelled(
    admin_client: Client, worker: Worker, tmp_path: Path
) -> None:
    make_trial(default_parameters={"until": str(tmp_path / "never")})
    shown = text(ask(admin_client, question="Why?", pipelines=["trial"]))
    assert 'data-busy="yes"' in shown
    ids = re.findall(r'name="trial" value="([^"]+)"', shown)
    told = text(ask(admin_client, cancel="1", trial=ids))
    assert "What had not ended is being stopped." in told
    part = answered(admin_client, told)
    assert "It was cancelled before it ended." in part
    assert "Nothing was running any more." in text(ask(admin_client, cancel="1", trial=ids))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"question": "", "pipelines": "basic"}, "Write a question."),
        ({"question": " ", "pipelines": "basic"}, "Write a question."),
        ({"question": "x" * 8001, "pipelines": "basic"}, "at most 8000 characters"),
        ({"question": "Why?"}, "Choose at least one pipeline."),
        ({"question": "Why?", "pipelines": "guessing"}, "Select a valid choice."),
        ({"question": "Why?", "pipelines": "basic", "top_k": "51"}, "less than or equal to 50"),
        ({"question": "Why?\0", "pipelines": "basic"}, "Null characters are not allowed."),
    ],
)
def test_what_cannot_be_asked_is_told_in_its_place(
    admin_client: Client, values: dict[str, str], told: str
) -> None:
    make_pipeline(pipeline_name="basic")
    assert told in text(ask(admin_client, **values))


def test_answers_of_somebody_else_or_of_long_ago_are_told_as_unknown(
    admin_client: Client,
) -> None:
    make_pipeline(pipeline_name="basic")
    shown = page(admin_client, trial=[str(uuid.uuid4()), "../../etc", "x" * 5000])
    assert shown.count("This answer is not known any more") == 1


def test_a_page_without_pipelines_says_what_to_do(admin_client: Client) -> None:
    assert "There is no pipeline yet." in page(admin_client)


def test_viewers_look_and_ask_nothing(client: Client) -> None:
    make_pipeline(pipeline_name="basic")
    viewer = User.objects.create_user("viewer", is_staff=True)
    client.force_login(viewer)
    assert client.get(reverse("admin:tools_pipelineconfig_compare")).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="view_pipelineconfig"))
    client.force_login(User.objects.get(pk=viewer.pk))
    assert "needs the permission to change pipelines" in page(client)
    assert ask(client, question="Why?", pipelines="basic").status_code == 403
    assert PipelineConfig.objects.count() == 1


def test_without_redis_each_column_says_that_its_pipeline_cannot_be_reached(
    admin_client: Client, settings: Any, tmp_path: Path
) -> None:
    make_trial()
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        shown = text(ask(admin_client, question="Why the moon?", pipelines=["trial"]))
        assert "Pipelines cannot be reached now" in answered(admin_client, shown)
        lost = page(admin_client, trial=str(uuid.uuid4()))
        assert "Nobody can be asked how far it is" in lost
        # It looks again by itself.
        assert 'data-busy="yes"' in lost
    finally:
        background.close()
        deployment.cache_clear()
