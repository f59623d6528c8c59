"""Questions with the documents that answer them, by which pipelines are measured."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from typing_extensions import override

from tools.models.corpora import Corpus
from tools.models.fields import json_object
from tools.techniques import LONGEST_QUERY

LONGEST_KEY: Final = 100
LONGEST_NAME: Final = 500
HIGHEST_GRADE: Final = 100
MOST_RELEVANT: Final = 1000


class QuestionSet(models.Model):
    """Labelled questions about the documents of one corpus."""

    name = models.CharField(max_length=100, unique=True, help_text="What charts and lists call it.")
    corpus = models.ForeignKey(
        Corpus,
        on_delete=models.CASCADE,
        related_name="question_sets",
        help_text="Whose documents the questions are about.",
    )
    description = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)

    @override
    def __str__(self) -> str:
        return self.name


class LabelledQuestion(models.Model):
    """One question and the documents that answer it, by their names in the corpus, with grades."""

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="questions"
    )
    key = models.CharField(
        max_length=LONGEST_KEY, help_text="By which runs are compared, question by question."
    )
    text = models.TextField(validators=[MaxLengthValidator(LONGEST_QUERY)])
    relevant = models.JSONField(
        validators=[json_object], help_text="Grades by the names of documents; 0: not relevant."
    )

    class Meta:
        ordering = ("question_set", "pk")
        constraints = (
            models.UniqueConstraint(fields=("question_set", "key"), name="question_key_unique"),
        )

    @override
    def __str__(self) -> str:
        return self.text[:80]

    @override
    def clean(self) -> None:
        faults = relevant_faults(self.relevant)
        if faults:
            raise ValidationError({"relevant": faults})


def relevant_faults(relevant: Any) -> list[str]:
    """What is wrong with the judgements of one question; empty when nothing is."""
    faults = judgement_faults(relevant)
    if not faults and not any(relevant.values()):
        faults.append("At least one document needs a grade of 1 or more.")
    return faults


def judgement_faults(relevant: Any) -> list[str]:
    """The same for some of the judgements of a question: all may say that a document is not relevant."""
    if not isinstance(relevant, dict) or not relevant:
        return ["Name at least one document that answers the question."]
    if len(relevant) > MOST_RELEVANT:
        return [f"{len(relevant):,} documents are named; {MOST_RELEVANT:,} are the most."]
    faults = []
    for name, grade in relevant.items():
        if not name.strip() or len(name) > LONGEST_NAME or not can_be_kept(name):
            faults.append(f"{name[:60]!r} cannot be the name of a document.")
        # True is a whole number to Python.
        elif type(grade) is not int or not 0 <= grade <= HIGHEST_GRADE:
            faults.append(f"The grade of {name} must be a whole number from 0 to {HIGHEST_GRADE}.")
    return faults


def can_be_kept(text: str) -> bool:
    """Whether databases take it: no NUL, and no halves of characters, which JSON can hold."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
