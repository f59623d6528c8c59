"""A search inside a corpus: what was found, with the way to each document."""

from __future__ import annotations

from typing import Any

from tools.models import Corpus, Document
from tools.services.search_corpus import LONGEST_QUERY, SearchFault, search_corpus


def search_page(corpus: Corpus, query: str) -> dict[str, Any]:
    """The context of the results; an empty query has none."""
    shown: dict[str, Any] = {"corpus": corpus, "query": query, "longest": LONGEST_QUERY}
    if not query.strip():
        return shown
    try:
        found = search_corpus(corpus, query)
    except SearchFault as fault:
        return {**shown, "fault": str(fault)}
    names = {hit.document for hit in found.hits}
    rows = Document.objects.filter(corpus=corpus, name__in=names).values_list("name", "pk")
    keys = dict(rows)
    # What was deleted since is still in the index in use.
    hits = [(hit, keys.get(hit.document)) for hit in found.hits]
    return {**shown, "found": found, "hits": hits}
