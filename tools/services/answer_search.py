"""The worker's part of a search inside a corpus."""

from __future__ import annotations

import logging
import re
from typing import Any, Final

from celery.exceptions import SoftTimeLimitExceeded

from tools.models import IndexVersion
from tools.models.corpora import VersionState
from tools.pipelines.blocks.hybrid import first_stage
from tools.pipelines.blocks.words import content_words, stems, words
from tools.pipelines.contracts import BlockUnavailable, IndexSpec, OpenIndex
from tools.pipelines.manager import pipeline_manager
from tools.selectors.specs import index_spec
from tools.services.search_corpus import LATE, NO_INDEX, keep_answer

logger = logging.getLogger(__name__)

MOST_HITS: Final = 10
LONGEST_SHOWN: Final = 1500
FAILED_ON_A_BUG: Final = "The search failed on a bug. See the log of the workers."
_WORD: Final = re.compile(r"[^\W_]+")


def answer_search(ask_id: str, corpus_id: int, query: str) -> None:
    """Search, and leave what was found, or why nothing was."""
    try:
        told = _search(corpus_id, query)
    except BlockUnavailable as fault:
        told = {"error": str(fault)}
    except SoftTimeLimitExceeded:
        told = {"error": LATE}
    except Exception:
        logger.exception("A search in corpus %d failed on a bug", corpus_id)
        told = {"error": FAILED_ON_A_BUG}
    keep_answer(ask_id, told)


def _search(corpus_id: int, query: str) -> dict[str, Any]:
    rows = IndexVersion.objects.filter(corpus_id=corpus_id, state=VersionState.ACTIVE)
    version = rows.select_related("corpus").first()
    if version is None:
        return {"error": NO_INDEX}
    index = pipeline_manager().index(IndexSpec(**index_spec(version)))
    found = first_stage(index, query, MOST_HITS).found if len(index) else None
    asked = frozenset(stems(content_words(query) or words(query)))
    return {
        "version": version.number,
        "passages": len(index),
        "hits": [
            _hit(index, int(row), float(score), asked)
            for row, score in zip(found.rows, found.scores, strict=True)
        ]
        if found is not None
        else [],
    }


def _hit(index: OpenIndex, row: int, score: float, asked: frozenset[str]) -> dict[str, Any]:
    passage = index.passage(row)
    page = passage.metadata.get("page")
    return {
        "document": passage.document,
        "title": passage.title,
        "heading": str(passage.metadata.get("heading") or ""),
        "page": page if isinstance(page, int) else None,
        "score": round(score, 4),
        "pieces": marked(passage.text[:LONGEST_SHOWN], asked),
    }


def marked(text: str, asked: frozenset[str]) -> list[tuple[str, bool]]:
    """`text` in pieces, words whose stems were asked for apart from the rest."""
    pieces: list[tuple[str, bool]] = []
    done = 0
    for found in _WORD.finditer(text):
        # Scripts without spaces have several words in one.
        if asked and not asked.isdisjoint(stems(words(found[0]))):
            pieces += [(text[done : found.start()], False), (found[0], True)]
            done = found.end()
    pieces.append((text[done:], False))
    return [(piece, hit) for piece, hit in pieces if piece]
