"""Structured logs: one JSON object a line, on standard error, without secrets."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import orjson
from typing_extensions import override

from tools.context.redact import redact, redact_text
from tools.contracts import wire_time
from tools.tracing import Work, working_on


class JsonFormatter(logging.Formatter):
    """Writes time, level, logger and message, then whatever the call passed as `extra={"fields": …}`.

    A record that is `redacted` says of its message and fields that they hold no secrets. What is
    written while a call is worked on names that call.
    """

    @override
    def format(self, record: logging.LogRecord) -> str:
        clean = getattr(record, "redacted", False)
        message, fields = record.getMessage(), getattr(record, "fields", None) or {}
        entry: dict[str, Any] = {
            "timestamp": wire_time(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname,
            "logger": record.name,
            "message": message if clean else redact_text(message),
            **(fields if clean else redact(fields)),
        }
        if (work := working_on()) is not None:
            _name(entry, work)
        if record.exc_info:
            entry["exception"] = redact_text(self.formatException(record.exc_info))
        return orjson.dumps(entry, default=str).decode()


def _name(entry: dict[str, Any], work: Work) -> None:
    """Put the ids of the call onto its line, unless the line has its own."""
    if "request_id" not in entry:
        entry["request_id"] = str(work.request_id)
        if work.correlation_id:
            entry.setdefault("correlation_id", redact_text(work.correlation_id))
    if work.spans is not None:
        entry["trace_id"], entry["span_id"] = work.spans.trace_id, work.spans.span_id


class WithoutQueries(logging.Filter):
    """Drops what Celery tells of every query that comes and goes; the journal has a row of each."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        about = getattr(record, "data", None)
        return not (
            record.levelno <= logging.INFO
            and isinstance(about, dict)
            and about.get("name") == "tools.tasks.run_query"
        )


def logging_settings(level: str) -> dict[str, Any]:
    """Django's LOGGING for the given least severe level; an unknown one is reported later, by name."""
    level = level.upper() if level.upper() in logging.getLevelNamesMapping() else "INFO"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "controlplane.logging.JsonFormatter"}},
        "filters": {"without_queries": {"()": "controlplane.logging.WithoutQueries"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handler would print each request twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            "uvicorn.access": {"level": "WARNING"},
            # It tells of every request that goes out, in full.
            "httpx2": {"level": "WARNING"},
            "celery.worker.strategy": {"filters": ["without_queries"]},
            "celery.app.trace": {"filters": ["without_queries"]},
            # It tells of every message and every session.
            "mcp": {"level": "WARNING"},
            # It tells of every log-in; those that are locked out are warnings.
            "axes": {"level": "WARNING"},
            # It tells of every batch that does not arrive; tools.tracing says so once.
            "opentelemetry": {"level": "CRITICAL"},
        },
    }
