"""The lists of tools of registered services: asked for together, each once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Network
from typing import Final

from tools.conf import deployment
from tools.services.fetch_document import FetchFault, fetch
from tools.wrappers.registry import ServiceEntry
from tools.wrappers.tool_list import ListFault, ToolList, read_tools

TRIES: Final = 3
# Before the second try and the third. The last one is of the series that was asked for: a fourth try would wait it.
WAITS: Final = (1.0, 2.0, 4.0)
SECONDS: Final = 10
_KEY_WANTED: Final = (401, 403)
# Whoever runs a command on this machine reaches everything from it anyway.
ANYWHERE: Final = ("0.0.0.0/0", "::/0")
# Where services of one's own are. Not link-local, and not one block of private addresses: that is where
# clouds hand out credentials.
_CLOUD: Final = IPv6Network("fd00:ec2::/32")
INSIDE: Final = (
    *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128"),
    *(str(one) for one in IPv6Network("fc00::/7").address_exclude(_CLOUD)),
)


@dataclass(frozen=True, slots=True)
class Asking:
    """How services are asked: with which keys by variable, in which networks, how often.

    `allowing` is what else a variable needs so that its key is sent.
    """

    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    networks: tuple[str, ...] = ANYWHERE
    tries: int = TRIES
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    allowing: str = ""


def asking_for_rows() -> Asking:
    """How services of the database are asked: whoever may edit those rows says where a key is sent.

    So only keys that the deployment names are, and only to where services may be.
    """
    allowed = deployment().registry_keys
    keys = {name: os.environ[name] for name in allowed if os.environ.get(name)}
    return Asking(keys, INSIDE, allowing=", and name it in REGISTRY_KEYS")


@dataclass(frozen=True, slots=True)
class Unfetched:
    """Why a service's list cannot be had. `status` is that of HTTP, 0 where no answer came."""

    reason: str
    status: int = 0


def fetch_all(
    entries: Sequence[ServiceEntry], asking: Asking
) -> Mapping[str, ToolList | Unfetched]:
    """What each service lists, by its name. One that cannot be reached keeps nobody waiting twice."""
    return asyncio.run(_fetch_all(entries, asking))


async def _fetch_all(
    entries: Sequence[ServiceEntry], asking: Asking
) -> Mapping[str, ToolList | Unfetched]:
    # Two names for one place are one question.
    questions = {(one.base_url, asking.keys.get(one.key_name, "")): one for one in entries}
    answers = await asyncio.gather(*(_fetch(url, key, asking) for url, key in questions))
    found = dict(zip(questions, answers, strict=True))
    return {
        one.name: _with_hint(found[one.base_url, asking.keys.get(one.key_name, "")], one, asking)
        for one in entries
    }


def _with_hint(
    found: ToolList | Unfetched, entry: ServiceEntry, asking: Asking
) -> ToolList | Unfetched:
    """What to do about a key that is missing or wrong."""
    if not isinstance(found, Unfetched) or found.status not in _KEY_WANTED:
        return found
    name = entry.key_name
    hint = f"it wants a key: set {name}{asking.allowing}"
    if asking.keys.get(name):
        hint = f"it does not take the key in {name}"
    return Unfetched(f"{found.reason}; {hint}", found.status)


async def _fetch(base_url: str, key: str, asking: Asking) -> ToolList | Unfetched:
    headers = {"Accept": "application/json", **({"X-API-Key": key} if key else {})}
    if not key.isprintable() or not key.isascii():
        return Unfetched("its key has characters that no key has")
    for tried in range(asking.tries):
        if tried:
            await asking.sleep(WAITS[tried - 1])
        try:
            # Redirects are not followed: the key is for this address.
            body = await fetch(
                f"{base_url}/tools",
                asking.networks,
                headers=headers,
                seconds=SECONDS,
                follow=False,
            )
            return read_tools(body)
        except ListFault as fault:
            return Unfetched(f"{base_url}/tools: {fault}")
        except FetchFault as fault:
            failed = Unfetched(str(fault), fault.status)
            if not fault.passing:
                break
    return failed
