"""HTTP APIs in the admin: where they are, how to sign in, and the way in for OpenAPI documents."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldBooleanSwitchWidget

from tools.admin.api_breakers import add_breakers, breaker_part, breaker_shown
from tools.admin.guarded_form import GuardedForm
from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.kept_secrets import same_origin, stays_behind
from tools.admin.slow_pages import in_a_place
from tools.admin.switch_column import SwitchColumn
from tools.admin.switching import SwitchedRows
from tools.admin.texts import badge, moment
from tools.models import ApiService

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
# Of the page that imports: what was given before is shown.
DRAFT: Final = "draft"
FORGET: Final = "Forget the stored one"
# What the form takes and the model does not have.
WRITTEN: Final = ("new_secret", "forget_secret")


class ApiServiceForm(GuardedForm):
    """A service; its key goes in and never comes out."""

    also_written = ("secret",)

    new_secret = forms.CharField(
        label="Key, token or password",
        required=False,
        strip=True,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text="Kept encrypted and never shown again. Empty: what is stored stays.",
    )
    forget_secret = forms.BooleanField(
        label=FORGET, required=False, widget=UnfoldBooleanSwitchWidget
    )

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        stored = bool(self.instance.secret) and not cleaned.get("forget_secret")
        given = bool(cleaned.get("new_secret"))
        # Also while nobody signs in: that may be changed back later. What is no address has its own error.
        before = self.instance.base_url
        moved = not same_origin(before, cleaned.get("base_url", before))
        if stored and moved and not given:
            self.add_error("new_secret", stays_behind(FORGET))
        if cleaned.get("auth", "none") != "none" and not (given or stored):
            self.add_error("new_secret", "This way of signing in needs one.")
        return cleaned

    @override
    def save(self, commit: bool = True) -> Any:
        if self.cleaned_data.get("forget_secret"):
            self.instance.set_secret("")
        if given := self.cleaned_data.get("new_secret"):
            self.instance.set_secret(given)
        return super().save(commit)


@admin.register(ApiService)
class ApiServiceAdmin(SwitchColumn, SwitchedRows, JsonFieldsMixin, ModelAdmin):
    """The HTTP APIs whose operations agents call as tools."""

    what_comes_here = (
        "An API whose operations become tools. Its OpenAPI document is the quickest way."
    )
    form = ApiServiceForm
    list_display = (
        *("slug", "base_url", "tools_held", "sign_in", "enabled"),
        *("breaker", "last_import"),
    )
    search_fields = ("slug", "title", "description", "base_url")
    list_per_page = 50
    actions = ("enable", "disable")
    actions_list = ("from_document",)
    warn_unsaved_form = True
    readonly_fields = ("tools_held", "secret_kept", "last_import")
    change_form_outer_before_template = "tools/admin/api_service.html"
    fieldsets = (
        (None, {"fields": ("slug", "title", "description", "base_url", "prefix", "enabled")}),
        (
            "Sign-in",
            {
                "fields": (
                    "auth",
                    "auth_name",
                    "username",
                    "secret_kept",
                    "new_secret",
                    "forget_secret",
                )
            },
        ),
        ("Requests", {"fields": ("headers", "timeout_seconds", "retries", "rate_per_minute")}),
        ("Where it may be", {"fields": ("allowed_networks",)}),
    )

    class Media:
        css: ClassVar = {"all": ("tools/admin/switch.css",)}
        js = ("tools/admin/switch.js",)

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Who may only look sees nothing that is for writing."""
        if obj is None or self.has_change_permission(request, obj):
            return self.fieldsets
        return [
            (title, {"fields": [name for name in part["fields"] if name not in WRITTEN]})
            for title, part in self.fieldsets
        ]

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiService]:
        rows: QuerySet[ApiService] = super().get_queryset(request)
        on = Q(operations__tool__enabled=True)
        return rows.defer("imported", "draft").annotate(
            held=Count("operations"), offered=Count("operations", filter=on)
        )

    @override
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.import_view)
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            path("<int:pk>/import/", view, name="tools_apiservice_import"),
            *super().get_urls(),
        ]

    @override
    def get_changelist_instance(self, request: HttpRequest) -> Any:
        shown = super().get_changelist_instance(request)
        shown.result_list = list(shown.result_list)
        add_breakers(shown.result_list)
        return shown

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        service = self.get_object(request, object_id)
        shown = {} if service is None else breaker_part(request, service)
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @override
    def response_post_save_add(self, request: HttpRequest, obj: ApiService) -> HttpResponse:
        """Right on to where operations come from."""
        return redirect("admin:tools_apiservice_change", obj.pk)

    def has_document_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Whoever makes an API of a document goes on to import its operations."""
        return request.user.has_perms(["tools.add_apiservice", "tools.change_apiservice"])

    @action(  # type: ignore[untyped-decorator]
        description="New API from an OpenAPI document",
        permissions=["document"],
        url_path="from-document",
    )
    def from_document(self, request: HttpRequest) -> HttpResponse:
        """The page that takes a document and makes an API of it."""
        from tools.admin.openapi_new import new_page

        if request.method == "POST":
            return in_a_place(request, lambda: new_page(self, request))
        return new_page(self, request)

    def import_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Take a document, show what it would do, and do it when told to."""
        # Only who imports documents pays for reading and fetching them.
        from tools.admin.openapi_page import import_page

        service = ApiService.objects.filter(pk=pk).first()
        if service is None:
            raise Http404
        if not self.has_change_permission(request, service):
            raise PermissionDenied
        if request.method == "POST" or DRAFT in request.GET:
            return in_a_place(request, lambda: import_page(self, request, service))
        return import_page(self, request, service)

    @admin.display(description="Tools")
    def tools_held(self, service: Any) -> SafeString | str:
        if not service.pk:
            return "none yet"
        text = f"{service.offered} of {service.held}" if service.held else "none yet"
        address = reverse("admin:tools_apioperation_changelist")
        return format_html(LINK, f"{address}?service__id__exact={service.pk}", text)

    @admin.display(description="Sign-in", ordering="auth")
    def sign_in(self, service: Any) -> SafeString | str:
        if service.auth == "none":
            return "none"
        if service.secret:
            return str(service.get_auth_display())
        return badge(f"{service.get_auth_display()}: no key", "danger")

    @admin.display(description="Stored")
    def secret_kept(self, service: Any) -> str:
        return "yes, encrypted" if service.secret else "no"

    @admin.display(description="Breaker")
    def breaker(self, service: Any) -> SafeString | str:
        return breaker_shown(service)

    @admin.display(description="Last import", ordering="imported_at")
    def last_import(self, service: Any) -> SafeString | str:
        return moment(service.imported_at)
