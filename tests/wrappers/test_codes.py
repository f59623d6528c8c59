"""Each of the seven codes, told by every wrapper of every demo tool.

Three of them the live service can be made to answer to a call of any tool. The other four are faults of a tool that is
behaving well here: for those, a service in its place repeats, word for word, what the live service answered when a tool
that fails on command failed so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.http_server import http_server, json_reply
from tests.processes import wait_until
from tests.wrappers.failing import KINDS, Calls
from tests.wrappers.plane import Plane
from tests.wrappers.test_live import CODES

LIVE: Final = ("TOOL_NOT_FOUND", "INVALID_ARGUMENTS", "RATE_LIMITED")
REPEATED: Final = {
    "EXECUTION_ERROR": 500,
    "INTERNAL_ERROR": 500,
    "TIMEOUT": 504,
    "SERVICE_UNAVAILABLE": 503,
}
# Calls a minute, the fewest that can be set: one comes back every six seconds.
RATE: Final = 10
ROUNDS: Final = 5
ISSUE: Final = """
from tools.services.issue_key import issue_key
import json
blind = issue_key("sees nothing")
limited = issue_key("may call seldom", toolsets=["all"], rate_limit_per_minute={rate})
print(json.dumps([blind.key, limited.key]))
"""


@dataclass(frozen=True)
class Keys:
    """Of a caller that may see no tool, and of one that has no calls left."""

    blind: str
    limited: str


@pytest.fixture(scope="module")
def keys(plane: Plane) -> Keys:
    done = plane.stack.manage("shell", "--no-imports", "-c", ISSUE.format(rate=RATE))
    assert done.returncode == 0, done.stderr
    return Keys(*json.loads(done.stdout))


@pytest.fixture(scope="module")
def tools(plane: Plane) -> dict[str, dict[str, Any]]:
    calls = plane.calls()
    assert len(calls) >= 25
    assert set(calls) == set(plane.tools)
    return calls


@pytest.fixture
def calls(plane: Plane, tools: dict[str, dict[str, Any]], tmp_path: Path) -> Calls:
    return Calls(plane, tools, plane.url, tmp_path)


def test_the_codes_are_those_there_are() -> None:
    assert {*LIVE, *REPEATED} == set(CODES)


@pytest.mark.parametrize("kind", KINDS)
def test_every_wrapper_tells_that_the_live_service_has_no_such_tool(
    calls: Calls, keys: Keys, kind: str
) -> None:
    # F3-16 F3-17 F3-18 F3-20: a tool that a caller may not see does not exist for it.
    unseen = replace(calls, key=keys.blind)
    wait_until(lambda: set(KINDS["python"](unseen).values()) == {"TOOL_NOT_FOUND"}, what="the key")
    assert KINDS[kind](unseen) == dict.fromkeys(calls.tools, "TOOL_NOT_FOUND")


@pytest.mark.parametrize("kind", KINDS)
def test_every_wrapper_tells_that_the_live_service_refuses_its_arguments(
    calls: Calls, kind: str
) -> None:
    # F3-16 F3-17 F3-18 F3-20
    told = KINDS[kind](replace(calls, wrong=True))
    assert told == dict.fromkeys(calls.tools, "INVALID_ARGUMENTS")


@pytest.mark.parametrize("kind", KINDS)
def test_every_wrapper_tells_that_the_live_service_has_no_call_left(
    calls: Calls, keys: Keys, kind: str
) -> None:
    # F3-16 F3-17 F3-18 F3-20
    left = replace(calls, key=keys.limited)
    # The calls that are left, and any that comes back while others are made, are had by some of them.
    for _ in range(ROUNDS):
        told = KINDS[kind](left)
        others = {tool: one for tool, one in told.items() if one != "RATE_LIMITED"}
        left = replace(left, tools={tool: calls.tools[tool] for tool in others})
        if not others:
            break
    assert others == {}


@pytest.fixture
def in_its_place(plane: Plane, code: str) -> Iterator[str]:
    """A service that answers every call as the live one did when a tool failed with this code."""
    tool, arguments = CODES[code]
    status, said = plane.stack.call(tool, **arguments)
    assert (status, said["code"]) == (REPEATED[code], code)
    with http_server(always=json_reply(said, status, Retry_After="3")) as made:
        yield made.url


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", REPEATED)
def test_every_wrapper_tells_the_code_that_a_service_in_its_place_repeats(
    calls: Calls, in_its_place: str, kind: str, code: str
) -> None:
    # F3-16 F3-17 F3-18 F3-20
    assert KINDS[kind](replace(calls, url=in_its_place)) == dict.fromkeys(calls.tools, code)
