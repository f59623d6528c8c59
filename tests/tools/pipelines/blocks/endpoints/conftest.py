"""The test API and what stands around it."""

from tests.openai_fixtures import api, breakers, clock, configured, server

__all__ = ["api", "breakers", "clock", "configured", "server"]
