"""News of a changed catalogue, for the other processes."""

from __future__ import annotations

from contextlib import suppress

import pytest
import redis
from django.db import transaction

from tests.factories import make_tool
from tools.guards.redis import CATALOGUE_KEY
from tools.models import CatalogState, Tool


class Undone(Exception):
    """What was done in a savepoint is taken back."""


def told(url: str) -> int:
    with redis.Redis.from_url(url) as client:
        return int(client.get(CATALOGUE_KEY) or 0)


@pytest.mark.django_db(transaction=True)
def test_a_transaction_with_many_changes_is_told_of_once(redis_url: str) -> None:
    make_tool(name="first")
    before, number = told(redis_url), CatalogState.objects.get(pk=1).version
    with transaction.atomic():
        for place in range(5):
            make_tool(name=f"tool_{place}")
        assert told(redis_url) == before
    assert told(redis_url) == before + 1
    assert CatalogState.objects.get(pk=1).version >= number + 5


@pytest.mark.django_db(transaction=True)
def test_a_change_is_told_of_when_an_earlier_one_was_taken_back(redis_url: str) -> None:
    before = told(redis_url)
    with transaction.atomic():
        with suppress(Undone), transaction.atomic():
            make_tool(name="undone")
            raise Undone
        make_tool(name="kept")
    assert told(redis_url) == before + 1
    assert Tool.objects.filter(name="kept").exists()
