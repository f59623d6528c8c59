"""Fills the demo corpus with the project's own files, has it indexed, and brings questions to measure it by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import transaction

from tools.models import Corpus, Document, IndexVersion, QuestionSet
from tools.models.corpora import VersionState
from tools.services.corpora import CorpusFault, add_document, start_index
from tools.services.question_sets import Labelled, key_of, save_questions
from tools.services.seed_pipelines import DEMO_CORPUS

# Folders of the project, and what their documents are named by.
FOLDERS: Final = (("examples/corpus", "articles"), ("docs", "docs"))
LEFT_OUT: Final = frozenset(
    {
        # A table of ids, as long as a third of all pages; nobody asks about it.
        "docs/reference/requirements.md",
        # Asks a question about documents that the reader uploads, and tells what they say.
        "docs/tutorial/first-morning-in-the-admin.md",
    }
)
# Each with the articles that answer it.
QUESTIONS: Final = "examples/corpus/questions.json"
QUESTION_SET: Final = "demo"
FORMATS: Final = frozenset({".md", ".txt", ".html", ".csv", ".jsonl", ".pdf", ".docx"})


@dataclass(frozen=True, slots=True)
class DemoState:
    """How far the demo corpus is. `state` is that of the version that was asked for."""

    documents: int
    state: VersionState
    done: int = 0
    total: int = 0
    passages: int = 0
    error: str = ""

    @property
    def busy(self) -> bool:
        return self.state in {VersionState.BUILDING, VersionState.READY}

    @property
    def in_use(self) -> bool:
        return self.state is VersionState.ACTIVE


def fill_demo(base: Path) -> int | None:
    """Fill an empty demo corpus, or renew what has changed of it, and begin an index version if needed.

    A document that an operator took out does not come back, nor do the questions. The key of the version to wait for; None
    when there is no demo corpus or nothing for it.

    Raises:
        CorpusFault: a file cannot be taken, or the index cannot be begun.
    """
    corpus = Corpus.objects.filter(slug=DEMO_CORPUS).first()
    if corpus is None:
        return None
    # One look at all names; most starts find that nothing has changed.
    rows = Document.objects.filter(corpus=corpus).order_by()
    known: dict[str, str] = dict(rows.values_list("name", "digest"))
    with transaction.atomic():
        for name, path in demo_files(base):
            content = path.read_bytes()
            wanted = not known or name in known
            if wanted and content and known.get(name) != hashlib.sha256(content).hexdigest():
                add_document(corpus, name, content, source=name)
        if not known:
            _ask_about_articles(corpus, base / QUESTIONS)
    return start_index(corpus).pk if rows.exists() else None


def demo_files(base: Path) -> Iterator[tuple[str, Path]]:
    """The files of the demo, with the names they have in the corpus."""
    for folder, prefix in FOLDERS:
        root = base / folder
        for path in sorted(root.rglob("*")):
            name = f"{prefix}/{path.relative_to(root).as_posix()}"
            if path.suffix.lower() in FORMATS and name not in LEFT_OUT and path.is_file():
                yield name, path


def _ask_about_articles(corpus: Corpus, path: Path) -> None:
    if not path.is_file() or QuestionSet.objects.filter(name=QUESTION_SET).exists():
        return
    question_set = QuestionSet.objects.create(
        name=QUESTION_SET,
        corpus=corpus,
        description="About the articles of the demo: one of them answers, or several together.",
    )
    save_questions(
        question_set,
        [
            Labelled(
                key_of(one["question"]),
                one["question"],
                {f"articles/{name}": 1 for name in one["articles"]},
                line,
            )
            for line, one in enumerate(json.loads(path.read_bytes()), start=1)
        ],
    )


def demo_state(version_id: int) -> DemoState:
    """How far a version of the demo corpus is.

    Raises:
        CorpusFault: it is gone.
    """
    version = IndexVersion.objects.filter(pk=version_id).first()
    if version is None:
        raise CorpusFault("The index version was deleted meanwhile.")
    return DemoState(
        documents=Document.objects.filter(corpus=version.corpus_id).count(),
        state=VersionState(version.state),
        done=version.done_documents + version.failed_documents,
        total=version.total_documents,
        passages=version.chunks,
        error=version.error,
    )
