"""Corpora that are removed while others remove or use them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.test import Client

from tests.factories import make_corpus
from tests.postgres_waiting import somebody_waits
from tests.processes import wait_until
from tests.tools.admin.pages import act, address, text
from tools.errors import Conflict
from tools.models import Corpus, QuestionSet
from tools.services.corpora import remove_corpora
from tools.services.manage_corpora import delete_corpus
from tools.services.question_sets import Labelled, save_questions

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("redis_url"),
    # With SQLite one waits for the other from the start.
    pytest.mark.on_database("postgresql"),
]

SECONDS = 60


def on_its_own(work: Callable[[], Any]) -> Any:
    """What `work` gives on a connection of its own."""
    try:
        return work()
    finally:
        connections.close_all()


def browser() -> Client:
    made = Client()
    made.force_login(User.objects.create_superuser("ada", password="x"))
    return made


def told_by_api(corpus: Corpus) -> str:
    with pytest.raises(Conflict) as refused:
        delete_corpus(corpus.slug)
    return str(refused.value)


def told_by_page(corpus: Corpus) -> str:
    url = address(Corpus, "delete", corpus.pk)
    return text(browser().post(url, {"post": "yes"}, follow=True))


def told_by_list(corpus: Corpus) -> str:
    return text(act(browser(), Corpus, "delete_selected", corpus))


@pytest.mark.parametrize("told", [told_by_api, told_by_page, told_by_list])
def test_who_deletes_a_corpus_that_gets_a_question_meanwhile_is_told_to_try_again(
    told: Callable[[Corpus], str],
) -> None:
    corpus = make_corpus(slug="papers")
    questions = QuestionSet.objects.create(name="mine", corpus=corpus)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            save_questions(questions, [Labelled("1", "Who oils the pump?", {"pumps.md": 1}, 1)])
            deleting = pool.submit(on_its_own, lambda: told(corpus))
            wait_until(somebody_waits, what="a delete that waits")
        said = deleting.result(SECONDS)
    assert "Something was added to papers while it was being deleted" in said
    assert questions.questions.count() == 1
    delete_corpus("papers")
    assert not QuestionSet.objects.exists()


def test_corpora_are_held_in_one_order_whichever_way_they_are_listed() -> None:
    first, second = make_corpus(), make_corpus()
    backwards = Corpus.objects.order_by("-pk")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            rows = Corpus.objects.select_for_update(nowait=True)
            rows.get(pk=first.pk)
            deleting = pool.submit(on_its_own, lambda: remove_corpora(backwards))
            wait_until(somebody_waits, what="a delete that waits")
            # Whoever has the first can have the second, too.
            rows.get(pk=second.pk)
        deleting.result(SECONDS)
    assert not Corpus.objects.exists()
