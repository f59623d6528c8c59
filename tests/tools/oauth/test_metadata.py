"""The document that leads clients to the issuer, and the challenge that leads them to it."""

from __future__ import annotations

import json

import pytest

from controlplane.env import read_environment
from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.project.pages import PROJECT, fenced, read
from tests.tools.oauth.conftest import Trust
from tests.tools.oauth.issuer import AUDIENCE, StandInIssuer
from tools.conf import OAuthSettings
from tools.errors import Unauthenticated
from tools.oauth.keys import ALGORITHMS
from tools.oauth.metadata import challenge, metadata_address, protected_resource

WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.fixture
def sets(door: RestDoor) -> None:
    """Three toolsets, two of them with a scope."""
    make_toolset(slug="reports", tools=[make_tool(name="report")], oauth_scope="reports.read")
    make_toolset(slug="money", tools=[make_tool(name="pay")], oauth_scope="money.move")
    make_toolset(slug="inner", tools=[make_tool(name="inner")])


@pytest.mark.usefixtures("sets")
def test_the_document_names_resource_issuer_and_scopes(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer, OAUTH_REQUIRED_SCOPES=("tools.use",))
    make_service(service_name="mcp-control-plane")
    for path in ("", "/mcp", "/mcp/"):
        answer = door.get(WELL_KNOWN + path)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "application/json"
        assert "max-age=" in answer.headers["Cache-Control"]
        assert answer.json() == {
            "resource": AUDIENCE,
            "authorization_servers": [issuer.url],
            "scopes_supported": ["tools.use", "money.move", "reports.read"],
            "bearer_methods_supported": ["header"],
            "resource_name": "mcp-control-plane",
        }


@pytest.mark.usefixtures("sets")
def test_below_a_toolset_only_its_own_scope_is_listed(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer)
    assert door.get(f"{WELL_KNOWN}/mcp/reports").json()["scopes_supported"] == ["reports.read"]


@pytest.mark.usefixtures("sets")
@pytest.mark.parametrize("path", ["/other", "/mcp/inner", "/mcp/nothing", "/mcp/reports/x"])
def test_there_is_no_document_of_what_no_scope_grants(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, path: str
) -> None:
    trust(issuer)
    answer = door.get(WELL_KNOWN + path)
    assert (answer.status_code, answer.json()["code"]) == (404, "TOOL_NOT_FOUND")


def test_with_oauth_off_there_is_no_document(door: RestDoor) -> None:
    for path in ("", "/mcp", "/mcp/reports"):
        answer = door.get(WELL_KNOWN + path)
        assert (answer.status_code, answer.json()["code"]) == (404, "TOOL_NOT_FOUND")
        assert answer.headers["X-Request-ID"] == answer.json()["request_id"]
        assert answer.headers["Cache-Control"] == "no-store"


def test_behind_a_proxy_with_a_prefix_the_document_is_where_the_standard_puts_it(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer, OAUTH_AUDIENCE="https://example.com/tools/mcp")
    make_toolset(slug="reports", oauth_scope="reports.read")
    assert door.get(f"{WELL_KNOWN}/tools/mcp").json()["resource"] == "https://example.com/tools/mcp"
    assert door.get(f"{WELL_KNOWN}/tools/mcp/reports").status_code == 200
    answer = door.get("/tools")
    address = f"https://example.com{WELL_KNOWN}/tools/mcp"
    assert f'resource_metadata="{address}"' in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize("origin", ["https://inspector.example.com", "http://localhost:6274"])
def test_browsers_of_any_origin_may_read_it(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, origin: str
) -> None:
    trust(issuer)
    preflight = door.client.options(
        WELL_KNOWN,
        headers={
            "Origin": origin,
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "mcp-protocol-version",
        },
    )
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Headers"] == "*"
    for answer in (preflight, door.get(WELL_KNOWN, headers={"Origin": origin})):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_other_methods_get_405_in_the_envelope(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer)
    answer = door.client.post(WELL_KNOWN, json={})
    assert (answer.status_code, answer.json()["code"]) == (405, "INVALID_ARGUMENTS")
    head = door.client.head(WELL_KNOWN)
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.usefixtures("sets")
def test_the_door_of_a_toolset_asks_for_the_scope_of_that_toolset(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer, OAUTH_REQUIRED_SCOPES=("tools.use",))
    _, key = make_client(toolsets=[])
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def post(path: str, token: str = "") -> tuple[int, str]:
        headers = {"Accept": "application/json, text/event-stream"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        answer = door.client.post(path, json=message, headers=headers)
        return answer.status_code, answer.headers.get("WWW-Authenticate", "")

    status, asked = post("/mcp/reports")
    assert status == 401
    assert 'scope="tools.use reports.read"' in asked
    assert "error=" not in asked
    weak = issuer.token(scope="tools.use money.move")
    status, asked = post("/mcp/reports", weak)
    assert status == 403
    assert 'error="insufficient_scope"' in asked
    assert 'scope="tools.use reports.read"' in asked
    assert post("/mcp/inner", weak)[0] == 404
    assert post("/mcp/nothing", weak)[0] == 404
    assert post("/mcp/reports", issuer.token(scope="tools.use reports.read"))[0] == 200
    assert post("/mcp/reports", key)[0] == 404


def test_the_how_to_shows_a_configuration_that_works_and_the_document_it_gives() -> None:
    page = read(PROJECT / "docs" / "how-to" / "let-an-identity-provider-vouch-for-agents.md")
    lines = fenced(page, "sh")[0].splitlines()
    environment = read_environment(dict(line.split("=", 1) for line in lines))
    settings = OAuthSettings(environment.oauth_issuer, environment.oauth_audience)
    document = protected_resource(settings, "mcp-control-plane", ["reports.read"])
    assert json.loads(fenced(page, "json")[0]) == document
    shown = Unauthenticated("x", challenge=challenge(settings)).headers["WWW-Authenticate"]
    assert f"WWW-Authenticate: {shown}" in page
    assert all(name in page for name in sorted(ALGORITHMS))


def test_empty_lists_are_left_out() -> None:
    document = protected_resource(OAuthSettings("https://id.example.com", AUDIENCE), "x", [])
    assert "scopes_supported" not in document


def test_the_address_of_the_document_follows_the_resource() -> None:
    base = f"https://tools.example.com{WELL_KNOWN}"
    assert metadata_address("https://tools.example.com") == base
    assert metadata_address("https://tools.example.com/") == base
    assert metadata_address("https://tools.example.com:8443/mcp") == (
        f"https://tools.example.com:8443{WELL_KNOWN}/mcp"
    )


def test_a_challenge_has_only_what_there_is_to_say() -> None:
    settings = OAuthSettings("https://id.example.com", AUDIENCE)
    assert list(challenge(settings)) == ["resource_metadata"]
    assert challenge(settings, "invalid_token", "too old", ("a", "b", "a")) == {
        "error": "invalid_token",
        "error_description": "too old",
        "scope": "a b",
        "resource_metadata": f"https://tools.example.com{WELL_KNOWN}/mcp",
    }
