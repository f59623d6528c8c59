"""What a search tool answered, as passages. Tools differ in how they call things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tools.pipelines.contracts import Passage

WEB_RESULTS: Final = 5
LONGEST_WEB_TEXT: Final = 4000
_WEB_TEXTS: Final = ("content", "snippet", "text", "description", "summary", "body")
_WEB_SOURCES: Final = ("url", "link", "href", "source")


def pages_of(data: Any) -> list[Passage]:
    """The first few results that have a text; none when nothing can be read out of `data`."""
    pages: list[Passage] = []
    for item in _results(data):
        text = item if isinstance(item, str) else _first_text(item, _WEB_TEXTS)
        if not text.strip() or len(pages) == WEB_RESULTS:
            continue
        about = item if isinstance(item, Mapping) else {}
        source = _first_text(about, _WEB_SOURCES) or "web search"
        pages.append(
            Passage(
                row=-1,
                passage_id=f"web-{len(pages) + 1}",
                document=source,
                text=text.strip()[:LONGEST_WEB_TEXT],
                title=_first_text(about, ("title", "name")),
                metadata={"source": source, "web": True},
            )
        )
    return pages


def _results(data: Any) -> Sequence[Any]:
    """The list of results, wherever the tool put it."""
    if isinstance(data, Mapping):
        lists = [value for value in data.values() if isinstance(value, list) and value]
        return lists[0] if lists else [data]
    return data if isinstance(data, list) else [data] if isinstance(data, str) else []


def _first_text(item: Any, keys: Sequence[str]) -> str:
    if not isinstance(item, Mapping):
        return ""
    return next((item[key] for key in keys if isinstance(item.get(key), str) and item[key]), "")
