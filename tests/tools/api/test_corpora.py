"""`/api/corpora`: who may, what goes in, and how an index comes to be used."""

from __future__ import annotations

import io
import socket
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from tests.doors import RestDoor
from tests.factories import (
    make_client,
    make_corpus,
    make_document,
    make_pipeline,
    make_service,
    make_version,
)
from tools.conf import deployment
from tools.models import Corpus, Document, IndexEntry
from tools.models.corpora import DocumentStatus, EntryState, VersionState
from tools.services.corpora import build_index

MARKDOWN = b"# Otters\n\nOtters hold hands while they sleep, so that none drifts away.\n"
LIMIT = 64 << 10


def post(door: RestDoor, path: str, **options: Any) -> Any:
    return door.client.post(f"/api/corpora{path}", **options)


@pytest.fixture
def small_documents(settings: Settings) -> Iterator[None]:
    """A service that takes documents of 64 KiB at most, and other bodies of 1 KiB."""
    small = {"MAX_DOCUMENT_BYTES": LIMIT, "MAX_BODY_BYTES": 1024}
    settings.CONTROL_PLANE = {**django_settings.CONTROL_PLANE, **small}
    deployment.cache_clear()
    yield
    deployment.cache_clear()


def test_a_corpus_is_created_read_changed_and_deleted(door: RestDoor) -> None:
    made = post(door, "", json={"slug": "papers", "title": "Papers", "chunk_tokens": 128})
    assert made.status_code == 201
    corpus = made.json()["data"]
    assert (corpus["slug"], corpus["title"], corpus["chunk_tokens"]) == ("papers", "Papers", 128)
    assert corpus["status"]["documents"]["total"] == 0
    assert corpus["status_url"] == "/api/corpora/papers/status"
    assert [row["slug"] for row in door.get("/api/corpora").json()["data"]["corpora"]] == ["papers"]

    changed = door.client.patch("/api/corpora/papers", json={"description": "Read them."})
    assert changed.json()["data"]["description"] == "Read them."
    assert door.get("/api/corpora/papers").json()["data"]["title"] == "Papers"

    assert door.client.delete("/api/corpora/papers").json()["data"] == {"deleted": "papers"}
    assert door.get("/api/corpora/papers").status_code == 404
    assert not Corpus.objects.exists()


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"slug": "Not A Slug"}, "slug"),
        ({}, "slug"),
        ({"slug": "a", "chunk_tokens": 5}, "chunk_tokens"),
        ({"slug": "a", "chunk_tokens": "128"}, "chunk_tokens"),
        ({"slug": "a", "chunk_tokens": 64, "chunk_overlap": 40}, "chunk_overlap"),
        ({"slug": "a", "title": {"no": "text"}}, "title"),
        ({"slug": "a", "title": "nul\0"}, "title"),
        ({"slug": "a", "gate_dataset": "/etc"}, "gate_dataset"),
        ({"slug": "a", "id": 7}, "id"),
    ],
)
def test_a_wrong_value_is_named(door: RestDoor, body: dict[str, Any], parameter: str) -> None:
    # F0-19
    refused = post(door, "", json=body)
    assert refused.status_code == 400
    assert refused.json()["code"] == "INVALID_ARGUMENTS"
    assert refused.json()["meta"]["details"]["parameter"] == parameter
    assert not Corpus.objects.exists()


def test_a_taken_slug_and_a_corpus_in_use_are_conflicts(door: RestDoor) -> None:
    corpus = make_corpus(slug="papers")
    make_pipeline(corpus=corpus)
    assert post(door, "", json={"slug": "papers"}).status_code == 409
    refused = door.client.delete("/api/corpora/papers")
    assert (refused.status_code, refused.json()["code"]) == (409, "INVALID_ARGUMENTS")
    assert "basic" in refused.json()["error"]
    assert Corpus.objects.exists()


def test_files_of_a_form_and_of_archives_go_in(door: RestDoor) -> None:
    make_corpus(slug="papers")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("sea/kelp.txt", "Kelp grows half a metre a day.")
        archive.writestr("sea/odd.exe", b"MZ\0\0")
    files = [
        ("files", ("otters.md", MARKDOWN, "text/markdown")),
        ("files", ("sea.zip", packed.getvalue(), "application/zip")),
    ]
    done = post(door, "/papers/documents", files=files)
    assert done.status_code == 201
    outcomes = {row["name"]: row["outcome"] for row in done.json()["data"]["results"]}
    assert outcomes["otters.md"] == outcomes["sea/kelp.txt"] == "added"
    assert [name for name, word in outcomes.items() if word == "refused"] == ["sea/odd.exe"]
    assert bytes(Document.objects.get(name="otters.md").content) == MARKDOWN

    again = post(door, "/papers/documents", files=files[:1])
    assert (again.status_code, again.json()["data"]["changed"]) == (200, 0)


def test_one_file_goes_in_as_the_body(door: RestDoor) -> None:
    make_corpus(slug="papers")
    address = "/papers/documents?name=sea/otters.md&title=Otters&source=https://otters.example"
    done = post(door, address, content=MARKDOWN, headers={"Content-Type": "text/markdown"})
    assert done.status_code == 201
    document = Document.objects.get()
    assert (document.name, document.title, document.source) == (
        "sea/otters.md",
        "Otters",
        "https://otters.example",
    )
    number = done.json()["data"]["results"][0]["id"]
    shown = door.get(f"/api/corpora/papers/documents/{number}").json()["data"]
    assert (shown["size"], shown["status"], "content" in shown) == (len(MARKDOWN), "pending", False)


def test_a_body_in_chunks_goes_in_too(door: RestDoor) -> None:
    make_corpus(slug="papers")

    def pieces() -> Iterator[bytes]:
        yield MARKDOWN[:20]
        yield MARKDOWN[20:]

    assert post(door, "/papers/documents?name=a.md", content=pieces()).status_code == 201
    assert bytes(Document.objects.get().content) == MARKDOWN


@pytest.mark.parametrize(
    ("path", "options", "status"),
    [
        ("/papers/documents", {"content": b"text"}, 400),
        ("/papers/documents?name=a.md", {"content": b""}, 400),
        ("/papers/documents?name=a.exe", {"content": b"MZ\0\0\1"}, 415),
        ("/papers/documents?name=../a.md", {"content": b"text"}, 400),
        ("/papers/documents", {"files": [("files", ("a.exe", b"MZ\0\0"))]}, 400),
        (
            "/papers/documents",
            {"content": b"--x\r\n", "headers": {"Content-Type": "multipart/form-data"}},
            400,
        ),
        ("/nowhere/documents?name=a.md", {"content": b"text"}, 404),
        ("/papers/index", {"json": {"force": "yes"}}, 400),
        ("/papers/index", {"json": {"forced": True}}, 400),
        ("/papers/index", {"json": []}, 400),
        ("/papers/index", {"content": b"a=b", "headers": {"Content-Type": "text/plain"}}, 415),
        ("/papers/index", {}, 409),
        ("/papers/versions/7/activate", {}, 404),
    ],
)
def test_what_cannot_be_done_is_refused_in_an_envelope(
    door: RestDoor, path: str, options: dict[str, Any], status: int
) -> None:
    # F0-19 F0-31
    make_corpus(slug="papers")
    refused = post(door, path, **options)
    assert refused.status_code == status, refused.text
    body = refused.json()
    assert (body["success"], bool(body["error"]), "data" in body) == (False, True, False)
    assert body["request_id"] == refused.headers["X-Request-ID"]
    assert not Document.objects.exists()


@pytest.mark.usefixtures("small_documents")
def test_a_document_may_be_larger_than_other_bodies_up_to_its_own_limit(door: RestDoor) -> None:
    make_corpus(slug="papers")
    text = b"Otters sleep. " * (LIMIT // 14)
    assert post(door, "/papers/documents?name=a.txt", content=text).status_code == 201
    files = [("files", ("b.txt", text[:-1]))]
    assert post(door, "/papers/documents", files=files).status_code == 201
    large = post(door, "/papers/documents?name=c.txt", content=text + b"x" * 20)
    assert (large.status_code, large.json()["meta"]["details"]["expected"]) == (
        413,
        f"at most {LIMIT} bytes",
    )
    assert post(door, "", json={"slug": "a", "description": "x" * 2000}).status_code == 413
    assert Document.objects.count() == 2


def test_documents_come_in_pages_and_by_status(door: RestDoor) -> None:
    corpus = make_corpus(slug="papers")
    for number in range(5):
        make_document(corpus, name=f"{number}.txt", status="ready" if number else "failed")
    address = "/api/corpora/papers/documents"
    page = door.get(f"{address}?page=2&page_size=2").json()["data"]
    assert [row["name"] for row in page["documents"]] == ["2.txt", "3.txt"]
    assert (page["total"], page["pages"]) == (5, 3)
    failed = door.get(f"{address}?status=failed").json()["data"]["documents"]
    assert [row["name"] for row in failed] == ["0.txt"]
    for query in ("page=0", "page=x", "page_size=201", "status=lost"):
        refused = door.get(f"{address}?{query}")
        assert refused.status_code == 400
        assert refused.json()["meta"]["details"]["parameter"] == query.partition("=")[0]


def test_a_document_is_taken_out(door: RestDoor) -> None:
    corpus, other = make_corpus(slug="papers"), make_corpus(slug="other")
    document = make_document(corpus)
    address = f"documents/{document.pk}"
    assert door.client.delete(f"/api/corpora/{other.slug}/{address}").status_code == 404
    assert door.client.delete(f"/api/corpora/papers/{address}").status_code == 200
    assert not Document.objects.exists()


def test_an_index_is_begun_watched_and_switched_back(door: RestDoor) -> None:
    corpus = make_corpus(slug="papers")
    post(door, "/papers/documents?name=otters.md", content=MARKDOWN)
    begun = post(door, "/papers/index")
    assert (begun.status_code, begun.headers["Location"]) == (202, "/api/corpora/papers/status")
    assert begun.json()["data"]["state"] == "building"
    status = door.get(begun.headers["Location"]).json()["data"]
    assert (status["building"]["number"], status["active"]) == (1, None)

    build_index(corpus)
    status = door.get(begun.headers["Location"]).json()["data"]
    assert (status["active"]["number"], status["active"]["chunks"]) == (1, 1)
    assert status["documents"]["ready"] == 1

    # Nothing has changed: the version in use stays the one to use, unless it is forced.
    assert post(door, "/papers/index").json()["data"]["version"] == 1
    assert post(door, "/papers/index", json={"force": True}).json()["data"]["version"] == 2
    # What follows that build would not be everything anew.
    refused = post(door, "/papers/index", json={"force": True})
    assert refused.status_code == 409
    assert "Index version 2 is being built; try again after it" in refused.json()["error"]
    build_index(corpus)
    back = post(door, "/papers/versions/1/activate")
    assert (back.status_code, back.json()["data"]["version"]) == (200, 1)
    status = door.get("/api/corpora/papers/status").json()["data"]
    assert [(row["number"], row["state"]) for row in status["versions"]] == [
        (2, "retired"),
        (1, "active"),
    ]


def test_what_comes_in_during_a_build_is_told_to_wait_for_the_next(door: RestDoor) -> None:
    corpus = make_corpus(slug="papers")
    post(door, "/papers/documents?name=otters.md", content=MARKDOWN)
    first = post(door, "/papers/index").json()["data"]
    assert (first["version"], first["another_follows"]) == (1, False)
    # As when a worker has read it.
    IndexEntry.objects.create(
        version=corpus.versions.get(), document=corpus.documents.get(), state=EntryState.DONE
    )
    corpus.documents.update(status=DocumentStatus.READY)
    again = post(door, "/papers/index").json()["data"]
    assert (again["version"], again["another_follows"]) == (1, False)
    post(door, "/papers/documents?name=kelp.txt", content=b"Kelp grows fast.")
    post(door, "/papers/documents?name=otters.md", content=b"# Otters\n\nOtters swim.")
    again = post(door, "/papers/index").json()["data"]
    assert (again["version"], again["state"], again["another_follows"]) == (1, "building", True)
    status = door.get("/api/corpora/papers/status").json()["data"]
    assert (status["building"]["waiting"], status["another_follows"]) == (2, True)
    assert corpus.versions.count() == 1


def test_a_version_that_is_not_whole_cannot_be_used(door: RestDoor) -> None:
    corpus = make_corpus(slug="papers")
    make_version(corpus, state=VersionState.FAILED)
    assert post(door, "/papers/versions/1/activate").status_code == 409


def test_a_version_that_the_gate_refused_is_used_only_by_force(door: RestDoor) -> None:
    corpus = make_corpus(slug="papers")
    post(door, "/papers/documents?name=otters.md", content=MARKDOWN)
    build_index(corpus)
    build_index(corpus, force=True)
    corpus.versions.filter(number=2).update(state=VersionState.RETIRED)
    corpus.versions.filter(number=1).update(state=VersionState.REFUSED, error="It lost 0.1.")
    refused = post(door, "/papers/versions/1/activate")
    assert (refused.status_code, "It lost 0.1" in refused.json()["error"]) == (409, True)
    forced = post(door, "/papers/versions/1/activate", json={"force": True})
    assert forced.status_code == 200
    assert corpus.versions.get(state=VersionState.ACTIVE).number == 1


def test_with_keys_on_only_clients_that_were_given_it_manage(door: RestDoor) -> None:
    # F0-26
    make_service(security_api_keys_enabled=True)
    make_corpus(slug="papers")
    _, key = make_client(manages_corpora=True)
    _, other = make_client()
    statuses = [
        door.client.request(method, path, headers=headers).status_code
        for headers in ({"X-API-Key": key}, {"X-API-Key": other}, {})
        for method, path in (("GET", "/api/corpora"), ("DELETE", "/api/corpora/papers"))
    ]
    assert statuses == [200, 200, 403, 403, 401, 401]


def test_with_keys_off_a_key_without_the_right_still_lacks_it(door: RestDoor) -> None:
    _, key = make_client()
    refused = door.get("/api/corpora", headers={"X-API-Key": key})
    assert (refused.status_code, refused.json()["code"]) == (403, "INVALID_ARGUMENTS")
    assert "manages corpora" in refused.json()["meta"]["details"]["suggestion"]
    assert door.get("/api/corpora").status_code == 200


@pytest.fixture
def keyless_network(settings: Settings) -> Iterator[None]:
    settings.CONTROL_PLANE = {**django_settings.CONTROL_PLANE, "ALLOW_KEYLESS_NETWORK": True}
    deployment.cache_clear()
    yield
    deployment.cache_clear()


@pytest.mark.usefixtures("keyless_network")
def test_a_service_open_to_the_network_without_keys_lets_nobody_manage(door: RestDoor) -> None:
    make_service(service_host="0.0.0.0")  # noqa: S104 - what is refused here
    assert door.get("/tools").status_code == 200
    assert door.get("/api/corpora").status_code == 403


def test_pages_of_other_origins_cannot_send_documents(door: RestDoor) -> None:
    make_corpus(slug="papers")
    files = [("files", ("otters.md", MARKDOWN))]
    for origin, status in (
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
        (door.url or "http://127.0.0.1", 201),
        ("http://localhost:3000", 200),
    ):
        sent = post(door, "/papers/documents", files=files, headers={"Origin": origin})
        assert sent.status_code == status, origin


def test_a_caller_who_may_not_is_refused_before_the_body_is_read(door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    make_corpus(slug="papers")
    assert door.get("/tools").status_code == 401
    host, port = door.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(
            b"POST /api/corpora/papers/documents?name=a.txt HTTP/1.1\r\n"
            b"Host: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\nonly the beginning"
        )
        assert connection.recv(64).startswith(b"HTTP/1.1 401 ")


def test_rate_of_the_caller_is_spent(door: RestDoor) -> None:
    _, key = make_client(manages_corpora=True, rate_limit_per_minute=10)
    headers = {"X-API-Key": key}
    codes = [door.get("/api/corpora", headers=headers).status_code for _ in range(11)]
    assert codes == [200] * 10 + [429]


def test_openapi_lists_every_address(door: RestDoor) -> None:
    paths = door.get("/api/schema").json()["paths"]
    found = {
        (path, method)
        for path, about in paths.items()
        for method in about
        if path.startswith("/api/corpora")
    }
    corpus = "/api/corpora/{slug}"
    assert found == {
        ("/api/corpora", "get"),
        ("/api/corpora", "post"),
        (corpus, "get"),
        (corpus, "patch"),
        (corpus, "delete"),
        (f"{corpus}/status", "get"),
        (f"{corpus}/index", "post"),
        (f"{corpus}/documents", "get"),
        (f"{corpus}/documents", "post"),
        (f"{corpus}/documents/{{number}}", "get"),
        (f"{corpus}/documents/{{number}}", "delete"),
        (f"{corpus}/versions/{{number}}/activate", "post"),
    }
    upload = paths[f"{corpus}/documents"]["post"]
    assert set(upload["requestBody"]["content"]) == {
        "multipart/form-data",
        "application/octet-stream",
    }
    assert "409" in upload["responses"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "", 405),
        ("GET", "/papers/index", 405),
        ("GET", "/papers/nothing", 404),
        ("GET", "/", 404),
        ("GET", "x", 404),
    ],
)
def test_addresses_and_methods_that_are_not_there(
    door: RestDoor, method: str, path: str, status: int
) -> None:
    make_corpus(slug="papers")
    answer = door.client.request(method, f"/api/corpora{path}")
    assert answer.status_code == status
    assert answer.json()["success"] is False
