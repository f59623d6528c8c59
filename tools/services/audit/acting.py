"""Who is acting: told by whoever lets them in, asked for when something changes.

Nobody is looked up before that: a request that changes nothing pays for one variable.
"""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.contracts import Caller, CallerKind
from tools.models.audit import Action, ActorKind

# Commands that serve others; what changes there without a request was nobody's doing.
SERVING: Final = frozenset({"serve", "runserver", "mcp_serve", "mcp_stdio"})


__all__ = ["Action", "Actor", "ActorKind", "act_as", "act_for", "acting", "doing", "unrecorded"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody or something that changes things: by what name, from where, by which way."""

    kind: ActorKind
    name: str = ""
    address: str = ""
    through: str = ""


@dataclass(frozen=True, slots=True)
class Doing:
    """What the changes are part of. `action` names them, where they are not plain changes."""

    note: str
    action: Action | None = None


_actor: ContextVar[Callable[[], Actor] | None] = ContextVar("audit_actor", default=None)
_doing: ContextVar[Doing | None] = ContextVar("audit_doing", default=None)
_recorded: ContextVar[bool] = ContextVar("audit_recorded", default=True)


@contextmanager
def acting(actor: Callable[[], Actor]) -> Iterator[None]:
    """What changes in here is the doing of `actor`, who is asked for only then."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def act_as(actor: Actor) -> None:
    """What changes in this task from now on is the doing of `actor`."""
    _actor.set(lambda: actor)


def act_for(caller: Caller, address: str, through: str) -> None:
    """What changes in this task from now on was asked for by a caller of an API."""
    kind = ActorKind.PERSON if caller.kind is CallerKind.ADMIN else ActorKind.CLIENT
    act_as(Actor(kind, caller.name or caller.identifier, address, through))


def act_as_task(name: str) -> None:
    """What changes from now on is the doing of a task that a worker runs."""
    act_as(Actor(ActorKind.WORKER, through=name))


@contextmanager
def doing(note: str, action: Action | None = None) -> Iterator[None]:
    """Say with each change in here what it is part of."""
    token = _doing.set(Doing(note, action))
    try:
        yield
    finally:
        _doing.reset(token)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Changes in here leave no entries: they come with the release."""
    token = _recorded.set(False)
    try:
        yield
    finally:
        _recorded.reset(token)


def is_recorded() -> bool:
    """Whether changes leave entries."""
    return _recorded.get()


def current_actor() -> Actor:
    """Who is acting now."""
    told = _actor.get()
    return told() if told is not None else process_actor(sys.argv)


def current_doing() -> Doing:
    """What changes are part of now."""
    return _doing.get() or Doing("")


def process_actor(arguments: list[str]) -> Actor:
    """What a process does by itself: a command somebody typed, a worker, or the service."""
    program = Path(arguments[0] if arguments else "python")
    name = program.parent.name if program.name == "__main__.py" else program.name
    command = next(iter(arguments[1:]), "") if name == "manage.py" else ""
    through = f"{name} {command}".strip()
    if name == "celery":
        return Actor(ActorKind.WORKER, through=through)
    if command in SERVING:
        return Actor(ActorKind.SERVICE, through=through)
    return Actor(ActorKind.COMMAND, _account(), through=through)


def _account() -> str:
    """The account of the operating system, which in containers may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"user {os.getuid()}"
