"""Roles of people in the admin: groups that come with the service.

    Viewer          looks at everything but people and the audit trail, and changes nothing
    Operator        besides: the catalogue, servers, APIs, pipelines, corpora, health; reads the audit trail
    Administrator   besides: API clients and their keys, the service's configuration, people

Each migration adds what a role lacks, such as permissions for new models, and takes nothing away. Who needs
something else makes a group of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.contrib.auth.models import Group, Permission

from tools.services.audit.acting import unrecorded

VIEWER: Final = "Viewer"
OPERATOR: Final = "Operator"
ADMINISTRATOR: Final = "Administrator"
ROLES: Final = (VIEWER, OPERATOR, ADMINISTRATOR)

OURS: Final = ("tools", "health", "django_celery_beat")
# Who may come in, and the rules for everybody: for administrators alone.
GUARDED: Final = (
    ("tools", "apiclient"),
    ("tools", "serviceconfiguration"),
    ("auth", "user"),
    ("auth", "group"),
    ("axes", "accessattempt"),
)
# Shows configuration as it was, and who did what: nothing for those who only look.
UNSEEN: Final = (("tools", "auditentry"),)


def ensure_roles(using: str = "default") -> None:
    """Make the groups, or add what they lack."""
    # They come with the release, and may be made before there is a trail.
    with unrecorded():
        for role in ROLES:
            group, _ = Group.objects.using(using).get_or_create(name=role)
            group.permissions.add(*permissions_of(role, using))


def permissions_of(role: str, using: str = "default") -> list[Permission]:
    """What people in this role may do."""
    return [one for one in _known(using) if _is_granted(role, one)]


def _known(using: str) -> Iterator[Permission]:
    apps = {*OURS, *(app for app, _ in GUARDED)}
    found = Permission.objects.using(using).filter(content_type__app_label__in=apps)
    yield from found.select_related("content_type").order_by("pk")


def _is_granted(role: str, permission: Permission) -> bool:
    kind = permission.content_type
    guarded = (kind.app_label, kind.model) in GUARDED
    if kind.app_label not in OURS and not guarded:
        return False
    if role == ADMINISTRATOR:
        return True
    only_looks = permission.codename.startswith("view_")
    if role == VIEWER and (kind.app_label, kind.model) in UNSEEN:
        return False
    if kind.app_label not in OURS:
        return False
    return only_looks or (role == OPERATOR and not guarded)
