"""The values that travel between the doors, the path and the backends. Frozen, checked when built."""

from __future__ import annotations

from tools.contracts.calls import (
    Asking,
    BackendResult,
    CallContext,
    Caller,
    CallerKind,
    Credentials,
    Deadline,
    InputRequired,
    Progress,
    Round,
    ToolCall,
    Transport,
)
from tools.contracts.envelope import (
    Envelope,
    failure_envelope,
    internal_failure,
)
from tools.contracts.specs import (
    HeldSpec,
    PromptArgument,
    PromptSpec,
    ResourceSpec,
    ToolListing,
    ToolsetSpec,
    ToolSource,
    ToolSpec,
)
from tools.contracts.states import (
    CALL_TRANSITIONS,
    FINAL_STATES,
    SERVICE_TRANSITIONS,
    CallState,
    IllegalTransition,
    ServiceState,
    advance,
    next_service_state,
)
from tools.contracts.times import (
    iso_time,
    time_of,
    time_ordered_uuid,
    wire_time,
)
from tools.contracts.tool_calls import NOTHING, ToolCallContext, usable_id

__all__ = [
    "CALL_TRANSITIONS",
    "FINAL_STATES",
    "NOTHING",
    "SERVICE_TRANSITIONS",
    "Asking",
    "BackendResult",
    "CallContext",
    "CallState",
    "Caller",
    "CallerKind",
    "Credentials",
    "Deadline",
    "Envelope",
    "HeldSpec",
    "IllegalTransition",
    "InputRequired",
    "Progress",
    "PromptArgument",
    "PromptSpec",
    "ResourceSpec",
    "Round",
    "ServiceState",
    "ToolCall",
    "ToolCallContext",
    "ToolListing",
    "ToolSource",
    "ToolSpec",
    "ToolsetSpec",
    "Transport",
    "advance",
    "failure_envelope",
    "internal_failure",
    "iso_time",
    "next_service_state",
    "time_of",
    "time_ordered_uuid",
    "usable_id",
    "wire_time",
]
