"""What goes wrong with NSIP is told in its own words, within the limits, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.nsip.calls import TOOLS, call
from tests.nsip_flock import EWE
from tests.nsip_server import (
    BUSY,
    DROP,
    ERROR,
    GARBAGE,
    HANG,
    PAGE,
    REFUSED,
    Fault,
    NsipServer,
)
from tools.errors import ControlPlaneError, NsipApiFailed, RateLimited

DETAILS = "details/getAnimalDetails"
GOOD: dict[str, dict[str, Any]] = {
    "nsip_get_trait_ranges": {"breed_id": 640},
    "nsip_get_animal": {"search_string": EWE},
    "nsip_get_lineage": {"lpn_id": EWE},
    "nsip_get_progeny": {"lpn_id": EWE},
    "nsip_search_by_lpn": {"lpn_id": EWE},
}
ONCE = {"retries": 0}


async def failure_of(
    server: NsipServer, name: str, service: Any = None, **arguments: Any
) -> ControlPlaneError:
    with pytest.raises(ControlPlaneError) as failed:
        await call(server, name, service=service or ONCE, **(arguments or GOOD.get(name, {})))
    return failed.value


@pytest.mark.parametrize("name", sorted(TOOLS))
async def test_failing_api_is_named_with_the_method(api: NsipServer, name: str) -> None:
    # S4-061 S4-069
    api.fail(ERROR)
    failure = await failure_of(api, name)
    assert isinstance(failure, NsipApiFailed)
    assert failure.retryable
    method = str(failure.details.value)
    assert failure.message == f"NSIP API call failed: {method}"
    if name != "nsip_search_by_lpn":
        assert method == TOOLS[name].method_name
    assert failure.details.parameter == "method"
    assert failure.details.suggestion is not None
    start = "Check NSIP API availability and parameters: "
    assert failure.details.suggestion.startswith(start)
    assert "500" in failure.details.suggestion.removeprefix(start)


@pytest.mark.parametrize("fault", [GARBAGE, REFUSED, DROP, PAGE])
async def test_answers_that_are_none_are_failures_of_the_api(api: NsipServer, fault: Fault) -> None:
    # S4-069
    api.fail(fault)
    for name in ("nsip_get_animal", "nsip_get_last_update", "nsip_search_animals"):
        assert isinstance(await failure_of(api, name), NsipApiFailed)


@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"7", b"[7]", b'{"hello": 1}'])
@pytest.mark.parametrize("name", ["nsip_get_animal", "nsip_get_lineage", "nsip_get_progeny"])
async def test_json_of_an_unknown_shape_is_a_failure_of_the_api(
    api: NsipServer, name: str, body: bytes
) -> None:
    # S4-069
    api.fail(Fault(body=body))
    failure = await failure_of(api, name)
    assert isinstance(failure, NsipApiFailed)
    assert failure.message == f"NSIP API call failed: {TOOLS[name].method_name}"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("nsip_get_last_update", b'[["date", "09/23/2025"]]'),
        ("nsip_get_trait_ranges", b"[[null, null]]"),
        ("nsip_get_statuses", b'"CURRENT"'),
        ("nsip_get_statuses", b"{}"),
        ("nsip_list_breeds", b"{}"),
        ("nsip_search_animals", b'{"recordCount": 3, "records": "abc"}'),
        ("nsip_search_animals", b'{"recordCount": 1, "records": {"lpnId": "6401492020FLE249"}}'),
        ("nsip_get_lineage", b'{"lpnId": "6401492020FLE249", "children": "sire"}'),
    ],
)
async def test_text_and_objects_are_never_read_as_rows(
    api: NsipServer, name: str, body: bytes
) -> None:
    # S4-018 S4-069
    api.fail(Fault(body=body))
    assert isinstance(await failure_of(api, name), NsipApiFailed)


async def test_dead_api_is_a_failure_that_may_pass(api: NsipServer) -> None:
    # S4-069
    api.die()
    failure = await failure_of(api, "nsip_get_lineage")
    assert isinstance(failure, NsipApiFailed)
    assert failure.message == "NSIP API call failed: get_lineage"
    api.revive()
    assert await call(api, "nsip_get_lineage", lpn_id=EWE)


async def test_hanging_api_is_told_with_the_limit_it_had(api: NsipServer) -> None:
    # S4-073 T16
    api.fail(HANG)
    failure = await failure_of(api, "nsip_get_animal", {"timeout_seconds": 1, "retries": 0})
    assert isinstance(failure, NsipApiFailed)
    assert failure.details.suggestion == (
        "Check NSIP API availability and parameters: Connection timeout after 1s"
    )


async def test_busy_api_says_when_to_come_back(api: NsipServer) -> None:
    # F4-13
    api.fail(BUSY)
    failure = await failure_of(api, "nsip_get_animal")
    assert isinstance(failure, RateLimited)
    assert failure.details.retry_after == 7


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("nsip_get_animal", "search_string"),
        ("nsip_get_lineage", "lpn_id"),
        ("nsip_get_progeny", "lpn_id"),
        ("nsip_search_by_lpn", "lpn_id"),
    ],
)
async def test_unknown_animals_are_told_as_such(
    either: NsipServer, name: str, parameter: str
) -> None:
    unknown = "6401492020FLE999"
    failure = await failure_of(either, name, **{parameter: unknown})
    assert failure.message == f"NSIP has no animal {unknown}"
    assert failure.details.parameter == parameter
    # The breaker must not take a wrong number for an ailing service.
    assert not failure.retryable


@pytest.mark.parametrize(
    "body", [b'{"success": true, "data": null}', b'{"data": {}}', b'{"data": []}']
)
async def test_empty_answers_are_not_taken_for_animals(api: NsipServer, body: bytes) -> None:
    api.fail(Fault(body=body))
    for name in ("nsip_get_animal", "nsip_get_lineage"):
        failure = await failure_of(api, name)
        assert failure.message == f"NSIP has no animal {EWE}"


async def test_refused_requests_do_not_count_against_the_api(api: NsipServer) -> None:
    # S4-069
    api.fail(Fault(status=403, body=b"Forbidden"))
    failure = await failure_of(api, "nsip_list_breeds")
    assert failure.message == "NSIP API call failed: get_available_breed_groups"
    assert not failure.retryable


async def test_passing_fault_is_tried_again_and_not_told(api: NsipServer) -> None:
    # T16
    api.fail(ERROR, DETAILS, times=1)
    details = await call(api, "nsip_get_animal", search_string=EWE)
    assert details["lpn_id"] == EWE
    assert api.calls[DETAILS] == 2


async def test_one_failing_part_fails_the_profile(api: NsipServer) -> None:
    # S4-017
    api.fail(ERROR, "details/getLineage")
    failure = await failure_of(api, "nsip_search_by_lpn")
    assert failure.message == "NSIP API call failed: get_lineage"
