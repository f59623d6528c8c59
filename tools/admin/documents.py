"""Documents and their passages in the admin: to read; what goes in goes in on the corpus' page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from django.contrib import admin, messages
from django.contrib.admin.options import ShowFacets
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.json_fields import panel, pretty
from tools.admin.paginator import CappedPaginator
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.removal import Told, documents_told
from tools.admin.texts import badge, moment, red
from tools.models import Chunk, Corpus, Document
from tools.models.corpora import DocumentStatus, VersionState
from tools.services.corpora import CorpusFault, remove_document, retry_documents

STATUS_COLOURS: Final = {
    DocumentStatus.PENDING: "info",
    DocumentStatus.READY: "success",
    DocumentStatus.DUPLICATE: "",
    DocumentStatus.FAILED: "danger",
}
# Characters of a text that the page shows; the rest is in the download.
LONGEST_SHOWN: Final = 20_000
EXCERPT: Final = 120
LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
_STILL: Final = "{0}: queries find what was deleted until a new index version is in use. "
BUILD: Final = _STILL + '<a style="text-decoration: underline" href="{1}">Build it now</a>'
ASK: Final = _STILL + "Somebody who may change the corpus can build it."


@admin.register(Document)
class DocumentAdmin(ModelAdmin):
    """What a corpus is made of. The bytes are read for one document at a time, never for a list."""

    what_comes_here = "Documents are uploaded on the page of a corpus."
    list_display = (
        "name",
        "corpus",
        "status_badge",
        "why",
        "held",
        "bytes",
        "updated",
    )
    actions = ("retry",)
    list_filter = ("status", "corpus")
    list_filter_submit = False
    list_select_related = ("corpus",)
    search_fields = ("name", "title", "source")
    list_per_page = 50
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    ordering = ("-pk",)
    fieldsets = (
        (None, {"fields": ("corpus", "name", "title", "source", "status_badge", "problem")}),
        ("Content", {"fields": ("media_type", "bytes", "digest_shown", "download", "beginning")}),
        ("Passages", {"fields": ("held", "passages")}),
        ("More", {"fields": ("metadata_shown", "uploaded", "updated")}),
    )

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        rows: QuerySet[Document] = super().get_queryset(request)
        return rows.defer("content")

    @override
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def get_deleted_objects(
        self, objs: QuerySet[Any] | Sequence[Any], request: HttpRequest
    ) -> Told:
        return documents_told(objs, request)

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Nobody changes a document here; who may change its corpus may have it read again."""
        return request.user.has_perm("tools.change_corpus")

    @admin.action(description="Try again to read selected documents", permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Those of them that failed, with a new index version of each corpus."""
        for corpus in Corpus.objects.filter(documents__in=queryset).distinct():
            chosen = queryset.filter(corpus=corpus).values_list("pk", flat=True)
            try:
                version = retry_documents(corpus, list(chosen))
            except CorpusFault as fault:
                self.message_user(request, str(fault), messages.ERROR)
            else:
                told = f"{corpus.slug}: they are read again for index version {version.number}."
                self.message_user(request, told, messages.SUCCESS)

    @override
    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        remove_document(obj)
        self._still_found(request, {obj.corpus_id})

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        corpora = set()
        for document in queryset:
            corpora.add(document.corpus_id)
            remove_document(document)
        self._still_found(request, corpora)

    def _still_found(self, request: HttpRequest, corpora: Collection[int]) -> None:
        """Lead to where an index is built without what was deleted, for each corpus that has one."""
        searched = Corpus.objects.filter(pk__in=corpora, versions__state=VersionState.ACTIVE)
        way = BUILD if request.user.has_perm("tools.change_corpus") else ASK
        for corpus in searched:
            place = f"{reverse('admin:tools_corpus_change', args=[corpus.pk])}#corpus-versions"
            self.message_user(request, format_html(way, corpus, place), messages.WARNING)

    @override
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.content_view)
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            path("<int:pk>/content/", view, name="tools_document_content"),
            *super().get_urls(),
        ]

    def content_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The bytes as a file to keep: somebody else's page must not run on this address."""
        document = Document.objects.filter(pk=pk).first()
        if document is None:
            raise Http404
        if not self.has_view_permission(request, document):
            raise PermissionDenied
        name = document.name.rpartition("/")[2]
        return HttpResponse(
            bytes(document.content),
            content_type="application/octet-stream",
            headers={
                "Content-Disposition": content_disposition_header(True, name) or "attachment",
                "Content-Security-Policy": "sandbox; default-src 'none'",
            },
        )

    @admin.display(description="Status", ordering="status")
    def status_badge(self, document: Any) -> SafeString:
        return badge(document.status, STATUS_COLOURS[DocumentStatus(document.status)])

    @admin.display(description="Problem")
    def problem(self, document: Any) -> SafeString | str:
        if document.status == DocumentStatus.FAILED:
            return red(document.error or "not told")
        return document.error or "none"

    @admin.display(description="Problem")
    def why(self, document: Any) -> SafeString | str:
        """In a list: shortened."""
        told = Truncator(document.error).chars(EXCERPT)
        failed = document.status == DocumentStatus.FAILED
        return red(told or "not told") if failed else told or "-"

    @admin.display(description="Size", ordering="size")
    def bytes(self, document: Any) -> str:
        return filesizeformat(document.size)

    @admin.display(description="Passages", ordering="chunk_count")
    def held(self, document: Any) -> str:
        return f"{document.chunk_count:,}"

    @admin.display(description="SHA-256")
    def digest_shown(self, document: Any) -> SafeString:
        return format_html('<code style="overflow-wrap: anywhere">{}</code>', document.digest)

    @admin.display(description="Whole file")
    def download(self, document: Any) -> SafeString:
        return format_html(
            LINK, reverse("admin:tools_document_content", args=[document.pk]), "Download"
        )

    @admin.display(description="Beginning")
    def beginning(self, document: Any) -> SafeString | str:
        text = _text(document)
        if text is None:
            return "no plain text; see the passages below"
        shown = text[:LONGEST_SHOWN]
        return panel(shown + ("\n\u2026" if len(text) > len(shown) else ""))

    @admin.display(description="Texts")
    def passages(self, document: Any) -> SafeString | str:
        if not document.chunk_count:
            return "none yet"
        address = reverse("admin:tools_chunk_changelist")
        return format_html(LINK, f"{address}?document__id__exact={document.pk}", "Show them")

    @admin.display(description="Metadata")
    def metadata_shown(self, document: Any) -> SafeString:
        return panel(pretty(document.metadata))

    @admin.display(description="Uploaded")
    def uploaded(self, document: Any) -> str:
        return moment(document.uploaded_at)

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, document: Any) -> str:
        return moment(document.updated_at)


@admin.register(Chunk)
class ChunkAdmin(ReadOnlyAdmin):
    """Passages as they were last cut."""

    list_display = ("excerpt", "where", "heading", "page", "tokens")
    list_filter = (("document__corpus", admin.RelatedOnlyFieldListFilter),)
    list_filter_submit = False
    list_select_related = ("document",)
    search_fields = ("text", "heading")
    search_help_text = "Words of the passage or of its heading."
    sortable_by = ()
    ordering = ("pk",)
    fieldsets = (
        (None, {"fields": ("document_link", "ordinal", "heading", "page", "tokens")}),
        ("Text", {"fields": ("whole",)}),
    )

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        rows: QuerySet[Chunk] = super().get_queryset(request)
        return rows.defer("document__content", "document__metadata")

    @override
    def lookup_allowed(self, lookup: str, value: str, request: Any = None) -> bool:
        """A document's page leads to its passages."""
        return lookup == "document__id__exact" or super().lookup_allowed(lookup, value, request)

    @admin.display(description="Text")
    def excerpt(self, chunk: Any) -> str:
        return Truncator(chunk.text).chars(EXCERPT)

    @admin.display(description="Document")
    def where(self, chunk: Any) -> str:
        return f"{chunk.document.name} #{chunk.ordinal}"

    @admin.display(description="Document")
    def document_link(self, chunk: Any) -> SafeString:
        address = reverse("admin:tools_document_change", args=[chunk.document_id])
        return format_html(LINK, address, chunk.document.name)

    @admin.display(description="Text")
    def whole(self, chunk: Any) -> SafeString:
        return panel(chunk.text)


def _text(document: Any) -> str | None:
    """The content if it is text in UTF-8; None if not."""
    content = bytes(document.content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
