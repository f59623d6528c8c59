"""Question sets for tests, about the short documents of `tests.indexes`."""

from __future__ import annotations

from typing import Any

from tools.models import Corpus, LabelledQuestion, QuestionSet

ASKED = (
    ("birds", "When do the birds return?", {"birds.txt": 2}),
    ("pumps", "Who oils the pump?", {"pumps.md": 1, "bread.txt": 0}),
)


def make_questions(
    corpus: Corpus, name: str = "Handbook", asked: Any = ASKED, **fields: Any
) -> QuestionSet:
    """A saved set with a few questions."""
    made = QuestionSet(name=name, corpus=corpus, **fields)
    made.save()
    LabelledQuestion.objects.bulk_create(
        LabelledQuestion(question_set=made, key=key, text=text, relevant=relevant)
        for key, text, relevant in asked
    )
    return made
