"""Rows that several pages are about, and what is missing when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from tools.conf import deployment
from tools.models import ApiService


@pytest.fixture
def service(db: None) -> ApiService:
    """An HTTP API without operations."""
    made = ApiService(slug="shop", base_url="https://shop.example/v1", prefix="shop_")
    made.save()
    return made


@pytest.fixture
def without_redis(settings: Settings, tmp_path: Path) -> Iterator[None]:
    """There is no Redis to be found."""
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    yield
    deployment.cache_clear()


@pytest.fixture
def root(db: None) -> User:
    """Somebody who may do everything, with the password `right`."""
    return User.objects.create_superuser("root", password="right")
