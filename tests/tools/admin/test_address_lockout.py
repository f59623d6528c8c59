"""Guessing with many names: fifty wrong passwords lock out the address they come from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from tests.tools.admin.logging_in import ELSEWHERE, HERE, log_in
from tests.tools.admin.pages import text

pytestmark = pytest.mark.usefixtures("root")


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


def test_a_program_with_an_old_password_locks_out_no_one_else() -> None:
    for _ in range(60):
        log_in("wrong", name="program")
    assert log_in("wrong", name="program").status_code == 429
    assert log_in("right").status_code == 302


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
