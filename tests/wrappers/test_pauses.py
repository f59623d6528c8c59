"""How long clients wait where a service says how long: not longer than they are told to."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any, Final

import pytest

from tests.http_server import http_server, json_reply
from tests.wrappers.retrying import bad
from tests.wrappers.running import run, run_typescript
from tests.wrappers.test_repeats import quietly

# Longer than is waited unless one says so.
ASKED: Final = 120
# What is said, and what is then waited.
SAID: Final = [
    (None, []),
    (ASKED - 1, []),
    (ASKED, [ASKED] * 3),
    (0, []),
]
AWAY: Final = json_reply(bad(503, "SERVICE_UNAVAILABLE")[1], 503, Retry_After=str(ASKED))


@pytest.mark.parametrize(("longest", "waits"), SAID)
def test_a_python_client_waits_as_long_as_it_is_told_to(
    module: Any, longest: float | None, waits: list[float]
) -> None:
    # F3-32
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    given = {} if longest is None else {"longest_pause": longest}
    with http_server(always=AWAY) as away:
        client = module.SeekrClient(away.url, sleep=waited.append, **given)
        waiting = module.AsyncSeekrClient(away.url, sleep=sleep, **given)
        for call in (client.look, lambda: asyncio.run(waiting.look())):
            waited.clear()
            with pytest.raises(module.SeekrError, match="SERVICE_UNAVAILABLE") as raised:
                call()
            assert (waited, raised.value.retry_after) == (waits, ASKED)


@pytest.mark.parametrize(("longest", "waits"), SAID)
def test_a_command_line_waits_as_long_as_it_is_told_to(
    module: Any, tmp_path: Path, longest: float | None, waits: list[float]
) -> None:
    # F3-32
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    given = [] if longest is None else [f"--longest-pause={longest}"]
    with http_server(always=AWAY) as away:
        order: list[str | Path] = [cli, "--retry", f"--service-url={away.url}", *given]
        done = run(order, PYTHONPATH=quietly(tmp_path))
    *told, error = done.stderr.splitlines()
    assert (told, done.returncode) == ([f"wait {one}" for one in waits], 1)
    assert error.startswith("Error: [SERVICE_UNAVAILABLE]")


def test_a_typescript_client_waits_as_long_as_it_is_told_to(module: Any) -> None:
    # F3-32
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    with http_server(always=AWAY) as away:
        given = {
            str(longest): {
                "baseUrl": away.url,
                **({} if longest is None else {"longestPause": longest}),
            }
            for longest, _ in SAID
        }
        seen, _ = run_typescript(file, "Seekr", refused=given)
    told = {label: (one["waits"], one["retryAfter"]) for label, one in seen["refused"].items()}
    assert told == {str(longest): (waits, ASKED) for longest, waits in SAID}


@pytest.mark.parametrize("longest", [-1, 1_000_001, float("nan")])
def test_a_pause_that_is_none_is_refused(module: Any, longest: float) -> None:
    for client in (module.SeekrClient, module.AsyncSeekrClient):
        with pytest.raises(ValueError, match="longest_pause must be a number of seconds"):
            client(longest_pause=longest)
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    done = run([cli, f"--longest-pause={longest}"])
    assert (done.returncode, "argument --longest-pause" in done.stderr) == (2, True)
    if not math.isnan(longest):
        # JSON, in which the program is told, has no such number.
        file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
        seen, _ = run_typescript(file, "Seekr", refused={"it": {"longestPause": longest}})
        assert "longestPause must be a number of seconds" in seen["refused"]["it"]["message"]
