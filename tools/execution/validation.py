"""Stage 3: arguments against the tool's schema, defaults filled in. Nothing runs on bad input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.contracts import ToolSource, ToolSpec
from tools.errors import ErrorDetails, InvalidArguments
from tools.schemas import ArgumentFault, Validator, compile_schema, describe, fill_defaults

MOST_FAULTS = 10
LONGEST_QUERY = 8000


class Validators:
    """Compiled validators of one catalogue version, each compiled when first needed."""

    def __init__(self) -> None:
        self._compiled: dict[str, tuple[Mapping[str, Any], Validator]] = {}

    def get(self, spec: ToolSpec) -> Validator:
        known = self._compiled.get(spec.name)
        if known is None or known[0] is not spec.input_schema:
            known = (spec.input_schema, compile_schema(spec.input_schema))
            self._compiled[spec.name] = known
        return known[1]


def validate(
    spec: ToolSpec, arguments: Mapping[str, Any], validators: Validators
) -> dict[str, Any]:
    """`arguments` with defaults filled in.

    Raises:
        InvalidArguments: saying what is wrong with the first bad argument and naming the others.
    """
    filled = fill_defaults(spec.input_schema, arguments)
    validator = validators.get(spec)
    if not validator.is_valid(filled):
        raise _refusal([describe(error) for error in _first_errors(validator, filled)])
    if spec.source is ToolSource.PIPELINE:
        _check_query(filled)
    return filled


def _first_errors(validator: Validator, arguments: Mapping[str, Any]) -> list[Any]:
    errors = []
    for error in validator.iter_errors(arguments):
        errors.append(error)
        if len(errors) == MOST_FAULTS:
            break
    return errors


def _check_query(arguments: Mapping[str, Any]) -> None:
    query = arguments.get("query")
    if isinstance(query, str) and len(query.strip()) >= 1 and len(query) <= LONGEST_QUERY:
        return
    length = len(query) if isinstance(query, str) else 0
    raise InvalidArguments(
        "Invalid parameter: query",
        ErrorDetails(
            parameter="query",
            value=f"{length} characters",
            expected=f"text of 1 to {LONGEST_QUERY} characters",
            suggestion=f"Shorten the query to {LONGEST_QUERY} characters or fewer"
            if length
            else "Send the question as query",
        ),
    )


def _refusal(faults: list[ArgumentFault]) -> InvalidArguments:
    first = faults[0]
    others = [fault.parameter for fault in faults[1:]]
    also = f" (also wrong: {', '.join(dict.fromkeys(others))})" if others else ""
    return InvalidArguments(
        f"Invalid parameter: {first.parameter}: {first.message}{also}",
        ErrorDetails(
            parameter=first.parameter,
            value=first.value,
            expected=first.expected,
            suggestion=first.suggestion,
        ),
    )
