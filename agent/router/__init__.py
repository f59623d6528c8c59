"""A deterministic router: from a message to a tool and its arguments, without a model."""

from agent.router.routing import Router, Search
from agent.router.values import Choice, Offered

__all__ = ["Choice", "Offered", "Router", "Search"]
