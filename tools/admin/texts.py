"""How words and times look in lists and on pages."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString


@lru_cache(maxsize=256)
def badge(text: str, colour: str) -> SafeString:
    """`text` in a box; colours are unfold's: success, warning, danger, info, primary.

    Lists have the same few badges in every row.
    """
    return render_to_string("unfold/helpers/label.html", {"text": text, "type": colour})


def moment(value: datetime | None, *, milliseconds: bool = False) -> SafeString | str:
    """A time to the second (or finer) on one line, or a dash."""
    if value is None:
        return "-"
    text = f"{timezone.localtime(value):%Y-%m-%d %H:%M:%S.%f}"
    return unbroken(text[:-3] if milliseconds else text[:-7])


def unbroken(text: str) -> SafeString:
    """`text` on one line, however narrow its column."""
    return format_html('<span class="whitespace-nowrap">{}</span>', text)


def linked(text: str, address: str) -> SafeString:
    """`text` as the way to what is behind it."""
    return format_html(
        '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>', address, text
    )


def red(text: str) -> SafeString:
    """`text` in the colour of faults."""
    return format_html('<span class="text-red-700 dark:text-red-400">{}</span>', text)


def plural(count: int, noun: str) -> str:
    """`count` and what is counted: 1 file, 2 files."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
