"""The log of a server's program on the server's page, while it runs and after it has died."""

from __future__ import annotations

from typing import Any, Final

from django.utils import timezone

from tools.admin.texts import plural
from tools.models import UpstreamServer
from tools.services.upstream_log import Happening, LogLine, ProcessLog, RedisDown, child_logs
from tools.upstreams import UpstreamTransport

# Of the processes; those that have ended crowd the page after some starts.
MOST_SHOWN: Final = 4


def log_page(server: UpstreamServer) -> dict[str, Any]:
    """The context of the part; empty for a server that is no program of ours."""
    if server.transport != UpstreamTransport.STDIO:
        return {}
    try:
        logs = child_logs(server.slug)
    except RedisDown:
        # Live, so that the page looks again by itself.
        return {"has_log": True, "log_lost": True, "log_live": True}
    return {
        "has_log": True,
        "log_lost": False,
        "log_live": server.enabled,
        "logs": [_shown(log) for log in logs[:MOST_SHOWN]],
        "logs_left": max(0, len(logs) - MOST_SHOWN),
    }


def _shown(log: ProcessLog) -> dict[str, Any]:
    return {
        "process": log.process,
        "end": log.last_end,
        "text": "\n".join(_text(line) for line in log.lines),
    }


def _text(line: LogLine) -> str:
    when = f"{timezone.localtime(line.at):%Y-%m-%d %H:%M:%S}"
    match line.what:
        case Happening.STARTED:
            return f"{when}  --- started, pid {line.pid}"
        case Happening.ENDED:
            return f"{when}  --- {line.text}"
        case Happening.LEFT_OUT:
            return f"{when}  --- {plural(int(line.text), 'line')} left out: it wrote too fast"
        case Happening.PRINTED:
            return f"{when}  (no message, on its standard output) {line.text}"
    return f"{when}  {line.text}"
