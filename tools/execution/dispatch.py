"""Stages 7 and 8: the breaker around the backend, inside the call's deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from tools.backends.registry import Registry
from tools.contracts import BackendResult, CallContext, InputRequired, ToolSpec
from tools.errors import (
    BreakerOpen,
    ControlPlaneError,
    DeadlineExceeded,
    RateLimited,
    ServiceUnavailable,
)
from tools.guards.breaker import BreakerRefused, Breakers, Permit


async def dispatch(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    context: CallContext,
    *,
    registry: Registry,
    breakers: Breakers,
) -> BackendResult:
    """What the tool's backend answers.

    Raises:
        BreakerOpen: the dependency failed too often and is left alone for a while.
        DeadlineExceeded: the backend was not done in time; its work was cancelled.
        ControlPlaneError: what the backend itself reported.
    """
    permit = await _admit(spec, breakers)
    try:
        result = await _call(spec, arguments, context, registry)
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
    await _settle(permit, breakers, failed=False)
    return result


async def _call(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    context: CallContext,
    registry: Registry,
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
            return await backend.call(spec, arguments, context)
    except TimeoutError as fault:
        # A time-out of the backend's own making is its failure, not the call's deadline.
        if limit.expired():
            raise DeadlineExceeded(spec.name, context.deadline.seconds) from fault
        raise


async def _admit(spec: ToolSpec, breakers: Breakers) -> Permit | None:
    if not spec.dependency:
        return None
    asked = asyncio.ensure_future(breakers.admit(spec.dependency))
    try:
        return await asyncio.shield(asked)
    except asyncio.CancelledError:
        # The answer is still to come, and with it perhaps the one probe of a half-open breaker.
        asked.add_done_callback(partial(_give_back, breakers))
        raise
    except BreakerRefused as refused:
        raise BreakerOpen(
            f"{spec.dependency} is failing and is left alone for now", refused.retry_after
        ) from refused


def _give_back(breakers: Breakers, asked: asyncio.Future[Permit]) -> None:
    if not asked.cancelled() and asked.exception() is None:
        returning = asyncio.ensure_future(breakers.abandon(asked.result()))
        _returning.add(returning)
        returning.add_done_callback(_returning.discard)


# Held here because the event loop itself keeps only weak references.
_returning: set[asyncio.Future[None]] = set()


async def _settle(permit: Permit | None, breakers: Breakers, *, failed: bool) -> None:
    if permit is None:
        return
    if failed:
        await breakers.failure(permit)
    else:
        await breakers.success(permit)
