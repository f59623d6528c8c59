"""From a change that is recorded to a receiver, through real processes that may die on the way."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.logging import JsonFormatter
from health.models import WebhookDelivery
from health.record import record
from health.tasks import send_deliveries
from health.webhooks.courier import SECONDS
from tests.health.reports import report
from tests.health.webhooks.parts import (
    SECRET,
    events,
    make_webhook,
    record_outage,
)
from tests.http_server import HttpServer, Reply, http_server
from tests.processes import wait_until
from tests.workers import celery_worker, database_url
from tools.vault import unseal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]

BOTH = [("service", "degraded"), ("worker", "unavailable")]
# Dies when the change is written down and nothing has been sent.
RECORD_AND_DIE = """
import os, signal
import django
django.setup()
from django.db import transaction
from tests.health.webhooks.parts import record_outage
with transaction.atomic():
    transaction.on_commit(lambda: os.kill(os.getpid(), signal.SIGKILL))
    record_outage()
"""


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server(always=Reply(200)) as server:
        yield server


def states() -> set[str]:
    return set(WebhookDelivery.objects.values_list("state", flat=True))


def test_without_any_worker_whoever_records_the_change_sends_it(receiver: HttpServer) -> None:
    make_webhook(receiver.url)
    record_outage()
    wait_until(lambda: states() == {"delivered"}, what="both events delivered")
    assert events(receiver) == BOTH


def test_without_any_worker_what_failed_goes_with_the_next_report(receiver: HttpServer) -> None:
    make_webhook(receiver.url, changes="service")
    receiver.behave(Reply(500))
    record_outage()
    wait_until(lambda: WebhookDelivery.objects.filter(last_status=500).exists())
    later = 0

    def another_report() -> bool:
        nonlocal later
        later += 1
        record(report("worker", later=later))
        return states() == {"delivered"}

    wait_until(another_report, what="the event delivered with a later report")
    assert len(receiver.asked) == 2


def test_change_that_comes_while_another_is_sent_is_not_left_behind(receiver: HttpServer) -> None:
    with http_server(always=Reply(hang=True)) as silent:
        make_webhook(silent.url, name="silent", changes="service")
        record_outage()
        assert silent.under_way.wait(20)
        make_webhook(receiver.url, changes="service")
        record(report(later=1))
        wait_until(lambda: events(receiver) == [("service", "healthy")])


def test_worker_sends_again_what_failed(receiver: HttpServer, tmp_path: Path) -> None:
    make_webhook(receiver.url)
    receiver.behave(Reply(500), Reply(500))
    with celery_worker(tmp_path / "worker.log", concurrency=1):
        record_outage()
        wait_until(lambda: states() == {"delivered"}, 30, "what failed delivered by the worker")
    assert sorted(WebhookDelivery.objects.values_list("attempts", flat=True)) == [2, 2]
    assert events(receiver) == sorted(BOTH * 2)


def test_kill_between_record_and_send_loses_nothing(receiver: HttpServer) -> None:
    make_webhook(receiver.url)
    environment = {**os.environ, "DATABASE_URL": database_url()}
    child = subprocess.run(
        [sys.executable, "-c", RECORD_AND_DIE], env=environment, check=False, timeout=60
    )
    assert child.returncode == -signal.SIGKILL
    assert states() == {"waiting"}
    assert receiver.asked == []
    assert send_deliveries() == 2
    assert states() == {"delivered"}
    assert events(receiver) == BOTH


def test_hanging_receiver_holds_up_neither_the_record_nor_others(receiver: HttpServer) -> None:
    with http_server(always=Reply(hang=True)) as silent:
        make_webhook(silent.url, name="silent", changes="service")
        make_webhook(receiver.url, changes="service")
        record_outage()
        wait_until(lambda: events(receiver) == [("service", "degraded")])
        hung = WebhookDelivery.objects.filter(webhook__name="silent")
        wait_until(
            lambda: hung.get().last_error == f"no answer within {SECONDS:g} s",
            what="an end to the wait for a receiver that hangs",
        )


def test_neither_the_secret_nor_the_path_of_a_receiver_gets_into_the_log(
    receiver: HttpServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    webhook = make_webhook(f"{receiver.url}/hooks/T0123secretpath?token=t0ken", changes="service")
    receiver.behave(Reply(500, b"you sent T0123secretpath"))
    record_outage()
    wait_until(lambda: WebhookDelivery.objects.filter(last_status=500).exists())
    send_deliveries()
    written = "\n".join(JsonFormatter().format(one) for one in caplog.records)
    assert "it answered with status 500" in written
    for secret in (SECRET, SECRET.removeprefix("whsec_"), "T0123secretpath", "t0ken"):
        assert secret not in written
    assert webhook.secret not in written
    assert unseal(webhook.secret) == SECRET
    kept = str(list(WebhookDelivery.objects.values()))
    assert "T0123secretpath" not in kept
