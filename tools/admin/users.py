"""Django's users and groups, in the looks of the rest."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelect2MultipleWidget

from tools.admin.guarded_form import GuardedForm

admin.site.unregister(User)
admin.site.unregister(Group)


def compact_choices(field: Any) -> Any:
    """Give a list of groups or permissions one box with a search: it fits a phone, too."""
    choices = field.widget.choices
    field.widget = UnfoldAdminSelect2MultipleWidget()
    field.widget.choices = choices
    return field


class PersonForm(GuardedForm, UserChangeForm):
    """A person; passwords have a page of their own."""


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):
    """People who may use the admin. Superusers are made, changed and deleted by superusers alone."""

    form = PersonForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        inherited = super().get_readonly_fields(request, obj)
        return inherited if _is_superuser(request.user) else (*inherited, "is_superuser")

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The page that sets passwords asks as well."""
        allowed = bool(super().has_change_permission(request, obj))
        return allowed and (not _is_superuser(obj) or _is_superuser(request.user))

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The action on several asks for each of them."""
        allowed = bool(super().has_delete_permission(request, obj))
        return allowed and (not _is_superuser(obj) or _is_superuser(request.user))

    @override
    def formfield_for_manytomany(self, *args: Any, **kwargs: Any) -> Any:
        return compact_choices(super().formfield_for_manytomany(*args, **kwargs))


def _is_superuser(person: Any) -> bool:
    return bool(person is not None and person.is_superuser)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    """Groups of people with the same permissions."""

    form = GuardedForm

    @override
    def formfield_for_manytomany(self, *args: Any, **kwargs: Any) -> Any:
        return compact_choices(super().formfield_for_manytomany(*args, **kwargs))
