"""Entries of the service registry: where a service is, and where its key is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """A service. `key_variable` names the variable of the environment that holds its key."""

    name: str
    url: str
    enabled: bool = True
    key_variable: str = ""

    @property
    def base_url(self) -> str:
        return self.url.rstrip("/")

    @property
    def variable(self) -> str:
        return self.name.upper().replace("-", "_")

    @property
    def key_name(self) -> str:
        """The named variable; without one, `SEEKR_API_KEY` for the service seekr."""
        return self.key_variable or f"{self.variable}_API_KEY"
