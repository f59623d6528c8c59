"""The files for Claude Code and Cursor lead to a call, read by the rules that those clients document."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Final

import pytest

from tests.clients.configured import Refused, server
from tests.clients.visits import PROGRAM_SECONDS, PROGRAMS, Plane
from tests.node_env import NODE, node_environment, node_packages
from tests.project.pages import PROJECT, read
from tools.services.client_config import KEY_VARIABLE

EXAMPLES: Final = PROJECT / "examples" / "clients"
PROGRAM: Final = PROGRAMS / "configured.mjs"
ADDRESS: Final = "http://127.0.0.1:8000"


def document(plane: Plane, client: str) -> Any:
    """The file, with the address changed to where the service is, as its reader would."""
    text = read(EXAMPLES / f"{client}.mcp.json")
    assert text.count(ADDRESS) == 1
    return json.loads(text.replace(ADDRESS, plane.url))


def call(entry: dict[str, Any]) -> Any:
    """What a program of Node, as both clients are, gets of a tool through this entry."""
    done = subprocess.run(
        [str(NODE), str(PROGRAM), entry["url"], json.dumps(entry["headers"]), "server_metrics"],
        env={**node_environment(), "NODE_PACKAGES": str(node_packages())},
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def key(plane: Plane) -> str:
    done = plane.stack.manage("issue_key", "configured", "--toolset", "all")
    assert done.returncode == 0, done.stderr
    return next(word for word in done.stdout.split() if word.startswith("cp_"))


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_a_file_leads_to_a_call_with_the_key_of_the_variable(
    plane: Plane, key: str, client: str
) -> None:
    entry = server(client, document(plane, client), {KEY_VARIABLE: key})
    assert entry["headers"] == {"Authorization": f"Bearer {key}"}
    assert call(entry) == {"failed": False}
    calls = plane.stack.manage(
        "shell",
        "--no-imports",
        "-c",
        "from tools.models import ApiClient; print(ApiClient.objects.get(name='configured').last_used_at)",
    )
    assert calls.stdout.strip() not in {"", "None"}


def test_claude_code_calls_without_a_key_where_none_is_required(plane: Plane) -> None:
    entry = server("claude-code", document(plane, "claude-code"), {})
    # The blank at its end is not sent: `fetch` takes it off.
    assert entry["headers"] == {"Authorization": "Bearer "}
    assert call(entry) == {"failed": False}


def test_a_file_that_the_client_would_not_take_is_refused(plane: Plane) -> None:
    written = document(plane, "claude-code")
    # Claude Code reads no `${env:…}`, and Cursor no default.
    for client, text in (("claude-code", f"${{env:{KEY_VARIABLE}}}"), ("cursor", "${A:-b}")):
        for name, entry in written["mcpServers"].items():
            kept = {
                one: entry[one] for one in ("type", "url") if client != "cursor" or one != "type"
            }
            wrong = {"mcpServers": {name: {**kept, "headers": {"Authorization": text}}}}
            with pytest.raises(Refused, match="leaves a variable"):
                server(client, wrong, {KEY_VARIABLE: "x", "A": "a"})
    with pytest.raises(Refused, match="is no entry"):
        server("cursor", written, {KEY_VARIABLE: "x"})
