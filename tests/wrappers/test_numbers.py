"""Numbers that JSON does not have: nothing is sent in their place."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.node_env import NODE, node_environment
from tests.wrappers.foreign import Foreign
from tests.wrappers.running import PROGRAM

TOLD = "[INVALID_ARGUMENTS] the arguments cannot be written as JSON: "


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"a": float("-inf")}]], ids=repr)
def test_a_number_that_json_does_not_have_is_refused(
    module: Any, service: Foreign, value: Any
) -> None:
    # F3-20
    service.calls.clear()
    waiting = module.AsyncSeekrClient()
    calls: tuple[Callable[[], object], ...] = (
        lambda: module.SeekrClient().look(word=value),
        lambda: asyncio.run(waiting.look(word=value)),
    )
    for call in calls:
        with pytest.raises(module.SeekrError) as raised:
            call()
        assert str(raised.value).startswith(TOLD)
    assert service.calls == []


def test_a_typescript_client_sends_no_null_in_place_of_a_number(
    module: Any, service: Foreign
) -> None:
    # F3-20
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    service.calls.clear()
    # JavaScript reads the number in it as infinite.
    orders = '{"calls": {}, "codes": {"it": ["look", {"word": [{"a": 1e999}]}]}, "retries": {}}'
    called = subprocess.run(
        [str(NODE), str(PROGRAM), str(file), "Seekr", orders],
        env=dict(node_environment()),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert called.returncode == 0, called.stderr
    told = json.loads(called.stdout)["codes"]["it"]["message"]
    assert told == f"{TOLD}Infinity is no number of it"
    assert service.calls == []
