"""Rows that several pages are about."""

from __future__ import annotations

import pytest

from tools.models import ApiService


@pytest.fixture
def service(db: None) -> ApiService:
    """An HTTP API without operations."""
    made = ApiService(slug="shop", base_url="https://shop.example/v1", prefix="shop_")
    made.save()
    return made
