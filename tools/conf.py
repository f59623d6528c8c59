"""Typed settings: what the deployment fixed, and what an operator configures per service.

`DeploymentSettings` comes from Django's settings and never changes while a process lives.
`ServiceSettings` comes from the `ServiceConfiguration` row with the `SECTION__KEY` environment
overrides on top; it is replaced as a whole when the row changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

SERVICE_NAME: Final = re.compile(r"[a-z][a-z0-9-]*\Z")
LOG_LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR")
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
DEEPEST_VALUE: Final = 32
LARGEST_INTEGER: Final = 2**31 - 1  # of an integer column in every supported database


class ConfigurationFault(ValueError):
    """A service configuration cannot be used. `faults` has one line per wrong key."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """Whose access tokens are accepted, and what they must be issued for."""

    issuer: str
    audience: str
    jwks_url: str = ""
    required_scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible API, when one is configured."""

    url: str = ""
    key: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return bool(self.url)


@dataclass(frozen=True, slots=True)
class RagSettings:
    """What pipelines and ingestion work with. `store` is `auto`, `files`, `postgresql` or `iris`."""

    index_dir: str
    store: str = "auto"
    iris_url: str = field(default="", repr=False)
    max_document_bytes: int = 50 << 20
    llm: Endpoint = field(default_factory=Endpoint)
    llm_model: str = ""
    llm_context_tokens: int = 8192
    embeddings: Endpoint = field(default_factory=Endpoint)
    rerank: Endpoint = field(default_factory=Endpoint)


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """The collector that spans go to, up to /v1/traces, and the name they go under if one is given."""

    endpoint: str
    service_name: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class DeploymentSettings:
    """What the environment fixed for the life of this process."""

    version: str
    max_body_bytes: int
    journal_retention_days: int
    journal_body_bytes: int
    allow_keyless_network: bool
    task_keep_seconds: int
    task_start_seconds: int
    tasks_per_caller: int
    redis_url: str
    service_overrides: Mapping[str, str]
    rag: RagSettings
    oauth: OAuthSettings | None = None
    # What stdio MCP servers may be started with: {"command", "environment", "directory"} by name.
    upstream_commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    upstream_max_children: int = 32
    # Variables of the environment whose values may be sent to services of the registry.
    registry_keys: tuple[str, ...] = ()
    # None: nothing is exported.
    tracing: TracingSettings | None = None

    @property
    def keys_optional(self) -> bool:
        """Whether others may reach us with API keys off: tokens are asked for, or a proxy checks."""
        return self.allow_keyless_network or self.oauth is not None


@cache
def deployment() -> DeploymentSettings:
    """The settings of this process."""
    from django.conf import settings

    values = settings.CONTROL_PLANE
    return DeploymentSettings(
        version=values["VERSION"],
        max_body_bytes=values["MAX_BODY_BYTES"],
        journal_retention_days=values["JOURNAL_RETENTION_DAYS"],
        journal_body_bytes=values["JOURNAL_BODY_BYTES"],
        allow_keyless_network=values["ALLOW_KEYLESS_NETWORK"],
        task_keep_seconds=values["TASK_KEEP_SECONDS"],
        task_start_seconds=values["TASK_START_SECONDS"],
        tasks_per_caller=values["TASKS_PER_CALLER"],
        redis_url=settings.REDIS_URL,
        service_overrides=values["SERVICE_OVERRIDES"],
        rag=_rag(values),
        oauth=_oauth(values),
        upstream_commands=values["UPSTREAM_COMMANDS"],
        upstream_max_children=values["UPSTREAM_MAX_CHILDREN"],
        registry_keys=values["REGISTRY_KEYS"],
        tracing=_tracing(values),
    )


def _rag(values: Mapping[str, Any]) -> RagSettings:
    return RagSettings(
        index_dir=values["INDEX_DIR"],
        store=values["RAG_STORE"],
        iris_url=values["IRIS_URL"],
        max_document_bytes=values["MAX_DOCUMENT_BYTES"],
        llm=Endpoint(values["LLM_URL"], values["LLM_API_KEY"]),
        llm_model=values["LLM_MODEL"],
        llm_context_tokens=values["LLM_CONTEXT_TOKENS"],
        embeddings=Endpoint(values["EMBEDDINGS_URL"], values["EMBEDDINGS_API_KEY"]),
        rerank=Endpoint(values["RERANK_URL"], values["RERANK_API_KEY"]),
    )


def _tracing(values: Mapping[str, Any]) -> TracingSettings | None:
    """On when a collector is named; by the rules of OpenTelemetry, whose package reads the rest."""
    shared = values["OTEL_EXPORTER_OTLP_ENDPOINT"]
    endpoint = values["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] or (shared and f"{shared}/v1/traces")
    if not endpoint or values["OTEL_SDK_DISABLED"]:
        return None
    return TracingSettings(endpoint, values["OTEL_SERVICE_NAME"], values["VERSION"])


def _oauth(values: Mapping[str, Any]) -> OAuthSettings | None:
    if not values["OAUTH_ISSUER"]:
        return None
    return OAuthSettings(
        issuer=values["OAUTH_ISSUER"],
        audience=values["OAUTH_AUDIENCE"],
        jwks_url=values["OAUTH_JWKS_URL"],
        required_scopes=tuple(values["OAUTH_REQUIRED_SCOPES"]),
    )


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """One service as configured. Field names are `<section>_<key>` of the YAML document."""

    service_name: str = "mcp-control-plane"
    service_port: int = 8000
    service_host: str = "127.0.0.1"
    server_workers: int = 1
    server_timeout: int = 30
    server_graceful_shutdown_seconds: int = 5
    monitoring_metrics_enabled: bool = True
    monitoring_health_check_interval: int = 30
    monitoring_dependency_timeout_ms: int = 1000
    security_api_keys_enabled: bool = False
    security_rate_limit: int = 1000
    cors_enabled: bool = True
    cors_allowed_origins: tuple[str, ...] = ()
    mcp_max_connections: int = 100
    logging_level: str = "INFO"
    dependencies: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reachable_from_network(self) -> bool:
        return self.service_host not in LOOPBACK


@dataclass(frozen=True, slots=True)
class _Key:
    """How one key of the document is checked."""

    section: str
    key: str
    check: Callable[[Any], Any]
    required: bool = False

    @property
    def path(self) -> str:
        return f"{self.section}.{self.key}"

    @property
    def attribute(self) -> str:
        return f"{self.section}_{self.key}"


def _integer(minimum: int, maximum: int = LARGEST_INTEGER) -> Callable[[Any], int]:
    span = f"from {minimum} to {maximum}"
    if maximum == LARGEST_INTEGER:
        span = f"of at least {minimum}"

    def check(value: Any) -> int:
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,12}", value.strip()):
            value = int(value)
        if type(value) is not int or not minimum <= value <= maximum:
            raise ValueError(f"must be a whole number {span}")
        return value

    return check


def _boolean(value: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    if type(value) is not bool:
        raise ValueError("must be true or false")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 64 or not SERVICE_NAME.match(value):
        raise ValueError(
            "must start with a lower-case letter, then lower-case letters, digits and hyphens, "
            "64 characters at most"
        )
    return value


def check_host(value: Any) -> str:
    """`value` when it is an address; ValueError says what one looks like."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9.:-]{1,255}", value):
        raise ValueError("must be an address to listen on, such as 127.0.0.1 or 0.0.0.0")
    return value


def check_origins(value: Any) -> tuple[str, ...]:
    """Origins without trailing slashes, from a list or a text with commas; else ValueError."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise ValueError("must be a list of origins")
    cleaned = tuple(str(part).strip().rstrip("/") for part in parts if str(part).strip())
    for origin in cleaned:
        if not re.fullmatch(r"https?://[^/\s]+", origin):
            raise ValueError(f"{origin!r} is not an origin such as https://app.example")
    return cleaned


def _level(value: Any) -> str:
    if not isinstance(value, str) or value.upper() not in LOG_LEVELS:
        raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
    return value.upper()


KEYS: Final[tuple[_Key, ...]] = (
    _Key("service", "name", _name, required=True),
    _Key("service", "port", _integer(1024, 65535), required=True),
    _Key("service", "host", check_host, required=True),
    _Key("server", "workers", _integer(1, 64)),
    _Key("server", "timeout", _integer(1, 300)),
    _Key("server", "graceful_shutdown_seconds", _integer(1, 60)),
    _Key("monitoring", "metrics_enabled", _boolean),
    _Key("monitoring", "health_check_interval", _integer(10)),
    _Key("monitoring", "dependency_timeout_ms", _integer(10, 60_000)),
    _Key("security", "api_keys_enabled", _boolean),
    _Key("security", "rate_limit", _integer(10)),
    _Key("cors", "enabled", _boolean),
    _Key("cors", "allowed_origins", check_origins),
    _Key("mcp", "max_connections", _integer(1, 100_000)),
    _Key("logging", "level", _level),
)
SECTIONS: Final = tuple(dict.fromkeys(key.section for key in KEYS))


def parse_document(document: Any) -> ServiceSettings:
    """Check a configuration document as a whole.

    Raises:
        ConfigurationFault: with one line per key that is wrong, missing or unknown.
    """
    if not isinstance(document, Mapping):
        raise ConfigurationFault(["the document must be a mapping with a service section"])
    faults = _unknown_keys(document)
    values: dict[str, Any] = {}
    for key in KEYS:
        section = document.get(key.section)
        if not isinstance(section, Mapping) or key.key not in section:
            if key.required:
                faults.append(f"{key.path} is missing")
            continue
        try:
            values[key.attribute] = key.check(section[key.key])
        except ValueError as fault:
            faults.append(f"{key.path} {fault}; got {section[key.key]!r}")
    dependencies = document.get("dependencies")
    if dependencies is None:
        dependencies = {}
    if isinstance(dependencies, Mapping):
        faults += value_faults(dependencies, "dependencies")
    else:
        faults.append("dependencies must be a mapping of names to settings")
    if faults:
        raise ConfigurationFault(faults)
    return ServiceSettings(**values, dependencies=dict(dependencies))


def value_faults(value: Any, path: str = "", depth: int = DEEPEST_VALUE) -> list[str]:
    """Why `value` could not be stored as JSON and read back the same, one line per place."""
    where = f"{path} " if path else ""
    if depth == 0:
        return [f"{where}is nested too deeply"]
    faults: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str) or not _storable(key):
                faults.append(f"{where}has the key {key!r}, which is not plain text")
            faults += value_faults(item, f"{path}.{key}".lstrip("."), depth - 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            faults += value_faults(item, f"{path}[{index}]", depth - 1)
    elif isinstance(value, str) and not _storable(value):
        faults.append(f"{where}has a character that cannot be stored")
    elif isinstance(value, float) and not math.isfinite(value):
        faults.append(f"{where}must be a finite number")
    elif not isinstance(value, str | float | int | None):
        faults.append(f"{where}must be text, a number, true or false; got {type(value).__name__}")
    return faults


def _storable(text: str) -> bool:
    """Whether every database keeps `text`: no NUL, no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _unknown_keys(document: Mapping[str, Any]) -> list[str]:
    faults = []
    for name, section in document.items():
        if name == "dependencies" or section is None:
            continue
        if name not in SECTIONS:
            faults.append(f"{name} is not a section; known: {', '.join(SECTIONS)}, dependencies")
        elif not isinstance(section, Mapping):
            faults.append(f"{name} must be a mapping")
        else:
            known = {key.key for key in KEYS if key.section == name}
            faults += [
                f"{name}.{key} is not a setting; known: {', '.join(sorted(known))}"
                for key in section
                if key not in known
            ]
    return faults


def to_document(settings: ServiceSettings) -> dict[str, Any]:
    """The configuration document of a service; optional sections left at their defaults are omitted."""
    defaults = ServiceSettings()
    document: dict[str, Any] = {}
    for key in KEYS:
        value = getattr(settings, key.attribute)
        always = key.section in {"service", "security"} or key.path in {
            "monitoring.metrics_enabled",
            "monitoring.health_check_interval",
        }
        if always or value != getattr(defaults, key.attribute):
            plain = list(value) if isinstance(value, tuple) else value
            document.setdefault(key.section, {})[key.key] = plain
    if settings.dependencies:
        document["dependencies"] = dict(settings.dependencies)
    return document


def with_overrides(settings: ServiceSettings, overrides: Mapping[str, str]) -> ServiceSettings:
    """`settings` with `SECTION__KEY` values on top.

    Raises:
        ConfigurationFault: naming each variable that cannot be used.
    """
    document = to_document(settings)
    faults = []
    for variable, value in overrides.items():
        section, _, name = variable.lower().partition("__")
        key = next((key for key in KEYS if (key.section, key.key) == (section, name)), None)
        if key is None:
            faults.append(f"{variable} overrides no known setting")
            continue
        try:
            document.setdefault(section, {})[name] = key.check(value)
        except ValueError as fault:
            faults.append(f"{variable} {fault}; got {value!r}")
    if faults:
        raise ConfigurationFault(faults)
    return parse_document(document)
