"""Stages 7 and 8: the breaker around the backend, inside the call's deadline."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tools.backends.registry import Registry
from tools.contracts import (
    Asking,
    BackendResult,
    CallContext,
    InputRequired,
    ToolSource,
    ToolSpec,
)
from tools.errors import (
    BreakerOpen,
    ControlPlaneError,
    DeadlineExceeded,
    RateLimited,
    ServiceUnavailable,
)
from tools.execution.watch import BreakerSeen, Watch
from tools.guards.breaker import BreakerRefused, Breakers, Permit
from tools.tracing import Kind, Spans
from tools.upstreams import Upstream

# How many seconds a person may take to answer a question.
LONGEST_ANSWER: Final = 300.0


async def dispatch(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    context: CallContext,
    *,
    registry: Registry,
    breakers: Breakers,
    patient: bool = False,
    spans: Spans | None = None,
    watch: Watch | None = None,
) -> BackendResult:
    """What the tool's backend answers. When `patient`, the time its caller thinks does not count.

    With `spans`, the backend passes on the context of its own span; `watch` notes what the breaker
    decided.

    Raises:
        BreakerOpen: the dependency failed too often and is left alone for a while.
        DeadlineExceeded: the backend was not done in time; its work was cancelled.
        ControlPlaneError: what the backend itself reported.
    """
    if watch is None:
        permit = await _admit(spec, breakers)
    else:
        permit = await _watched(spec, breakers, watch)
    context = _below(spans, spec, context)
    try:
        result = await _call(spec, arguments, context, registry, patient=patient)
    except RateLimited:
        # Busy is not broken: neither a success nor a failure of the dependency.
        if permit is not None:
            await breakers.abandon(permit)
        raise
    except ControlPlaneError as error:
        await _settle(permit, breakers, failed=error.retryable)
        raise
    except InputRequired:
        await _settle(permit, breakers, failed=False)
        raise
    except asyncio.CancelledError:
        if permit is not None:
            await asyncio.shield(breakers.abandon(permit))
        raise
    except BaseException:
        await _settle(permit, breakers, failed=True)
        raise
    if spans is not None:
        spans.leave()
    await _settle(permit, breakers, failed=False)
    return result


def _below(spans: Spans | None, spec: ToolSpec, context: CallContext) -> CallContext:
    """The backend's turn: whatever it calls makes spans below that of this stage."""
    if spans is None:
        return context
    kind = Kind.INTERNAL if spec.source is ToolSource.BUILTIN else Kind.CLIENT
    about = {"controlplane.dependency": spec.dependency} if spec.dependency else {}
    spans.enter("backend", kind, about)
    return replace(context, trace=spans.outward())


async def _call(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    context: CallContext,
    registry: Registry,
    *,
    patient: bool,
) -> BackendResult:
    backend = registry.get(spec.source)
    if backend is None:
        raise ServiceUnavailable(
            f"{spec.name} cannot run here: no {spec.source} backend is installed",
            retry_after=60,
            suggestion="Tell the operator; another tool may do",
        )
    try:
        async with asyncio.timeout(context.deadline.remaining()) as limit:
            if patient and context.asking is not None:
                context = replace(context, asking=_stopping_the_clock(context.asking, limit))
            return await backend.call(spec, arguments, context)
    except TimeoutError as fault:
        # A time-out of the backend's own making is its failure, not the call's deadline.
        if limit.expired():
            raise DeadlineExceeded(spec.name, context.deadline.seconds) from fault
        raise


def _stopping_the_clock(asking: Asking, limit: asyncio.Timeout) -> Asking:
    """`asking`, during which the time of the call stands still: a person is slower than a tool."""

    async def ask(requests: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        clock = asyncio.get_running_loop().time
        began, due = clock(), limit.when()
        limit.reschedule(began + LONGEST_ANSWER)
        try:
            return await asking(requests)
        finally:
            # Too late for that when the call has ended meanwhile.
            with contextlib.suppress(RuntimeError):
                limit.reschedule(None if due is None else due + clock() - began)

    return ask


async def _admit(spec: ToolSpec, breakers: Breakers) -> Permit | None:
    if not spec.dependency:
        return None
    try:
        return await breakers.admit(spec.dependency)
    except BreakerRefused as refused:
        raise BreakerOpen(_left_alone(spec), refused.retry_after) from refused


async def _watched(spec: ToolSpec, breakers: Breakers, watch: Watch) -> Permit | None:
    watch.breaker = BreakerSeen.REFUSED
    permit = await _admit(spec, breakers)
    watch.breaker = _seen(permit)
    watch.enter("backend")
    return permit


def _seen(permit: Permit | None) -> BreakerSeen:
    if permit is None:
        return BreakerSeen.NONE
    if not permit.generation:
        return BreakerSeen.UNKNOWN
    return BreakerSeen.PROBE if permit.is_probe else BreakerSeen.CLOSED


def _left_alone(spec: ToolSpec) -> str:
    server = spec.binding.get("server")
    if isinstance(server, Upstream):
        return server.left_alone
    return f"{spec.dependency} is failing and is left alone for now"


async def _settle(permit: Permit | None, breakers: Breakers, *, failed: bool) -> None:
    if permit is None:
        return
    if failed:
        await breakers.failure(permit)
    else:
        await breakers.success(permit)
