"""The chat agent, a client of the control plane: it shares no code with it."""
