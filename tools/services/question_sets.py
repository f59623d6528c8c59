"""Sets of labelled questions: what goes in, and which documents they name that the corpus lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from tools.models import Document, LabelledQuestion, QuestionSet
from tools.services.audit.acting import unrecorded
from tools.services.audit.recording import Action, record_action
from tools.services.evaluation_corpus import document_name
from tools.services.question_files import (
    MOST_QUESTIONS,
    Labelled,
    QuestionFaults,
    graded,
    key_of,
    read_file,
    read_folder,
    read_typed,
)

__all__ = [
    "MOST_QUESTIONS",
    "Labelled",
    "QuestionFaults",
    "Saved",
    "graded",
    "key_of",
    "read_file",
    "read_folder",
    "read_typed",
    "save_questions",
    "unknown_documents",
]

AT_ONCE: Final = 10_000
# More are not looked for: a set that names so many unknown documents is of another corpus.
MOST_LOOKED_FOR: Final = 50_000


@dataclass(frozen=True, slots=True)
class Saved:
    """How many questions were added, how many were there already and changed, how many went."""

    added: int
    changed: int
    removed: int


def save_questions(
    question_set: QuestionSet, questions: Sequence[Labelled], *, replace: bool = False
) -> Saved:
    """Put questions into a set. One whose id is there already takes the place of that one.

    Raises:
        QuestionFaults: the set would have too many.
    """
    with transaction.atomic():
        # One at a time: two uploads would both count the questions of before.
        QuestionSet.objects.select_for_update().get(pk=question_set.pk)
        there = LabelledQuestion.objects.filter(question_set=question_set)
        known = {row.key: row for row in there}
        given = {one.key for one in questions}
        total = len(given) if replace else len(known.keys() | given)
        if total > MOST_QUESTIONS:
            raise QuestionFaults(
                [f"The set would have {total:,} questions; {MOST_QUESTIONS:,} are the most."]
            )
        gone = [row.pk for key, row in known.items() if replace and key not in given]
        with unrecorded():
            # One entry tells of all: a file may have thousands.
            for keys in _slices(gone, 1000):
                there.filter(pk__in=keys).delete()
        new, changed = [], []
        for one in questions:
            row = known.get(one.key)
            if row is None:
                new.append(_row(question_set, one))
            elif (row.text, row.relevant) != (one.text, one.relevant):
                row.text, row.relevant = one.text, one.relevant
                changed.append(row)
        LabelledQuestion.objects.bulk_create(new, batch_size=500)
        LabelledQuestion.objects.bulk_update(changed, ("text", "relevant"), batch_size=200)
        question_set.save(update_fields=["updated_at"])
        saved = Saved(len(new), len(changed), len(gone))
        _record(question_set, saved)
    return saved


def _record(question_set: QuestionSet, saved: Saved) -> None:
    """Write down in the audit trail how many questions came, changed and went, if any did."""
    if saved == Saved(0, 0, 0):
        return
    told = (
        f"Questions: {saved.added:,} added, {saved.changed:,} changed, {saved.removed:,} removed."
    )
    kind = QuestionSet._meta.label_lower
    record_action(Action.CHANGED, kind, str(question_set), object_id=question_set.pk, note=told)


def unknown_documents(question_set: QuestionSet) -> list[str]:
    """The documents that its questions name and its corpus does not have, in their order."""
    rows = LabelledQuestion.objects.filter(question_set=question_set)
    named: dict[str, None] = {}
    for relevant in rows.values_list("relevant", flat=True).iterator(chunk_size=2000):
        named.update(dict.fromkeys(relevant if isinstance(relevant, dict) else ()))
        if len(named) > MOST_LOOKED_FOR:
            break
    there = _there(question_set.corpus_id, {*named, *map(document_name, named)})
    return [name for name in named if not {name, document_name(name)} & there]


def _there(corpus_id: int, names: Iterable[str]) -> set[str]:
    documents = Document.objects.filter(corpus_id=corpus_id).order_by()
    found: set[str] = set()
    for some in _slices(sorted(names), AT_ONCE):
        found.update(documents.filter(name__in=some).values_list("name", flat=True))
    return found


def _slices(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (items[place : place + size] for place in range(0, len(items), size))


def _row(question_set: QuestionSet, one: Labelled) -> LabelledQuestion:
    return LabelledQuestion(
        question_set=question_set, key=one.key, text=one.text, relevant=one.relevant
    )
