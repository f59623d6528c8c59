"""Uploads as the page's script sends them, and what hostile files come to."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from tests.factories import make_corpus, make_document, make_pipeline, make_version
from tests.indexes import index_dir
from tests.tools.admin.pages import act, address, text
from tools.admin import corpora
from tools.admin.removal import corpora_told
from tools.conf import deployment
from tools.models import Corpus, Document, IndexEntry, IndexVersion
from tools.models.corpora import DocumentStatus, EntryState, VersionState
from tools.services.corpora import build_index

__all__ = ["index_dir"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

JSON = {"accept": "application/json"}


def send(client: Client, corpus: Corpus, *files: tuple[str, bytes], **fields: str) -> Any:
    given = [SimpleUploadedFile(name, content) for name, content in files]
    url = address(Corpus, "upload", corpus.pk)
    return client.post(url, {"files": given, **fields}, headers=JSON)


def packed(*members: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


def test_script_is_told_what_became_of_each_file(admin_client: Client) -> None:
    corpus = make_corpus()
    answer = send(
        admin_client,
        corpus,
        ("otters.md", b"# Otters\n\nOtters hold hands."),
        ("naïve 漢字.txt", b"Wale singen."),
        ("again.txt", b"Wale singen."),
        ("empty.txt", b""),
        ("picture.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100)),
        ("way.zip", packed(("../../evil.txt", b"evil"), ("ok.txt", b"fine"))),
        ("bomb.zip", packed(("big.txt", bytes(30 << 20)))),
    )
    told = answer.json()
    assert told["outcomes"] == {"added": 3, "duplicate": 1}
    assert {one["name"]: bool(one["reason"]) for one in told["refused"]} == {
        "empty.txt": True,
        "picture.pdf": True,
        "../../evil.txt": True,
        "big.txt": True,
    }
    assert set(Document.objects.values_list("name", flat=True)) == {
        *("otters.md", "naïve 漢字.txt", "again.txt", "ok.txt"),
    }
    # Messages would come up on some later page.
    assert "messages" not in answer.cookies
    assert LogEntry.objects.filter(change_message__contains="Uploaded 4 documents").exists()
    begun = admin_client.post(address(Corpus, "build", corpus.pk), headers=JSON)
    assert begun.json() == {
        "told": "Index version 1 is being built. Queries use it once it is active."
    }


def test_as_many_files_as_a_folder_holds_go_in_at_once(admin_client: Client) -> None:
    corpus = make_corpus()
    files = [(f"{number}.txt", f"Story {number}.".encode()) for number in range(200)]
    assert send(admin_client, corpus, *files).json()["outcomes"] == {"added": 200}


def test_build_of_nothing_is_told_to_the_script(admin_client: Client) -> None:
    corpus = make_corpus(slug="papers")
    begun = admin_client.post(address(Corpus, "build", corpus.pk), headers=JSON)
    assert begun.json() == {"told": "papers has no documents."}


def test_build_under_way_tells_what_is_read_and_who_answers(admin_client: Client) -> None:
    corpus = make_corpus()
    make_version(corpus, state=VersionState.ACTIVE, number=1)
    version = make_version(
        corpus, state=VersionState.BUILDING, number=2, total_documents=4, done_documents=1
    )
    document = make_document(corpus, name="long.pdf")
    IndexEntry.objects.create(version=version, document=document, attempts=1)
    part = text(admin_client.get(address(Corpus, "versions", corpus.pk)))
    assert "1 of 4 documents" in part
    assert "Reading long.pdf" in part
    assert 'aria-valuenow="25"' in part
    assert "Queries are answered from version 1 until the new one is whole" in part
    IndexEntry.objects.update(state=EntryState.DONE)
    IndexVersion.objects.filter(pk=version.pk).update(done_documents=4)
    part = text(admin_client.get(address(Corpus, "versions", corpus.pk)))
    assert "the index is being put together" in part


def test_document_that_failed_is_read_again(admin_client: Client, index_dir: Any) -> None:
    corpus = make_corpus(slug="papers")
    send(admin_client, corpus, ("a.txt", b"Alpha is first."), ("b.pdf", b"%PDF-1.7\ndamaged"))
    build_index(corpus)
    shown = text(admin_client.get(address(Corpus, "change", corpus.pk)))
    assert "1 document could not be read" in shown
    again = admin_client.post(address(Corpus, "retry", corpus.pk), follow=True)
    assert "They are read again for index version 2." in text(again)
    assert Document.objects.get(name="b.pdf").status == DocumentStatus.PENDING
    # Not while they are at it.
    again = admin_client.post(address(Corpus, "retry", corpus.pk), follow=True)
    assert "Version 2 of papers is being built" in text(again)
    build_index(corpus)
    failed = Document.objects.get(name="b.pdf")
    assert failed.status == DocumentStatus.FAILED
    listed = act(admin_client, Document, "retry", failed)
    assert "papers: they are read again for index version 3." in text(listed)
    build_index(corpus)
    good = Document.objects.get(name="a.txt")
    listed = act(admin_client, Document, "retry", good)
    assert "No document of papers has failed." in text(listed)


def test_documents_keep_their_errors_when_no_version_can_be_begun(
    admin_client: Client, settings: Settings
) -> None:
    corpus = make_corpus(slug="papers")
    make_document(corpus, name="b.pdf", status=DocumentStatus.FAILED, error="It is damaged.")
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "RAG_STORE": "iris", "IRIS_URL": ""}
    deployment.cache_clear()
    try:
        told = admin_client.post(address(Corpus, "retry", corpus.pk), follow=True)
    finally:
        deployment.cache_clear()
    assert "RAG_STORE=iris needs IRIS_URL" in text(told)
    kept = Document.objects.get(name="b.pdf")
    assert (kept.status, kept.error) == (DocumentStatus.FAILED, "It is damaged.")


def test_deleting_says_how_much_goes_and_what_is_in_the_way(admin_client: Client) -> None:
    corpus = make_corpus(slug="papers")
    rows = [make_document(corpus, name=f"{n}.txt", chunks=["one", "two"]) for n in range(60)]
    make_version(corpus, state=VersionState.RETIRED)
    url = address(Corpus, "delete", corpus.pk)
    shown = text(admin_client.get(url))
    for told in ("60 documents", "120 passages", "1 index version"):
        assert told in shown
    pipeline = make_pipeline(corpus=corpus)
    assert pipeline.tool.name in text(admin_client.get(url))
    asked = admin_client.post(
        address(Document, "changelist"),
        {"action": "delete_selected", "_selected_action": [row.pk for row in rows]},
    )
    assert "and 10 more" in text(asked)
    assert f"Used by the pipeline {pipeline.pipeline_name}" in text(asked)
    act(admin_client, Document, "delete_selected", *rows[:3])
    assert Document.objects.count() == 57


@pytest.mark.parametrize("page", ["delete", "changelist"])
def test_corpus_that_came_into_use_meanwhile_stays_with_all_others(
    admin_client: Client, monkeypatch: Any, page: str
) -> None:
    free, taken = make_corpus(slug="free"), make_corpus(slug="taken")

    def then_used(*arguments: Any) -> Any:
        found = corpora_told(*arguments)
        make_pipeline(corpus=taken)
        return found

    monkeypatch.setattr(corpora, "corpora_told", then_used)
    if page == "delete":
        confirmed: dict[str, Any] = {"post": "yes"}
        url = address(Corpus, "delete", taken.pk)
    else:
        chosen = [free.pk, taken.pk]
        confirmed = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
        url = address(Corpus, "changelist")
    shown = text(admin_client.post(url, confirmed, follow=True))
    assert "taken is used by basic; let them use another corpus, or remove them." in shown
    assert "uccessfully deleted" not in shown
    assert set(Corpus.objects.values_list("slug", flat=True)) == {"free", "taken"}
    assert not LogEntry.objects.filter(action_flag=DELETION).exists()


def test_only_who_may_change_a_corpus_tries_again(client: Client, django_user_model: Any) -> None:
    corpus = make_corpus()
    client.force_login(django_user_model.objects.create_user("clerk", is_staff=True))
    assert client.post(address(Corpus, "retry", corpus.pk)).status_code == 403
    assert client.get(address(Corpus, "search", corpus.pk)).status_code == 403
