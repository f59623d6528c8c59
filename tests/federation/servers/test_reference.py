"""Each reference server through the control plane says what it says directly."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import ErrorData

from tests.federation.servers.answers import PICTURE, Answer, over_rest, texts
from tests.federation.servers.plane import MCP_WAYS, Plane, directly
from tests.federation.servers.reference import OVER_HTTP, SLUGS, programs
from tests.federation.servers.scripts import ASKING, Call, script
from tests.tools.mcp_server.clients import Way

servers = pytest.mark.parametrize("slug", SLUGS)


async def nobody_answers(context: Any, params: Any) -> ErrorData:
    raise AssertionError("nothing in these scripts asks")


class Direct:
    """The servers themselves, without the control plane in between, and what they answered."""

    def __init__(self, folder: Path, files: Path, http_url: str) -> None:
        self.files = files
        own = folder / "direct"
        own.mkdir()
        self._servers: dict[str, Any] = {
            slug: one.parameters() for slug, one in programs(own, files).items()
        }
        self._servers[OVER_HTTP] = http_url
        self._answers: dict[str, list[Answer]] = {}

    def calls(self, slug: str) -> Sequence[Call]:
        return script(slug, self.fresh())

    def fresh(self) -> Path:
        """The folder for files, with nothing in it but a picture."""
        folder = self.files / "work"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "dot.png").write_bytes(PICTURE)
        return folder

    def answers(self, slug: str) -> list[Answer]:
        if slug not in self._answers:
            work = partial(directly, self._servers[slug], self.calls(slug), self.files)
            self._answers[slug] = work(elicitation_callback=nobody_answers)
        return self._answers[slug]

    def client(self, slug: str) -> Client:
        return Client(self._servers[slug], elicitation_callback=nobody_answers)

    def tools(self, slug: str) -> dict[str, Any]:
        async def work() -> dict[str, Any]:
            async with self.client(slug) as client:
                return {tool.name: tool for tool in (await client.list_tools()).tools}

        return asyncio.run(work())


@pytest.fixture(scope="module")
def direct(folder: Path, files: Path, http_url: str) -> Direct:
    return Direct(folder, files, http_url)


@servers
def test_every_tool_is_listed_under_a_name_of_ours_and_kept_as_the_server_wrote_it(
    plane: Plane, direct: Direct, slug: str
) -> None:
    # S2-018 S2-021 C01 C14 F2-23
    offered, names, theirs = plane.offered(), plane.names(slug), direct.tools(slug)
    assert set(names) == set(theirs)
    for remote, name in names.items():
        assert name.isidentifier()
        plain = remote.replace("-", "_")
        assert name == (f"everything_http__{plain}" if slug == OVER_HTTP else plain)
        tool = theirs[remote]
        assert offered[name]["description"] == tool.description
        assert offered[name]["input_schema"]["properties"] == tool.input_schema["properties"]
    hints = {row["remote_name"]: row for row in plane.registry(slug)}
    for remote, tool in theirs.items():
        row = hints[remote]
        assert bool(row["read_only"]) is bool(tool.annotations.read_only_hint)
        assert bool(row["idempotent"]) is bool(tool.annotations.idempotent_hint)
        assert row["output_schema"] == tool.output_schema


@servers
def test_the_script_leaves_no_tool_out(direct: Direct, slug: str) -> None:
    assert {tool for tool, _ in direct.calls(slug)} == set(direct.tools(slug)) - ASKING


@servers
@pytest.mark.parametrize("way", MCP_WAYS, ids=str)
def test_a_client_of_mcp_is_answered_what_the_server_says(
    plane: Plane, direct: Direct, slug: str, way: Way
) -> None:
    expected = direct.answers(slug)
    calls = direct.calls(slug)
    seen = plane.over_mcp(slug, way, calls, direct.files)
    for call, said, got in zip(calls, expected, seen, strict=True):
        if "declined" in said or said["isError"]:
            # Of failures the codes of this service are told beside the server's own words.
            error = got.pop("structuredContent")["error"]
            assert error["code"] == -32000, call
            assert (said.get("declined") or texts(said)) in error["message"], call
            assert got["isError"], call
            assert got["content"] == said.get("content", got["content"]), call
        else:
            assert got == said, call


@servers
def test_over_rest_the_same_is_said(plane: Plane, direct: Direct, slug: str) -> None:  # F3-05
    expected = direct.answers(slug)
    calls = direct.calls(slug)
    seen = plane.over_rest(slug, calls, direct.files)
    for call, said, (status, body) in zip(calls, expected, seen, strict=True):
        if "declined" in said or said["isError"]:
            assert (status, body["code"]) == (500, "EXECUTION_ERROR"), call
            words = said.get("declined") or texts(said)
            assert words in str(body["error"]), call
        else:
            assert status == 200, (call, body)
            assert body["data"] == over_rest(said), call
