"""These tests are about PostgreSQL; the run of the suite on SQLite leaves them out."""

from __future__ import annotations

from django.conf import settings

if not settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
    collect_ignore_glob = ["test_*.py"]
