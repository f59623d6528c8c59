"""One failure of every class there is, by the name of its class."""

from __future__ import annotations

from tools import errors
from tools.errors import ControlPlaneError, ErrorDetails


def failures() -> dict[str, ControlPlaneError]:
    """Ready to be raised."""
    details = ErrorDetails("p", 1, "an even number", "Send 2", available=("a", "b"))
    made: dict[type[ControlPlaneError], ControlPlaneError] = {
        errors.MethodNotAllowed: errors.MethodNotAllowed("PUT", ("GET",)),
        errors.RateLimited: errors.RateLimited("Too many calls", 3),
        errors.ConcurrencyExceeded: errors.ConcurrencyExceeded("All slots are taken", 3),
        errors.ServiceUnavailable: errors.ServiceUnavailable("Not now", 3),
        errors.Starting: errors.Starting(),
        errors.Stopping: errors.Stopping(),
        errors.BreakerOpen: errors.BreakerOpen("It failed too often", 3),
        errors.TransportFault: errors.TransportFault("It cannot be reached", 3),
        errors.HeldBack: errors.HeldBack("Its definition was changed", 3),
        errors.ConnectionLimitExceeded: errors.ConnectionLimitExceeded(5, 5),
        errors.DeadlineExceeded: errors.DeadlineExceeded("echo", 3),
        errors.InternalFault: errors.InternalFault(),
        errors.ReportedByTool: errors.ReportedByTool("No such row", _reported()),
        errors.NsipApiFailed: errors.NsipApiFailed("get_lineage", "Connection refused"),
    }
    return {
        kind.__name__: made.get(kind) or kind("It failed on command", details)
        for kind in sorted(_subclasses(ControlPlaneError), key=lambda kind: kind.__name__)
    }


def _reported() -> dict[str, object]:
    return {"content": [{"type": "text", "text": "No such row"}], "isError": True}


def _subclasses(root: type[ControlPlaneError]) -> set[type[ControlPlaneError]]:
    direct = set(root.__subclasses__())
    mine = {kind for kind in direct if kind.__module__ == errors.__name__}
    return mine.union(*(_subclasses(kind) for kind in mine))
