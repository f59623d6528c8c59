"""Stage 3: arguments against the tool's schema, defaults filled in. Nothing runs on bad input.

Results are held to the output schema in the same way, where a tool announces one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from tools.contracts import ToolSource, ToolSpec
from tools.errors import ErrorDetails, ExecutionFailed, InvalidArguments
from tools.schemas import ArgumentFault, Validator, compile_schema, describe, fill_defaults, shown

logger = logging.getLogger(__name__)

MOST_FAULTS = 10
LONGEST_QUERY = 8000


class Validators:
    """Compiled validators of one catalogue version, each compiled when first needed."""

    def __init__(self) -> None:
        self._compiled: dict[tuple[str, str], tuple[Mapping[str, Any], Validator]] = {}

    def get(self, spec: ToolSpec) -> Validator:
        return self._of("input", spec.name, spec.input_schema)

    def of_result(self, spec: ToolSpec) -> Validator | None:
        if spec.output_schema is None:
            return None
        return self._of("output", spec.name, spec.output_schema)

    def _of(self, side: str, name: str, schema: Mapping[str, Any]) -> Validator:
        known = self._compiled.get((side, name))
        if known is None or known[0] is not schema:
            known = self._compiled[side, name] = (schema, compile_schema(schema))
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
        faults = [describe(error) for error in _first_errors(validator, filled)]
        raise _refusal(faults, spec.input_schema)
    if spec.source is ToolSource.PIPELINE:
        _check_query(filled)
    return filled


def check_result(spec: ToolSpec, data: Any, validators: Validators) -> None:
    """Hold a tool to the output schema it announced; clients check answers against it too.

    Raises:
        ExecutionFailed: the answer has another shape. What was wrong with it is logged.
    """
    validator = validators.of_result(spec)
    if validator is None or validator.is_valid(data):
        return
    faults = [describe(error) for error in _first_errors(validator, data)]
    logger.error(
        "%s broke its output schema: %s",
        spec.name,
        "; ".join(f"{fault.parameter}: expected {fault.expected}" for fault in faults),
    )
    raise ExecutionFailed(
        f"{spec.name} gave an answer of another shape than it announced",
        ErrorDetails(
            expected="an answer that fits the tool's output schema",
            suggestion="Tell the operator; the tool's output schema or the service behind it is wrong",
        ),
    )


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


def _refusal(faults: list[ArgumentFault], schema: Mapping[str, Any]) -> InvalidArguments:
    first = faults[0]
    others = {fault.parameter: True for fault in faults if fault.parameter != first.parameter}
    also = f" (also wrong: {', '.join(others)})" if others else ""
    return InvalidArguments(
        f"Invalid parameter: {first.parameter}: {first.message}{also}",
        ErrorDetails(
            parameter=first.parameter,
            value=first.value,
            expected=first.expected,
            suggestion=first.suggestion + _example(schema, first.parameter),
        ),
    )


def _example(schema: Mapping[str, Any], parameter: str) -> str:
    """The first example that the schema has for an argument, as the end of a suggestion."""
    definition = (schema.get("properties") or {}).get(parameter)
    examples = definition.get("examples") if isinstance(definition, Mapping) else None
    return f", such as {shown(examples[0])}" if isinstance(examples, list) and examples else ""
