"""The breaker around the backend: what counts, what is given back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tools.backends.registry import Registry
from tools.contracts import (
    BackendResult,
    CallContext,
    Caller,
    CallerKind,
    Deadline,
    ToolSource,
    ToolSpec,
)
from tools.errors import DeadlineExceeded, RateLimited, ServiceUnavailable
from tools.execution.dispatch import dispatch
from tools.guards.breaker import Breakers, BreakerState, CircuitBreakerConfig
from tools.guards.redis import RedisLink

CALLER = Caller(CallerKind.LOCAL, "local:me", "me", 1000)


class Scripted:
    """A backend that does what the test says."""

    def __init__(self, *outcomes: BaseException | float) -> None:
        self._outcomes = list(outcomes)

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        await asyncio.sleep(outcome)
        return BackendResult(data={})


def spec(**changes: Any) -> ToolSpec:
    values: dict[str, Any] = {
        "name": "t",
        "description": "A tool of this test.",
        "input_schema": {"type": "object", "properties": {}},
        "source": ToolSource.BUILTIN,
        "handler": "t",
        "dependency": "d",
        **changes,
    }
    return ToolSpec(**values)


def registry_with(backend: Scripted) -> Registry:
    made = Registry()
    made.register(ToolSource.BUILTIN, backend)
    return made


async def run(link: RedisLink, backend: Scripted, seconds: float = 5, **options: Any) -> Any:
    breakers = options.pop("breakers", None) or Breakers(link)
    result = await dispatch(
        spec(),
        {},
        CallContext(CALLER, Deadline.after(seconds)),
        registry=registry_with(backend),
        breakers=breakers,
    )
    return result.data


async def test_a_source_without_a_backend_is_unavailable(link: RedisLink) -> None:
    with pytest.raises(ServiceUnavailable, match="no builtin backend"):
        await dispatch(
            spec(dependency=""),
            {},
            CallContext(CALLER, Deadline.after(5)),
            registry=Registry(),
            breakers=Breakers(link),
        )


async def test_an_overrun_counts_as_a_failure_of_the_dependency(link: RedisLink) -> None:
    breakers = Breakers(link)
    with pytest.raises(DeadlineExceeded):
        await run(link, Scripted(30.0), seconds=0.05, breakers=breakers)
    assert (await breakers.snapshot("d")).failure_count == 1


async def test_a_timeout_of_the_backends_own_is_not_the_deadline(link: RedisLink) -> None:
    breakers = Breakers(link)
    with pytest.raises(TimeoutError):
        await run(link, Scripted(TimeoutError()), breakers=breakers)
    assert (await breakers.snapshot("d")).failure_count == 1


async def test_a_cancelled_call_gives_the_probe_back(link: RedisLink) -> None:
    now = [1000.0]
    config = {"d": CircuitBreakerConfig(failure_threshold=1, recovery_timeout=10)}
    breakers = Breakers(link, config, now=lambda: now[0])
    with pytest.raises(RuntimeError):
        await run(link, Scripted(RuntimeError()), breakers=breakers)
    now[0] += 11
    for pause in (0.0, 0.1):
        probing = asyncio.create_task(run(link, Scripted(30.0), seconds=60, breakers=breakers))
        await asyncio.sleep(pause)
        probing.cancel()
        await asyncio.gather(probing, return_exceptions=True)
    for _ in range(100):
        if await admitted(breakers):
            break
        await asyncio.sleep(0.01)
    await run(link, Scripted(0.0), breakers=breakers)
    assert (await breakers.snapshot("d")).state is BreakerState.CLOSED


async def admitted(breakers: Breakers) -> bool:
    """Whether the probe is free; leaves it free."""
    try:
        permit = await breakers.admit("d")
    except Exception:  # noqa: BLE001 - refused is all that matters
        return False
    await breakers.abandon(permit)
    return True


async def test_busy_is_not_broken(link: RedisLink) -> None:
    # F4-13
    breakers = Breakers(link)
    busy = Scripted(*(RateLimited("The API is busy", 7) for _ in range(20)), 0.0)
    for _ in range(20):
        with pytest.raises(RateLimited):
            await run(link, busy, breakers=breakers)
    assert await run(link, busy, breakers=breakers) == {}
