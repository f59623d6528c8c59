"""GET /tools, CORS and the documents around the REST door."""

from __future__ import annotations

import re

from tests.doors import RestDoor
from tests.factories import make_service, make_tool


def test_the_list_names_service_version_and_tools(door: RestDoor) -> None:
    # S3-047 S3-048 S3-049 S3-051 S3-020 F3-01
    make_service(service_name="code-graph-rag")
    make_tool(name="query_callers", description="Finds the callers of a function.")
    body = door.get("/tools").json()
    assert set(body) == {"service", "version", "tools"}
    assert body["service"] == "code-graph-rag"
    assert re.fullmatch(r"\d+\.\d+\.\d+", body["version"])
    assert body["tools"] == [
        {
            "name": "query_callers",
            "description": "Finds the callers of a function.",
            "input_schema": {"type": "object", "properties": {}},
        }
    ]


def test_a_service_without_tools_lists_none(door: RestDoor) -> None:
    # S3-050
    assert door.get("/tools").json()["tools"] == []


def test_disabled_tools_are_neither_listed_nor_callable(door: RestDoor) -> None:
    make_tool(name="off", enabled=False)
    assert door.get("/tools").json()["tools"] == []
    assert door.call("off", {}).json()["code"] == "TOOL_NOT_FOUND"


def test_the_order_of_the_list_is_stable(door: RestDoor) -> None:
    for name in ("b_tool", "a_tool", "c_tool"):
        make_tool(name=name)
    assert [tool["name"] for tool in door.get("/tools").json()["tools"]] == [
        "a_tool",
        "b_tool",
        "c_tool",
    ]


def test_browsers_on_localhost_may_call(door: RestDoor) -> None:
    # F3-07
    for origin in ("http://localhost:3000", "http://127.0.0.1:5173", "https://localhost"):
        preflight = door.client.options(
            "/call-tool",
            headers={
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "content-type,x-api-key",
            },
        )
        assert preflight.status_code == 200
        assert preflight.headers["Access-Control-Allow-Origin"] == origin
        assert (
            door.get("/tools", headers={"Origin": origin}).headers["Access-Control-Allow-Origin"]
            == origin
        )


def test_browsers_elsewhere_may_not(door: RestDoor) -> None:
    # F3-07
    for origin in ("https://evil.example", "http://localhost.evil.example", "null"):
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        assert (
            "Access-Control-Allow-Origin"
            not in door.client.options("/call-tool", headers=headers).headers
        )
        assert (
            "Access-Control-Allow-Origin"
            not in door.get("/tools", headers={"Origin": origin}).headers
        )


def test_configured_origins_may_call_and_cors_can_be_off(door: RestDoor) -> None:
    # F3-14
    make_service(cors_allowed_origins=["https://app.example"])
    headers = {"Origin": "https://app.example"}
    assert (
        door.get("/tools", headers=headers).headers["Access-Control-Allow-Origin"]
        == "https://app.example"
    )


def test_the_documents_are_served_without_a_cdn(door: RestDoor) -> None:
    # F3-29
    page = door.get("/api/docs")
    assert page.status_code == 200
    sources = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert sources
    assert not [source for source in sources if source.startswith(("http", "//"))]
    for source in sources:
        if source.startswith("/static/"):
            assert door.get(source).status_code == 200, source
    schema = door.get("/api/schema").json()
    assert {"/tools", "/call-tool", "/health"} <= set(schema["paths"])


def test_the_front_page_leads_to_the_admin(door: RestDoor) -> None:
    answer = door.client.get("/", follow_redirects=True)
    assert answer.status_code == 200
    assert "/admin/login/" in str(answer.url)
