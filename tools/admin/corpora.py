"""Corpora in the admin: documents go in here, and index versions are built and switched here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from typing_extensions import override

from tools.admin.corpus_page import documents_address
from tools.admin.corpus_uploads import CorpusPages
from tools.admin.guarded_form import GuardedForm
from tools.admin.removal import Told, corpora_told
from tools.admin.texts import badge, moment
from tools.admin.versions import STATE_COLOURS, progress_of
from tools.models import Corpus, IndexVersion
from tools.models.corpora import VersionState
from tools.services.corpora import CorpusFault, remove_corpora

# The parts of a version that no list shows.
LARGE = ("chunking",)


@admin.register(Corpus)
class CorpusAdmin(CorpusPages):
    """Bodies of documents for pipelines to search."""

    form = GuardedForm
    what_comes_here = "A collection of documents that pipelines answer from."
    list_display = ("slug", "title", "documents_held", "passages", "in_use", "state", "updated")
    search_fields = ("slug", "title", "description")
    list_per_page = 50
    warn_unsaved_form = True
    readonly_fields = ("created", "updated", "used_by")
    change_form_outer_before_template = "tools/admin/corpus.html"
    fieldsets = (
        (None, {"fields": ("slug", "title", "description", "used_by")}),
        (
            "How the next index version is made",
            {"fields": ("embedding_model", "chunk_tokens", "chunk_overlap")},
        ),
        ("Quality gate", {"fields": ("largest_loss", "gate_dataset")}),
        ("Times", {"fields": ("created", "updated")}),
    )

    class Media:
        css = {"all": ("tools/admin/corpus.css",)}
        js = ("tools/admin/follow.js", "tools/admin/corpus.js", "tools/admin/confirm.js")

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A corpus that is being added is used by nothing and has no times yet."""
        if obj is not None:
            return self.fieldsets
        return [
            (title, {"fields": [name for name in options["fields"] if name != "used_by"]})
            for title, options in self.fieldsets
            if title != "Times"
        ]

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Corpus]:
        versions = IndexVersion.objects.order_by("-number").defer(*LARGE)
        rows: QuerySet[Corpus] = super().get_queryset(request)
        return rows.annotate(held=Count("documents")).prefetch_related(
            Prefetch("versions", versions)
        )

    @override
    def response_post_save_add(self, request: HttpRequest, obj: Corpus) -> HttpResponse:
        """Right on to where documents go in."""
        return redirect("admin:tools_corpus_change", obj.pk)

    @override
    def get_deleted_objects(
        self, objs: QuerySet[Any] | Sequence[Any], request: HttpRequest
    ) -> Told:
        return corpora_told(objs, request)

    @override
    def delete_model(self, request: HttpRequest, obj: Corpus) -> None:
        remove_corpora([obj])

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Corpus]) -> None:
        remove_corpora(queryset)

    @override
    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """A pipeline may have come to use the corpus since the page asked."""
        try:
            return super().delete_view(request, object_id, extra_context)
        except CorpusFault as fault:
            self.message_user(request, str(fault), messages.ERROR)
            return redirect("admin:tools_corpus_change", object_id)

    @override
    def response_action(self, request: HttpRequest, queryset: QuerySet[Corpus]) -> Any:
        """All that was chosen is deleted, with the entries that say so, or nothing is."""
        try:
            with transaction.atomic():
                return super().response_action(request, queryset)
        except CorpusFault as fault:
            self.message_user(request, f"{fault} Nothing was deleted.", messages.ERROR)
            return redirect(request.get_full_path())

    @admin.display(description="Documents", ordering="held")
    def documents_held(self, corpus: Any) -> SafeString:
        return format_html(
            '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>',
            documents_address(corpus),
            corpus.held,
        )

    @admin.display(description="Passages")
    def passages(self, corpus: Any) -> str:
        active = _active(corpus)
        return f"{active.chunks:,}" if active else "-"

    @admin.display(description="Version in use")
    def in_use(self, corpus: Any) -> str:
        active = _active(corpus)
        return str(active.number) if active else "-"

    @admin.display(description="State")
    def state(self, corpus: Any) -> SafeString:
        latest = next(iter(corpus.versions.all()), None)
        if latest is None:
            return badge("no index yet" if corpus.held else "empty", "info")
        shown = progress_of(latest)
        word = f"{latest.state} {shown.percent} %" if shown.busy else latest.state
        return badge(word, STATE_COLOURS[VersionState(latest.state)])

    @admin.display(description="Used by")
    def used_by(self, corpus: Any) -> SafeString | str:
        rows = corpus.pipelines.order_by("pipeline_name").values_list("pk", "pipeline_name")
        links = (
            (reverse("admin:tools_pipelineconfig_change", args=[pk]), name) for pk, name in rows
        )
        line = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
        return format_html_join(", ", line, links) or format_html(
            "no pipeline, so agents cannot search it yet. " + line,
            reverse("admin:tools_pipelineconfig_changelist"),
            "Let a pipeline use it",
        )

    @admin.display(description="Created")
    def created(self, corpus: Corpus) -> str:
        return moment(corpus.created_at)

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, corpus: Corpus) -> str:
        return moment(corpus.updated_at)


def _active(corpus: Any) -> IndexVersion | None:
    states = (version for version in corpus.versions.all() if version.state == VersionState.ACTIVE)
    return next(states, None)
