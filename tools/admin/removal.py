"""What is said before a corpus or documents are deleted: how much goes, and what is in the way.

The admin's own page would read every row that goes, and with it the bytes of every document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from django.db.models import Count, Sum
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html

from tools.admin.texts import plural
from tools.models import Chunk, Corpus, Document, IndexVersion, PipelineConfig

# What is deleted, counts by kind, permissions that are missing, what is in the way.
Told = tuple[list[Any], dict[str, int], set[str], list[Any]]
MOST_NAMED: Final = 50
LINK: Final = (
    'Pipeline <a class="text-primary-600 dark:text-primary-500" href="{}">{}</a> (the tool {}): '
    "let it use another corpus first"
)


def corpora_told(corpora: Iterable[Any], request: HttpRequest) -> Told:
    """For the page that asks whether to delete corpora."""
    chosen = list(corpora)
    deleted: list[Any] = []
    for corpus in chosen:
        held = Document.objects.filter(corpus=corpus).aggregate(count=Count("pk"), size=Sum("size"))
        versions = IndexVersion.objects.filter(corpus=corpus).count()
        deleted.append(f"Corpus: {corpus.slug}")
        deleted.append(
            [
                f"{plural(held['count'], 'document')}, {filesizeformat(held['size'] or 0)}",
                plural(Chunk.objects.filter(document__corpus=corpus).count(), "passage"),
                f"{plural(versions, 'index version')}, with their files",
            ]
        )
    counts = {"corpora": len(chosen)}
    return deleted, counts, _missing(request, "corpus"), _users(chosen)


def documents_told(documents: Iterable[Any], request: HttpRequest) -> Told:
    """For the page that asks whether to delete documents."""
    keys = [document.pk for document in documents]
    rows = Document.objects.filter(pk__in=keys).order_by("name")
    held = rows.aggregate(size=Sum("size"), passages=Sum("chunk_count"))
    names: list[Any] = [
        f"{name} ({slug})" for name, slug in rows.values_list("name", "corpus__slug")[:MOST_NAMED]
    ]
    if len(keys) > MOST_NAMED:
        names.append(f"… and {len(keys) - MOST_NAMED:,} more")
    names.append(
        f"Together {filesizeformat(held['size'] or 0)} and {plural(held['passages'] or 0, 'passage')}. "
        "Queries find them until a new index version is in use."
    )
    users = [
        f"Used by the pipeline {name}: it answers without them then"
        for name in PipelineConfig.objects.filter(corpus__documents__in=keys)
        .order_by("pipeline_name")
        .values_list("pipeline_name", flat=True)
        .distinct()
    ]
    return [*names, *users], {"documents": len(keys)}, _missing(request, "document"), []


def _users(corpora: Sequence[Corpus]) -> list[Any]:
    """The pipelines that search these corpora, which must not lose them."""
    rows = PipelineConfig.objects.filter(corpus__in=corpora).order_by("pipeline_name")
    return [
        format_html(LINK, reverse("admin:tools_pipelineconfig_change", args=[pk]), name, tool)
        for pk, name, tool in rows.values_list("pk", "pipeline_name", "tool__name")
    ]


def _missing(request: HttpRequest, model: str) -> set[str]:
    return set() if request.user.has_perm(f"tools.delete_{model}") else {model}
