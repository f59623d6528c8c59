"""The programs in examples/clients do what they say; its files are what the service writes itself."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.client_envs import client_python
from tests.clients.visits import PROGRAM_SECONDS, Plane
from tests.node_env import NODE, node_packages
from tests.openai_server import KEY, Called, OpenAiServer, openai_server
from tests.processes import wait_until
from tests.project.pages import PROJECT, read
from tools.conf import ServiceSettings
from tools.services.client_config import CLIENTS, KEY_VARIABLE, Connection

EXAMPLES: Final = PROJECT / "examples" / "clients"
TOOLS: Final = "create_todo, delete_todo, list_todos, search_todos, update_todo"
ISSUE: Final = """
from tools.models import Tool, Toolset
from tools.services.issue_key import issue_key
todos = Toolset.objects.create(slug="todos")
todos.tools.set(Tool.objects.filter(name__contains="_todo"))
print(issue_key("examples", toolsets=["todos"]).key)
"""


@pytest.fixture(scope="module")
def environment(plane: Plane) -> Mapping[str, str]:
    """Where the programs find the control plane, and a key that shows them the Todo tools."""
    wait_until(lambda: plane.stack.call("list_todos")[0] == 200, what="the Todo tools")
    issued = plane.stack.manage("shell", "--no-imports", "-c", ISSUE)
    assert issued.returncode == 0, issued.stderr
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept,
        "CONTROL_PLANE_URL": f"{plane.url}/mcp",
        KEY_VARIABLE: issued.stdout.split()[-1],
        "OPENAI_API_KEY": KEY,
    }


def thinks(sent: Mapping[str, Any]) -> Sequence[Called]:
    """A model that makes a todo of what it is told, and then says something."""
    if sent["messages"][-1]["role"] == "tool":
        return ()
    return [("create_todo", {"title": "Try the example"})]


@pytest.fixture
def model() -> Iterator[OpenAiServer]:
    with openai_server(calls=thinks, text=("It is on ", "your list.")) as api:
        yield api


@dataclass(frozen=True, slots=True)
class Stage:
    """Where programs are run, and the list they write to."""

    plane: Plane
    environment: Mapping[str, str]
    folder: Path

    def run(self, *command: str, **extra: str) -> str:
        """What a program prints."""
        done = subprocess.run(
            command,
            env={**self.environment, **extra},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PROGRAM_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def titles(self) -> list[str]:
        status, body = self.plane.stack.call("list_todos")
        assert status == 200
        return [todo["title"] for todo in body["data"]["todos"]]


@pytest.fixture
def stage(plane: Plane, environment: Mapping[str, str], tmp_path: Path) -> Stage:
    return Stage(plane, environment, tmp_path)


@pytest.mark.parametrize(
    ("name", "packages", "title"),
    [
        ("langchain_tools.py", "langchain", "Try LangChain"),
        ("fastmcp_client.py", "fastmcp", "Try FastMCP"),
    ],
)
def test_programs_list_the_tools_and_make_a_todo(
    stage: Stage, name: str, packages: str, title: str
) -> None:
    said = stage.run(str(client_python(packages)), str(EXAMPLES / name)).splitlines()
    assert said[0] == f"5 tools: {TOOLS} …"
    assert said[1].startswith("Made: ")
    assert title in said[1]
    assert title in stage.titles()


def test_the_typescript_program_lists_the_tools_and_makes_a_todo(stage: Stage) -> None:
    # Node looks for packages beside the file, as `npm install` puts them.
    (stage.folder / "node_modules").symlink_to(node_packages())
    program = stage.folder / "typescript_client.mts"
    program.write_text(read(EXAMPLES / program.name))
    said = stage.run(str(NODE), str(program))
    assert said.startswith(f"5 tools: {TOOLS} …\nMade: ")
    assert "Try TypeScript" in stage.titles()


@pytest.mark.parametrize(
    ("name", "packages"),
    [("langgraph_agent.py", "langchain"), ("openai_agents.py", "openai-agents")],
)
def test_agents_call_tools_as_their_model_says(
    stage: Stage, model: OpenAiServer, name: str, packages: str
) -> None:
    command = [str(client_python(packages)), str(EXAMPLES / name), "Remember to try the example."]
    before = stage.titles().count("Try the example")
    said = stage.run(*command, OPENAI_BASE_URL=model.url)
    assert "create_todo" in said
    assert "It is on your list." in said
    assert stage.titles().count("Try the example") == before + 1
    _, first = model.requests[0]
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert offered == set(TOOLS.split(", "))
    assert first["messages"][-1]["content"] == "Remember to try the example."
    _, second = model.requests[1]
    assert '"title": "Try the example"' in json.dumps(second["messages"][-1]["content"]).replace(
        "\\", ""
    )


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_configuration_files_are_what_the_service_writes(client: str) -> None:
    # The admin's page and `manage.py client_config` show what the same function returns.
    here = Connection(
        service=ServiceSettings().service_name,
        base_url="http://127.0.0.1:8000",
        key_variable=KEY_VARIABLE,
    )
    assert read(EXAMPLES / f"{client}.mcp.json") == CLIENTS[client](here).text


def test_every_example_is_run_and_told_of() -> None:
    page = read(PROJECT / "docs" / "how-to" / "use-from-your-sdk.md")
    named = [path.name for path in EXAMPLES.iterdir() if path.is_file()]
    assert [name for name in named if f"examples/clients/{name}" not in page] == []
    here = read(Path(__file__))
    programs = [name for name in named if not name.endswith(".json")]
    assert [name for name in programs if name not in here] == []
