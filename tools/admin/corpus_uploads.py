"""What people do on the page of a corpus: add files, build, try again, switch versions.

Scripts ask for JSON and show what came of it in the page; forms are led back to the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.corpus_page import corpus_page
from tools.admin.corpus_search import search_page
from tools.admin.slow_pages import in_a_place
from tools.admin.texts import plural
from tools.models import Corpus, IndexVersion
from tools.models.corpora import VersionState
from tools.services.corpora import (
    Added,
    CorpusFault,
    Refused,
    activate,
    add_upload,
    another_follows,
    retry_documents,
    start_index,
)

# Lines of one message; a zip may have thousands of files that cannot be read.
MOST_TOLD: Final = 10
MOST_SENT: Final = 200


class CorpusPages(ModelAdmin):
    """For the ModelAdmin of corpora."""

    @override
    def get_urls(self) -> list[URLPattern]:
        pages = (
            ("upload", require_POST(self._upload), ""),
            ("build", require_POST(self._build), ""),
            ("retry", require_POST(self._retry), ""),
            ("activate", require_POST(self._activate), "<int:number>/"),
            ("versions", require_GET(self._versions), ""),
            ("search", require_GET(self._search), ""),
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

    def _upload(self, request: HttpRequest, pk: int) -> HttpResponse:
        corpus = self._changeable(request, pk)
        return in_a_place(request, lambda: self._take(request, corpus))

    def _take(self, request: HttpRequest, corpus: Corpus) -> HttpResponse:
        results: list[Added | Refused] = []
        for file in request.FILES.getlist("files"):
            results += add_upload(corpus, file.name or "", file.read())
        outcomes, refused = _sorted(results)
        if outcomes:
            self.log_change(request, corpus, f"Uploaded {_counted(outcomes)}")
        if _wants_json(request):
            told = [{"name": one.name, "reason": one.reason} for one in refused[:MOST_SENT]]
            return JsonResponse({"outcomes": outcomes, "refused": told})
        if not results:
            self.message_user(request, "Choose at least one file.", messages.WARNING)
        if outcomes:
            self.message_user(request, _counted(outcomes), messages.SUCCESS)
        if refused:
            self.message_user(request, _refusals(refused), messages.ERROR)
        if set(outcomes) - {"unchanged"} and request.POST.get("build"):
            self._begin(request, corpus)
        return self._back(corpus)

    def _build(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Begin a new index version; workers do the rest."""
        corpus = self._changeable(request, pk)
        told = self._begin(request, corpus, force=bool(request.POST.get("force")))
        return JsonResponse({"told": told}) if _wants_json(request) else self._back(corpus)

    def _begin(self, request: HttpRequest, corpus: Corpus, *, force: bool = False) -> str:
        level = messages.SUCCESS
        try:
            version = start_index(corpus, force=force)
        except CorpusFault as fault:
            told, level = str(fault), messages.ERROR
        else:
            told = f"Nothing has changed since version {version.number}, which is in use."
            if version.state == VersionState.BUILDING:
                told = self._begun(request, corpus, version)
        if not _wants_json(request):
            self.message_user(request, told, level)
        return told

    def _begun(self, request: HttpRequest, corpus: Corpus, version: IndexVersion) -> str:
        number = version.number
        if another_follows(corpus):
            self.log_change(request, corpus, f"Asked for the index version after {number}.")
            return f"Index version {number} is being built; another follows with what has changed since."
        if not version.asked_again:
            self.log_change(request, corpus, f"Began index version {number}.")
        return f"Index version {number} is being built. Queries use it once it is active."

    def _retry(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Read the documents again that could not be read."""
        corpus = self._changeable(request, pk)
        try:
            version = retry_documents(corpus)
        except CorpusFault as fault:
            self.message_user(request, str(fault), messages.ERROR)
        else:
            self.log_change(request, corpus, "Tried again to read what had failed.")
            told = f"They are read again for index version {version.number}."
            self.message_user(request, told, messages.SUCCESS)
        return self._back(corpus)

    def _activate(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Let queries use another version, newer or older."""
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
        """The part of the page that changes while a version is built."""
        corpus = self._visible(request, pk)
        return render(request, "tools/admin/corpus_versions.html", self._page(request, corpus))

    def _search(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Passages that fit a text: a page, or the part of one that a script asks for."""
        corpus = self._visible(request, pk)
        if not request.user.has_perm("tools.view_document"):
            raise PermissionDenied
        return in_a_place(request, lambda: self._hits(request, corpus))

    def _hits(self, request: HttpRequest, corpus: Corpus) -> HttpResponse:
        found = search_page(corpus, request.GET.get("q", ""))
        if request.GET.get("part"):
            return render(request, "tools/admin/corpus_hits.html", found)
        shown = {**self.admin_site.each_context(request), "title": f"Search in {corpus}"}
        return render(request, "tools/admin/corpus_search.html", {**shown, **found})

    def _visible(self, request: HttpRequest, pk: int) -> Corpus:
        corpus: Corpus | None = self.get_object(request, str(pk))
        if corpus is None:
            raise Http404
        if not self.has_view_permission(request, corpus):
            raise PermissionDenied
        return corpus

    def _changeable(self, request: HttpRequest, pk: int) -> Corpus:
        corpus = self._visible(request, pk)
        if not self.has_change_permission(request, corpus):
            raise PermissionDenied
        return corpus

    def _page(self, request: HttpRequest, corpus: Any) -> dict[str, Any]:
        may_change = self.has_change_permission(request, corpus)
        may_search = request.user.has_perm("tools.view_document")
        return {**corpus_page(corpus, may_change=may_change), "may_search": may_search}

    def _back(self, corpus: Corpus) -> HttpResponse:
        return redirect("admin:tools_corpus_change", corpus.pk)


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def _sorted(results: Iterable[Added | Refused]) -> tuple[Counter[str], list[Refused]]:
    outcomes: Counter[str] = Counter()
    refused: list[Refused] = []
    for one in results:
        if isinstance(one, Refused):
            refused.append(one)
        else:
            outcomes[one.outcome] += 1
    return outcomes, refused


def _counted(outcomes: Counter[str]) -> str:
    told = ", ".join(f"{count} {word}" for word, count in outcomes.items())
    return f"{plural(sum(outcomes.values()), 'document')}: {told}."


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
