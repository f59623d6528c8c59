"""What counts as a yes to what was asked back."""

from __future__ import annotations

import pytest

from agent.replies import agrees


@pytest.mark.parametrize(
    "reply",
    [
        *("yes", "please do", "please do it, thanks", "yes right away", "yes, please"),
        *("do it please", "Yes please do it!"),
    ],
)
def test_people_agree_in_many_ways(reply: str) -> None:
    assert agrees(reply)


@pytest.mark.parametrize("reply", ["please", "thanks", "no, please do not", "yes please don't"])
def test_a_courtesy_alone_is_no_yes(reply: str) -> None:
    assert not agrees(reply)


def test_a_long_reply_is_read_at_once() -> None:
    # One that is tried in every way would not be done before the end of days.
    assert not agrees("yes" + " please do" * 400 + " x")
