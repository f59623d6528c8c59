"""The agent knows a code of the control plane, of which it imports nothing."""

from __future__ import annotations

from agent.plain import AWAY
from tools.errors import BreakerOpen, ServiceUnavailable, TransportFault


def test_what_is_not_there_has_the_code_that_the_agent_looks_for() -> None:
    # C17
    codes = {one.mcp_code for one in (ServiceUnavailable, TransportFault, BreakerOpen)}
    assert codes == {AWAY}
