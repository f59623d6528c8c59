"""Keys, entries and figures of the cache, without the cache."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tools.guards.cache import (
    CachedResponse,
    CacheState,
    CacheStats,
    cache_state,
    make_key,
    marked_key,
    params_of,
)

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(seconds=3600)


def entry(**changes: Any) -> CachedResponse:
    values: dict[str, Any] = {
        "cache_key": "m:{}",
        "value": {"a": 1},
        "created_at": CREATED,
        "expires_at": CREATED + HOUR,
        "token_count": 3,
    }
    return CachedResponse(**(values | changes))


def test_key_is_the_method_and_the_parameters_as_sorted_json() -> None:
    # S4-020
    assert make_key("nsip_search", {"b": [1, None], "a": "é"}) == (
        'nsip_search:{"a": "\\u00e9", "b": [1, null]}'
    )
    assert make_key("m", {"x": 1, "y": {"b": 1, "a": 2}}) == make_key(
        "m", {"y": {"a": 2, "b": 1}, "x": 1}
    )
    params = {"z": 1.5, "a": True}
    assert make_key("m", params) == "m:" + json.dumps(params, sort_keys=True)


@pytest.mark.parametrize("mark", ["", "0123456789abcdef"])
@pytest.mark.parametrize("params", [{}, {"a": "C# #0123456789abcdef"}, {"ü": [{"b": '"}#'}]}])
def test_parameters_are_read_back_from_a_key(params: dict[str, Any], mark: str) -> None:
    assert params_of(marked_key(make_key("m", params), mark)) == params


@pytest.mark.parametrize("key", ["", "m", "m:", "m:{", "m:#0123456789abcdef", "m:" + "[" * 99_999])
def test_what_is_no_key_of_a_call_has_no_parameters(key: str) -> None:
    assert params_of(key) is None


def test_new_entry_has_no_accesses() -> None:
    # S4-019
    made = entry()
    assert made.access_count == 0
    assert (made.cache_key, made.value, made.token_count) == ("m:{}", {"a": 1}, 3)
    assert (made.created_at, made.expires_at) == (CREATED, CREATED + HOUR)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"cache_key": ""}, "cache_key"),  # S4-021
        (
            {
                "created_at": datetime.now(UTC) + HOUR,
                "expires_at": datetime.now(UTC) + 2 * HOUR,
            },
            "future",
        ),  # S4-022
        ({"expires_at": CREATED}, "later"),  # S4-023
        ({"expires_at": CREATED - HOUR}, "later"),  # S4-023
        ({"token_count": -1}, "negative"),  # S4-024
        ({"access_count": -1}, "negative"),  # S4-024
    ],
)
def test_entry_that_cannot_be_is_rejected(changes: dict[str, Any], complaint: str) -> None:
    # S4-021, S4-022, S4-023, S4-024
    with pytest.raises(ValueError, match=complaint):
        entry(**changes)


def test_entry_may_be_created_at_this_very_moment() -> None:
    # S4-022
    assert entry(now=CREATED).created_at == CREATED


def test_entry_is_expired_from_its_expiry_on() -> None:
    # S4-025
    made = entry()
    assert not made.is_expired(CREATED + HOUR - timedelta(microseconds=1))
    assert made.is_expired(CREATED + HOUR)
    assert made.is_expired(CREATED + 2 * HOUR)


def test_hit_is_recorded_in_a_copy() -> None:
    # S4-026
    made = entry()
    assert made.record_hit().record_hit() == entry(access_count=2)
    assert made.access_count == 0


def test_entry_goes_from_created_to_active_to_expired_to_evicted() -> None:
    # S4-030
    made = entry()
    assert cache_state(made, CREATED) is CacheState.CREATED
    assert cache_state(made.record_hit(), CREATED) is CacheState.ACTIVE
    assert cache_state(made.record_hit(), CREATED + HOUR) is CacheState.EXPIRED
    assert cache_state(None, CREATED) is CacheState.EVICTED
    assert [state.value for state in CacheState] == ["Created", "Active", "Expired", "Evicted"]


def test_hit_rate_is_the_share_of_lookups_that_were_hits() -> None:
    # S4-086
    assert CacheStats(entries=1, hits=3, misses=1).hit_rate == 0.75
    assert CacheStats(entries=0, hits=0, misses=0).hit_rate == 0.0
