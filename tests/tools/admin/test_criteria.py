"""The page of the success criteria."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.tools.backends.rows import finished, invalid, logged
from tools.errors import ErrorCode

PAGE = "admin:tools_toolrequest_criteria"
pytestmark = pytest.mark.django_db


def shown(client: Client, **query: str) -> dict[str, tuple[str, bool | None]]:
    page = client.get(reverse(PAGE), query)
    return {one.id: (one.measured, one.holds) for one in page.context["criteria"]}


def test_criteria_are_measured_from_the_log(admin_client: Client) -> None:
    # S4-074 S4-075 S4-076 S4-077 S4-079 S4-083
    logged(
        [
            finished("a", cache_hit=True),
            finished("a", cache_hit=False),
            finished("b", tokens_before=4000, tokens_after=400),
            finished("b", code=ErrorCode.INTERNAL_ERROR),
            invalid("a"),
        ]
    )
    found = shown(admin_client)
    assert list(found) == [f"SC-{number:03d}" for number in range(1, 11)]
    assert found["SC-002"] == ("90.0 %", True)
    assert found["SC-003"] == ("80.0 %", False)
    assert found["SC-006"] == ("50.0 %", True)
    assert found["SC-008"] == ("80.00 %", False)


def test_without_calls_nothing_is_judged(admin_client: Client) -> None:
    # T10
    found = shown(admin_client, range="5m")
    judged = {name: found[name] for name in ("SC-002", "SC-003", "SC-006", "SC-008")}
    assert set(judged.values()) == {("-", None)}
    assert found["SC-004"] == ("0 of 0", None)


def test_who_may_not_see_calls_is_refused(client: Client) -> None:
    client.force_login(User.objects.create_user("nobody", is_staff=True))
    assert client.get(reverse(PAGE)).status_code == 403
