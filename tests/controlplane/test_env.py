"""The environment: every variable checked, all faults at once, secrets kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from controlplane.env import (
    PROJECT_DIR,
    SERVICE_OVERRIDES,
    VARIABLES,
    EnvironmentFault,
    database_settings,
    read_environment,
    secret_key,
)

BAD = {
    "DEBUG": "maybe",
    "DATABASE_URL": "mysql://user:hunter2@host/name",
    "DATABASE_POOL_SIZE": "0",
    "REDIS_URL": "http://:hunter2@host",
    "ALLOW_KEYLESS_NETWORK": "perhaps",
    "OAUTH_ISSUER": "http://id.example.com",
    "OAUTH_AUDIENCE": "tools.example.com/mcp",
    "OAUTH_JWKS_URL": "https://me:hunter2@id.example.com/jwks",
    "OAUTH_REQUIRED_SCOPES": 'tools.use,"all"',
    "LLM_URL": "https://me:hunter2@llm.example.com/v1",
    "LLM_CONTEXT_TOKENS": "12",
    "EMBEDDINGS_URL": "models.example.com/v1",
    "RERANK_URL": "http://models.example.com/v1?key=hunter2",
    "WORKER_CONCURRENCY": "two",
    "MAX_BODY_BYTES": "12",
    "JOURNAL_RETENTION_DAYS": "4000",
    "JOURNAL_BODY_BYTES": "-1",
}


@pytest.mark.parametrize(("name", "value"), BAD.items())
def test_bad_value_is_named(name: str, value: str) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        read_environment({name: value})
    assert f"{name}: expected" in str(caught.value)


def test_all_faults_are_told_at_once_and_secrets_are_not_repeated() -> None:
    with pytest.raises(EnvironmentFault) as caught:
        read_environment(BAD)
    message = str(caught.value)
    assert all(f"{name}:" in message for name in BAD)
    assert "'two'" in message
    assert "hunter2" not in message


def test_empty_value_counts_as_unset() -> None:
    read = read_environment({"WORKER_CONCURRENCY": " ", "SERVICE__PORT": ""})
    assert read.worker_concurrency == 2
    assert read.service_overrides == {}


def test_values_are_typed() -> None:
    read = read_environment(
        {"DEBUG": "Yes", "ALLOWED_HOSTS": "a, b ,", "VAR_DIR": "~/x", "SERVICE__PORT": "9000"}
    )
    assert read.debug is True
    assert read.allowed_hosts == ("a", "b")
    assert read.var_dir == Path.home() / "x"
    assert read.service_overrides == {"SERVICE__PORT": "9000"}
    with pytest.raises(AttributeError):
        _ = read.no_such_setting


@pytest.mark.parametrize("name", ["LLM_URL", "EMBEDDINGS_URL", "RERANK_URL"])
def test_model_server_inside_the_network_may_be_plain_http(name: str) -> None:
    read = read_environment({name: "http://models.internal:8080/v1/"})
    assert read.values[name.lower()] == "http://models.internal:8080/v1"


@pytest.mark.parametrize(
    "value",
    [
        "ftp://host/v1",
        "http://",
        "http://host:0/v1",
        "http://host:x/v1",
        "http://host/v1#part",
        "http://host/v1?a=b",
        "http://ho st/v1",
        "http://host/\nv1",
    ],
)
def test_address_that_is_none_of_an_api_is_refused(value: str) -> None:
    with pytest.raises(EnvironmentFault, match="LLM_URL: expected https://host/path"):
        read_environment({"LLM_URL": value})


def test_every_variable_is_described_and_unique() -> None:
    names = [variable.name for variable in VARIABLES] + [name for name, _ in SERVICE_OVERRIDES]
    assert len(names) == len(set(names))
    assert all(variable.help.endswith(".") for variable in VARIABLES)


def test_command_line_shows_a_bad_environment_without_a_traceback(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(PROJECT_DIR / "manage.py"), "check"],
        env={**os.environ, "VAR_DIR": str(tmp_path), "WORKER_CONCURRENCY": "two", "DEBUG": "maybe"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "WORKER_CONCURRENCY: expected a whole number from 1 to 256; got 'two'" in run.stderr
    assert "DEBUG: expected true or false; got 'maybe'" in run.stderr
    assert "Traceback" not in run.stderr


def test_secret_key_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    environment = read_environment({"VAR_DIR": str(tmp_path / "var")})
    key = secret_key(environment)
    assert len(key) > 50
    assert secret_key(environment) == key
    assert stat.S_IMODE((tmp_path / "var" / "secret_key").stat().st_mode) == 0o600
    assert secret_key(read_environment({"SECRET_KEY": "given"})) == "given"


def test_processes_that_start_together_agree_on_one_secret_key(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from controlplane.env import read_environment, secret_key\n"
        "environment = read_environment({'VAR_DIR': sys.argv[1]})\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read(1)\n"
        "print(secret_key(environment))"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    keys = {racer.communicate("x", timeout=30)[0] for racer in racers}
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_sqlite_waits_for_locks_instead_of_failing(tmp_path: Path) -> None:
    entry = database_settings(read_environment({"DATABASE_URL": f"sqlite://{tmp_path}/x.db"}))
    assert entry["NAME"] == f"{tmp_path}/x.db"
    assert entry["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in entry["OPTIONS"]["init_command"]


def test_postgres_address_is_taken_apart() -> None:
    url = "postgres://me:secret@db.example:5433/plane"
    entry = database_settings(read_environment({"DATABASE_URL": url, "DATABASE_POOL_SIZE": "7"}))
    picked = {name: entry[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
    assert picked == {
        "NAME": "plane",
        "USER": "me",
        "PASSWORD": "secret",
        "HOST": "db.example",
        "PORT": "5433",
    }
    assert entry["OPTIONS"]["pool"]["max_size"] == 7


def test_postgres_socket_folder_is_read_from_the_query() -> None:
    url = "postgresql://me:@/plane?application_name=x&host=/run/postgresql"
    entry = database_settings(read_environment({"DATABASE_URL": url}))
    assert entry["HOST"] == "/run/postgresql"
    bare = database_settings(read_environment({"DATABASE_URL": "postgres:///plane"}))
    assert bare["HOST"] == ""


@pytest.mark.parametrize(
    "url",
    [
        "mysql://host/name",
        "postgres://host:99999/name",
        "postgres://host:port/name",
        "postgres://host",
        "sqlite://relative.db",
        "sqlite:///",
        "plain",
    ],
)
def test_a_database_url_that_cannot_be_used_is_named_and_not_shown(url: str) -> None:
    with pytest.raises(EnvironmentFault, match="DATABASE_URL") as refused:
        read_environment({"DATABASE_URL": url.replace("://", "://me:hunter2@", 1)})
    assert "hunter2" not in str(refused.value)


def test_escapes_and_options_of_a_database_url_are_honoured() -> None:
    url = "postgres://me:p%40ss@db.example:5433/plane?sslmode=require"
    found = database_settings(read_environment({"DATABASE_URL": url}))
    assert (found["USER"], found["PASSWORD"], found["PORT"]) == ("me", "p@ss", "5433")
    assert found["OPTIONS"]["sslmode"] == "require"


OAUTH = {"OAUTH_ISSUER": "https://id.example.com/", "OAUTH_AUDIENCE": "http://localhost:8000/mcp"}


def test_an_issuer_is_read_as_it_is_written() -> None:
    read = read_environment({**OAUTH, "OAUTH_REQUIRED_SCOPES": "tools.use, https://x/y"})
    assert read.oauth_issuer == "https://id.example.com/"
    assert read.oauth_audience == "http://localhost:8000/mcp"
    assert read.oauth_jwks_url == ""
    assert read.oauth_required_scopes == ("tools.use", "https://x/y")


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"OAUTH_ISSUER": "https://id.example.com"}, "OAUTH_AUDIENCE"),
        ({"OAUTH_AUDIENCE": "https://tools.example.com"}, "OAUTH_ISSUER"),
        ({"OAUTH_REQUIRED_SCOPES": "tools.use"}, "OAUTH_ISSUER"),
        ({"OAUTH_JWKS_URL": "https://id.example.com/jwks"}, "OAUTH_AUDIENCE"),
    ],
)
def test_half_of_an_oauth_configuration_is_refused(given: dict[str, str], missing: str) -> None:
    with pytest.raises(EnvironmentFault, match=f"{missing}: expected a value, because"):
        read_environment(given)


@pytest.mark.parametrize(
    "address",
    [
        "https://",
        "https://id.example.com:99999",
        "https://id.example.com:0",
        "https://id.example.com/?tenant=1",
        "https://id.example.com/#part",
        "https://user:hunter2@id.example.com",
        "https://id.example.com/with space",
        'https://id.example.com/"quoted"',
        "https://[::1",
        "http://192.168.1.5",
        "ftp://id.example.com",
        "id.example.com",
    ],
)
def test_an_address_nobody_should_be_sent_to_is_refused(address: str) -> None:
    for name in OAUTH:
        with pytest.raises(EnvironmentFault, match=f"{name}: expected https") as refused:
            read_environment({**OAUTH, name: address})
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("host", ["127.0.0.1:9000", "localhost", "[::1]:9000"])
def test_plain_http_is_fine_on_this_machine(host: str) -> None:
    read = read_environment({**OAUTH, "OAUTH_ISSUER": f"http://{host}/realms/x"})
    assert read.oauth_issuer == f"http://{host}/realms/x"
