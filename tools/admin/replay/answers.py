"""What a call of the request log answered, and whether it can be made again as it was."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.admin.request_log.answers import UNSEEN
from tools.context.redact import REDACTED
from tools.execution.trials import Trial
from tools.models import Tool, ToolRequest, ToolResponse

# What stands for arguments that were too long to keep.
TRUNCATED: Final = "_truncated"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as lines to compare. `note` says what is missing of it, `whole` that nothing is."""

    text: str
    whole: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a call cannot be made again as it was; `fillable` when a person can fill in what lacks."""

    text: str
    fillable: bool
    where: tuple[str, ...] = ()


def obstacle_of(row: ToolRequest) -> Obstacle | None:
    """What keeps the call from being repeated, if anything does."""
    given = row.parameters
    if not isinstance(given, dict) or set(given) == {TRUNCATED}:
        return Obstacle("The arguments were too long to be kept whole.", fillable=False)
    where = tuple(_redacted(given, ""))
    if not where:
        return None
    return Obstacle("Secrets are not kept in the request log.", fillable=True, where=where)


def kept_answer(row: ToolRequest, *, seen: bool) -> Answer:
    """The answer that the request log has of a call; `seen` says that the person may see it."""
    if row.state == "failed":
        return Answer(_failure(row.code, row.error), whole=True)
    if not seen:
        return Answer("", whole=False, note=UNSEEN)
    kept = ToolResponse.objects.filter(pk=row.pk).first()
    if kept is None:
        return Answer("", whole=False, note="Its answer was not kept.")
    if kept.truncated:
        return Answer(kept.body, whole=False, note="Only the beginning of its answer was kept.")
    return Answer(_indented(kept.body), whole=True)


def new_answer(trial: Trial, row: ToolRequest | None, tool: Tool | None, *, seen: bool) -> Answer:
    """What the replay answered: as the log has it, so that both were treated alike."""
    if row is not None and (row.state == "failed" or (tool is not None and tool.keep_body)):
        kept = kept_answer(row, seen=seen)
        if kept.whole or kept.text:
            return kept
    outcome = trial.outcome
    if outcome is None:
        return Answer("", whole=False, note="It gave no answer.")
    if not outcome.success:
        return Answer(_failure(outcome.code, outcome.error), whole=True)
    if outcome.envelope is None:
        return Answer(outcome.excerpt, whole=False, note="Only its beginning can be shown.")
    note = (
        "" if row is None or not seen else "As its caller got it; the request log does not keep it."
    )
    return Answer(_written(_data(outcome.envelope)), whole=True, note=note)


def _data(envelope: Mapping[str, Any]) -> Any:
    data = envelope.get("data")
    # Lists and single values are wrapped for callers, and not in the log.
    alone = isinstance(data, Mapping) and set(data) == {"result"}
    return data["result"] if alone and isinstance(data, Mapping) else data


def _failure(code: str, error: str) -> str:
    return f"{code}: {error}" if code else error or "It failed."


def _indented(body: str) -> str:
    try:
        return _written(json.loads(body))
    except ValueError:
        return body


def _written(value: Any) -> str:
    """As lines to compare. In order of names: in which order they come means nothing."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _redacted(value: Any, where: str) -> Iterator[str]:
    """The arguments that hold a secret that was taken out."""
    if isinstance(value, str):
        if REDACTED in value:
            yield where
        return
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        name = f"{where}.{key}" if where else str(key)
        yield from ([name] if REDACTED in str(key) else _redacted(inner, name))
