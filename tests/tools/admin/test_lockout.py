"""Guessing passwords: five wrong ones lock a name out from that address."""

from __future__ import annotations

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from tests.tools.admin.logging_in import ELSEWHERE, HERE, log_in
from tests.tools.admin.pages import text

pytestmark = pytest.mark.usefixtures("root")


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
