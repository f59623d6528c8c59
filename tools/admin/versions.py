"""Index versions in the admin: to read and to switch between, never to write by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from tools.admin.json_fields import panel, pretty
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.texts import badge, moment, red, unbroken
from tools.models import IndexVersion
from tools.models.corpora import VersionState
from tools.services.corpora import CorpusFault, activate

STATE_COLOURS: Final = {
    VersionState.BUILDING: "info",
    VersionState.READY: "primary",
    VersionState.ACTIVE: "success",
    VersionState.RETIRED: "",
    VersionState.REFUSED: "warning",
    VersionState.FAILED: "danger",
}
# Versions that were built to their end and are not in use.
ENDED: Final = frozenset({VersionState.RETIRED, VersionState.REFUSED})


@dataclass(frozen=True, slots=True)
class Progress:
    """A version as pages show it."""

    version: IndexVersion
    colour: str
    percent: int
    busy: bool
    switchable: bool
    refused: bool


def progress_of(version: Any) -> Progress:
    """How far `version` is, and whether queries could use it."""
    done = version.done_documents + version.failed_documents
    whole = version.state not in {VersionState.BUILDING, VersionState.FAILED}
    percent = 100 if whole else min(100, 100 * done // max(1, version.total_documents))
    state = VersionState(version.state)
    return Progress(
        version=version,
        colour=STATE_COLOURS[state],
        percent=percent,
        busy=state is VersionState.BUILDING,
        switchable=state in ENDED and not version.statistics.get("removed"),
        refused=state is VersionState.REFUSED,
    )


@admin.register(IndexVersion)
class IndexVersionAdmin(ReadOnlyAdmin):
    """What was built, of what, and which is in use."""

    what_comes_here = "An index is built on the page of a corpus."
    list_display = (
        "named",
        "state_badge",
        "progress",
        "chunks",
        "embedding_model",
        "created",
        "activated",
    )
    list_display_links = ("named",)
    list_filter = ("state", "corpus")
    list_filter_submit = False
    search_fields = ("corpus__slug", "embedding_model")
    list_select_related = ("corpus",)
    sortable_by = ()
    actions = ("switch",)  # type: ignore[assignment] # the base has none
    ordering = ("-pk",)
    fieldsets = (
        (None, {"fields": ("corpus", "number", "state_badge", "problem")}),
        (
            "What is in it",
            {"fields": ("progress", "failed_documents", "chunks", "statistics_shown")},
        ),
        ("How it was made", {"fields": ("embedding_model", "chunking_shown", "store")}),
        ("Times", {"fields": ("created", "touched", "finished", "activated")}),
        ("Quality", {"fields": ("evaluated",)}),
    )

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[IndexVersion]:
        rows: QuerySet[IndexVersion] = super().get_queryset(request)
        return rows.defer("statistics", "chunking")

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes a row; who may change the corpus may switch versions."""
        return False

    def has_switch_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tools.change_corpus")

    @admin.action(description="Switch to the selected version", permissions=["switch"])
    def switch(self, request: HttpRequest, queryset: QuerySet[IndexVersion]) -> None:
        """Queries use it from the next one on."""
        chosen = list(queryset.select_related("corpus"))
        if len({version.corpus_id for version in chosen}) != len(chosen):
            told = "Choose one version of a corpus. Nothing was changed."
            self.message_user(request, told, messages.ERROR)
            return
        for version in chosen:
            name = f"Index version {version.number} of {version.corpus.slug}"
            try:
                # Whoever chose it by hand knows what the quality gate said.
                activate(version, force=True)
            except CorpusFault as fault:
                self.message_user(request, f"{name}: {fault}", messages.ERROR)
            else:
                self.log_change(request, version, "Switched to this version.")
                self.message_user(request, f"{name} is in use now.", messages.SUCCESS)

    @admin.display(description="Version")
    def named(self, version: Any) -> SafeString:
        return unbroken(f"{version.corpus.slug} {version.number}")

    @admin.display(description="State")
    def state_badge(self, version: Any) -> SafeString:
        return badge(version.state, STATE_COLOURS[VersionState(version.state)])

    @admin.display(description="Documents")
    def progress(self, version: Any) -> str:
        return f"{version.done_documents} of {version.total_documents}"

    @admin.display(description="Problem")
    def problem(self, version: Any) -> SafeString | str:
        return red(version.error) if version.error else "none"

    @admin.display(description="Figures")
    def statistics_shown(self, version: Any) -> SafeString:
        return panel(pretty(version.statistics))

    @admin.display(description="Chunking")
    def chunking_shown(self, version: Any) -> SafeString:
        return panel(pretty(version.chunking))

    @admin.display(description="Evaluations")
    def evaluated(self, version: Any) -> SafeString:
        address = reverse("admin:tools_evaluationrun_changelist")
        return format_html(
            '<a class="text-primary-600 dark:text-primary-500" href="{}?version__id__exact={}">'
            "Show those of this version</a>",
            address,
            version.pk,
        )

    @admin.display(description="Created")
    def created(self, version: Any) -> str:
        return moment(version.created_at)

    @admin.display(description="Last sign of work")
    def touched(self, version: Any) -> str:
        return moment(version.touched_at)

    @admin.display(description="Finished")
    def finished(self, version: Any) -> str:
        return moment(version.finished_at)

    @admin.display(description="Switched to")
    def activated(self, version: Any) -> str:
        return moment(version.activated_at)
