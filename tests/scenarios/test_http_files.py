"""Files that an HTTP API answers with: told of, and linked to."""

from __future__ import annotations

from tests.doors import RestDoor
from tests.http_server import Reply, http_server
from tests.tools.mcp_server.task_client import TaskClient
from tools.contracts import ToolSource
from tools.models import ApiOperation, ApiService, Tool

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def test_a_file_becomes_what_is_known_of_it_and_a_link(door: RestDoor) -> None:
    # F4-22
    with http_server() as api:
        api.always = Reply(body=PICTURE, content_type="image/png")
        service = ApiService(slug="art", base_url=api.url, prefix="art_")
        service.allowed_networks = ["127.0.0.1/32"]
        service.save()
        tool = Tool(name="art_picture", description="Get a picture.", source=ToolSource.HTTP_API)
        tool.input_schema = {"type": "object", "properties": {}}
        operation = ApiOperation(service=service, method="GET", path="/cat.png")
        operation.configure(tool)
        tool.save()
        operation.tool = tool
        operation.save()
        told = door.call("art_picture", {}).json()["data"]
        result = TaskClient(door).result(
            "tools/call", {"name": "art_picture", "arguments": {}}, declare=False
        )
    assert (told["content_type"], told["bytes"]) == ("image/png", len(PICTURE))
    assert told["url"] == f"{api.url}/cat.png"
    (link,) = [block for block in result["content"] if block["type"] == "resource_link"]
    assert (link["uri"], link["name"]) == (told["url"], "cat.png")
    assert (link["mimeType"], link["size"]) == ("image/png", len(PICTURE))
