"""What becomes of a server's questions: asked at once, handed to the caller as an answer, or refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.backends.upstream import failures
from tools.backends.upstream.inflight import ELICIT, answered
from tools.backends.upstream.results import Malformed, checked, said
from tools.backends.upstream.session import NobodyAsked
from tools.contracts import CallContext, InputRequired, Round
from tools.errors import ExecutionFailed


def answers(round_: Round | None) -> dict[str, Any]:
    """The answers of the caller as a call of the stateless era carries them."""
    if round_ is None:
        return {}
    state = {} if round_.state is None else {"requestState": round_.state}
    return {"inputResponses": dict(round_.responses), **state}


async def ask(tool: str, context: CallContext, result: Mapping[str, Any]) -> Round:
    """The caller's answers to what the server needs to know.

    Raises:
        InputRequired: the caller takes the questions for an answer, and calls again.
        ExecutionFailed: it cannot be asked.
    """
    requests, state = result.get("inputRequests") or {}, result.get("requestState")
    state = state if isinstance(state, str) else None
    if not isinstance(requests, Mapping) or not all(map(_for_a_person, requests.values())):
        # Nobody else may use the caller's model or look at its files.
        raise ExecutionFailed("The tool asks for something other than its user's words")
    if not requests:
        # It only wants to be called again.
        return Round({}, state)
    if context.asking is not None:
        return Round(await context.ask(requests), state)
    if context.in_rounds:
        raise InputRequired(requests, state)
    raise failures.cannot_be_asked(tool)


def unasked(tool: str, context: CallContext, silence: NobodyAsked) -> Exception:
    """What becomes of a call whose questions could not be asked while it ran."""
    if context.in_rounds:
        # The caller may answer and call again; the tool then runs once more, with the answers.
        return InputRequired(silence.questions, json.dumps(answered(context.round)))
    return failures.cannot_be_asked(tool, _words(silence.result))


def _for_a_person(request: Any) -> bool:
    return isinstance(request, Mapping) and request.get("method") == ELICIT


def _words(result: Mapping[str, Any]) -> str:
    """What a failed tool says, if that can be made out."""
    try:
        return said(checked(result)["content"])
    except Malformed:
        return ""
