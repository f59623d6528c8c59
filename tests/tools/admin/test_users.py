"""Users and groups in the admin."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from tests.tools.admin.pages import address, submit, text

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
