"""Guessing passwords: five wrong ones lock a name out from that address, fifty lock out the address."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from tests.tools.admin.pages import text

pytestmark = pytest.mark.django_db

LOG_IN = "/admin/login/"
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture(autouse=True)
def person() -> User:
    return User.objects.create_superuser("root", password="right")


def log_in(password: str, name: str = "root", address: str = HERE) -> Any:
    given = {"username": name, "password": password}
    return Client().post(LOG_IN, given, REMOTE_ADDR=address)


def lock_out() -> None:
    for _ in range(5):
        last = log_in("wrong")
    assert last.status_code == 429


def test_wrong_passwords_lock_a_name_out_from_one_address() -> None:
    assert [log_in("wrong").status_code for _ in range(4)] == [200] * 4
    assert log_in("wrong").status_code == 429
    refused = log_in("right")
    assert refused.status_code == 429
    assert "for 15 minutes" in text(refused)
    assert refused.headers["Retry-After"] == "900"
    assert log_in("right", address=ELSEWHERE).status_code == 302
    assert log_in("wrong", name="somebody").status_code == 200


def spray(names: int, address: str = HERE) -> Any:
    """One wrong password for each of so many names."""
    for number in range(names):
        last = log_in("wrong", name=f"somebody-{number}", address=address)
        assert last.status_code == 200
    return last


def test_many_names_lock_their_address_out_and_no_other() -> None:
    spray(49)
    assert log_in("right").status_code == 302
    spray(1)
    refused = log_in("right")
    assert refused.status_code == 429
    assert "After 50 wrong passwords nobody can log in from this address" in text(refused)
    assert "axes_reset_ip" in text(refused)
    # Going on does not make it longer.
    before = AccessAttempt.objects.count()
    assert log_in("wrong", name="one more").status_code == 429
    assert AccessAttempt.objects.count() == before
    assert log_in("right", address=ELSEWHERE).status_code == 302


def test_a_log_in_of_ones_own_does_not_forgive_what_was_tried_with_other_names() -> None:
    User.objects.create_user("insider", password="right", is_staff=True)
    for _ in range(2):
        spray(24)
        assert log_in("right", name="insider").status_code == 302
    spray(2)
    assert log_in("right", name="insider").status_code == 429


def test_whoever_is_logged_in_stays_so_while_their_address_is_locked_out(
    admin_client: Client,
) -> None:
    spray(50, address="127.0.0.1")
    listed = text(admin_client.get("/admin/axes/accessattempt/"))
    assert listed.count("address locked out") == 50
    rows = list(AccessAttempt.objects.values_list("pk", flat=True))
    data = {"action": "delete_selected", "_selected_action": rows, "post": "yes"}
    admin_client.post("/admin/axes/accessattempt/", data)
    assert log_in("right", address="127.0.0.1").status_code == 302


def test_an_address_is_let_in_again_after_a_quarter_of_an_hour_or_by_a_command() -> None:
    spray(50)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert log_in("right").status_code == 302
    spray(50)
    call_command("axes_reset_ip", HERE)
    assert log_in("right").status_code == 302


def test_a_log_in_forgives_earlier_mistakes() -> None:
    for _ in range(3):
        assert [log_in("wrong").status_code for _ in range(4)] == [200] * 4
        assert log_in("right").status_code == 302


def test_it_ends_after_a_quarter_of_an_hour(admin_client: Client) -> None:
    lock_out()
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert "locked out" not in text(admin_client.get("/admin/axes/accessattempt/"))
    assert log_in("right").status_code == 302


def test_an_administrator_ends_it_by_deleting_the_row(admin_client: Client) -> None:
    lock_out()
    listed = text(admin_client.get("/admin/axes/accessattempt/"))
    assert "locked out" in listed
    assert HERE in listed
    row = AccessAttempt.objects.get()
    assert "wrong" not in text(admin_client.get(f"/admin/axes/accessattempt/{row.pk}/change/"))
    page = admin_client.post(
        f"/admin/axes/accessattempt/{row.pk}/delete/", {"post": "yes"}, follow=True
    )
    # Others may be locked out, too.
    assert page.redirect_chain == [("/admin/axes/accessattempt/", 302)]
    assert "was deleted successfully" in text(page)
    assert log_in("right").status_code == 302


def test_a_command_ends_it() -> None:
    lock_out()
    call_command("axes_reset_username", "root")
    assert log_in("right").status_code == 302


def test_passwords_are_not_kept() -> None:
    log_in("a-secret-guess")
    row = AccessAttempt.objects.get()
    assert "a-secret-guess" not in row.post_data + row.get_data


@pytest.mark.parametrize("page", [LOG_IN, "/admin/tools/tool/", "/admin/tools/tool/add/"])
def test_pages_say_what_browsers_may_load(client: Client, admin_client: Client, page: str) -> None:
    answer = (client if page == LOG_IN else admin_client).get(page)
    assert answer.status_code == 200
    policy = answer.headers["Content-Security-Policy"]
    told = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    assert told["default-src"] == "'self'"
    assert told["frame-ancestors"] == "'none'"
    assert "unsafe-inline" not in told["script-src"]
