"""A stretch is made up of pieces that leave nothing out and nothing twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tools.models.sums import DAY, HOUR, QUARTER_DAY, SUM_LENGTHS
from tools.selectors.cover import FIGURES, Piece, ceiling, cover, floor

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)
MINUTES = st.integers(-100_000, 100_000)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


@given(MINUTES, MINUTES, st.tuples(*[st.tuples(MINUTES, MINUTES)] * len(SUM_LENGTHS)))
def test_pieces_follow_each_other_and_lie_within_what_there_is(
    since: int, until: int, ends: tuple[tuple[int, int], ...]
) -> None:
    spans = {
        seconds: (at(first), at(last))
        for seconds, (first, last) in zip(SUM_LENGTHS, ends, strict=True)
    }
    pieces = list(cover(at(since), at(until), spans, SUM_LENGTHS))
    if since >= until:
        assert pieces == []
        return
    assert (pieces[0].since, pieces[-1].until) == (at(since), at(until))
    assert all(one.until == following.since for one, following in pairwise(pieces))
    for piece in pieces:
        assert piece.since < piece.until
        if piece.seconds != FIGURES:
            step = timedelta(seconds=piece.seconds)
            first, last = spans[piece.seconds]
            assert first <= piece.since < piece.until <= last
            assert piece.since == floor(piece.since, step) == ceiling(piece.since, step)
            assert not (piece.until - piece.since) % step


def test_the_longest_sums_are_used_and_shorter_ones_at_the_ends() -> None:
    everything = (at(-100_000), at(100_000))
    spans = dict.fromkeys((HOUR, QUARTER_DAY, DAY), everything)
    begin, end = at(-30), NOON + timedelta(days=2, hours=7)
    midnight = NOON + timedelta(hours=12)
    assert list(cover(begin, end, spans, (HOUR, QUARTER_DAY, DAY))) == [
        Piece(FIGURES, begin, NOON),
        Piece(QUARTER_DAY, NOON, midnight),
        Piece(DAY, midnight, midnight + timedelta(days=1)),
        Piece(QUARTER_DAY, midnight + timedelta(days=1), NOON + timedelta(days=2, hours=6)),
        Piece(HOUR, NOON + timedelta(days=2, hours=6), end),
    ]
