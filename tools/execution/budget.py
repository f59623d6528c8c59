"""Stage 9: the context budget. Counts tokens; passes small answers, shortens large ones.

How a tool's answers are shortened is written in its binding, under `rules`.
Nothing is lost: an answer is shortened only after the whole of it has been kept for paging. When
it cannot be kept (Redis down, too large), it is passed uncut and `meta.budget` says so.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tools.context.managed import ContextManagedResponse
from tools.context.reduce import reduce
from tools.context.rules import Rules
from tools.context.tokens import count
from tools.contracts import ToolSpec
from tools.errors import ErrorDetails, SummarizationFailed

logger = logging.getLogger(__name__)

# Above this many characters counting takes longer than handing it to a thread.
OFFLOAD_CHARACTERS: Final = 20_000
NO_RULES: Final = Rules()
NOT_KEPT: Final = "The whole result could not be kept for paging, so it was not shortened"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Budgeted:
    """What is answered, its tokens before and after, and what the caller is told about it."""

    data: Any
    tokens_before: int | None = None
    tokens_after: int | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


async def apply_budget(
    spec: ToolSpec,
    data: Any,
    encoded: str,
    *,
    request_id: str,
    keep: Callable[[str], Awaitable[bool]],
) -> Budgeted:
    """`data` within the token budget of `spec`. `encoded` is `data` as JSON.

    Raises:
        TokenCountingFailed: the vocabulary cannot be loaded.
        SummarizationFailed: what must be preserved is too large in itself.
    """
    if not spec.requires_context_management:
        return Budgeted(data)
    rules = _rules(spec)
    tokens = await _off_loop(encoded, lambda: _count(data, encoded))
    if tokens <= spec.token_budget and not rules.always:
        return _passed(spec, data, tokens)
    if not await keep(encoded):
        meta = {"applied": False, "reason": NOT_KEPT, "tokens_before": tokens}
        return Budgeted(data, tokens, tokens, {"budget": meta})
    summary = await _off_loop(encoded, lambda: _shortened(spec, rules, data, tokens, request_id))
    if summary is None:
        return _passed(spec, data, tokens)
    return Budgeted(
        summary.final_response,
        summary.token_count,
        summary.final_token_count,
        {"budget": _shortened_meta(summary, request_id)},
    )


def _rules(spec: ToolSpec) -> Rules:
    """The rules of a tool. Bad ones must not fail its calls: its answers are cut by their shape."""
    written = spec.binding.get("rules")
    if not written:
        return NO_RULES
    try:
        return Rules.from_json(written)
    except ValueError as fault:
        logger.warning("The rules for answers of %s are not used: %s", spec.name, fault)
        return NO_RULES


def _count(data: Any, encoded: str) -> int:
    """Tokens of `data` as `json.dumps` writes it, whether or not `encoded` has it so."""
    return count(encoded if encoded.isascii() else json.dumps(data))


def _passed(spec: ToolSpec, data: Any, tokens: int) -> Budgeted:
    passed = ContextManagedResponse.create_passthrough(data, tokens, spec.token_budget)
    return Budgeted(passed.final_response, tokens, tokens)


def _shortened(
    spec: ToolSpec, rules: Rules, data: Any, tokens: int, request_id: str
) -> ContextManagedResponse | None:
    """The answer in a shorter form, or None when it may pass as it is."""
    try:
        result = reduce(
            data,
            tokens=tokens,
            budget=spec.token_budget,
            rules=rules,
            preserve=spec.preserve_keys,
        )
    except SummarizationFailed as failure:
        raise SummarizationFailed(
            failure.message,
            ErrorDetails(
                expected=failure.details.expected,
                suggestion=f"{failure.details.suggestion}; or read the whole result in pages with "
                f"read_result and request_id {request_id}",
            ),
        ) from failure
    if result is None:
        return None
    return ContextManagedResponse.create_summarized(
        data, tokens, result.value, result.tokens, spec.token_budget
    )


def _shortened_meta(summary: ContextManagedResponse, request_id: str) -> dict[str, Any]:
    return {
        "applied": True,
        "tokens_before": summary.token_count,
        "tokens_after": summary.final_token_count,
        "reduction_percent": round(summary.reduction_percent or 0.0, 1),
        "full_result": {"tool": "read_result", "arguments": {"request_id": request_id}},
    }


async def _off_loop(encoded: str, work: Callable[[], _T]) -> _T:
    """Run `work`, in a thread when the answer is large: other calls go on meanwhile."""
    if len(encoded) <= OFFLOAD_CHARACTERS:
        return work()
    return await asyncio.to_thread(work)
