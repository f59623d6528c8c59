"""What an API client may be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import make_client
from tests.tools.models.refusals import database_refuses, database_refuses_change, model_refuses
from tools.models import ApiClient

pytestmark = pytest.mark.django_db

DIGEST = "0123456789abcdef" * 4


def client(**overrides: Any) -> ApiClient:
    return ApiClient(**{"name": "agent", "key_hash": DIGEST, "key_hint": "cp_abcde", **overrides})


@pytest.mark.parametrize(
    "digest", ["cp_" + "a" * 61, "A" * 64, "a" * 63, "a" * 65, "a" * 63 + "\n"]
)
def test_anything_but_a_digest_is_refused_as_key_hash(digest: str) -> None:
    # F0-26 C20
    assert model_refuses(client(key_hash=digest), "key_hash")
    database_refuses(client(key_hash=digest))


def test_client_without_a_key_cannot_be_saved() -> None:
    # F0-26
    assert model_refuses(ApiClient(name="agent"), "__all__")
    database_refuses(ApiClient(name="agent"), "api_client_key_is_hashed")


def test_digest_and_name_are_unique() -> None:
    client().save()
    assert model_refuses(client(name="other"), "key_hash")
    assert model_refuses(client(key_hash=DIGEST[::-1]), "name")
    database_refuses(client(name="other"))
    database_refuses(client(key_hash=DIGEST[::-1]))


@pytest.mark.parametrize("name", ["", " ", " a", "a ", "a\nb", "a\n", "n" * 101])
def test_name_is_one_line_of_text(name: str) -> None:
    assert model_refuses(client(name=name), "name")
    if "\n" not in name.strip():
        database_refuses(client(name=name))


@pytest.mark.parametrize("name", ["a", "Chat agent (Zürich)", "n" * 100])
def test_name_may_be_any_line_of_text(name: str) -> None:
    client(name=name).save()
    assert ApiClient.objects.get().name == name


def test_rate_limit_is_at_least_ten_or_that_of_the_service() -> None:
    # S3-035
    assert model_refuses(client(rate_limit_per_minute=9), "rate_limit_per_minute")
    made, _ = make_client(rate_limit_per_minute=10)
    database_refuses_change(made, rate_limit_per_minute=9)
    database_refuses_change(made, key_hash="plain")
    assert make_client()[0].rate_limit_per_minute is None
