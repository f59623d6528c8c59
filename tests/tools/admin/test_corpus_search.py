"""A search inside a corpus from its page, answered by a real worker."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.factories import make_corpus
from tests.indexes import corpus_of_texts, document, index_dir
from tests.processes import wait_until
from tests.tools.admin.pages import address, text
from tests.workers import celery_worker
from tools.models import Corpus
from tools.services import search_corpus as searching
from tools.services.answer_search import answer_search, marked
from tools.services.corpora import build_index, remove_document
from tools.services.search_workers import search_workers
from tools.techniques import queue_of

__all__ = ["index_dir"]


def searched(client: Client, corpus: Corpus, query: str) -> str:
    url = address(Corpus, "search", corpus.pk)
    return text(client.get(url, {"q": query, "part": "1"}))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("redis_url")
def test_worker_finds_passages_with_their_words_marked(
    admin_client: Client, index_dir: Path, tmp_path: Path
) -> None:
    corpus = corpus_of_texts()
    build_index(corpus)
    queues = (queue_of("basic"),)
    with celery_worker(tmp_path / "log", 1, queues, INDEX_DIR=str(index_dir)):
        wait_until(lambda: "No worker" not in searched(admin_client, corpus, "birds"), 60)
        shown = searched(admin_client, corpus, "when does a swallow fly south?")
        assert "The best 3 of 3 passages in index version 1" in shown
        assert "<mark>Swallows</mark> <mark>fly</mark> <mark>south</mark>" in shown
        assert shown.index("birds.txt") < shown.index("pumps.md")
        page = text(admin_client.get(address(Corpus, "search", corpus.pk), {"q": "<b>pumps"}))
        assert 'value="&lt;b&gt;pumps"' in page
        # Queries find it until a new index is in use, and so does this.
        remove_document(document(corpus, "birds.txt"))
        assert "birds.txt (deleted since)" in searched(admin_client, corpus, "swallows")
        build_index(corpus)
        assert "in index version 2" in searched(admin_client, corpus, "swallows")
        assert "birds.txt" not in searched(admin_client, corpus, "swallows")


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_what_keeps_a_search_is_told(
    admin_client: Client, index_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of_texts()
    assert "There is no index to search yet." in searched(admin_client, corpus, "birds")
    build_index(corpus)
    assert "No worker that takes queries is running." in searched(admin_client, corpus, "birds")
    assert searched(admin_client, corpus, "  ").strip() == ""

    async def present(link: object) -> str:
        return "rag.basic"

    def away(*arguments: object) -> None:
        raise OSError("away")

    monkeypatch.setattr(searching, "_present", present)
    monkeypatch.setattr(search_workers, "send", away)
    assert "could not be handed to the workers" in searched(admin_client, corpus, "birds")
    monkeypatch.setattr(search_workers, "send", lambda *arguments: None)
    monkeypatch.setattr(searching, "WAIT_SECONDS", 0.1)
    assert "the workers are busy" in searched(admin_client, corpus, "birds")


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url")
def test_fault_in_the_worker_is_told_without_its_words(
    admin_client: Client, index_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of_texts()
    version = build_index(corpus)
    (index_dir / f"{corpus.pk}/{version.number}").rename(index_dir / "gone")

    async def present(link: object) -> str:
        return "rag.basic"

    def here(queue: str, ask_id: str, corpus_id: int, query: str, seconds: int) -> None:
        answer_search(ask_id, corpus_id, query)

    monkeypatch.setattr(searching, "_present", present)
    monkeypatch.setattr(search_workers, "send", here)
    assert "cannot be opened" in searched(admin_client, corpus, "birds")


@pytest.mark.django_db
def test_search_without_redis_says_so(
    admin_client: Client, index_dir: Path, without_redis: None
) -> None:
    corpus = corpus_of_texts()
    build_index(corpus)
    assert "Redis cannot be reached" in searched(admin_client, corpus, "birds")


@pytest.mark.django_db
def test_passages_are_for_those_who_may_read_documents(redis_url: str) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_corpus"))
    client = Client()
    client.force_login(user)
    corpus = make_corpus()
    assert client.get(address(Corpus, "search", corpus.pk)).status_code == 403
    assert "Search inside" not in text(client.get(address(Corpus, "change", corpus.pk)))


def test_words_are_marked_by_their_stems_in_any_script() -> None:
    found = marked("Flowing; the FLOW\u2026 漢字 x", frozenset({"flow", "漢"}))
    assert [piece for piece, asked in found if asked] == ["Flowing", "FLOW", "漢字"]
    assert "".join(piece for piece, _ in found) == "Flowing; the FLOW\u2026 漢字 x"
    assert marked("text", frozenset()) == [("text", False)]
