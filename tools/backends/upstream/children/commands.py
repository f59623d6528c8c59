"""Which commands may be started as upstream servers: those that the settings list, and no others."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.backends.upstream.channel import ChannelFault

logger = logging.getLogger(__name__)

# What a child needs of our environment to find its way. The rest of it holds our secrets.
_PASSED_ON: Final = frozenset({"PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"})


@dataclass(frozen=True, slots=True)
class AllowedCommand:
    """A command of the allow-list, and the variables an operator may set for it."""

    name: str
    command: tuple[str, ...]
    environment: tuple[str, ...] = ()
    directory: str | None = None


def allowed_commands() -> dict[str, AllowedCommand]:
    """The allow-list of this deployment by name."""
    from django.conf import settings

    listed: Mapping[str, Mapping[str, Any]] = settings.CONTROL_PLANE.get("UPSTREAM_COMMANDS", {})
    return {
        name: AllowedCommand(
            name,
            tuple(entry["command"]),
            tuple(entry.get("environment", ())),
            entry.get("directory"),
        )
        for name, entry in listed.items()
    }


def allowed_command(name: str) -> AllowedCommand:
    """The command of that name.

    Raises:
        ChannelFault: it is not in the list.
    """
    found = allowed_commands().get(name)
    if found is None:
        raise ChannelFault(f"the command {name} is not in UPSTREAM_COMMANDS", sent=False)
    return found


def child_environment(entry: AllowedCommand, configured: Mapping[str, str]) -> dict[str, str]:
    """All that the child sees of the environment: the way around this machine, and what is its own."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith("LC_")
    }
    for name, value in configured.items():
        if name in entry.environment:
            passed[name] = value
        else:
            logger.warning("The command %s may not be given the variable %s", entry.name, name)
    return passed
