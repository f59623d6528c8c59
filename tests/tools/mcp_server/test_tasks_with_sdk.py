"""A task as a program on the SDK's own client meets it: the call returns the result, once there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import mcp_types as types
import pytest
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from typing_extensions import override

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.journal import row_of
from tests.tools.mcp_server.clients import WAYS, Way, user_of
from tests.tools.mcp_server.task_client import EXTENSION
from tests.workers import Worker, celery_worker


class Created(types.Result):
    """What a long call is answered with."""

    result_type: Literal["task"] = "task"
    task_id: str
    poll_interval_ms: int


class TaskState(types.Result):
    """What tasks/get answers."""

    status: str
    result: dict[str, Any] | None = None


class GetParams(types.RequestParams):
    task_id: str


class Get(types.Request[GetParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: GetParams
    name_param = "taskId"


class Tasks(ClientExtension):
    """Polls until the task is over and gives back the call's own result."""

    identifier = EXTENSION

    def __init__(self) -> None:
        self.polls = 0

    @override
    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Created, resolve=self._resolve)]

    async def _resolve(self, created: Created, ctx: ClaimContext) -> types.CallToolResult:
        while True:
            self.polls += 1
            request = Get(params=GetParams(task_id=created.task_id))
            state = await ctx.session.send_request(request, TaskState)
            if state.status == "completed":
                return types.CallToolResult.model_validate(state.result)
            await asyncio.sleep(created.poll_interval_ms / 1000)


@pytest.fixture
def worker(door: RestDoor, tmp_path: Path) -> Iterator[Worker]:
    with celery_worker(tmp_path / "worker.log") as started:
        yield started


def test_client_with_the_extension_waits_for_the_task_on_every_transport(
    door: RestDoor, worker: Worker
) -> None:
    make_tool(name="slow", long_running=True)
    door.start()
    for way in WAYS:
        tasks = Tasks()
        arguments = {"delay": 0.5, "way": str(way)}
        with user_of(door.url, way, extensions=[tasks]) as user:
            answer = user.call("slow", arguments)
        assert answer.structured_content == {"echo": arguments}
        assert answer.is_error is False
        # The handshake era knows no tasks: such clients wait for the result itself.
        assert (tasks.polls > 1) is (way.mode == "auto")
        row = row_of(answer.meta["request_id"])
        assert (row.transport, row.status) == (way.transport, "success")


def test_client_without_the_extension_waits_for_the_result(door: RestDoor) -> None:
    make_tool(name="slow", long_running=True)
    door.start()
    with user_of(door.url, Way("streamable_http", "auto")) as user:
        assert user.call("slow", {"n": 2}).structured_content == {"echo": {"n": 2}}
