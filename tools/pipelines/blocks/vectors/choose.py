"""Which store the vectors and words of an index version are kept in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from tools.conf import deployment
from tools.pipelines.blocks.vectors import ann, exact, iris, postgresql
from tools.pipelines.contracts import (
    BlockUnavailable,
    IndexSpec,
    LexicalIndex,
    Matrix,
    Passage,
    VectorStore,
)

FILES: Final = "files"
POSTGRESQL: Final = "postgresql"
IRIS: Final = "iris"


def chosen_store() -> str:
    """The store of the next index version, as RAG_STORE says.

    Raises:
        BlockUnavailable: it cannot be had here; the message says why.
    """
    wanted = deployment().rag.store
    if wanted == POSTGRESQL and not postgresql.has_pgvector():
        raise BlockUnavailable(
            "RAG_STORE=postgresql needs a PostgreSQL database with the extension vector 0.8 or newer"
        )
    if wanted == IRIS and not deployment().rag.iris_url:
        raise BlockUnavailable("RAG_STORE=iris needs IRIS_URL")
    if wanted == "auto":
        return POSTGRESQL if postgresql.has_pgvector() else FILES
    return wanted


def build_store(
    store: str, version_id: int, folder: Path, vectors: Matrix, passages: Sequence[Passage]
) -> None:
    """Put vectors and words where `store` says; `folder` has `vectors.npy` already."""
    if store == POSTGRESQL:
        from tools.pipelines.blocks.lexical_postgresql import build_words

        postgresql.build_postgresql(version_id, vectors)
        build_words(version_id, passages)
    elif store == IRIS:
        iris.build_iris(_iris(), version_id, vectors)
    elif len(vectors) > ann.SMALLEST:
        ann.build_ann(folder, vectors)


def open_vectors(spec: IndexSpec, folder: Path) -> VectorStore:
    """The vectors of an index version."""
    if spec.store == POSTGRESQL:
        return postgresql.open_postgresql(spec.version_id, spec.chunks)
    if spec.store == IRIS:
        return iris.IrisVectors(_iris(), spec.version_id, spec.chunks)
    if (folder / ann.GRAPH).exists():
        return ann.open_ann(folder)
    return exact.open_exact(folder)


def open_words(spec: IndexSpec, folder: Path) -> LexicalIndex:
    """The word index of an index version; `folder` is that of the embedded one."""
    if spec.store == POSTGRESQL:
        from tools.pipelines.blocks.lexical_postgresql import PostgresqlWords

        return PostgresqlWords(spec.version_id, spec.chunks)
    from tools.pipelines.blocks.lexical import open_lexical

    return open_lexical(folder)


def drop_store(store: str, version_id: int) -> None:
    """Remove what is kept outside the version's folder."""
    if store == POSTGRESQL:
        from tools.pipelines.blocks.lexical_postgresql import drop_words

        postgresql.drop_postgresql(version_id)
        drop_words(version_id)
    elif store == IRIS:
        iris.drop_iris(_iris(), version_id)


def _iris() -> iris.IrisServer:
    url = deployment().rag.iris_url
    if not url:
        raise BlockUnavailable("The vector store is not configured.")
    return _server(url)


@lru_cache(maxsize=1)
def _server(url: str) -> iris.IrisServer:
    return iris.IrisServer(url)
