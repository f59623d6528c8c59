"""A stand-in authorization server on a real port: it signs tokens, rotates keys, and can misbehave."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from typing_extensions import override

AUDIENCE = "https://tools.example.com/mcp"
METADATA = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
JWKS = "/jwks"


_making = threading.Lock()


def private_key(kid: str) -> Any:
    """A key of its own for each name; the name's beginning says of which kind."""
    with _making:
        return _private_key(kid)


@cache
def _private_key(kid: str) -> Any:
    if kid.startswith("es256"):
        return ec.generate_private_key(ec.SECP256R1())
    if kid.startswith("es384"):
        return ec.generate_private_key(ec.SECP384R1())
    if kid.startswith("ed"):
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65537, 1024 if kid.startswith("short") else 2048)


def public_jwk(kid: str, /, **changes: Any) -> dict[str, Any]:
    """The public half of a key as the issuer publishes it."""
    public = private_key(kid).public_key()
    if kid.startswith("es"):
        made = ECAlgorithm.to_jwk(public, as_dict=True)
    elif kid.startswith("ed"):
        made = OKPAlgorithm.to_jwk(public, as_dict=True)
    else:
        made = RSAAlgorithm.to_jwk(public, as_dict=True)
    made.pop("key_ops", None)
    return {**made, "kid": kid, "use": "sig", **changes}


class StandInIssuer:
    """An issuer at `url`. `published` are the names of its keys; `requests` counts what was asked."""

    def __init__(self) -> None:
        self.published = ["rsa-1"]
        self.requests: Counter[str] = Counter()
        self.answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}
        self.silent = threading.Event()
        self.metadata_at = {METADATA}
        self.metadata: dict[str, Any] = {}
        self._released = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Serve, at the same port as before."""
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.requests[self.path] += 1
                if issuer.silent.is_set():
                    issuer._released.wait(30)
                    return
                status, body, headers = issuer._answer(self.path)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                issuer.requests[self.path] += 1
                sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
                body = json.dumps(issuer._grant(dict(parse_qsl(sent)))).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            @override
            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Go down; whoever still waits for an answer is let go."""
        self._released.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        self._server = None

    def answer(self, path: str, body: Any, status: int = 200, **headers: str) -> None:
        """What to answer at an address from now on, instead of the right thing."""
        encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers[path] = (status, encoded, headers)

    def rotate(self, kid: str) -> None:
        """Publish another key and withdraw the others."""
        self.published = [kid]

    def token(
        self,
        kid: str | None = "rsa-1",
        *,
        algorithm: str = "RS256",
        header: Mapping[str, Any] | None = None,
        key: Any = None,
        without: tuple[str, ...] = (),
        **claims: Any,
    ) -> str:
        """A good token for this service, changed as told."""
        now = int(time.time())
        payload = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "agent-7",
            "client_id": "desk",
            "scope": "reports.read",
            "iat": now,
            "exp": now + 300,
            **claims,
        }
        for name in without:
            del payload[name]
        headers = {"typ": "at+jwt", **({} if kid is None else {"kid": kid}), **(header or {})}
        signer = private_key(kid or "rsa-1") if key is None else key
        return jwt.encode(payload, signer, algorithm=algorithm, headers=headers)

    def _grant(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """A token for whoever asks, for the resource and the scopes it asks for."""
        scope = asked.get("scope", "")
        token = self.token(aud=asked["resource"], scope=scope, sub="sdk", client_id="sdk")
        return {"access_token": token, "token_type": "Bearer", "expires_in": 300, "scope": scope}

    def _answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        if path in self.answers:
            return self.answers[path]
        if path == JWKS:
            keys = [public_jwk(kid) for kid in self.published]
            return 200, json.dumps({"keys": keys}).encode(), {}
        if path in self.metadata_at:
            document = {
                "issuer": self.url,
                "jwks_uri": self.url + JWKS,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                **self.metadata,
            }
            return 200, json.dumps(document).encode(), {}
        return 404, b"nothing here", {}
