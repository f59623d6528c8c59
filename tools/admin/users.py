"""Django's users and groups, in the looks of the rest."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
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
    """People who may use the admin."""

    form = PersonForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    @override
    def formfield_for_manytomany(self, *args: Any, **kwargs: Any) -> Any:
        return compact_choices(super().formfield_for_manytomany(*args, **kwargs))


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    """Groups of people with the same permissions."""

    form = GuardedForm

    @override
    def formfield_for_manytomany(self, *args: Any, **kwargs: Any) -> Any:
        return compact_choices(super().formfield_for_manytomany(*args, **kwargs))
