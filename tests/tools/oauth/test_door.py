"""Access tokens at the REST door: who gets in, what they see, and what never gets out."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

import httpx2
import pytest

from controlplane.logging import JsonFormatter
from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tests.processes import wait_until
from tests.tools.oauth.conftest import Trust
from tests.tools.oauth.issuer import JWKS, StandInIssuer
from tools.checks import keyless_on_network
from tools.contracts import CallContext
from tools.execution import identity
from tools.models import ToolResponse

METADATA_ADDRESS = "https://tools.example.com/.well-known/oauth-protected-resource/mcp"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def names(answer: httpx2.Response) -> list[str]:
    return [tool["name"] for tool in answer.json()["tools"]]


@pytest.fixture
def reports(door: RestDoor) -> None:
    """Two tools; the scope reports.read grants one of them."""
    make_toolset(slug="reports", tools=[make_tool(name="report")], oauth_scope="reports.read")
    make_toolset(slug="money", tools=[make_tool(name="pay")], oauth_scope="money.move")
    make_toolset(slug="inner", tools=[make_tool(name="inner")])


@pytest.mark.usefixtures("reports")
def test_a_token_grants_the_toolsets_whose_scopes_it_carries(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend
) -> None:
    trust(issuer)
    one, two = issuer.token(), issuer.token(scope="money.move reports.read openid")
    assert names(door.get("/tools", headers=bearer(one))) == ["report"]
    assert names(door.get("/tools", headers=bearer(two))) == ["pay", "report"]
    assert door.call("report", {"a": 1}, headers=bearer(one)).json()["data"] == {"echo": {"a": 1}}
    hidden = door.call("pay", {}, headers=bearer(one))
    assert (hidden.status_code, hidden.json()["code"]) == (404, "TOOL_NOT_FOUND")
    assert "pay" not in hidden.json()["meta"]["details"]["available"]
    assert backend.calls == {"report": 1}


@pytest.mark.usefixtures("reports")
def test_the_same_token_works_in_both_headers(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend
) -> None:
    trust(issuer)
    token = issuer.token()
    for headers in (bearer(token), {"Authorization": f"bearer  {token}"}, {"X-API-Key": token}):
        assert door.call("report", {}, headers=headers).status_code == 200


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("scope", ["", "other", "reports", "reports.read.all"])
def test_a_token_without_a_matching_scope_sees_no_tool(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend, scope: str
) -> None:
    trust(issuer)
    token = issuer.token(scope=scope, scp=["", None])
    listing = door.get("/tools", headers=bearer(token))
    assert (listing.status_code, names(listing)) == (200, [])
    assert door.call("inner", {}, headers=bearer(token)).status_code == 404
    assert backend.calls == {}


@pytest.mark.usefixtures("reports")
def test_a_token_without_a_required_scope_gets_403(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer, OAUTH_REQUIRED_SCOPES=("tools.use",))
    for answer in (
        door.get("/tools", headers=bearer(issuer.token())),
        door.call("report", {}, headers=bearer(issuer.token())),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "INVALID_ARGUMENTS")
        challenge = answer.headers["WWW-Authenticate"]
        assert 'error="insufficient_scope"' in challenge
        assert 'scope="tools.use"' in challenge
        assert f'resource_metadata="{METADATA_ADDRESS}"' in challenge
    good = issuer.token(scope="tools.use reports.read")
    assert names(door.get("/tools", headers=bearer(good))) == ["report"]


@pytest.mark.usefixtures("reports")
def test_callers_without_a_token_are_told_where_to_get_one(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    # Also with API keys off: who asks for tokens does not let everyone in.
    trust(issuer)
    for answer in (door.get("/tools"), door.call("report", {}), door.get("/metrics")):
        assert (answer.status_code, answer.json()["code"]) == (401, "INVALID_ARGUMENTS")
        assert answer.headers["WWW-Authenticate"] == (
            f'Bearer realm="control plane", resource_metadata="{METADATA_ADDRESS}"'
        )
    assert door.get("/health").status_code == 200


@pytest.mark.usefixtures("reports")
def test_bad_tokens_get_401_with_the_reason(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend
) -> None:
    trust(issuer)
    now = int(time.time())
    for token, reason in (
        (issuer.token(aud="https://other.example.com"), "another service"),
        (issuer.token(iss="https://evil.example.com"), "another issuer"),
        (issuer.token(exp=now - 60, iat=now - 100), "expired"),
        (issuer.token(nbf=now + 60), "not valid yet"),
        ("a.b.c", "cannot be read"),
        ("x." * 9000 + "y", "not known"),
        (issuer.token(filler="x" * 17_000), "longer than"),
    ):
        answer = door.call("report", {}, headers=bearer(token))
        body = answer.json()
        assert (answer.status_code, body["code"]) == (401, "INVALID_ARGUMENTS"), reason
        assert reason in body["error"]
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert f'resource_metadata="{METADATA_ADDRESS}"' in answer.headers["WWW-Authenticate"]
    assert backend.calls == {}


@pytest.mark.usefixtures("reports")
def test_api_keys_work_beside_tokens(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend
) -> None:
    trust(issuer)
    make_service(security_api_keys_enabled=True)
    _, key = make_client(toolsets=[make_toolset(includes_all=True)])
    assert names(door.get("/tools", headers=bearer(key))) == ["inner", "pay", "report"]
    assert door.call("pay", {}, headers={"X-API-Key": key}).status_code == 200
    assert door.call("report", {}, headers=bearer(issuer.token())).status_code == 200
    wrong = door.call("report", {}, headers=bearer("cp_wrong"))
    assert wrong.status_code == 401
    assert 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]


@pytest.mark.usefixtures("reports")
def test_with_oauth_off_a_token_is_an_unknown_key(door: RestDoor, issuer: StandInIssuer) -> None:
    answer = door.call("report", {}, headers=bearer(issuer.token()))
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="control plane"'
    assert issuer.requests == {}


@pytest.mark.usefixtures("reports")
def test_a_rotated_key_is_found_with_the_first_token_it_signed(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend
) -> None:
    trust(issuer)
    old = issuer.token("rsa-1")
    assert door.call("report", {}, headers=bearer(old)).status_code == 200
    issuer.rotate("rsa-2")
    assert door.get("/tools", headers=bearer(issuer.token("rsa-2"))).status_code == 200
    assert door.call("report", {}, headers=bearer(issuer.token("rsa-2"))).status_code == 200
    assert door.call("report", {}, headers=bearer(old)).status_code == 401


@pytest.mark.usefixtures("reports")
def test_a_flood_of_unknown_keys_asks_the_issuer_once(
    door: RestDoor, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer)
    assert door.get("/tools", headers=bearer(issuer.token())).status_code == 200
    before = issuer.requests[JWKS]
    for number in range(50):
        forged = issuer.token(header={"kid": f"made-up-{number}"})
        assert door.call("report", {}, headers=bearer(forged)).status_code == 401
    assert issuer.requests[JWKS] <= before + 1
    assert door.call("report", {}, headers=bearer(issuer.token())).status_code == 200


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("fault", ["down", "silent", "garbage"])
def test_without_the_issuer_tokens_get_503_and_api_keys_go_on(
    *,
    door: RestDoor,
    issuer: StandInIssuer,
    trust: Trust,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    monkeypatch.setattr("tools.oauth.issuer.TIME_LIMIT", 0.5)
    trust(issuer, OAUTH_JWKS_URL=issuer.url + JWKS)
    _, key = make_client(toolsets=[make_toolset(includes_all=True)])
    if fault == "down":
        issuer.stop()
    elif fault == "silent":
        issuer.silent.set()
    else:
        issuer.answer(JWKS, b"<html>")
    answer = door.call("report", {}, headers=bearer(issuer.token()))
    assert (answer.status_code, answer.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert "issuer does not answer" in answer.json()["error"]
    assert int(answer.headers["Retry-After"]) == 5
    assert door.call("report", {}, headers={"X-API-Key": key}).status_code == 200
    assert backend.calls == {"report": 1}


@pytest.mark.usefixtures("reports")
def test_known_keys_go_on_working_while_the_issuer_is_down(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend
) -> None:
    trust(issuer)
    assert door.get("/tools", headers=bearer(issuer.token())).status_code == 200
    issuer.stop()
    fresh = issuer.token(sub="another")
    assert door.call("report", {}, headers=bearer(fresh)).status_code == 200
    unknown = door.call("report", {}, headers=bearer(issuer.token("rsa-2")))
    assert unknown.status_code == 503


@pytest.mark.usefixtures("reports")
def test_holders_of_tokens_have_rates_of_their_own(
    door: RestDoor, issuer: StandInIssuer, trust: Trust, backend: FakeBackend
) -> None:
    trust(issuer)
    make_service(security_rate_limit=10)
    for _ in range(10):
        # Each a token of its own: the holder counts, not the token.
        fresh = issuer.token(jti=str(time.time_ns()))
        assert door.call("report", {}, headers=bearer(fresh)).status_code == 200
    assert door.call("report", {}, headers=bearer(issuer.token())).status_code == 429
    other = issuer.token(sub="agent-8")
    assert door.call("report", {}, headers=bearer(other)).status_code == 200


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize(
    ("claims", "caller"),
    [
        ({"sub": "agent-7"}, "oauth:agent-7"),
        ({"sub": None}, "oauth:client:desk"),
        ({"sub": "x" * 300}, "oauth:sha256:"),
        ({"sub": "nul\0and\ud800half"}, "oauth:sha256:"),
    ],
    ids=["subject", "client", "long", "unprintable"],
)
def test_the_request_log_names_the_holder(
    *,
    door: RestDoor,
    issuer: StandInIssuer,
    trust: Trust,
    backend: FakeBackend,
    claims: dict[str, Any],
    caller: str,
) -> None:
    trust(issuer)
    without = tuple(name for name, value in claims.items() if value is None)
    given = {name: value for name, value in claims.items() if value is not None}
    answer = door.call("report", {}, headers=bearer(issuer.token(without=without, **given)))
    assert answer.status_code == 200
    assert row_of(answer.json()["request_id"]).caller.startswith(caller)


class Recorder:
    """Wraps the backend and keeps what it was told about its calls."""

    def __init__(self, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        self.contexts: list[CallContext] = []
        inner = backend.call

        async def call(spec: Any, arguments: Any, context: CallContext) -> Any:
            self.contexts.append(context)
            return await inner(spec, arguments, context)

        monkeypatch.setattr(backend, "call", call)


@pytest.mark.usefixtures("reports")
def test_a_token_reaches_neither_backend_nor_log_nor_journal_nor_answer(
    *,
    door: RestDoor,
    issuer: StandInIssuer,
    trust: Trust,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    trust(issuer)
    door.start()
    # Refusals are logged once in a while per address; waiting for the door was one.
    monkeypatch.setattr(identity, "_warned", {})
    recorder = Recorder(backend, monkeypatch)
    good, bad = issuer.token(), issuer.token(aud="elsewhere")
    answers = [
        door.call("report", {"a": 1}, headers=bearer(good)),
        door.call("report", {"fail": "bug"}, headers=bearer(good)),
        # Where it should not be: an agent that passes its own token on as an argument.
        door.call("report", {"note": f"use {good}", "result": {}}, headers=bearer(good)),
        door.call("missing", {}, headers=bearer(good)),
        door.call("report", {}, headers=bearer(bad)),
        door.get("/tools", headers=bearer(bad)),
    ]
    assert [answer.status_code for answer in answers] == [200, 500, 200, 404, 401, 401]
    wait_until(lambda: len([row for row in rows() if row.finished_at]) == 4)
    written = [
        *(repr(context) for context in recorder.contexts),
        *(answer.text + str(answer.headers) for answer in answers),
        *(JsonFormatter().format(record) for record in caplog.records),
        *(json.dumps(row.__dict__, default=str) for row in rows()),
        *(json.dumps(row.__dict__, default=str) for row in ToolResponse.objects.all()),
    ]
    assert len(recorder.contexts) == 3
    assert "an access token: The access token was issued for another service" in caplog.text
    for token in (good, bad):
        pieces = [token, *token.split(".")[1:]]
        assert [text for text in written for piece in pieces if piece in text] == []


def test_listening_to_the_network_needs_no_api_keys_where_tokens_are_asked_for(
    db: None, issuer: StandInIssuer, trust: Trust
) -> None:
    trust(issuer)
    service = make_service(service_host="0.0.0.0")  # noqa: S104 - nothing listens
    assert not keyless_on_network(service.to_settings())
