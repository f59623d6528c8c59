"""A client of protocol 2026-07-28 that knows tasks, message by message."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final, Protocol

import httpx2

from tests.processes import wait_until

VERSION: Final = "2026-07-28"
EXTENSION: Final = "io.modelcontextprotocol/tasks"
OVER: Final = frozenset({"completed", "failed", "cancelled"})
_numbers = itertools.count(1)


class Door(Protocol):
    """Whatever has an HTTP client for a web process."""

    @property
    def client(self) -> httpx2.Client: ...


class TaskClient:
    """Sends single messages and gives back the JSON-RPC answers."""

    def __init__(
        self, door: Door, key: str = "", path: str = "/mcp", **capabilities: Mapping[str, Any]
    ) -> None:
        self._door = door
        self._capabilities = capabilities
        self._key = key
        self._path = path

    def send(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        declare: bool = True,
        headers: Mapping[str, str] | None = None,
        version: str = VERSION,
    ) -> httpx2.Response:
        """POST one message; `declare` says whether the client knows tasks."""
        capabilities: dict[str, Any] = dict(self._capabilities)
        if declare:
            capabilities["extensions"] = {EXTENSION: {}}
        meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }
        name = params.get("taskId", params.get("name"))
        sent = {
            "MCP-Protocol-Version": version,
            "Mcp-Method": method,
            "Accept": "application/json, text/event-stream",
            **({"Mcp-Name": name} if name else {}),
            **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
            **(headers or {}),
        }
        body = {
            "jsonrpc": "2.0",
            "id": next(_numbers),
            "method": method,
            "params": {**params, "_meta": meta},
        }
        return self._door.client.post(self._path, json=body, headers=sent)

    def result(self, method: str, params: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        answer = self.send(method, params, **options).json()
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def error(self, method: str, params: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        answer = self.send(method, params, **options).json()
        assert "error" in answer, answer
        error: dict[str, Any] = answer["error"]
        return error

    def call(self, tool: str, arguments: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        return self.result("tools/call", {"name": tool, "arguments": arguments}, **options)

    def begin(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The id of the task that a call became."""
        answer = self.call(tool, arguments)
        assert answer["resultType"] == "task", answer
        return str(answer["taskId"])

    def get(self, task_id: str) -> dict[str, Any]:
        return self.result("tasks/get", {"taskId": task_id})

    def cancel(self, task_id: str) -> dict[str, Any]:
        return self.result("tasks/cancel", {"taskId": task_id})

    def answer(self, task_id: str, responses: Mapping[str, Any]) -> dict[str, Any]:
        return self.result("tasks/update", {"taskId": task_id, "inputResponses": responses})

    def wait(self, task_id: str, timeout: float = 30) -> dict[str, Any]:
        """The task once it is over."""
        found: list[dict[str, Any]] = []

        def over() -> bool:
            found[:] = [self.get(task_id)]
            return found[0]["status"] in OVER

        wait_until(over, timeout, "the end of a task")
        return found[0]
