"""Corpora in the admin: documents go in here, and index versions are built and switched here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.texts import badge, moment, plural
from tools.admin.versions import STATE_COLOURS, progress_of
from tools.conf import deployment
from tools.models import Corpus, Document, IndexVersion
from tools.models.corpora import DocumentStatus, VersionState
from tools.services.corpora import (
    Added,
    CorpusFault,
    Refused,
    activate,
    add_upload,
    remove_corpus,
    start_index,
)

# Lines of one message; a zip may have thousands of files that cannot be read.
MOST_TOLD: Final = 10
MOST_VERSIONS: Final = 10
MOST_FAILED: Final = 20
# The parts of a version that no list shows.
LARGE = ("chunking",)


@admin.register(Corpus)
class CorpusAdmin(ModelAdmin):
    """Bodies of documents for pipelines to search."""

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
        js = ("tools/admin/follow.js", "tools/admin/corpus.js")

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
    def get_urls(self) -> list[URLPattern]:
        pages = (
            ("upload", self.upload_view, ""),
            ("build", self.build_view, ""),
            ("versions", self.versions_view, ""),
            ("activate", self.activate_view, "<int:number>/"),
        )
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            *(
                path(
                    f"<int:pk>/{name}/{rest}",
                    self.admin_site.admin_view(view),
                    name=f"tools_corpus_{name}",
                )
                for name, view, rest in pages
            ),
            *super().get_urls(),
        ]

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        corpus = self.get_object(request, object_id)
        shown = self._page(request, corpus) if corpus is not None else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @override
    def response_post_save_add(self, request: HttpRequest, obj: Corpus) -> HttpResponse:
        """Right on to where documents go in."""
        return redirect("admin:tools_corpus_change", obj.pk)

    @override
    def delete_model(self, request: HttpRequest, obj: Corpus) -> None:
        remove_corpus(obj)

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Corpus]) -> None:
        for corpus in queryset:
            remove_corpus(corpus)

    def upload_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Take the files of a form, and zips of files."""
        return require_POST(self._upload)(request, pk)

    def build_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Begin a new index version; workers do the rest."""
        return require_POST(self._build)(request, pk)

    def activate_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Let queries use another version, newer or older."""
        return require_POST(self._activate)(request, pk, number)

    def versions_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The part of the page that changes while a version is built."""
        return require_GET(self._versions)(request, pk)

    def _upload(self, request: HttpRequest, pk: int) -> HttpResponse:
        corpus = self._changeable(request, pk)
        files = request.FILES.getlist("files")
        if not files:
            self.message_user(request, "Choose at least one file.", messages.WARNING)
            return self._back(corpus)
        results: list[Added | Refused] = []
        for file in files:
            results += add_upload(corpus, file.name or "", file.read())
        self._tell(request, corpus, results)
        changed = any(isinstance(one, Added) and one.outcome != "unchanged" for one in results)
        if changed and request.POST.get("build"):
            self._begin(request, corpus)
        return self._back(corpus)

    def _tell(
        self, request: HttpRequest, corpus: Corpus, results: Iterable[Added | Refused]
    ) -> None:
        outcomes: Counter[str] = Counter()
        refused: list[Refused] = []
        for one in results:
            if isinstance(one, Refused):
                refused.append(one)
            else:
                outcomes[one.outcome] += 1
        if outcomes:
            told = ", ".join(f"{count} {word}" for word, count in outcomes.items())
            noun = plural(sum(outcomes.values()), "document")
            self.log_change(request, corpus, f"Uploaded {noun}: {told}.")
            self.message_user(request, f"{noun}: {told}.", messages.SUCCESS)
        if refused:
            self.message_user(request, _refusals(refused), messages.ERROR)

    def _build(self, request: HttpRequest, pk: int) -> HttpResponse:
        corpus = self._changeable(request, pk)
        self._begin(request, corpus, force=bool(request.POST.get("force")))
        return self._back(corpus)

    def _begin(self, request: HttpRequest, corpus: Corpus, *, force: bool = False) -> None:
        try:
            version = start_index(corpus, force=force)
        except CorpusFault as fault:
            self.message_user(request, str(fault), messages.ERROR)
            return
        if version.state == VersionState.BUILDING:
            self.log_change(request, corpus, f"Began index version {version.number}.")
            told = f"Index version {version.number} is being built."
        else:
            told = f"Nothing has changed since version {version.number}, which is in use."
        self.message_user(request, told, messages.SUCCESS)

    def _activate(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        corpus = self._changeable(request, pk)
        version = IndexVersion.objects.filter(corpus=corpus, number=number).first()
        if version is None:
            raise Http404
        try:
            # Whoever presses the button has read what the quality gate said.
            activate(version, force=True)
        except CorpusFault as fault:
            self.message_user(request, str(fault), messages.ERROR)
        else:
            self.log_change(request, corpus, f"Switched to index version {number}.")
            told = f"Queries use index version {number} now."
            self.message_user(request, told, messages.SUCCESS)
        return self._back(corpus)

    def _versions(self, request: HttpRequest, pk: int) -> HttpResponse:
        corpus = self.get_object(request, str(pk))
        if corpus is None:
            raise Http404
        if not self.has_view_permission(request, corpus):
            raise PermissionDenied
        return render(request, "tools/admin/corpus_versions.html", self._page(request, corpus))

    def _changeable(self, request: HttpRequest, pk: int) -> Corpus:
        corpus: Corpus | None = self.get_object(request, str(pk))
        if corpus is None:
            raise Http404
        if not self.has_change_permission(request, corpus):
            raise PermissionDenied
        return corpus

    def _back(self, corpus: Corpus) -> HttpResponse:
        return redirect("admin:tools_corpus_change", corpus.pk)

    def _page(self, request: HttpRequest, corpus: Any) -> dict[str, Any]:
        """What the page shows beside the form."""
        documents = Document.objects.filter(corpus=corpus)
        counts = dict(documents.order_by().values_list("status").annotate(Count("pk")))
        failed = documents.filter(status=DocumentStatus.FAILED).defer("content", "metadata")
        versions = list(corpus.versions.all())
        return {
            "corpus": corpus,
            "may_change": self.has_change_permission(request, corpus),
            "counts": [(status.value, counts.get(status.value, 0)) for status in DocumentStatus],
            "documents_total": sum(counts.values()),
            "documents_address": _documents_address(corpus),
            "failed": list(failed.order_by("name")[:MOST_FAILED]),
            "versions": [progress_of(version) for version in versions[:MOST_VERSIONS]],
            "versions_left": max(0, len(versions) - MOST_VERSIONS),
            "building": any(version.state == VersionState.BUILDING for version in versions),
            "largest": deployment().rag.max_document_bytes,
        }

    @admin.display(description="Documents", ordering="held")
    def documents_held(self, corpus: Any) -> SafeString:
        return format_html(
            '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>',
            _documents_address(corpus),
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
        return format_html_join(", ", line, links) or "no pipeline"

    @admin.display(description="Created")
    def created(self, corpus: Corpus) -> str:
        return moment(corpus.created_at)

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, corpus: Corpus) -> str:
        return moment(corpus.updated_at)


def _active(corpus: Any) -> IndexVersion | None:
    states = (version for version in corpus.versions.all() if version.state == VersionState.ACTIVE)
    return next(states, None)


def _documents_address(corpus: Any) -> str:
    return f"{reverse('admin:tools_document_changelist')}?corpus__id__exact={corpus.pk}"


def _refusals(refused: list[Refused]) -> SafeString:
    """What was not taken and why, one line each, within reason."""
    told = ((one.name, one.reason) for one in refused[:MOST_TOLD])
    lines = format_html_join("", "<br><strong>{}</strong>: {}", told)
    more = len(refused) - MOST_TOLD
    rest = f"\u2026 and {plural(more, 'other')}" if more > 0 else ""
    return format_html(
        "{} not taken:{}{}",
        plural(len(refused), "file"),
        lines,
        format_html("<br>{}", rest) if rest else "",
    )
