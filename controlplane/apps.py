"""What Django is told about the project as a whole."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from typing_extensions import override


class ControlPlaneConfig(AppConfig):
    """Keeps the roles up to date with the models."""

    name = "controlplane"

    @override
    def ready(self) -> None:
        # The last application of ours: what the others may be permitted is known by then.
        post_migrate.connect(_ensure_roles, sender=apps.get_app_config("health"))


def _ensure_roles(using: str, apps: Any, **_: Any) -> None:
    try:
        apps.get_model("auth", "Permission")
    except LookupError:
        # Migrated in part, and not so far yet.
        return
    from controlplane.roles import ensure_roles

    ensure_roles(using)
