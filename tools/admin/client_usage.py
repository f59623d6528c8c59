"""What API clients use of their limits, in their list and on their pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from tools.admin.client_keys import log_address
from tools.admin.request_log.addresses import ENDED, FAILED
from tools.admin.texts import red, unbroken
from tools.models import ApiClient
from tools.selectors.figures import Point
from tools.services.client_usage import (
    DAY,
    WEEK,
    Rate,
    Stretch,
    client_calls,
    client_hours,
    client_rates,
)

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
# Of the chart of a day: each hour has so much room, and the highest bar so much.
STEP: Final = 20
HEIGHT: Final = 60
# Shares of the rate from which on it is worth a look, and from which on calls are about to be refused.
HIGH: Final = 70
FULL: Final = 95


def add_usage(clients: Sequence[Any]) -> None:
    """Give each client of a list its `rate` and its `day`, at the price of one query for all."""
    rates, days = client_rates(clients), client_calls(clients, DAY)
    for client in clients:
        client.rate, client.day = rates[client.pk], days[client.pk]


def calls_link(client: Any) -> SafeString | str:
    """How many calls of a day, and how many of them did not succeed, with the ways to them."""
    stretch: Stretch = client.day
    if not stretch.sums.calls:
        return "-"
    since = {"received_at__gte": stretch.since.isoformat()}
    parts = [(log_address(client, **since, **ENDED), f"{stretch.sums.calls:,}")]
    if stretch.sums.failed:
        told = f"{stretch.sums.failed:,} failed"
        parts.append((log_address(client, **since, **FAILED), told))
    # One element, because lists on phones put a gap between several.
    return format_html("<span>{}</span>", format_html_join(", ", LINK, parts))


def rate_shown(client: Any) -> SafeString:
    """What is used of the rate at this moment."""
    rate: Rate = client.rate
    used = "?" if rate.used is None else f"{rate.used:,}"
    told = unbroken(f"{used} of {rate.limit:,}")
    shown = red(told) if _percent(rate) >= FULL else told
    whose = "its own limit" if rate.own else "the service's limit"
    return format_html('<span title="{}">{}</span>', whose, shown)


def usage_page(client: ApiClient) -> dict[str, Any]:
    """The context of the part of a client's page that tells its usage."""
    rate = client_rates([client])[client.pk]
    stretches = [
        (title, client_calls([client], back)[client.pk])
        for title, back in (("Last 24 hours", DAY), ("Last 7 days", WEEK))
    ]
    return {
        "client": client,
        "rate": rate,
        "rate_percent": _percent(rate),
        "rate_colour": _colour(_percent(rate)),
        "stretches": [_shown(client, title, stretch) for title, stretch in stretches],
        "bars": _bars(client_hours(client)),
        "chart_height": HEIGHT,
        "log": log_address(client),
    }


def _shown(client: ApiClient, title: str, stretch: Stretch) -> dict[str, Any]:
    since = {"received_at__gte": stretch.since.isoformat()}
    sums = stretch.sums
    return {
        "title": title,
        "figures": (
            ("Calls", f"{sums.calls:,}", log_address(client, **since, **ENDED)),
            ("Failed", f"{sums.failed:,}", log_address(client, **since, **FAILED)),
            (
                "Refused: too many or too busy",
                f"{sums.refused:,}",
                log_address(client, **since, code__exact="RATE_LIMITED"),
            ),
            ("Tokens, where counted", f"{sums.tokens:,}", ""),
        ),
    }


def _bars(points: Sequence[Point]) -> list[dict[str, Any]]:
    top = max((point.calls.total for point in points), default=0) or 1
    bars = []
    for place, point in enumerate(points):
        total, wrong = point.calls.total, point.calls.failed + point.calls.timeout
        height = max(1, round(HEIGHT * total / top)) if total else 0
        bad = max(1, round(HEIGHT * wrong / top)) if wrong else 0
        begins = f"{timezone.localtime(point.begins_at):%H:%M}"
        bars.append(
            {
                "x": place * STEP,
                "y": HEIGHT - height,
                "height": height - bad,
                "bad_y": HEIGHT - bad,
                "bad": bad,
                "told": f"{begins}: {total:,} calls, {wrong:,} failed",
            }
        )
    return bars


def _percent(rate: Rate) -> int:
    return 0 if rate.used is None else min(100, round(100 * rate.used / rate.limit))


def _colour(percent: int) -> str:
    if percent >= FULL:
        return "#b42318"
    return "#b54708" if percent >= HIGH else "#15803d"
