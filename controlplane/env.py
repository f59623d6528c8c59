"""The environment, read once: every variable typed, checked and described in one table.

`read_environment` reports all faults at once and names each variable, so that an operator
mends a broken start in one go. `docs/reference/settings.md` lists the same table; a test
compares the two.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from controlplane.env_values import (
    api_address,
    boolean,
    choice,
    comma_list,
    commands,
    database_url,
    directory,
    identifier_address,
    integer,
    redis_url,
    sampler,
    scopes,
    share,
    text,
    web_address,
)
from tools.conf import ConfigurationFault, ServiceSettings, with_overrides

PROJECT_DIR = Path(__file__).resolve().parent.parent
# In the names of variables whose values are not repeated.
SECRET_WORDS = ("URL", "KEY", "COMMANDS", "OTLP")


class EnvironmentFault(Exception):
    """One or more variables cannot be used; the message names each and says what to write."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: how to read it, what it means, what holds when it is unset."""

    name: str
    parse: Callable[[str], Any]
    default: Any
    help: str


VARIABLES: tuple[Variable, ...] = (
    Variable(
        "VAR_DIR",
        directory,
        PROJECT_DIR / "var",
        "Folder that holds all state: database, secret key, embedded Redis, logs, process files.",
    ),
    Variable(
        "SECRET_KEY",
        text,
        "",
        "Django's signing key. Unset: generated once and kept in VAR_DIR/secret_key.",
    ),
    Variable("DEBUG", boolean, False, "Django debug pages. Never on a shared machine."),
    Variable(
        "ALLOWED_HOSTS",
        comma_list,
        ("127.0.0.1", "localhost", "[::1]"),
        "Host names the service answers to, separated by commas.",
    ),
    Variable(
        "CSRF_TRUSTED_ORIGINS",
        comma_list,
        (),
        "Origins (scheme included) the admin may be reached under behind a proxy.",
    ),
    Variable(
        "HTTPS",
        boolean,
        False,
        "Set when a proxy serves this over HTTPS and sets X-Forwarded-Proto: secure cookies, redirects, HSTS.",
    ),
    Variable(
        "DATABASE_URL",
        database_url,
        "",
        "Database. Unset: SQLite in VAR_DIR/controlplane.sqlite3.",
    ),
    Variable(
        "DATABASE_POOL_SIZE",
        integer(1, 200),
        10,
        "Most PostgreSQL connections a process holds.",
    ),
    Variable(
        "REDIS_URL",
        redis_url,
        "",
        "Redis or Valkey server. Unset: an embedded one, started and supervised by manage.py up.",
    ),
    Variable(
        "CONFIG_FILE",
        text,
        "",
        "YAML service configuration, applied at start and again on SIGHUP.",
    ),
    Variable(
        "ALLOW_KEYLESS_NETWORK",
        boolean,
        False,
        "Lets the service listen beyond 127.0.0.1 with API keys off. Only behind a proxy that checks callers.",
    ),
    Variable(
        "OAUTH_ISSUER",
        identifier_address,
        "",
        "Issuer whose access tokens are accepted beside API keys, exactly as tokens name it. Unset: API keys only.",
    ),
    Variable(
        "OAUTH_AUDIENCE",
        identifier_address,
        "",
        "Address of this service that tokens must be issued for, such as https://tools.example.com/mcp.",
    ),
    Variable(
        "OAUTH_JWKS_URL",
        web_address,
        "",
        "Where the issuer publishes its keys. Unset: found through the issuer's metadata.",
    ),
    Variable(
        "OAUTH_REQUIRED_SCOPES",
        scopes,
        (),
        "Scopes every token must carry, separated by commas.",
    ),
    Variable(
        "WORKER_CONCURRENCY",
        integer(1, 256),
        2,
        "Processes of the Celery worker's prefork pool.",
    ),
    Variable(
        "PIPELINE_CONCURRENCY",
        integer(1, 256),
        2,
        "Processes of the Celery worker that runs pipeline queries; each holds its own models.",
    ),
    Variable(
        "INDEX_DIR",
        text,
        "",
        "Folder of the search indexes, shared by all hosts that run workers. Unset: VAR_DIR/indexes.",
    ),
    Variable(
        "RAG_STORE",
        choice("auto", "files", "postgresql", "iris"),
        "auto",
        "Where vectors and word indexes are kept: files in INDEX_DIR, PostgreSQL with pgvector, or "
        "InterSystems IRIS. auto: PostgreSQL when it is the database and has pgvector, else files.",
    ),
    Variable(
        "IRIS_URL",
        text,
        "",
        "InterSystems IRIS server for RAG_STORE=iris, as iris://user:password@host:1972/NAMESPACE.",
    ),
    Variable(
        "MAX_DOCUMENT_BYTES",
        integer(1024, 1 << 30),
        50 << 20,
        "Largest document or archive that a corpus takes.",
    ),
    Variable(
        "LLM_URL",
        api_address,
        "",
        "OpenAI-compatible API that writes answers, up to /v1. Unset: answers are extracted.",
    ),
    Variable("LLM_API_KEY", text, "", "Key of that API."),
    Variable("LLM_MODEL", text, "", "Model of that API, unless a pipeline names another."),
    Variable(
        "LLM_CONTEXT_TOKENS",
        integer(1024, 10_000_000),
        8192,
        "Tokens that fit that model's context: passages, question and answer together.",
    ),
    Variable(
        "EMBEDDINGS_URL",
        api_address,
        "",
        "OpenAI-compatible API of embedding models named openai/..., up to /v1.",
    ),
    Variable("EMBEDDINGS_API_KEY", text, "", "Key of that API."),
    Variable(
        "RERANK_URL",
        api_address,
        "",
        "API that reranks passages (POST /rerank as Cohere and Jina have it), up to /v1.",
    ),
    Variable("RERANK_API_KEY", text, "", "Key of that API."),
    Variable(
        "HEALTH_LEAST_FREE_MB",
        integer(0, 1 << 30),
        512,
        "Megabytes free on the disk of VAR_DIR below which the service is degraded.",
    ),
    Variable(
        "HEALTH_MOST_QUEUED",
        integer(1, 10_000_000),
        1000,
        "Messages waiting in one queue above which the service is degraded.",
    ),
    Variable(
        "HEALTH_SNAPSHOT_DAYS",
        integer(1, 3650),
        7,
        "How many days the rounds of health checks are kept. Changes of status are kept for 400 days.",
    ),
    Variable(
        "TASK_KEEP_SECONDS",
        integer(1, 604_800),
        3600,
        "How long the outcome of an MCP task can be read after its run.",
    ),
    Variable(
        "TASK_START_SECONDS",
        integer(1, 86_400),
        600,
        "How long an MCP task waits for a free worker before it is given up.",
    ),
    Variable(
        "TASKS_PER_CALLER",
        integer(1, 100_000),
        100,
        "Most MCP tasks one caller may have open at a time.",
    ),
    Variable(
        "UPSTREAM_COMMANDS",
        commands,
        {},
        "Commands that stdio MCP servers may be started with, as a JSON object of names and commands. "
        "Unset: todo-server, the example, alone.",
    ),
    Variable(
        "UPSTREAM_MAX_CHILDREN",
        integer(0, 10_000),
        32,
        "Most stdio MCP servers that one process runs at a time.",
    ),
    Variable(
        "REGISTRY_KEYS",
        comma_list,
        (),
        "Names of variables whose values may be sent to services of the registry, separated by commas.",
    ),
    Variable(
        "MAX_BODY_BYTES",
        integer(1024, 1 << 30),
        1 << 20,
        "Largest request body or MCP message that is accepted.",
    ),
    Variable(
        "JOURNAL_RETENTION_DAYS",
        integer(1, 3650),
        30,
        "Age at which rows of the request log are removed.",
    ),
    Variable(
        "JOURNAL_BODY_BYTES",
        integer(0, 1 << 24),
        1 << 16,
        "Most bytes of a response body (and of call arguments) kept in the request log.",
    ),
    Variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        api_address,
        "",
        "OpenTelemetry collector that gets the spans of calls by OTLP over HTTP, such as "
        "http://127.0.0.1:4318. Unset: nothing is exported.",
    ),
    Variable(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        api_address,
        "",
        "The same with its whole path, such as http://127.0.0.1:4318/v1/traces. Wins.",
    ),
    Variable(
        "OTEL_EXPORTER_OTLP_HEADERS",
        text,
        "",
        "Headers the collector asks for, as name=value separated by commas.",
    ),
    Variable(
        "OTEL_SERVICE_NAME",
        text,
        "",
        "Name of this service in traces. Unset: that of the service configuration.",
    ),
    Variable(
        "OTEL_TRACES_SAMPLER",
        sampler,
        "parentbased_always_on",
        "Which traces are exported, by the names of OpenTelemetry.",
    ),
    Variable(
        "OTEL_TRACES_SAMPLER_ARG",
        share,
        "",
        "Share of traces from 0 to 1, for samplers that take one.",
    ),
    Variable("OTEL_SDK_DISABLED", boolean, False, "Exports nothing, whatever else is set."),
    Variable("ADMIN_USER", text, "admin", "Name of the administrator that manage.py up creates."),
    Variable(
        "ADMIN_PASSWORD",
        text,
        "",
        "Password of that administrator. Unset: generated and printed once.",
    ),
)

SERVICE_OVERRIDES: tuple[tuple[str, str], ...] = (
    ("SERVICE__NAME", "Name of the service: lower-case letters, digits and hyphens."),
    ("SERVICE__PORT", "Port the web process listens on, 1024 to 65535."),
    ("SERVICE__HOST", "Address the web process listens on."),
    ("SERVER__WORKERS", "Number of web processes."),
    ("SERVER__TIMEOUT", "Most seconds any call may take, 1 to 300."),
    ("SERVER__GRACEFUL_SHUTDOWN_SECONDS", "Seconds given to calls in flight on stop, 1 to 60."),
    ("MONITORING__METRICS_ENABLED", "Whether GET /metrics answers."),
    ("MONITORING__HEALTH_CHECK_INTERVAL", "Seconds between health checks, at least 10."),
    ("MONITORING__DEPENDENCY_TIMEOUT_MS", "Time limit of one dependency check in milliseconds."),
    ("SECURITY__API_KEYS_ENABLED", "Whether callers must present an API key."),
    ("SECURITY__RATE_LIMIT", "Calls per minute and client, at least 10."),
    ("CORS__ENABLED", "Whether browsers on other origins may call the REST API and MCP."),
    ("CORS__ALLOWED_ORIGINS", "Origins allowed beside localhost, separated by commas."),
    ("MCP__MAX_CONNECTIONS", "Most MCP clients at once, per transport and web process."),
    ("LOGGING__LEVEL", "Least severe level that is logged: DEBUG, INFO, WARNING or ERROR."),
)


@dataclass(frozen=True, slots=True)
class Environment:
    """The values of all variables, by their lower-case names, and the SECTION__KEY overrides."""

    values: Mapping[str, Any]
    service_overrides: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def read_environment(environ: Mapping[str, str]) -> Environment:
    """Read every known variable. An empty value counts as unset.

    Raises:
        EnvironmentFault: naming every variable that cannot be used.
    """
    values: dict[str, Any] = {}
    faults: list[str] = []
    for variable in VARIABLES:
        raw = environ.get(variable.name, "")
        if not raw.strip():
            values[variable.name.lower()] = variable.default
            continue
        try:
            values[variable.name.lower()] = variable.parse(raw)
        except ValueError as fault:
            # Addresses, keys and commands hold secrets and are not repeated.
            secret = any(word in variable.name for word in SECRET_WORDS) or "@" in raw
            faults.append(f"{variable.name}: {fault}" + ("" if secret else f"; got {raw!r}"))
    faults += _oauth_faults(environ)
    faults += _override_faults(environ)
    if faults:
        raise EnvironmentFault("The environment cannot be used:\n  " + "\n  ".join(faults))
    overrides = {
        name: environ[name] for name, _ in SERVICE_OVERRIDES if environ.get(name, "").strip()
    }
    return Environment(values=values, service_overrides=overrides)


def _oauth_faults(environ: Mapping[str, str]) -> list[str]:
    """What is missing of the OAuth variables: none works without the first two."""
    names = [variable.name for variable in VARIABLES if variable.name.startswith("OAUTH_")]
    given = [name for name in names if environ.get(name, "").strip()]
    missing = [name for name in ("OAUTH_ISSUER", "OAUTH_AUDIENCE") if name not in given]
    return [f"{name}: expected a value, because {given[0]} is set" for name in missing if given]


def _override_faults(environ: Mapping[str, str]) -> list[str]:
    known = dict(SERVICE_OVERRIDES)
    sections = {name.partition("__")[0] for name in known}
    unknown = sorted(
        name
        for name in environ
        if name.partition("__")[0] in sections and "__" in name and name not in known
    )
    faults = [f"{name}: no such setting; known are {', '.join(known)}" for name in unknown]
    given = {name: environ[name] for name in known if environ.get(name, "").strip()}
    try:
        with_overrides(ServiceSettings(), given)
    except ConfigurationFault as fault:
        faults += fault.faults
    return faults


def secret_key(environment: Environment) -> str:
    """The configured key, or one generated once and kept readable by the owner alone."""
    if environment.secret_key:
        return str(environment.secret_key)
    path = Path(environment.var_dir) / "secret_key"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # O_EXCL on a temporary name, then link: two processes starting together agree on one key.
        temporary = path.with_name(f"secret_key.{os.getpid()}")
        descriptor = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as handle:
            handle.write(secrets.token_urlsafe(64))
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return path.read_text().strip()


def database_settings(environment: Environment) -> dict[str, Any]:
    """Django's DATABASES entry for the configured URL."""
    url = environment.database_url
    parts = urlsplit(url)
    if not url or parts.scheme == "sqlite":
        return _sqlite(
            Path("/" + parts.path.lstrip("/"))
            if url
            else Path(environment.var_dir) / "controlplane.sqlite3"
        )
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        # A socket folder cannot stand before the path: postgres:///name?host=/run/postgresql
        "HOST": parts.hostname or options.pop("host", ""),
        "PORT": str(parts.port or options.pop("port", "")),
        # A pooled connection is handed back at the end of each use, never kept by a thread.
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "connect_timeout": 5,
            # Such as sslmode=require; the driver names what it does not know.
            **options,
            "pool": {
                "min_size": 1,
                "max_size": environment.database_pool_size,
                "timeout": 5,
                # The pauses between attempts double until then: a server that is back is soon found.
                "reconnect_timeout": 3,
            },
        },
    }


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # IMMEDIATE takes the write lock at BEGIN: waiting there honours the busy timeout,
            # while an upgrade from a read lock fails at once.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
