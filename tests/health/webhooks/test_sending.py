"""Events on their way to a real receiver, and what becomes of them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from health.models import HealthWebhook, StatusChange, WebhookDelivery
from health.record import record
from health.webhooks.deliveries import HELD, MOST_ATTEMPTS, WAITS
from health.webhooks.sending import send, send_due
from tests.health.reports import report
from tests.health.webhooks.parts import (
    events,
    make_due,
    make_webhook,
    record_outage,
    verified,
)
from tests.http_server import HttpServer, Reply, http_server

# In the transaction of a test nothing is committed, so nothing is sent but by these calls.
pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server(always=Reply(204, b"")) as server:
        yield server


def only() -> WebhookDelivery:
    return WebhookDelivery.objects.get()


def a_delivery(url: str, **fields: object) -> WebhookDelivery:
    """One event that waits."""
    make_webhook(url, changes="service", **fields)
    (delivery,) = record_outage()
    return delivery


def test_every_change_is_delivered_with_a_signature(receiver: HttpServer) -> None:
    make_webhook(receiver.url + "/hooks/1?a=b")
    record_outage()
    assert send_due() == 2
    assert events(receiver) == [("service", "degraded"), ("worker", "unavailable")]
    assert {asked.target for asked in receiver.asked} == {"/hooks/1?a=b"}
    event = next(
        event for event in map(verified, receiver.asked) if event["data"]["subject"] == "dependency"
    )
    change = StatusChange.objects.get(name="worker")
    assert event == {
        "type": "health.changed",
        "timestamp": change.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "data": {
            "subject": "dependency",
            "name": "worker",
            "before": "connected",
            "after": "unavailable",
            "reason": "worker is away",
            "service": "mcp-control-plane",
            "status": "degraded",
        },
    }
    ended = WebhookDelivery.objects.filter(state="delivered", attempts=1, last_status=204)
    assert ended.count() == 2
    assert all(one.ended_at is not None for one in ended)
    assert send_due() == 0


def test_webhook_for_the_service_as_a_whole_is_told_of_nothing_else(receiver: HttpServer) -> None:
    make_webhook(receiver.url, changes="service")
    record_outage()
    send_due()
    assert events(receiver) == [("service", "degraded")]


def test_webhook_that_is_off_is_told_of_nothing(receiver: HttpServer) -> None:
    webhook = make_webhook(receiver.url, enabled=False)
    assert record_outage() == []
    # One that is switched off while an event waits does not get that either.
    HealthWebhook.objects.filter(pk=webhook.pk).update(enabled=True)
    record(report(later=1))
    HealthWebhook.objects.filter(pk=webhook.pk).update(enabled=False)
    assert send_due() == 0
    assert set(WebhookDelivery.objects.values_list("state", flat=True)) == {"given_up"}
    assert receiver.asked == []


def test_failure_is_tried_again_with_the_same_id_after_a_growing_wait(
    receiver: HttpServer,
) -> None:
    delivery = a_delivery(receiver.url)
    receiver.behave(Reply(500), Reply(503))
    send_due()
    after = only()
    assert (after.state, after.attempts, after.last_status) == ("waiting", 1, 500)
    assert after.last_error == "it answered with status 500"
    assert WAITS[0] <= waits(after) < WAITS[1]
    make_due()
    send_due()
    assert WAITS[1] <= waits(only()) < WAITS[2]
    make_due()
    send_due()
    assert (only().state, only().attempts, only().last_error) == ("delivered", 3, "")
    ids = {asked.header("webhook-id") for asked in receiver.asked}
    assert ids == {f"msg_{delivery.event_id.hex}"}
    assert len({asked.body for asked in receiver.asked}) == 1


def waits(delivery: WebhookDelivery) -> float:
    """Seconds from the last attempt to the next."""
    assert delivery.attempted_at is not None
    assert delivery.next_attempt_at is not None
    return (delivery.next_attempt_at - delivery.attempted_at).total_seconds()


def test_what_is_not_due_is_not_sent(receiver: HttpServer) -> None:
    delivery = a_delivery(receiver.url)
    WebhookDelivery.objects.update(next_attempt_at=datetime.now(UTC) + timedelta(seconds=60))
    assert (send_due(), send([delivery.pk])) == (0, 0)
    assert receiver.asked == []


def test_it_is_given_up_after_six_attempts(receiver: HttpServer) -> None:
    receiver.always = Reply(500)
    a_delivery(receiver.url)
    for _ in range(MOST_ATTEMPTS + 2):
        make_due()
        send_due()
    assert (only().state, only().attempts) == ("given_up", 6)
    assert len(receiver.asked) == 6
    assert only().next_attempt_at is None


def test_dead_port_is_told_as_no_connection() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    a_delivery(f"http://127.0.0.1:{port}/")
    send_due()
    assert (only().state, only().last_error, only().last_status) == (
        "waiting",
        "no connection",
        None,
    )


def test_receiver_that_hangs_is_waited_for_no_longer_than_the_limit(receiver: HttpServer) -> None:
    receiver.behave(Reply(hang=True))
    a_delivery(receiver.url)
    send_due(seconds=0.3)
    assert only().last_error == "no answer within 0.3 s"
    assert only().state == "waiting"
    assert receiver.hung_up.wait(20)


def test_receiver_that_is_gone_switches_the_webhook_off(receiver: HttpServer) -> None:
    receiver.always = Reply(410)
    a_delivery(receiver.url)
    send_due()
    assert (only().state, only().attempts, only().last_status) == ("given_up", 1, 410)
    webhook = HealthWebhook.objects.get()
    assert not webhook.enabled
    assert webhook.off_because == "The receiver answered 410 (gone)."
    webhook.enabled = True
    webhook.save()
    assert HealthWebhook.objects.get().off_because == ""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(receiver: HttpServer, status: int) -> None:
    receiver.behave(Reply(status, headers={"Location": "/elsewhere"}))
    a_delivery(receiver.url)
    send_due()
    assert only().last_error == f"it redirects ({status}), which is not followed"
    assert len(receiver.asked) == 1


def test_private_address_is_refused_unless_it_is_allowed(receiver: HttpServer) -> None:
    a_delivery(receiver.url, allowed_networks=[])
    send_due()
    assert only().last_error.startswith("it is at an address that is not allowed")
    assert receiver.asked == []


def test_secret_of_an_unknown_key_is_told(receiver: HttpServer) -> None:
    a_delivery(receiver.url)
    HealthWebhook.objects.update(secret="gAAAAA-of-another-key")
    send_due()
    assert "enter the secret again" in only().last_error
    assert receiver.asked == []


def test_delivery_whose_sender_died_is_due_again(receiver: HttpServer) -> None:
    delivery = a_delivery(receiver.url)
    # What taking it left behind, and then the process ended.
    WebhookDelivery.objects.update(attempts=1, next_attempt_at=datetime.now(UTC) + HELD)
    assert send([delivery.pk]) == 0
    WebhookDelivery.objects.update(next_attempt_at=datetime.now(UTC) - timedelta(seconds=1))
    assert send_due() == 1
    assert (only().state, only().attempts) == ("delivered", 2)


def test_delivery_whose_last_sender_died_is_given_up(receiver: HttpServer) -> None:
    a_delivery(receiver.url)
    WebhookDelivery.objects.update(attempts=MOST_ATTEMPTS)
    make_due()
    assert send_due() == 0
    assert only().state == "given_up"
    assert "ended meanwhile" in only().last_error


@pytest.mark.django_db(transaction=True)
def test_of_two_senders_at_the_same_time_one_sends(receiver: HttpServer) -> None:
    delivery = WebhookDelivery.objects.create(webhook=make_webhook(receiver.url), event={"n": 1})
    start = threading.Barrier(4)
    sent: list[int] = []

    def try_it() -> None:
        try:
            start.wait(30)
            sent.append(send([delivery.pk]))
        finally:
            connection.close()

    threads = [threading.Thread(target=try_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sent) == [0, 0, 0, 1]
    assert len(receiver.asked) == 1
