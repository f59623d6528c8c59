"""Test queries: a real question to each pipeline, through Celery, so that its whole way is known to work.

How each ended is written down in Redis, where every process finds it: a pipeline is asked once per
interval, by whoever looks first. Test queries take no slot, are in no request log and in no figure.
They use neither a model's API for the answer nor a web search, which may cost money.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import orjson

from tools.contracts import CallContext, Caller, CallerKind, Deadline, ToolSource, ToolSpec
from tools.errors import ControlPlaneError, DeadlineExceeded
from tools.execution.runtime import Runtime
from tools.guards.queries import Queries
from tools.guards.redis import RedisDown
from tools.techniques import queue_of

QUESTION: Final = "What is this collection about?"
KEY: Final = "cp:health:canaries"
# How long one may take. Workers that are all busy get to it later, which is not a fault.
ROUND_SECONDS: Final = 5.0
# One that failed is made again this soon by whoever looks.
AGAIN_SECONDS: Final = 2.5
CALLER: Final = Caller(CallerKind.LOCAL, "local:health", "health check", rate_per_minute=0)


@dataclass(frozen=True, slots=True)
class Canary:
    """How the last test query of a pipeline ended; times are in seconds since 1970.

    `late` counts how often in a row there was no answer within the limit though somebody is there to
    give it: one that has much to do may be late once.
    `well_since` is when it succeeded first after it had failed, or ever.
    """

    at: float
    error: str | None = None
    late: int = 0
    milliseconds: int | None = None
    well_since: float | None = None


async def canary(runtime: Runtime, spec: ToolSpec, seconds: float, fresh_seconds: float) -> Canary:
    """The latest test query of a pipeline, made now unless there is one younger than `fresh_seconds`.

    Who cannot wait long gets the last one when this one is late, while that is of any use.
    """
    last = await _last(runtime, spec.name)
    if last is not None:
        fresh = fresh_seconds if last.error is None else min(fresh_seconds, AGAIN_SECONDS)
        if time.time() - last.at < fresh:
            return last
    made = await _ask(runtime, spec, seconds)
    if made.late:
        usable = last is not None and time.time() - last.at < 2 * fresh_seconds
        if last is not None and usable and seconds < ROUND_SECONDS:
            return last
        made = replace(made, late=1 + (last.late if last is not None else 0))
    elif made.error is None:
        since = last.well_since if last is not None and last.error is None else None
        made = replace(made, well_since=since or made.at)
    with suppress(RedisDown):
        await runtime.link.command("HSET", KEY, spec.name, orjson.dumps(asdict(made)).decode())
    return made


async def _last(runtime: Runtime, name: str) -> Canary | None:
    try:
        written = await runtime.link.command("HGET", KEY, name)
        return Canary(**orjson.loads(written)) if written else None
    except (RedisDown, TypeError, ValueError):
        return None


async def _ask(runtime: Runtime, spec: ToolSpec, seconds: float) -> Canary:
    backend = runtime.registry.get(ToolSource.PIPELINE)
    if backend is None:
        return Canary(time.time(), "Pipelines cannot be asked from this process")
    context = CallContext(CALLER, Deadline.after(seconds))
    began = time.perf_counter()
    try:
        if "pipeline" in spec.binding and not await _somebody_there(runtime, spec):
            return Canary(time.time(), "No worker for pipelines is running")
        async with asyncio.timeout(seconds):
            await backend.call(_plain(spec), {"query": QUESTION, "top_k": 1}, context)
    except (TimeoutError, DeadlineExceeded):
        return Canary(time.time(), f"No answer within {seconds:g} s", late=1)
    except RedisDown:
        return Canary(time.time(), "Redis cannot be reached")
    except ControlPlaneError as error:
        return Canary(time.time(), error.message)
    return Canary(time.time(), milliseconds=round((time.perf_counter() - began) * 1000))


async def _somebody_there(runtime: Runtime, spec: ToolSpec) -> bool:
    return await Queries(runtime.link).present(queue_of(spec.binding["pipeline"])) > 0


def _plain(spec: ToolSpec) -> ToolSpec:
    """The tool without what may cost money."""
    binding: dict[str, Any] = dict(spec.binding)
    if binding:
        binding["defaults"] = {**binding.get("defaults", {}), "llm_model": ""}
        binding["web_search_tool"] = ""
    return replace(spec, binding=binding)
