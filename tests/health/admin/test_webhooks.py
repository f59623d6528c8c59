"""Webhooks and their deliveries in the admin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils.html import escape

from health.models import HealthWebhook, WebhookDelivery
from health.webhooks.workers import delivery_workers
from tests.health.webhooks.parts import SECRET, make_webhook, record_outage, verified
from tests.http_server import HttpServer, Reply, http_server
from tests.tools.admin.pages import act, address, submit, text
from tools.vault import unseal

pytestmark = pytest.mark.django_db

OTHER = "whsec_c2VjcmV0LW9mLXRoZS1vdGhlci1yZWNlaXZlcg=="


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server(always=Reply(202, b"thank you, s3cret-answer")) as server:
        yield server


def add(client: Client, **fields: Any) -> Any:
    given = {"name": "pager", "url": "https://pager.example/hooks/T0pSecret"} | fields
    return submit(client, address(HealthWebhook, "add"), **given)


def press_test(client: Client, webhook: HealthWebhook) -> str:
    return text(client.post(address(HealthWebhook, "test", webhook.pk), follow=True))


def viewer(client: Client, *codenames: str) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(user)


def test_secret_goes_in_and_never_comes_out(admin_client: Client) -> None:
    page = add(admin_client, new_secret=SECRET)
    webhook = HealthWebhook.objects.get()
    assert unseal(webhook.secret) == SECRET
    shown = text(page) + text(admin_client.get(address(HealthWebhook, "change", webhook.pk)))
    assert "yes, encrypted" in shown
    assert SECRET.removeprefix("whsec_") not in shown
    assert webhook.secret not in shown
    # Saving the page again leaves it as it is.
    submit(admin_client, address(HealthWebhook, "change", webhook.pk), changes="service")
    kept = HealthWebhook.objects.get()
    assert (kept.secret, kept.changes) == (webhook.secret, "service")
    listed = text(admin_client.get(address(HealthWebhook, "changelist")))
    assert "https://pager.example" in listed
    assert "T0pSecret" not in listed
    assert SECRET not in str(list(LogEntry.objects.values()))


def test_secret_that_is_made_is_shown_once(admin_client: Client) -> None:
    page = add(admin_client)
    secret = unseal(HealthWebhook.objects.get().secret)
    assert "Copy it now: it is not shown again." in text(page)
    assert escape(secret) in text(page)
    again = admin_client.get(address(HealthWebhook, "change", HealthWebhook.objects.get().pk))
    assert escape(secret) not in text(again)


@pytest.mark.parametrize(
    "moved",
    ["https://evil.example/hooks", "https://pager.example:8443/", "http://pager.example/"],
)
def test_another_receiver_gets_a_new_secret_that_is_shown_once(
    admin_client: Client, moved: str
) -> None:
    add(admin_client, new_secret=SECRET)
    webhook = HealthWebhook.objects.get()
    page = address(HealthWebhook, "change", webhook.pk)
    shown = text(submit(admin_client, page, url=moved))
    moved_to = HealthWebhook.objects.get()
    made = unseal(moved_to.secret)
    assert moved_to.url == moved
    assert made != SECRET
    assert "Copy it now: it is not shown again." in shown
    assert escape(made) in shown
    again = text(admin_client.get(page))
    assert escape(made) not in again
    assert "for one that moves to another scheme, host or port" in again


def test_secret_stays_with_its_receiver_or_is_given_for_another(admin_client: Client) -> None:
    add(admin_client, new_secret=SECRET)
    webhook = HealthWebhook.objects.get()
    page = address(HealthWebhook, "change", webhook.pk)
    shown = text(submit(admin_client, page, url="https://pager.example/other"))
    assert "Copy it now" not in shown
    assert HealthWebhook.objects.get().secret == webhook.secret
    shown = text(submit(admin_client, page, url="https://new.example/hooks", new_secret=OTHER))
    assert "Copy it now" not in shown
    moved_to = HealthWebhook.objects.get()
    assert (moved_to.url, unseal(moved_to.secret)) == ("https://new.example/hooks", OTHER)


def test_address_that_is_none_keeps_the_secret_and_is_told_once(admin_client: Client) -> None:
    add(admin_client, new_secret=SECRET)
    webhook = HealthWebhook.objects.get()
    page = address(HealthWebhook, "change", webhook.pk)
    shown = submit(admin_client, page, url="")
    assert shown.context["adminform"].form.errors == {"url": ["This field is required."]}
    kept = HealthWebhook.objects.get()
    assert (kept.url, kept.secret) == (webhook.url, webhook.secret)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("url", "ftp://pager.example", "Must start with https:// or http://"),
        ("url", "https://me:pw@pager.example", "Must not hold a name or a password"),
        ("url", "https://pager.example/#part", "Must not have a fragment"),
        ("url", "https://pager.example/a b", "Must not have spaces"),
        ("url", "https://[pager.example", "Is not an address"),
        ("allowed_networks", '["10.0.0.1/8"]', "is not a network"),
        ("allowed_networks", '"10.0.0.0/8"', "Must be a list"),
        ("new_secret", "whsec_c2hvcnQ=", "24 to 64 bytes"),
        ("new_secret", "hunter2-hunter2", "whsec_ and Base64"),
    ],
)
def test_what_cannot_be_is_told_at_its_field(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    page = text(add(admin_client, **{field: value}))
    assert told in page
    assert not HealthWebhook.objects.exists()
    if field == "new_secret":
        assert value not in page


def test_test_event_says_what_came_back(admin_client: Client, receiver: HttpServer) -> None:
    webhook = make_webhook(receiver.url, enabled=False)
    page = press_test(admin_client, webhook)
    assert "The receiver took the test event: it answered with status 202." in page
    assert "s3cret-answer" not in page
    event = verified(receiver.asked[0])
    assert event["type"] == "health.test"
    assert event["data"]["reason"].endswith("Nothing has changed.")
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.change) == ("delivered", 1, None)
    assert "Sent a test event." in str(LogEntry.objects.get())


def test_test_event_that_is_not_taken_is_not_sent_again(
    admin_client: Client, receiver: HttpServer
) -> None:
    receiver.always = Reply(500)
    page = press_test(admin_client, make_webhook(receiver.url))
    assert "The test event was not taken: it answered with status 500." in page
    assert WebhookDelivery.objects.get().state == "given_up"


def test_test_event_to_a_private_address_tells_what_to_do(
    admin_client: Client, receiver: HttpServer
) -> None:
    page = press_test(admin_client, make_webhook(receiver.url, allowed_networks=[]))
    assert "name its network if it should be" in page
    assert receiver.asked == []


def test_receiver_that_is_gone_is_shown_as_off_with_the_reason(
    admin_client: Client, receiver: HttpServer
) -> None:
    receiver.always = Reply(410)
    page = press_test(admin_client, make_webhook(receiver.url))
    assert "The receiver answered 410 (gone)." in page
    assert not HealthWebhook.objects.get().enabled


def test_who_may_only_look_sees_no_path_and_sends_no_test(
    client: Client, receiver: HttpServer
) -> None:
    webhook = make_webhook(f"{receiver.url}/hooks/T0pSecret")
    viewer(client, "view_healthwebhook")
    page = text(client.get(address(HealthWebhook, "change", webhook.pk)))
    assert receiver.url in page
    assert "T0pSecret" not in page
    assert "Send a test event" not in page
    assert client.post(address(HealthWebhook, "test", webhook.pk)).status_code == 403
    assert client.post(address(HealthWebhook, "test", 999)).status_code == 404
    assert receiver.asked == []


def test_deliveries_are_listed_and_found_by_the_id_the_receiver_got(
    admin_client: Client, receiver: HttpServer
) -> None:
    make_webhook(receiver.url)
    first, second = record_outage()
    listing = address(WebhookDelivery, "changelist")
    assert "worker: connected -&gt; unavailable" in text(admin_client.get(listing))
    found = admin_client.get(listing, {"q": f"msg_{second.event_id.hex}"})
    assert list(found.context["cl"].queryset) == [second]
    assert list(admin_client.get(listing, {"q": "nothing"}).context["cl"].queryset) == []
    page = text(admin_client.get(address(WebhookDelivery, "change", first.pk)))
    assert "health.changed" in page
    assert str(first.event_id) in page


def test_given_up_delivery_can_be_sent_again(
    admin_client: Client, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(delivery_workers, "send", lambda *given: told.append(given))
    make_webhook("https://pager.example/", changes="service")
    (delivery,) = record_outage()
    WebhookDelivery.objects.update(state="given_up", attempts=6, next_attempt_at=None)
    page = act(admin_client, WebhookDelivery, "send_again", delivery)
    assert "1 event will be sent again" in text(page)
    assert told == [(delivery.pk, 0)]
    after = WebhookDelivery.objects.get()
    assert (after.state, after.attempts, after.event_id) == ("waiting", 0, delivery.event_id)
    viewer(client, "view_webhookdelivery")
    assert "send_again" not in text(client.get(address(WebhookDelivery, "changelist")))


def test_without_a_broker_what_is_sent_again_waits_for_whoever_looks(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: int) -> None:
        raise ConnectionError

    monkeypatch.setattr(delivery_workers, "send", fail)
    make_webhook("https://pager.example/", changes="service")
    (delivery,) = record_outage()
    WebhookDelivery.objects.update(state="given_up", next_attempt_at=None)
    assert "1 event will be sent again" in text(
        act(admin_client, WebhookDelivery, "send_again", delivery)
    )
    assert WebhookDelivery.objects.get().state == "waiting"
