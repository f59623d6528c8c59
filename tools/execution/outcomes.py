"""What came of a watched call: its answer, and what the path noted about it on the way."""

from __future__ import annotations

from dataclasses import replace

from tools.contracts import Envelope
from tools.execution.journal import CallRecord
from tools.execution.trial import Outcome, answer_of
from tools.execution.watch import Watch


def outcome_of(answer: Envelope | None, record: CallRecord | None) -> Outcome:
    """Both in one. A cancelled call has no answer, one that was refused at the door no record."""
    outcome = Outcome(success=False) if answer is None else _answered(answer)
    if record is None:
        return outcome
    watch = record.watch or Watch()
    return replace(
        outcome,
        status=record.status.value if record.status is not None else "",
        code=record.code.value if record.code is not None else outcome.code,
        error=outcome.error or record.error,
        duration_ms=record.duration_ms,
        stages=dict(watch.stages),
        tokens_before=record.tokens_before,
        tokens_after=record.tokens_after,
        response_bytes=record.response_bytes,
        cache=watch.cache.value,
        breaker=watch.breaker.value,
        dependency=record.dependency,
        journalled=True,
    )


def _answered(answer: Envelope) -> Outcome:
    envelope, excerpt = answer_of(answer.to_wire())
    return Outcome(
        success=answer.success,
        envelope=envelope,
        excerpt=excerpt,
        http_status=answer.http_status,
        code=str(answer.code or ""),
        error=answer.error or "",
    )
