"""Question sets in the admin: labelled questions by which pipelines are measured."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.paginator import CappedPaginator
from tools.admin.question_forms import QuestionForm, QuestionSetForm
from tools.admin.texts import moment, plural
from tools.models import EvaluationRun, LabelledQuestion, QuestionSet
from tools.services.question_sets import (
    QuestionFaults,
    save_questions,
    unknown_documents,
)

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
MOST_NAMED: Final = 10


@admin.register(QuestionSet)
class QuestionSetAdmin(ModelAdmin):
    """Labelled questions about the documents of a corpus."""

    what_comes_here = (
        "Questions with the documents that answer them. Pipelines are measured by them under "
        "Evaluations."
    )
    form = QuestionSetForm
    list_display = ("name", "corpus", "held", "evaluated", "updated")
    list_select_related = ("corpus",)
    search_fields = ("name", "description", "corpus__slug")
    list_per_page = 50
    autocomplete_fields = ("corpus",)
    readonly_fields = ("held", "unknown", "evaluated", "updated")
    fieldsets = (
        (None, {"fields": ("name", "corpus", "description")}),
        ("State", {"fields": ("held", "unknown", "evaluated", "updated")}),
        ("Add questions", {"fields": ("file", "typed", "folder", "replace")}),
    )

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """What is being added has no state yet; who may not change it is shown no way in."""
        may_change = obj is None or self.has_change_permission(request, obj)
        hidden = {"State"} if obj is None else set() if may_change else {"Add questions"}
        return [(title, options) for title, options in self.fieldsets if title not in hidden]

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[QuestionSet]:
        latest = EvaluationRun.objects.filter(question_set=OuterRef("pk")).order_by("-created_at")
        rows: QuerySet[QuestionSet] = super().get_queryset(request)
        return rows.annotate(
            counted=Count("questions"), latest=Subquery(latest.values("created_at")[:1])
        )

    @override
    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        """The questions of the form go in once their set is there."""
        super().save_related(request, form, formsets, change)
        questions = list(form.questions.values())
        if not questions:
            return
        try:
            saved = save_questions(
                form.instance, questions, replace=form.cleaned_data.get("replace", False)
            )
        except QuestionFaults as fault:
            self.message_user(request, " ".join(fault.faults), messages.ERROR)
            return
        told = f"{saved.added:,} added, {saved.changed:,} changed, {saved.removed:,} removed."
        noun = plural(len(questions), "question")
        self.message_user(request, f"{noun} read: {told}", messages.SUCCESS)
        if missing := unknown_documents(form.instance):
            self.message_user(request, _missing(form.instance, missing), messages.WARNING)

    @override
    def response_post_save_add(self, request: HttpRequest, obj: QuestionSet) -> HttpResponse:
        """Right on to what is in it now."""
        return redirect("admin:tools_questionset_change", obj.pk)

    @override
    def response_post_save_change(self, request: HttpRequest, obj: QuestionSet) -> HttpResponse:
        return redirect("admin:tools_questionset_change", obj.pk)

    @admin.display(description="Questions", ordering="counted")
    def held(self, row: Any) -> SafeString:
        query = urlencode({"question_set__id__exact": row.pk})
        listed = f"{reverse('admin:tools_labelledquestion_changelist')}?{query}"
        return format_html(LINK, listed, f"{row.counted:,}")

    @admin.display(description="Documents not in the corpus")
    def unknown(self, row: Any) -> SafeString | str:
        found = unknown_documents(row)
        return _missing(row, found) if found else "none"

    @admin.display(description="Last evaluated", ordering="latest")
    def evaluated(self, row: Any) -> SafeString:
        page = f"{reverse('admin:tools_evaluationrun_evaluate')}?{urlencode({'set': row.pk})}"
        return format_html(LINK, page, moment(row.latest) if row.latest else "never: evaluate it")

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, row: Any) -> str:
        return moment(row.updated_at)


def _missing(row: Any, names: list[str]) -> SafeString:
    """Which documents the corpus lacks, and what that means."""
    more = len(names) - MOST_NAMED
    return format_html(
        "{} in the corpus {}: {}{}. They count as not found. Upload them, or correct their names.",
        f"{plural(len(names), 'document')} named {'is' if len(names) == 1 else 'are'} not",
        row.corpus,
        format_html_join(", ", "<code>{}</code>", ((name,) for name in names[:MOST_NAMED])),
        f" and {more:,} more" if more > 0 else "",
    )


@admin.register(LabelledQuestion)
class LabelledQuestionAdmin(ModelAdmin):
    """Single questions, for a look and a correction; files go in on the page of their set."""

    form = QuestionForm
    list_display = ("question", "answered_by", "question_set")
    list_filter = ("question_set",)
    list_filter_submit = False
    list_select_related = ("question_set",)
    search_fields = ("text", "key")
    list_per_page = 50
    paginator = CappedPaginator
    show_full_result_count = False
    readonly_fields = ("key", "answered_by")

    @override
    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Who may only look is shown the documents, not the box to write them in."""
        written = obj is None or self.has_change_permission(request, obj)
        shown = ("question_set", "text", "documents" if written else "answered_by")
        return shown if obj is None else (*shown, "key")

    @admin.display(description="Question")
    def question(self, row: Any) -> str:
        return row.text if len(row.text) <= 200 else f"{row.text[:200]}…"

    @admin.display(description="Documents")
    def answered_by(self, row: Any) -> SafeString:
        named = [(name, grade) for name, grade in row.relevant.items() if grade > 0]
        shown = format_html_join(", ", "<code>{}</code> ({})", named[:MOST_NAMED])
        more = len(named) - MOST_NAMED
        return format_html("{}{}", shown, f" and {more} more" if more > 0 else "")
