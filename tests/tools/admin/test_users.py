"""Users and groups in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from controlplane.roles import ADMINISTRATOR, ensure_roles
from tests.tools.admin.pages import act, address, submit, text

pytestmark = pytest.mark.django_db


def test_user_is_added_and_given_permissions(admin_client: Client) -> None:
    group = Group.objects.create(name="operators")
    submit(
        admin_client,
        address(User, "add"),
        username="ann",
        password1="a-long-secret-1",
        password2="a-long-secret-1",
    )
    ann = User.objects.get(username="ann")
    assert ann.check_password("a-long-secret-1")
    permission = Permission.objects.get(codename="view_tool")
    url = address(User, "change", ann.pk)
    submit(admin_client, url, is_staff="on", groups=[group.pk], user_permissions=[permission.pk])
    ann.refresh_from_db()
    assert ann.is_staff
    assert list(ann.groups.all()) == [group]
    assert list(ann.user_permissions.all()) == [permission]
    assert ann.check_password("a-long-secret-1")


def test_password_is_changed_on_its_own_page(admin_client: Client) -> None:
    ann = User.objects.create_user("ann", password="old-secret-1")
    url = f"/admin/auth/user/{ann.pk}/password/"
    submit(admin_client, url, password1="new-secret-22", password2="new-secret-22")
    ann.refresh_from_db()
    assert ann.check_password("new-secret-22")


@pytest.fixture
def administrator(client: Client) -> Client:
    """The browser of somebody in the highest role, who is no superuser."""
    ensure_roles()
    user = User.objects.create_user("ann", is_staff=True)
    user.groups.add(Group.objects.get(name=ADMINISTRATOR))
    client.force_login(user)
    return client


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root", password="right-secret-1")


def test_nobody_but_a_superuser_makes_one(administrator: Client, admin_client: Client) -> None:
    bob = User.objects.create_user("bob")
    for person in (bob, User.objects.get(username="ann")):
        url = address(User, "change", person.pk)
        page = submit(administrator, url, is_superuser="on", last_name="Forged")
        assert page.redirect_chain
        person.refresh_from_db()
        assert (person.last_name, person.is_superuser) == ("Forged", False)
    forged = {"username": "eve", "password1": "a-long-secret-1", "password2": "a-long-secret-1"}
    administrator.post(address(User, "add"), forged | {"is_superuser": "on", "is_staff": "on"})
    assert not User.objects.get(username="eve").is_superuser
    submit(admin_client, address(User, "change", bob.pk), is_superuser="on")
    bob.refresh_from_db()
    assert bob.is_superuser


def test_nobody_but_a_superuser_changes_or_deletes_one(administrator: Client, root: User) -> None:
    url = address(User, "change", root.pk)
    # They may look.
    assert 'name="username"' not in text(administrator.get(url))
    password = {"password1": "new-secret-22", "password2": "new-secret-22"}
    forged: list[tuple[str, dict[str, Any]]] = [
        (url, {"username": "gone", "is_active": ""}),
        (f"/admin/auth/user/{root.pk}/password/", password),
        (address(User, "delete", root.pk), {"post": "yes"}),
    ]
    refused = [administrator.post(page, data).status_code for page, data in forged]
    assert refused == [403] * 3
    bob = User.objects.create_user("bob")
    assert act(administrator, User, "delete_selected", bob, root).status_code == 403
    assert User.objects.filter(pk=bob.pk).exists()
    kept = User.objects.get(pk=root.pk)
    assert (kept.username, kept.is_active, kept.is_superuser) == ("root", True, True)
    assert kept.check_password("right-secret-1")
    # Of others they may do all of it.
    act(administrator, User, "delete_selected", bob)
    assert not User.objects.filter(pk=bob.pk).exists()


def test_a_superuser_sets_the_password_of_another(admin_client: Client, root: User) -> None:
    url = f"/admin/auth/user/{root.pk}/password/"
    submit(admin_client, url, password1="new-secret-22", password2="new-secret-22")
    root.refresh_from_db()
    assert root.check_password("new-secret-22")


def test_group_is_added_with_permissions(admin_client: Client) -> None:
    permission = Permission.objects.get(codename="change_tool")
    submit(admin_client, address(Group, "add"), name="operators", permissions=[permission.pk])
    group = Group.objects.get(name="operators")
    assert list(group.permissions.all()) == [permission]
    assert "operators" in text(admin_client.get(address(Group, "changelist")))
    assert "operators" in text(admin_client.get(address(Group, "change", group.pk)))


def test_lists_have_the_looks_of_the_theme(admin_client: Client) -> None:
    for model in (User, Group):
        assert "unfold" in text(admin_client.get(address(model, "changelist")))
