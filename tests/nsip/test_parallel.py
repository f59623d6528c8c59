"""The three requests of a profile go out together and end together."""

from __future__ import annotations

import asyncio

import pytest

from tests.nsip.calls import call
from tests.nsip_flock import EWE
from tests.nsip_server import ERROR, HANG, NsipServer
from tests.processes import wait_until
from tools.errors import NsipApiFailed

PARTS = {"details/getAnimalDetails", "details/getLineage", "details/getPageOfProgeny"}


async def test_profile_asks_for_its_parts_at_the_same_time_and_leaves_none_behind(
    api: NsipServer,
) -> None:
    # S4-017
    api.fail(HANG)
    before = asyncio.all_tasks()
    asking = asyncio.create_task(call(api, "nsip_search_by_lpn", lpn_id=EWE))
    await asyncio.to_thread(wait_until, lambda: set(api.calls) == PARTS)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert asyncio.all_tasks() == before


async def test_first_failure_ends_the_other_parts(api: NsipServer) -> None:
    # S4-017
    api.fail(HANG)
    api.fail(ERROR, "details/getAnimalDetails")
    before = asyncio.all_tasks()
    with pytest.raises(NsipApiFailed) as failed:
        await call(api, "nsip_search_by_lpn", service={"retries": 0}, lpn_id=EWE)
    assert failed.value.details.value == "get_animal_details"
    assert asyncio.all_tasks() == before
