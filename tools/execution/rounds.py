"""Questions to a caller that come as an answer, and the answers that come with its next call.

The caller carries the server's state from one leg to the next. It is handed out signed, together with
whose call of which tool it belongs to, and taken back only for that.
"""

from __future__ import annotations

from typing import Any, Final

from django.core import signing

from tools.contracts import Caller, InputRequired, Round, ToolSpec
from tools.errors import ErrorDetails, InvalidArguments

_SALT: Final = "tools.execution.rounds"
# A person who was asked before lunch may answer after it.
LONGEST_SECONDS: Final = 24 * 3600


def asked_of(questions: InputRequired, tool: str, caller: Caller) -> dict[str, Any]:
    """The questions as protocol 2026-07-28 asks them."""
    state = signing.dumps([tool, caller.identifier, questions.state], salt=_SALT)
    return {
        "resultType": "input_required",
        "inputRequests": dict(questions.requests),
        "requestState": state,
    }


def answered_by(given: Round | None, spec: ToolSpec, caller: Caller) -> Round | None:
    """The caller's answers with the server's own state.

    Raises:
        InvalidArguments: the state is not one that this caller was given for this tool.
    """
    if given is None or given.state is None:
        return given
    try:
        tool, owner, state = signing.loads(given.state, salt=_SALT, max_age=LONGEST_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        raise _not_ours() from None
    if (tool, owner) != (spec.name, caller.identifier):
        raise _not_ours()
    return Round(given.responses, state)


def _not_ours() -> InvalidArguments:
    return InvalidArguments(
        "Invalid parameter: requestState",
        ErrorDetails(
            parameter="requestState",
            expected="the state that came with the questions, unchanged, within a day",
            suggestion="Make the call again from the start",
        ),
    )
