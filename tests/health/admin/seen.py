"""The dashboard as tests read it, and the calls that it tells of."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

from tests.events import closing
from tools.services.write_journal import write_events

TILE = re.compile(
    r'<(?:a|div) class="panel tile(?: bad)?"(?: data-keep="[^"]+" href="([^"]+)")?>'
    r'<span class="name">([^<]+)</span> <span class="value">([^<]+)</span>'
    r' <span class="about">([^<]+)</span></(?:a|div)>'
)
INCIDENT = re.compile(r'<li class="change"[^>]*>(.*?)</li>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def call(minutes: float = 5, **changes: Any) -> None:
    """A finished call of `minutes` ago."""
    at = (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()
    event = closing(str(uuid.uuid4()), received_at=at, finished_at=at, **changes)
    write_events([json.dumps(event)])


def tiles(page: str) -> dict[str, tuple[str, str, str]]:
    """Value, explanation and link, if any, of each number on a page."""
    return {
        unescape(name): (unescape(value), unescape(about), unescape(link))
        for link, name, value, about in TILE.findall(page)
    }


def incidents(page: str) -> list[tuple[str, str]]:
    """The words of each incident on a page, and its link if it has one."""
    found = []
    for line in INCIDENT.findall(page):
        link = re.search(r'href="([^"]+)"', line)
        words = " ".join(unescape(TAG.sub(" ", line)).split())
        told = re.sub(r" ([:,;])", r"\1", words)
        found.append((told, unescape(link[1]) if link else ""))
    return found
