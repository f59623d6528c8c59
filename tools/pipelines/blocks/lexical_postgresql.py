"""Word search in PostgreSQL's full text: one table of passages and one of terms per index version.

Terms are cut by our own rule, the same as in the embedded index, so both find the same passages. Rank
is made of `ts_rank` of each term, weighted by how rare the term is and held back in long passages, so
that it comes close to BM25.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from django.db import connection, transaction

from tools.pipelines.blocks.fusion import best
from tools.pipelines.blocks.words import terms
from tools.pipelines.contracts import Found, Mask, Passage

# As in the embedded index.
K1: Final = 1.2
B: Final = 0.75
# `ts_rank` of a term that stands in a passage once; to the power of 1.5 it grows with the number of
# times as BM25 does: 1.40, 1.59 and 1.77 for two, three and five, where BM25 has 1.38, 1.57 and 1.77.
ONCE: Final = 0.1 * 6 / math.pi**2
POWER: Final = 1.5
# Limits of the type: a term's bytes, and its last place in a passage.
LONGEST_TERM: Final = 2000
LAST_PLACE: Final = 16_383
MOST_PLACES: Final = 255
MOST_TERMS: Final = 64
# Rare terms choose the passages, common ones only rank them, once there are this many.
ENOUGH_PASSAGES: Final = 5_000


def tables(version_id: int) -> tuple[str, str]:
    """The names of the tables of passages and of terms."""
    return f"rag_words_{int(version_id)}", f"rag_terms_{int(version_id)}"


def build_words(version_id: int, passages: Iterable[Passage]) -> None:
    """Fill the version's tables anew and index them."""
    words, rare = tables(version_id)
    seen: Counter[str] = Counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {words}, {rare}")
        cursor.execute(
            f"CREATE TABLE {words} (passage integer PRIMARY KEY, words tsvector NOT NULL, "
            "length integer NOT NULL, share real NOT NULL DEFAULT 1)"
        )
        cursor.execute(f"CREATE TABLE {rare} (term text PRIMARY KEY, passages integer NOT NULL)")
        with cursor.copy(f"COPY {words} (passage, words, length) FROM STDIN") as copy:
            for passage in passages:
                found = terms(passage.indexed_text)
                places = _places(found)
                seen.update(places.keys())
                copy.write_row((passage.row, _document(places), len(found)))
        with cursor.copy(f"COPY {rare} (term, passages) FROM STDIN") as copy:
            for item in seen.items():
                copy.write_row(item)
        cursor.execute(
            f"UPDATE {words} SET share = {1 + K1} / (1 + {K1} * (1 - {B} + {B} * length / mean.words)) "  # noqa: S608 - our own names
            f"FROM (SELECT greatest(avg(length), 1) AS words FROM {words}) AS mean"
        )
        cursor.execute(f"CREATE INDEX ON {words} USING gin (words) WITH (fastupdate = off)")
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {words}, {rare}")


def drop_words(version_id: int) -> None:
    """Remove the version's tables, if it has them."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS {}, {}".format(*tables(version_id)))


class PostgresqlWords:
    """See `LexicalIndex` for what it promises. The connection is that of the thread that asks."""

    def __init__(self, version_id: int, chunks: int) -> None:
        self._words, self._terms = tables(version_id)
        self._chunks = chunks

    def search(self, text: str, count: int, allowed: Mask | None = None) -> Found:
        asked = Counter(terms(text))
        if not asked or count < 1:
            return Found.nothing()
        frequencies = self._frequencies(list(asked))
        if not frequencies:
            return Found.nothing()
        rarest = sorted(frequencies, key=lambda term: (frequencies[term], term))[:MOST_TERMS]
        weights = {term: asked[term] * self._weight(frequencies[term]) for term in rarest}
        return self._ranked(weights, _choosing(rarest, frequencies), count, allowed)

    def close(self) -> None:
        """Nothing is held: the connection belongs to Django."""

    def _frequencies(self, asked: Sequence[str]) -> dict[str, int]:
        query = f"SELECT term, passages FROM {self._terms} WHERE term = ANY(%s)"  # noqa: S608 - our own name
        with connection.cursor() as cursor:
            cursor.execute(query, [list(asked)])
            return dict(cursor.fetchall())

    def _weight(self, passages: int) -> float:
        return math.log(1 + (self._chunks - passages + 0.5) / (passages + 0.5))

    def _ranked(
        self, weights: dict[str, float], choosing: Sequence[str], count: int, allowed: Mask | None
    ) -> Found:
        rank = " + ".join(
            f"%s * power(ts_rank(words, %s::tsquery) / {ONCE}, {POWER})" for _ in weights
        )
        values: list[Any] = [
            part for term, weight in weights.items() for part in (weight, _quoted(term))
        ]
        values.append(" | ".join(map(_quoted, choosing)))
        where = ""
        if allowed is not None:
            where = "AND passage = ANY(%s)"
            values.append(np.flatnonzero(allowed).tolist())
        query = (
            f"SELECT passage, share * ({rank}) AS score FROM {self._words} "  # noqa: S608 - our own name
            f"WHERE words @@ %s::tsquery {where} ORDER BY score DESC, passage LIMIT %s"
        )
        with connection.cursor() as cursor:
            cursor.execute(query, [*values, count])
            found = cursor.fetchall()
        rows = np.array([row for row, _ in found], np.int64)
        return best(rows, np.array([score for _, score in found], np.float32), count)


def _places(found: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, term in enumerate(found, 1):
        if len(term.encode()) <= LONGEST_TERM and len(places[term]) < MOST_PLACES:
            places[term].append(min(place, LAST_PLACE))
    return {term: where for term, where in places.items() if where}


def _document(places: dict[str, list[int]]) -> str:
    """The text form of a tsvector."""
    return " ".join(f"{_quoted(term)}:{','.join(map(str, at))}" for term, at in places.items())


def _quoted(term: str) -> str:
    """A term inside a tsvector or tsquery. Terms are letters and digits; the rest is caution."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _choosing(rarest: Sequence[str], frequencies: dict[str, int]) -> list[str]:
    """The terms that a passage must have one of."""
    chosen: list[str] = []
    passages = 0
    for term in rarest:
        if chosen and passages + frequencies[term] > ENOUGH_PASSAGES:
            break
        chosen.append(term)
        passages += frequencies[term]
    return chosen
