"""Two people with the same form open: whoever saves second is told, and overwrites nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import models
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from health.models import ServiceLevelObjective
from tests.factories import (
    make_client,
    make_corpus,
    make_pipeline,
    make_prompt,
    make_resource,
    make_service,
    make_tool,
    make_toolset,
)
from tests.health.webhooks.parts import make_webhook
from tests.tools.admin.pages import address, filled_in, submit, text, untouched
from tests.upstream_rows import make_upstream
from tools.admin.guarded_form import OPENED_WITH, GuardedForm
from tools.models import (
    ApiClient,
    ApiOperation,
    ApiService,
    LabelledQuestion,
    QuestionSet,
    RegisteredService,
    Tool,
    UpstreamServer,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

REFUSED = "Nothing was saved: since you opened this page somebody else has changed"


def colleague(name: str) -> Client:
    """The browser of somebody who may do everything."""
    browser = Client()
    browser.force_login(User.objects.create_superuser(name, password="x"))
    return browser


@pytest.fixture
def ann() -> Client:
    return colleague("ann")


@pytest.fixture
def bob() -> Client:
    return colleague("bob")


def save(browser: Client, url: str, opened: dict[str, Any], /, **changes: Any) -> Any:
    """Press save on a form that was opened before."""
    return browser.post(url, opened | changes | {"_save": "Save"}, follow=True)


def stored(row: models.Model) -> dict[str, Any]:
    return type(row)._base_manager.filter(pk=row.pk).values().get()


def operation() -> ApiOperation:
    service = ApiService(slug="shop", base_url="https://shop.example/v1", prefix="shop_")
    service.save()
    tool = make_tool(name="shop_items", description="Lists items.")
    made = ApiOperation(service=service, tool=tool, method="GET", path="/items")
    made.save()
    return made


def service_of_api() -> ApiService:
    made = ApiService(slug="shop", base_url="https://shop.example/v1", auth="bearer")
    made.set_secret("s3cret")
    made.save()
    return made


def question() -> LabelledQuestion:
    questions = QuestionSet.objects.create(name="pumps", corpus=make_corpus())
    return LabelledQuestion.objects.create(
        question_set=questions, key="1", text="Who oils it?", relevant={"pumps.md": 1}
    )


def schedule() -> PeriodicTask:
    hourly = IntervalSchedule.objects.create(every=1, period="hours")
    return PeriodicTask.objects.create(
        name="mine", task="tools.tasks.prune_journal", interval=hourly
    )


def saved(row: Any) -> Any:
    row.save()
    return row


# What is open, what the first changes in it, and what the second would.
FORMS: dict[str, tuple[Callable[[], models.Model], dict[str, Any], dict[str, Any]]] = {
    "tool": (make_tool, {"title": "First"}, {"description": "Second words"}),
    "client": (
        lambda: make_client()[0],
        {"rate_limit_per_minute": "70"},
        {"manages_corpora": "on"},
    ),
    "server": (make_upstream, {"display_name": "First"}, {"description": "Second words"}),
    "configuration": (
        make_service,
        {"security_rate_limit": "70"},
        {"monitoring_metrics_enabled": "on", "server_timeout": "77"},
    ),
    "webhook": (
        lambda: make_webhook("https://pager.example/"),
        {"changes": "service"},
        {"name": "second words"},
    ),
    "api": (service_of_api, {"title": "First"}, {"description": "Second words"}),
    "pipeline": (make_pipeline, {"timeout_seconds": "7"}, {"max_tokens": "777"}),
    "toolset": (make_toolset, {"title": "First"}, {"description": "Second words"}),
    "prompt": (make_prompt, {"title": "First"}, {"description": "Second words"}),
    "resource": (make_resource, {"title": "First"}, {"description": "Second words"}),
    "corpus": (make_corpus, {"title": "First"}, {"description": "Second words"}),
    "question": (question, {"documents": "other.md = 2"}, {"text": "Second words?"}),
    "objective": (
        lambda: saved(ServiceLevelObjective(tool="echo")),
        {"window_days": "7"},
        {"latency_ms": "777"},
    ),
    "registry": (
        lambda: saved(RegisteredService(name="billing", url="https://billing.example")),
        {"key_variable": "FIRST_API_KEY"},
        {"url": "https://second.example"},
    ),
    "schedule": (schedule, {"queue": "first"}, {"description": "Second words"}),
    "interval": (
        lambda: IntervalSchedule.objects.create(every=1, period="hours"),
        {"every": "7"},
        {"period": "days"},
    ),
    "group": (lambda: Group.objects.create(name="mine"), {"name": "first"}, {"name": "second"}),
    "person": (
        lambda: User.objects.create_user("eve"),
        {"first_name": "First"},
        {"last_name": "Second"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_second_of_two_who_save_is_refused_and_told_by_whom(
    ann: Client, bob: Client, form: str
) -> None:
    make, first, second = FORMS[form]
    row = make()
    url = address(type(row), "change", row.pk)
    before = stored(row)
    opened = untouched(bob, url)
    submit(ann, url, **first)
    after = stored(row)
    assert after != before
    page = save(bob, url, opened, **second)
    assert stored(row) == after
    told = text(page)
    assert page.redirect_chain == []
    assert REFUSED in told
    assert ", last by ann at " in told
    assert f'href="{url}" target="_blank"' in told
    # What was typed is still there; another press of the button changes nothing either.
    kept = filled_in(page)
    assert {
        name: kept[name] if isinstance(kept[name], str) else kept[name][0] for name in second
    } == second
    assert REFUSED in text(save(bob, url, kept))
    assert stored(row) == after
    # Opened anew it can be saved.
    assert submit(bob, url, **second).redirect_chain
    assert stored(row) != after


def test_the_second_who_saves_an_operation_does_not_overwrite_its_tool(
    ann: Client, bob: Client
) -> None:
    row = operation()
    url = address(ApiOperation, "change", row.pk)
    opened = untouched(bob, url)
    submit(ann, address(Tool, "change", row.tool_id), description="Lists all items.")
    page = save(bob, url, opened, path="/things")
    assert f"{REFUSED} description, last by ann at " in text(page)
    row.refresh_from_db()
    assert (row.path, row.tool.description) == ("/items", "Lists all items.")


def test_members_of_a_toolset_and_grants_of_a_client_count_as_well(
    ann: Client, bob: Client
) -> None:
    tool, other, toolset = make_tool(), make_tool(), make_toolset()
    client = make_client()[0]
    for row, name, first, second in (
        (toolset, "tools", tool, other),
        (client, "toolsets", toolset, make_toolset()),
    ):
        url = address(type(row), "change", row.pk)
        opened = untouched(bob, url)
        submit(ann, url, **{name: [first.pk]})
        page = save(bob, url, opened, **{name: [second.pk]})
        assert f"{REFUSED} {name}, last by ann at " in text(page)
        assert list(getattr(row, name).all()) == [first]


@pytest.mark.parametrize(
    ("make", "field", "secret"),
    [
        (service_of_api, "new_secret", "secret"),
        (make_upstream, "new_headers", "headers"),
    ],
)
def test_a_secret_that_somebody_else_has_entered_meanwhile_stays(
    ann: Client, bob: Client, make: Callable[[], models.Model], field: str, secret: str
) -> None:
    row = make()
    url = address(type(row), "change", row.pk)
    opened = untouched(bob, url)
    submit(ann, url, **{field: "X-Key: ann-has-this"})
    kept = stored(row)[secret]
    page = save(bob, url, opened, **{field: "X-Key: bob-has-that"})
    assert f"{REFUSED} {secret}, last by ann at " in text(page)
    assert stored(row)[secret] == kept
    assert "bob-has-that" not in text(page)


def test_what_machines_note_stands_in_nobodys_way(bob: Client) -> None:
    client, server, person = make_client()[0], make_upstream(), User.objects.create_user("eve")
    entry = schedule()
    urls = {row: address(type(row), "change", row.pk) for row in (client, server, person, entry)}
    opened = {row: untouched(bob, url) for row, url in urls.items()}
    now = timezone.now()
    ApiClient.objects.filter(pk=client.pk).update(last_used_at=now)
    UpstreamServer.objects.filter(pk=server.pk).update(discovered_at=now, discovered_hash="ab")
    User.objects.filter(pk=person.pk).update(last_login=now)
    PeriodicTask.objects.filter(pk=entry.pk).update(last_run_at=now, total_run_count=9)
    for row, url in urls.items():
        assert save(bob, url, opened[row]).redirect_chain, row
    # What the form of somebody else did not edit is kept as well.
    assert PeriodicTask.objects.get(pk=entry.pk).total_run_count == 9


def test_a_row_that_was_switched_in_the_list_meanwhile_is_not_switched_back(
    ann: Client, bob: Client
) -> None:
    tool = make_tool()
    url = address(Tool, "change", tool.pk)
    opened = untouched(bob, url)
    assert ann.post(address(Tool, "switch", tool.pk), {"on": "no"}).status_code == 302
    assert f"{REFUSED} enabled, last by ann at " in text(save(bob, url, opened, title="Second"))
    # The switch itself says which state it wants, and so needs no page that is up to date.
    assert ann.post(address(Tool, "switch", tool.pk), {"on": "yes"}).status_code == 302
    assert Tool.objects.get().enabled
    assert save(bob, url, opened, title="Second").redirect_chain


def test_another_fault_in_the_form_does_not_make_an_old_page_a_new_one(
    ann: Client, bob: Client
) -> None:
    tool = make_tool()
    url = address(Tool, "change", tool.pk)
    faulty = save(bob, url, untouched(bob, url), timeout_seconds="9999")
    assert faulty.redirect_chain == []
    submit(ann, url, title="First")
    page = save(bob, url, filled_in(faulty), timeout_seconds="77")
    assert REFUSED in text(page)
    assert Tool.objects.get().title == "First"


@pytest.mark.parametrize("known", [None, "", "nonsense", "title", "=" * 5000])
def test_a_form_that_does_not_say_what_it_was_opened_with_is_refused(
    bob: Client, known: str | None
) -> None:
    tool = make_tool(title="First")
    url = address(Tool, "change", tool.pk)
    given = untouched(bob, url) | {OPENED_WITH: known, "title": "Second"}
    page = save(bob, url, {name: value for name, value in given.items() if value is not None})
    assert page.redirect_chain == []
    assert "Nothing was saved" in text(page)
    assert Tool.objects.get().title == "First"


def test_no_page_on_which_people_change_rows_goes_without() -> None:
    request: HttpRequest = RequestFactory().get("/")
    request.user = User.objects.create_superuser("root", password="x")
    unguarded = [
        model._meta.label
        for model, one in admin.site._registry.items()
        if one.has_change_permission(request) and not issubclass(one.form, GuardedForm)
    ]
    assert unguarded == []
