"""In which states an agent and its connection can be."""

from __future__ import annotations

from enum import StrEnum


class AgentState(StrEnum):
    """How far an agent is, and what it got from MCP."""

    UNINITIALIZED = "Uninitialized"
    NO_MCP = "Initialized (No MCP)"
    WITH_MCP = "Initialized (With MCP)"
    MCP_FAILED = "Initialized (MCP Failed)"


class McpState(StrEnum):
    """What is known of the MCP server."""

    NOT_CONFIGURED = "Not Configured"
    CONNECTING = "Connecting"
    CONNECTED = "Connected"
    FAILED = "Failed"


READY = {
    McpState.NOT_CONFIGURED: AgentState.NO_MCP,
    McpState.CONNECTED: AgentState.WITH_MCP,
    McpState.FAILED: AgentState.MCP_FAILED,
}
