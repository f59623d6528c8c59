"""Pages that take long, all at once: the others are answered meanwhile, and one more is refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from controlplane.application import ADMIN_THREADS
from health.models import WebhookDelivery
from tests.doors import RestDoor
from tests.factories import make_corpus
from tests.health.webhooks.parts import make_webhook
from tests.indexes import corpus_of_texts, index_dir
from tests.processes import wait_until
from tests.tools.admin.pages import address
from tools.admin.request_log.export import MOST_AT_ONCE as MOST_EXPORTS
from tools.admin.slow_pages import MOST_AT_ONCE, TOO_MANY, Place, take_place
from tools.guards.queries import present_key
from tools.models import ApiService, Corpus, Document, RegisteredService
from tools.services import search_corpus as searching
from tools.services.corpora import build_index
from tools.services.search_corpus import keep_answer
from tools.services.search_workers import search_workers
from tools.techniques import queue_of

__all__ = ["index_dir"]

EXPORT = "/admin/tools/toolrequest/export/"
NEVER = 10**15


class Searches:
    """Searches of people in a browser each, which workers take and do not answer before they are told to."""

    def __init__(self, door: RestDoor, corpus: Corpus, cookies: dict[str, str]) -> None:
        self.asked: list[str] = []
        self.begun: list[Future[httpx2.Response]] = []
        self._door = door
        self._cookies = cookies
        self._corpus = corpus
        self._people = ThreadPoolExecutor(ADMIN_THREADS)

    def send(self, queue: str, ask_id: str, *rest: object) -> None:
        self.asked.append(ask_id)

    def begin(self, count: int) -> None:
        self.begun += [self._people.submit(self.search) for _ in range(count)]

    def search(self) -> httpx2.Response:
        there = f"{address(Corpus, 'search', self._corpus.pk)}?q=birds&part=1"
        return self.get(there, accept="*/*")

    def get(self, there: str, accept: str = "text/html") -> httpx2.Response:
        with httpx2.Client(base_url=self._door.url, timeout=60, cookies=self._cookies) as browser:
            return browser.get(there, headers={"Accept": accept})

    @property
    def answers(self) -> list[httpx2.Response]:
        return [one.result() for one in self.begun if one.done()]

    def end(self) -> None:
        for ask_id in self.asked:
            keep_answer(ask_id, {"error": "The worker has come back."})
        self._people.shutdown()


@pytest.fixture
def searches(
    door: RestDoor, redis_url: str, index_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Searches]:
    """A door, and an index that workers take searches for."""
    corpus = corpus_of_texts()
    build_index(corpus)
    person = Client()
    person.force_login(
        User.objects.create_superuser("admin"), "django.contrib.auth.backends.ModelBackend"
    )
    made = Searches(door, corpus, {"sessionid": person.cookies["sessionid"].value})
    monkeypatch.setattr(search_workers, "send", made.send)
    # However slow this machine is, none of them gives up before its time.
    monkeypatch.setattr(searching, "WAIT_SECONDS", 60)
    with redis.Redis.from_url(redis_url) as client:
        client.zadd(present_key(queue_of("basic")), {"a worker that was stopped": NEVER})
    door.start()
    yield made
    made.end()


def test_dashboard_and_lists_are_answered_while_searches_wait(searches: Searches) -> None:
    searches.begin(ADMIN_THREADS)
    wait_until(
        lambda: len(searches.asked) == MOST_AT_ONCE and len(searches.answers) == MOST_AT_ONCE,
        what="as many searches under way as may be, and the others refused",
    )
    for there in ("/admin/", "/admin/tools/tool/", "/admin/tools/toolrequest/"):
        assert searches.get(there).status_code == 200
    for refused in [*searches.answers, searches.search()]:
        assert (refused.status_code, refused.text) == (503, TOO_MANY)
        assert int(refused.headers["Retry-After"]) > 0
    page = searches.get(address(Corpus, "search", Corpus.objects.get().pk) + "?q=birds")
    assert page.status_code == 503
    assert TOO_MANY in page.text
    assert "Back to the dashboard" in page.text
    assert len(searches.asked) == MOST_AT_ONCE
    searches.end()
    assert [one.status_code for one in searches.answers].count(200) == MOST_AT_ONCE


def test_searches_get_through_again_once_others_have_ended(searches: Searches) -> None:
    searches.begin(MOST_AT_ONCE)
    wait_until(lambda: len(searches.asked) == MOST_AT_ONCE, what="searches under way")
    assert searches.get(EXPORT).status_code == 503
    searches.end()
    assert {one.text.count("The worker has come back.") for one in searches.answers} == {1}
    # The exports that were refused hold nothing.
    for _ in range(MOST_EXPORTS + 1):
        assert searches.get(EXPORT).status_code == 200


@pytest.fixture
def taken(db: None) -> Iterator[list[Place]]:
    """Every place among the slow pages, held."""
    places = [place for _ in range(MOST_AT_ONCE) if (place := take_place())]
    assert len(places) == MOST_AT_ONCE
    yield places
    for place in places:
        place.give_back()


def slow_pages() -> dict[str, Any]:
    """What waits for other hosts or reads much, each with what is sent there."""
    service = ApiService(slug="shop", base_url="https://shop.example/v1")
    service.save()
    RegisteredService(name="seekr", url="http://127.0.0.1:9").save()
    file = SimpleUploadedFile("birds.txt", b"Swallows fly south.")
    return {
        address(ApiService, "import", service.pk): {"address": "http://127.0.0.1:9/api.json"},
        "/admin/tools/registeredservice/wrappers/": {"services": ["seekr"], "types": ["bash"]},
        address(Corpus, "upload", make_corpus().pk): {"files": file},
        f"/admin/health/healthwebhook/{make_webhook('http://127.0.0.1:9').pk}/test/": {},
    }


def test_each_slow_page_is_refused_while_there_is_no_place(
    admin_client: Client, taken: list[Place]
) -> None:
    for there, sent in slow_pages().items():
        refused = admin_client.post(there, sent, headers={"accept": "application/json"})
        assert (there, refused.status_code) == (there, 503)
        assert refused.json() == {"error": TOO_MANY}
        assert int(refused["Retry-After"]) > 0
    assert not Document.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_forms_of_slow_pages_open_while_there_is_no_place(
    admin_client: Client, taken: list[Place]
) -> None:
    for there in slow_pages():
        if not there.endswith(("/upload/", "/test/")):
            assert admin_client.get(there).status_code == 200


def test_slow_pages_give_their_places_back(admin_client: Client) -> None:
    for there, sent in slow_pages().items():
        for _ in range(MOST_AT_ONCE + 1):
            assert admin_client.post(there, sent).status_code != 503


def test_half_of_the_threads_are_never_for_slow_pages() -> None:
    assert 2 * MOST_AT_ONCE == ADMIN_THREADS
