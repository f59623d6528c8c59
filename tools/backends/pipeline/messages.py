"""What travels between the process that asks and the worker that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tools.contracts import CallContext, Caller, CallerKind, ToolSpec, Transport
from tools.errors import (
    ControlPlaneError,
    DeadlineExceeded,
    ErrorDetails,
    ExecutionFailed,
    InternalFault,
    InvalidArguments,
    ServiceUnavailable,
)

# A worker is told to stop at the deadline, and killed when it has not by then.
KILL_AFTER: Final = 2.0
# What a worker may report; anything else is a bug of ours.
FAULTS: Final[Mapping[str, type[ControlPlaneError]]] = {
    kind.__name__: kind for kind in (InvalidArguments, ServiceUnavailable, ExecutionFailed)
}


@dataclass(frozen=True, slots=True)
class QueryMessage:
    """A query as a worker gets it. `asker` is the process that waits, `seconds` how long it will.

    `trace` is the W3C context its spans are made below.
    """

    tool: str
    pipeline: str
    arguments: Mapping[str, Any]
    defaults: Mapping[str, Any]
    index: Mapping[str, Any]
    max_tokens: int
    web_search_tool: str
    caller: Mapping[str, Any]
    transport: str
    request_id: str
    correlation_id: str
    asker: str
    seconds: float
    wants_progress: bool
    trace: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext, asker: str
    ) -> QueryMessage:
        binding = spec.binding
        return cls(
            tool=spec.name,
            pipeline=binding["pipeline"],
            arguments=arguments,
            defaults=binding["defaults"],
            index=binding["index"],
            max_tokens=binding["max_tokens"],
            web_search_tool=binding["web_search_tool"],
            caller=_write_caller(context.caller),
            transport=context.transport,
            request_id=str(context.request_id),
            correlation_id=context.correlation_id,
            asker=asker,
            seconds=context.deadline.remaining(),
            wants_progress=context.progress is not None,
            trace=context.trace,
        )

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> QueryMessage:
        """The message as a worker of this version understands it; what it does not know is left.

        A release before this one sent no trace.
        """
        return cls(**{name: wire[name] for name in cls.__slots__ if name in wire})

    def to_wire(self) -> dict[str, Any]:
        # Not `asdict`: what is inside is about to be written as JSON and need not be copied.
        return {name: getattr(self, name) for name in self.__slots__}

    def known_caller(self) -> Caller:
        """Who asked."""
        facts = dict(self.caller)
        toolsets = facts.pop("toolsets")
        return Caller(
            **{**facts, "kind": CallerKind(facts["kind"])},
            toolsets=None if toolsets is None else frozenset(toolsets),
        )

    def door(self) -> Transport:
        """The way the call came in."""
        return Transport(self.transport)


def _write_caller(caller: Caller) -> dict[str, Any]:
    toolsets = None if caller.toolsets is None else sorted(caller.toolsets)
    return {**asdict(caller), "kind": caller.kind.value, "toolsets": toolsets}


def write_fault(fault: ControlPlaneError) -> dict[str, Any]:
    """A failure as it travels: one of the kinds that callers may hear of from a worker."""
    kind = next((name for name, one in FAULTS.items() if isinstance(fault, one)), "")
    return {"kind": kind, "message": fault.message, "details": fault.details.to_wire()}


def read_fault(wire: Mapping[str, Any]) -> ControlPlaneError:
    """The failure that a worker reported."""
    kind = FAULTS.get(wire["kind"])
    if kind is None:
        return InternalFault()
    details = dict(wire["details"])
    if "available" in details:
        details["available"] = tuple(details["available"])
    # Each kind has a constructor of its own; what they all keep is the same.
    fault = kind.__new__(kind)
    ControlPlaneError.__init__(fault, wire["message"], ErrorDetails(**details))
    return fault


def overdue(spec: ToolSpec, context: CallContext) -> DeadlineExceeded:
    return DeadlineExceeded(spec.name, context.deadline.seconds)
