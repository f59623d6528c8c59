"""What the order of calls tells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.tools.backends.rows import finished, logged, still_open
from tools.errors import ErrorCode
from tools.selectors import journal
from tools.selectors.journal import Retries, error_retries

pytestmark = pytest.mark.django_db


def last_hour() -> Retries:
    now = datetime.now(UTC)
    return error_retries(now - timedelta(hours=1), now)


def test_calls_that_follow_a_failed_one_are_retries() -> None:
    # S4-077
    wrong, late = ErrorCode.INVALID_ARGUMENTS, ErrorCode.TIMEOUT
    history = [
        ("alpha", "one", wrong),
        ("alpha", "one", None),
        ("alpha", "one", late),
        ("alpha", "one", wrong),
        # Of another caller, and of another tool: no retries of what is above.
        ("alpha", "two", None),
        ("beta", "one", None),
        ("beta", "two", wrong),
    ]
    logged(
        finished(tool, caller=caller, code=code, ago=timedelta(minutes=20 - place))
        for place, (tool, caller, code) in enumerate(history)
    )
    assert last_hour() == Retries(tried=2, worked=1)


def test_calls_that_have_not_ended_are_no_retries() -> None:
    logged([finished("a", code=ErrorCode.TIMEOUT, ago=timedelta(minutes=9)), still_open("a")])
    assert last_hour() == Retries()


def test_of_very_many_calls_the_latest_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LATEST_READ", 4)
    codes = [ErrorCode.TIMEOUT, None] * 5
    logged(
        finished("a", code=code, ago=timedelta(minutes=20 - place))
        for place, code in enumerate(codes)
    )
    assert last_hour() == Retries(tried=2, worked=2)
