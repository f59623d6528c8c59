"""What is written down holds no secrets."""

from __future__ import annotations

import pytest

from tools.context.redact import REDACTED, redact, redact_line, redact_text

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "db_password",
        "API_KEY",
        "apiKey",
        "x-api-key",
        "Authorization",
        "client_secret",
        "access_token",
        "refreshToken",
        "private_key",
        "passphrase",
        "Cookie",
        "credentials",
        "pwd",
    ],
)
def test_values_under_secret_names_are_replaced(name: str) -> None:
    # C12
    assert redact({"outer": [{name: "hunter2"}]}) == {"outer": [{name: REDACTED}]}


@pytest.mark.parametrize(
    "name", ["max_tokens", "tokens_used", "token_count", "query", "author", "keyboard", "pinned"]
)
def test_ordinary_names_keep_their_values(name: str) -> None:
    assert redact({name: "value"}) == {name: "value"}


@pytest.mark.parametrize(
    "secret",
    [
        "cp_" + "a" * 43,
        "Bearer abcdefgh12345678",
        JWT,
        "sk-" + "a1" * 20,
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a" * 36,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_secrets_inside_texts_are_replaced(secret: str) -> None:
    assert secret not in redact_text(f"please use {secret} for it")
    assert redact_text(f"please use {secret} for it").startswith("please use ")


def test_passwords_in_addresses_are_replaced() -> None:
    assert redact_text("postgres://user:hunter2@db/name") == f"postgres://{REDACTED}@db/name"


def test_characters_no_database_stores_are_replaced() -> None:
    assert redact({"a\x00": "b\ud800c"}) == {"a\ufffd": "b\ufffdc"}


def test_bottomless_values_end() -> None:
    value: list[object] = []
    for _ in range(500):
        value = [value]
    assert REDACTED in str(redact(value))


@pytest.mark.parametrize(
    "unit",
    [
        "eyJ-",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa.bbbbbbbb ",
        "cp_",
        "Bearer ",
        "sk-",
        "://a:",
        "-----BEGIN A",
        "AKIA",
        "xoxb-",
    ],
)
def test_texts_made_of_half_secrets_are_read_in_one_go(unit: str) -> None:
    # Read anew from every half secret to the end, this would take minutes.
    text = unit * (1_000_000 // len(unit))
    assert len(redact_text(text)) <= len(text) + len(REDACTED)


def test_numbers_json_does_not_know_become_texts() -> None:
    assert redact({"a": float("inf"), "b": [float("nan")]}) == {"a": "inf", "b": ["nan"]}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("connecting with password=hunter2222 to db", "connecting with password=[redacted] to db"),
        ('{"api_key": "abc123", "page": 2}', '{"api_key": "[redacted]", "page": 2}'),
        ("Authorization: Basic abc", "Authorization:[redacted]"),
        ("Set-Cookie: id=1; b=2", "Set-Cookie:[redacted]"),
        ("listening on 127.0.0.1:8000, tokens: 12", "listening on 127.0.0.1:8000, tokens: 12"),
        ("retry in 3 s: connection refused", "retry in 3 s: connection refused"),
    ],
)
def test_lines_of_logs_lose_what_stands_behind_the_names_of_secrets(
    line: str, expected: str
) -> None:
    assert redact_line(line) == expected
