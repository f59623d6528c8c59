"""The dashboard as tests read it, and the calls that it tells of."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

from django.test import Client

from tests.events import closing, opening
from tools.services.write_journal import write_events

TILE = re.compile(
    r'<(?:a|div) class="panel tile(?: bad)?"(?: data-keep="[^"]+" href="([^"]+)")?>'
    r'<span class="name">([^<]+)</span> <span class="value">([^<]+)</span>'
    r' <span class="about">([^<]+)</span></(?:a|div)>'
)
INCIDENT = re.compile(r'<li class="change"[^>]*>(.*?)</li>', re.DOTALL)
CELL = re.compile(r'<td><a href="([^"]+)">([^<]*)</a></td>')
TAG = re.compile(r"<[^>]+>")


def call(minutes: float = 5, **changes: Any) -> None:
    """A finished call of `minutes` ago."""
    at = (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()
    event = closing(str(uuid.uuid4()), received_at=at, finished_at=at, **changes)
    write_events([json.dumps(event)])


def begun(minutes: float = 5, **changes: Any) -> str:
    """The id of a call that began `minutes` ago and has not ended."""
    at = (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()
    call_id = str(uuid.uuid4())
    write_events(
        [json.dumps(opening(call_id, received_at=at, **{"state": "executing", **changes}))]
    )
    return call_id


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


def listed(client: Client, link: str) -> int:
    """How many rows the list behind a link has."""
    answer = client.get(link)
    assert answer.status_code == 200, link
    return int(answer.context["cl"].result_count)


def rows(page: str, table: str) -> list[tuple[str, str, list[str]]]:
    """Name, link and figures of each row of a table."""
    return [
        (name, link, [figure for _, figure in cells]) for name, link, cells in linked(page, table)
    ]


def linked(page: str, table: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Name and link of each row of a table, and the link and text of each of its figures."""
    part = page.split(f'role="region" aria-label="{table}">')[1].partition("</table>")[0]
    found = re.findall(r'<th scope="row"><a href="([^"]+)">([^<]*)</a></th>(.*?)</tr>', part)
    return [
        (
            unescape(name),
            unescape(link),
            [(unescape(behind), figure) for behind, figure in CELL.findall(cells)],
        )
        for link, name, cells in found
    ]
