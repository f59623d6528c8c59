"""The page on conformance lists the clients that are run, in the versions that are installed."""

from __future__ import annotations

import json

from tests.client_envs import REQUIREMENTS
from tests.clients.test_inspector import TRANSPORTS as INSPECTED
from tests.clients.visits import CLIENTS
from tests.node_env import SOURCES
from tests.project.pages import PROJECT, REFERENCE, names, read, rows, section

TABLE = rows(section(read(REFERENCE / "mcp-conformance.md"), "## Clients"))


def spoken(transports: tuple[str, ...] | list[str]) -> set[str]:
    """The transports without the era or version after them."""
    plain = {transport.partition(" ")[0] for transport in transports}
    return {"streamable_http" if name == "http" else name for name in plain}


def test_every_client_is_listed_with_its_transports() -> None:
    listed = {names(row[0])[0]: set(names(row[2])) for row in TABLE}
    assert listed == {
        **{name: spoken(program.transports) for name, program in CLIENTS.items()},
        "inspector": spoken(INSPECTED),
    }


def test_the_versions_listed_are_the_ones_installed() -> None:
    pinned = {line for path in REQUIREMENTS.glob("*.txt") for line in read(path).splitlines()}
    pinned |= set(read(PROJECT / "requirements.txt").splitlines())
    packages = json.loads(read(SOURCES / "package.json"))["dependencies"]
    pinned |= {f"{name}@{version}" for name, version in packages.items()}
    assert [row[1] for row in TABLE if names(row[1])[0] not in pinned] == []


def test_pins_of_clients_name_exact_versions() -> None:
    for path in REQUIREMENTS.glob("*.txt"):
        lines = [line for line in read(path).splitlines() if not line.startswith("#")]
        assert [line for line in lines if "==" not in line] == [], path.name
    lock = read(SOURCES / "package-lock.json")
    assert '"resolved"' not in lock
