"""Forms of question sets: questions go in as a file, as typed lines, or from a folder of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from typing_extensions import override
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from tools.admin.guarded_form import GuardedForm
from tools.models import LabelledQuestion, QuestionSet
from tools.services.question_sets import (
    Labelled,
    QuestionFaults,
    graded,
    key_of,
    read_file,
    read_folder,
    read_typed,
)

# Of one message; a file of another kind has a fault in every line.
MOST_TOLD: Final = 10
NOT_SAVED: Final = "Nothing was saved. Mend this, then send it again:"


class QuestionSetForm(GuardedForm):
    """A set and, with it, questions to put in."""

    file = forms.FileField(
        label="File",
        required=False,
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".jsonl,.ndjson,.json,.csv,.tsv"}),
        help_text="JSON Lines, such as {&quot;question&quot;: &quot;Who oils the pump?&quot;, "
        "&quot;relevant&quot;: {&quot;pumps.md&quot;: 2}}, where relevant may also be a list of names; or "
        "CSV with the columns question, document and, if you like, grade and id, one document a line.",
    )
    typed = forms.CharField(
        label="Or type them",
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text="One question a line, then the documents that answer it: "
        "Who oils the pump? | pumps.md | manual.pdf = 2. The number is the grade, 1 unless given.",
    )
    folder = forms.CharField(
        label="Or a folder of the server",
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="With queries.jsonl and qrels.tsv, as manage.py evaluate --dataset takes it.",
    )
    replace = forms.BooleanField(
        label="Remove the questions that are not among these",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Off: these are added; one with the id of another takes its place.",
    )

    class Meta:
        model = QuestionSet
        fields = ("name", "corpus", "description")

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        self.questions: dict[str, Labelled] = {}
        if file := cleaned.get("file"):
            self._take("file", lambda: read_file(file.name, file.read()))
        if typed := cleaned.get("typed"):
            self._take("typed", lambda: read_typed(typed))
        if folder := cleaned.get("folder"):
            self._take("folder", lambda: read_folder(folder))
        if cleaned.get("replace") and not self.questions and not self.errors:
            self.add_error("replace", "Give the questions that are to be there instead.")
        return cleaned

    def _take(self, field: str, read: Callable[[], list[Labelled]]) -> None:
        try:
            self.questions |= {one.key: one for one in read()}
        except QuestionFaults as fault:
            told = fault.faults[:MOST_TOLD]
            more = len(fault.faults) - MOST_TOLD
            rest = [f"… and {more:,} more of the kind."] if more > 0 else []
            self.add_error(field, ValidationError([NOT_SAVED, *told, *rest]))


class QuestionForm(GuardedForm):
    """One question; its documents are written one a line."""

    also_written = ("relevant",)

    documents = forms.CharField(
        label="Documents that answer it",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text="One a line, by its name in the corpus, with a grade behind it if you like: "
        "manual.pdf = 2. A grade of 0 says that it does not answer the question.",
    )

    class Meta:
        model = LabelledQuestion
        fields = ("question_set", "text")

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and "documents" in self.fields:
            lines = (f"{name} = {grade}" for name, grade in self.instance.relevant.items())
            self.fields["documents"].initial = "\n".join(lines)

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        named = cleaned.get("documents", "").replace("\0", "").splitlines()
        self.instance.relevant = dict(graded(line.strip()) for line in named if line.strip())
        if not self.instance.pk:
            self.instance.key = key_of(cleaned.get("text", ""))
        return cleaned

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        chosen = self.instance.question_set_id
        same = LabelledQuestion.objects.filter(question_set=chosen, key=self.instance.key)
        if chosen and same.exclude(pk=self.instance.pk).exists():
            self.add_error("text", "The set has this question already.")

    @override
    def add_error(self, field: Any, error: Any) -> None:
        # The model's own name for what is typed here as lines.
        if isinstance(error, ValidationError) and hasattr(error, "error_dict"):
            faults = error.error_dict
            if "relevant" in faults:
                faults["documents"] = faults.pop("relevant")
        super().add_error(field, error)
