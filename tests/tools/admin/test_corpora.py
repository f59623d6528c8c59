"""Corpora, documents, passages, index versions and evaluations in the admin."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from tests.doors import RestDoor
from tests.factories import make_corpus, make_document, make_pipeline, make_version
from tests.tools.admin.pages import act, address, submit, text
from tools.conf import deployment
from tools.models import Chunk, Corpus, Document, EvaluationRun, IndexVersion
from tools.models.corpora import VersionState
from tools.services.corpora import build_index

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

OTTERS = b"# Otters\n\nOtters hold hands while they sleep.\n"


def send(client: Client, corpus: Corpus, *files: SimpleUploadedFile, **fields: str) -> Any:
    url = address(Corpus, "upload", corpus.pk)
    return client.post(url, {"files": list(files), **fields}, follow=True)


def file(name: str, content: bytes = OTTERS) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def viewer(*permissions: str) -> Client:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def test_a_new_corpus_leads_to_where_documents_go_in(admin_client: Client) -> None:
    page = submit(admin_client, address(Corpus, "add"), slug="papers", title="Papers")
    corpus = Corpus.objects.get()
    assert page.redirect_chain[-1][0] == address(Corpus, "change", corpus.pk)
    assert 'type="file"' in text(page)
    assert "Nothing to index yet." in text(page)
    assert "no pipeline" in text(page)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("slug", "My Papers", "Use lower-case letters, digits and hyphens."),
        ("chunk_tokens", "10", "greater than or equal to 32"),
        ("chunk_overlap", "200", "At most half of the passage"),
        ("largest_loss", "0.1", "The gate needs an evaluation set."),
    ],
)
def test_a_wrong_value_is_told_beside_its_field(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    page = submit(admin_client, address(Corpus, "add"), **{"slug": "papers", field: value})
    assert told in text(page)
    assert not Corpus.objects.exists()


def test_several_files_and_archives_go_in_at_once(admin_client: Client) -> None:
    corpus = make_corpus()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("sea/kelp.txt", "Kelp grows fast.")
        archive.writestr("sea/bad<b>.exe", b"MZ\0\0")
    page = text(send(admin_client, corpus, file("otters.md"), file("sea.zip", packed.getvalue())))
    assert "2 documents: 2 added." in page
    assert "1 file not taken:" in page
    assert "sea/bad&lt;b&gt;.exe" in page
    assert set(Document.objects.values_list("name", flat=True)) == {"otters.md", "sea/kelp.txt"}
    # The box was not ticked.
    assert not IndexVersion.objects.exists()
    again = text(send(admin_client, corpus, file("otters.md"), build="1"))
    assert "1 document: 1 unchanged." in again
    assert not IndexVersion.objects.exists()


def test_an_upload_without_files_is_told(admin_client: Client) -> None:
    assert "Choose at least one file." in text(send(admin_client, make_corpus()))


def test_an_index_is_built_followed_and_switched_back(admin_client: Client) -> None:
    corpus = make_corpus()
    page = send(admin_client, corpus, file("otters.md"), build="1")
    assert "Index version 1 is being built." in text(page)
    part = admin_client.get(address(Corpus, "versions", corpus.pk))
    assert 'data-busy="yes"' in text(part)
    assert 'role="progressbar"' in text(part)

    build_index(corpus)
    part = admin_client.get(address(Corpus, "versions", corpus.pk))
    assert 'data-busy="no"' in text(part)
    assert "active" in text(part)
    again = admin_client.post(address(Corpus, "build", corpus.pk), follow=True)
    assert "Nothing has changed since version 1" in text(again)

    admin_client.post(address(Corpus, "build", corpus.pk), {"force": "1"})
    build_index(corpus)
    assert corpus.versions.get(state=VersionState.ACTIVE).number == 2
    back = admin_client.post(address(Corpus, "activate", corpus.pk, 1), follow=True)
    assert "Queries use index version 1 now." in text(back)
    assert corpus.versions.get(state=VersionState.ACTIVE).number == 1
    listed = text(admin_client.get(address(Corpus, "changelist")))
    assert corpus.slug in listed


def test_an_index_of_nothing_is_refused_plainly(admin_client: Client) -> None:
    corpus = make_corpus(slug="papers")
    page = admin_client.post(address(Corpus, "build", corpus.pk), follow=True)
    assert "papers has no documents." in text(page)


def test_a_version_that_is_not_whole_cannot_be_switched_to(admin_client: Client) -> None:
    corpus = make_corpus()
    make_version(corpus, state=VersionState.FAILED, error="The disk is full.")
    page = text(admin_client.get(address(Corpus, "change", corpus.pk)))
    assert "The disk is full." in page
    assert "Switch to this version" not in page
    admin_client.post(address(Corpus, "activate", corpus.pk, 1))
    assert corpus.versions.get().state == VersionState.FAILED
    assert admin_client.post(address(Corpus, "activate", corpus.pk, 9)).status_code == 404


def test_documents_that_failed_are_named_with_their_reason(admin_client: Client) -> None:
    corpus = make_corpus()
    make_document(corpus, name="scan.pdf", status="failed", error="There is no text in it.")
    page = text(admin_client.get(address(Corpus, "change", corpus.pk)))
    assert "scan.pdf" in page
    assert "There is no text in it." in page


@pytest.mark.parametrize("page", ["upload", "build"])
def test_looking_is_not_changing(page: str) -> None:
    corpus = make_corpus()
    client = viewer("view_corpus")
    shown = text(client.get(address(Corpus, "change", corpus.pk)))
    assert 'type="file"' not in shown
    assert client.post(address(Corpus, page, corpus.pk)).status_code == 403
    assert client.get(address(Corpus, page, corpus.pk)).status_code == 405
    assert client.get(address(Corpus, "versions", corpus.pk)).status_code == 200
    assert not IndexVersion.objects.exists()


def test_strangers_see_nothing_of_a_corpus() -> None:
    corpus = make_corpus()
    for page in ("upload", "build", "versions"):
        answer = Client().get(address(Corpus, page, corpus.pk))
        assert answer.headers["Location"].startswith("/admin/login/")
    client = viewer("view_tool")
    assert client.get(address(Corpus, "versions", corpus.pk)).status_code == 403


def test_a_corpus_in_use_is_not_deleted(admin_client: Client) -> None:
    corpus = make_corpus()
    pipeline = make_pipeline(corpus=corpus)
    url = address(Corpus, "delete", corpus.pk)
    assert "protected related objects" in text(admin_client.get(url))
    admin_client.post(url, {"post": "yes"})
    assert Corpus.objects.exists()
    pipeline.delete()
    admin_client.post(url, {"post": "yes"}, follow=True)
    assert not Corpus.objects.exists()


def test_a_documents_page_shows_its_text_and_leads_to_its_passages(admin_client: Client) -> None:
    document = make_document(
        make_corpus(), name="a<b>.md", content=OTTERS, chunks=["Otters hold hands."], status="ready"
    )
    page = text(admin_client.get(address(Document, "change", document.pk)))
    assert "Otters hold hands while they sleep." in page
    assert "a&lt;b&gt;.md" in page
    passages = f"{address(Chunk, 'changelist')}?document__id__exact={document.pk}"
    assert passages in page
    make_document(document.corpus, chunks=["Another text."])
    listed = text(admin_client.get(passages))
    assert "Otters hold hands." in listed
    assert "Another text." not in listed
    chunk = document.chunks.get()
    assert "Otters hold hands." in text(admin_client.get(address(Chunk, "change", chunk.pk)))


def test_a_document_is_downloaded_as_a_file_that_no_browser_runs(admin_client: Client) -> None:
    document = make_document(make_corpus(), name="sea/page.html", content=b"<script>1</script>")
    answer = admin_client.get(address(Document, "content", document.pk))
    assert answer.content == b"<script>1</script>"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert viewer().get(address(Document, "content", document.pk)).status_code == 403


def test_content_that_is_no_text_is_not_shown_as_text(admin_client: Client) -> None:
    document = make_document(make_corpus(), content=b"%PDF-1.7\0\xff")
    page = text(admin_client.get(address(Document, "change", document.pk)))
    assert "no plain text" in page


def test_documents_are_deleted_with_a_word_about_the_index(admin_client: Client) -> None:
    corpus = make_corpus()
    first, second = (make_document(corpus, name=name) for name in ("a.txt", "b.txt"))
    make_version(corpus, state=VersionState.ACTIVE)
    page = act(admin_client, Document, "delete_selected", first)
    assert "until a new index version is in use" in text(page)
    assert (
        f'href="{address(Corpus, "change", corpus.pk)}#corpus-versions">Build it now</a>'
        in text(page)
    )
    assert list(Document.objects.all()) == [second]


def test_documents_that_no_index_holds_are_deleted_without_a_warning(admin_client: Client) -> None:
    document = make_document(make_corpus())
    page = act(admin_client, Document, "delete_selected", document)
    assert not Document.objects.exists()
    assert "until a new index version is in use" not in text(page)


def test_who_may_not_build_is_told_who_can() -> None:
    corpus = make_corpus()
    document = make_document(corpus)
    make_version(corpus, state=VersionState.ACTIVE)
    client = viewer("view_document", "delete_document")
    url = address(Document, "delete", document.pk)
    page = text(client.post(url, {"post": "yes"}, follow=True))
    assert "Somebody who may change the corpus can build it." in page
    assert "Build it now" not in page


def test_page_tells_of_deleted_documents_until_the_index_is_built_without_them(
    admin_client: Client,
) -> None:
    corpus = make_corpus()
    send(admin_client, corpus, file("otters.md"), file("kelp.txt", b"Kelp grows fast."))
    build_index(corpus)
    part = address(Corpus, "versions", corpus.pk)
    assert "still holds" not in text(admin_client.get(part))
    document = Document.objects.get(name="otters.md")
    admin_client.post(address(Document, "delete", document.pk), {"post": "yes"})
    assert "The index in use, version 1, still holds 1 document that is gone" in text(
        admin_client.get(part)
    )
    admin_client.post(address(Corpus, "build", corpus.pk))
    build_index(corpus)
    assert "still holds" not in text(admin_client.get(part))


def test_an_index_is_built_of_a_corpus_that_was_emptied(admin_client: Client) -> None:
    corpus = make_corpus()
    part = address(Corpus, "versions", corpus.pk)
    assert "disabled" in text(admin_client.get(part))
    send(admin_client, corpus, file("otters.md"))
    build_index(corpus)
    act(admin_client, Document, "delete_selected", Document.objects.get())
    shown = text(admin_client.get(part))
    assert "still holds 1 document that is gone" in shown
    assert "disabled" not in shown
    page = text(admin_client.post(address(Corpus, "build", corpus.pk), follow=True))
    assert "Index version 2 is being built." in page
    build_index(corpus)
    assert "still holds" not in text(admin_client.get(part))


def test_lists_cost_the_same_queries_for_any_number_of_rows_and_read_no_bytes(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(12):
        corpus = make_corpus()
        make_version(corpus, state=VersionState.RETIRED)
        make_version(corpus, state=VersionState.ACTIVE, chunks=3)
        make_document(corpus, chunks=["a", "b"])
    for model in (Corpus, Document, Chunk, IndexVersion):
        with django_assert_max_num_queries(10) as asked:
            assert admin_client.get(address(model, "changelist")).status_code == 200
        assert not any('"content"' in query["sql"] for query in asked.captured_queries)


def test_passages_are_found_by_their_words(admin_client: Client) -> None:
    make_document(make_corpus(), chunks=["Otters hold hands.", "Kelp grows."])
    found = text(admin_client.get(address(Chunk, "changelist"), {"q": "kelp"}))
    assert "Kelp grows." in found
    assert "Otters" not in found


@pytest.mark.parametrize("model", [Document, Chunk, IndexVersion, EvaluationRun])
def test_what_the_program_writes_is_not_written_by_hand(
    admin_client: Client, model: type[Document]
) -> None:
    assert admin_client.get(address(model, "add")).status_code == 403


def test_versions_are_switched_from_their_list(admin_client: Client) -> None:
    corpus = make_corpus(slug="papers")
    send(admin_client, corpus, file("otters.md"))
    build_index(corpus)
    build_index(corpus, force=True)
    first, second = corpus.versions.order_by("number")
    both = act(admin_client, IndexVersion, "switch", first, second)
    assert "Choose one version of a corpus." in text(both)
    page = act(admin_client, IndexVersion, "switch", first)
    assert "Index version 1 of papers is in use now." in text(page)
    assert corpus.versions.get(state=VersionState.ACTIVE) == first
    shown = text(admin_client.get(address(IndexVersion, "change", first.pk)))
    assert first.embedding_model in shown


def test_evaluations_are_shown_with_their_measures(admin_client: Client) -> None:
    version = make_version(make_corpus(slug="cranfield"), state=VersionState.ACTIVE)
    run = EvaluationRun.objects.create(
        pipeline_name="basic",
        version=version,
        dataset="cranfield",
        queries=225,
        measures={"ndcg@10": 0.4361, "recall@5": 0.3, "p95_ms": 12.34},
        comparison={"difference": -0.0123, "p_value": 0.04},
        per_query={"1": 0.5},
    )
    EvaluationRun.objects.create(pipeline_name="crag", dataset="gone", queries=1)
    listed = text(admin_client.get(address(EvaluationRun, "changelist")))
    for shown in ("0.436", "0.300", "12.3 ms", "-0.012 (p = 0.040)", "cranfield 1", "gone"):
        assert shown in listed
    of_version = f"{address(EvaluationRun, 'changelist')}?version__id__exact={version.pk}"
    assert [row.pk for row in admin_client.get(of_version).context["cl"].result_list] == [run.pk]
    page = text(admin_client.get(address(EvaluationRun, "change", run.pk)))
    assert "0.4361" in page


def test_uploads_larger_than_other_forms_come_in_through_the_real_door(
    door: RestDoor, settings: Settings
) -> None:
    small = {"MAX_DOCUMENT_BYTES": 3 << 20}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, **small}
    deployment.cache_clear()
    corpus = make_corpus()
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    cookies = {"sessionid": browser.cookies["sessionid"].value, "csrftoken": "c" * 32}
    url = address(Corpus, "upload", corpus.pk)
    large = b"Otters sleep. " * ((3 << 20) // 14)
    try:
        for content, status in ((large, 302), (large + b"x" * (1 << 17), 413)):
            answer = door.client.post(
                url,
                files=[("files", ("large.txt", content))],
                headers={"X-CSRFToken": "c" * 32, "Cookie": _line(cookies)},
            )
            assert answer.status_code == status, answer.text[:500]
    finally:
        deployment.cache_clear()
    assert bytes(Document.objects.get().content) == large


def _line(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())
