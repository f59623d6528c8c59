"""The schedule of the beat in the admin."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    PeriodicTasks,
    SolarSchedule,
)

from controlplane.beat import Scheduler, every, follow_interval
from controlplane.celery import app
from health.models import HealthSnapshot
from tests.processes import wait_until
from tests.tools.admin.pages import act, address, submit, text
from tests.trail import became, trail_of
from tests.workers import celery_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def entries(redis_url: str) -> dict[str, PeriodicTask]:
    """The program's own entries, as a beat puts them on the schedule when it starts."""
    start_beat()
    return {entry.name: entry for entry in PeriodicTask.objects.all()}


def start_beat() -> None:
    Scheduler(app=app)


def add(client: Client, **fields: object) -> str:
    given = {
        "name": "tidy",
        "task": "tools.tasks.prune_journal",
        "interval": str(every(600).pk),
    } | fields
    return text(submit(client, address(PeriodicTask, "add"), **given))


def test_entry_is_added_with_a_task_that_exists(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    add(admin_client)
    made = PeriodicTask.objects.get(name="tidy")
    assert (made.task, str(made.scheduler)) == ("tools.tasks.prune_journal", "every 600 seconds")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"task": "os.system"}, "os.system is not one of the available choices"),
        ({"task": ""}, "This field is required"),
        ({"args": "[1"}, "Not valid JSON"),
        ({"args": '{"a": 1}'}, "Must be a JSON list"),
        ({"kwargs": "[]"}, "Must be a JSON object"),
        ({"interval": ""}, "must be set"),
    ],
)
def test_what_cannot_be_is_refused(
    admin_client: Client, entries: dict[str, PeriodicTask], fields: dict[str, str], told: str
) -> None:
    assert told in add(admin_client, **fields)
    assert not PeriodicTask.objects.filter(name="tidy").exists()


def test_interval_of_health_checks_is_read_only_and_says_what_sets_it(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    follow_interval(20)
    page = address(PeriodicTask, "change", entries["health-checks"].pk)
    shown = text(admin_client.get(page))
    assert "every 20 seconds" in shown
    assert "monitoring.health_check_interval" in shown
    assert 'name="interval"' not in shown
    submit(admin_client, page, interval=str(every(9999).pk), name="renamed", description="Kept")
    after = PeriodicTask.objects.get(pk=entries["health-checks"].pk)
    assert (after.name, str(after.interval), after.description) == (
        "health-checks",
        "every 20 seconds",
        "Kept",
    )


def test_other_entries_of_the_program_can_be_given_other_times(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    nightly = CrontabSchedule.objects.create(minute="0", hour="3")
    page = address(PeriodicTask, "change", entries["prune-health"].pk)
    submit(admin_client, page, interval="", crontab=str(nightly.pk), expire_seconds="600")
    start_beat()
    after = PeriodicTask.objects.get(name="prune-health")
    assert (after.interval, after.crontab) == (None, nightly)


def test_deleted_default_comes_back_with_the_beat_and_the_page_says_so(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    assert "comes back when the beat starts again" in text(
        admin_client.get(address(PeriodicTask, "changelist"))
    )
    page = address(PeriodicTask, "change", entries["prune-journal"].pk)
    assert "One of the program's own." in text(admin_client.get(page)).replace("&#x27;", "'")
    act(admin_client, PeriodicTask, "delete_selected", entries["prune-journal"])
    assert not PeriodicTask.objects.filter(name="prune-journal").exists()
    start_beat()
    assert PeriodicTask.objects.filter(name="prune-journal").exists()


def test_entry_of_a_task_that_is_gone_is_marked_and_not_run(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    gone = PeriodicTask.objects.create(name="old", task="gone.task", interval=every(60))
    assert "does not exist" in text(admin_client.get(address(PeriodicTask, "changelist")))
    assert "there is no task gone.task" in text(act(admin_client, PeriodicTask, "run_now", gone))


@pytest.mark.django_db(transaction=True)
def test_run_now_is_done_by_a_worker(
    admin_client: Client, entries: dict[str, PeriodicTask], tmp_path: Path
) -> None:
    with celery_worker(tmp_path / "worker.log", concurrency=1):
        page = act(admin_client, PeriodicTask, "run_now", entries["health-checks"])
        assert "Handed to the workers: health-checks." in text(page)
        wait_until(HealthSnapshot.objects.exists, 30, "the round of checks")


def test_without_a_broker_run_now_says_so(
    admin_client: Client, entries: dict[str, PeriodicTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(app.tasks["health.tasks.prune_health"], "apply_async", fail)
    page = text(act(admin_client, PeriodicTask, "run_now", entries["prune-health"]))
    assert "no worker can be asked" in page


def test_switching_entries_tells_a_running_beat(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    before = PeriodicTasks.last_change()
    page = act(admin_client, PeriodicTask, "disable", entries["prune-health"])
    assert "1 task disabled." in text(page)
    assert not PeriodicTask.objects.get(name="prune-health").enabled
    assert PeriodicTasks.last_change() > before
    act(admin_client, PeriodicTask, "enable", entries["prune-health"])
    assert PeriodicTask.objects.get(name="prune-health").enabled


def test_times_that_tasks_use_cannot_be_deleted(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    used = entries["prune-health"].interval
    assert admin_client.post(address(IntervalSchedule, "delete", used.pk)).status_code == 403
    free = IntervalSchedule.objects.create(every=7, period="days")
    admin_client.post(address(IntervalSchedule, "delete", free.pk), {"post": "yes"})
    assert not IntervalSchedule.objects.filter(pk=free.pk).exists()
    assert "prune-health" in text(admin_client.get(address(IntervalSchedule, "change", used.pk)))


def test_times_that_are_changed_are_in_the_audit_trail(
    admin_client: Client, entries: dict[str, PeriodicTask]
) -> None:
    used = entries["prune-health"].interval
    submit(admin_client, address(IntervalSchedule, "change", used.pk), every="7200")
    added, changed = trail_of(used)
    assert added.action == "added"
    assert (changed.action, changed.actor) == ("changed", "admin")
    assert became(changed, "every") == (3600, 7200)
    history = f"/admin/django_celery_beat/intervalschedule/{used.pk}/history/"
    assert changed.object_name in text(admin_client.get(history, follow=True))


def test_times_of_every_kind_are_in_the_audit_trail(admin_client: Client) -> None:
    made = (
        (CrontabSchedule, {"minute": "5", "hour": "4"}),
        (ClockedSchedule, {"clocked_time_0": "2030-01-01", "clocked_time_1": "12:00"}),
        (SolarSchedule, {"event": "sunset", "latitude": "50", "longitude": "14"}),
    )
    for model, fields in made:
        submit(admin_client, address(model, "add"), **fields)
        row = model.objects.get()
        admin_client.post(address(model, "delete", row.pk), {"post": "yes"})
        assert [one.action for one in trail_of(row)] == ["added", "deleted"]


@pytest.mark.parametrize(
    "model", [IntervalSchedule, CrontabSchedule, ClockedSchedule, SolarSchedule]
)
def test_times_have_pages(admin_client: Client, model: type) -> None:
    assert "Events of the sun" in text(admin_client.get(address(model, "changelist")))
    assert admin_client.get(address(model, "add")).status_code == 200
