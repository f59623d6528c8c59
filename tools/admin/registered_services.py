"""The service registry in the admin: where services are, and wrappers for them as a download."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.decorators import action

from tools.admin.guarded_form import GuardedForm
from tools.admin.slow_pages import in_a_place
from tools.admin.switch_column import SwitchColumn
from tools.admin.switching import SwitchedRows
from tools.models import RegisteredService
from tools.services.apply_config import to_yaml
from tools.services.service_registry import export_registry
from tools.wrappers.registry import ServiceEntry

MEDIA_TYPE: Final = "application/yaml; charset=utf-8"


@admin.register(RegisteredService)
class RegisteredServiceAdmin(SwitchColumn, SwitchedRows, ModelAdmin):
    """The services that wrappers are generated for."""

    form = GuardedForm
    what_comes_here = (
        "Services whose tools become scripts, clients and skills. A services.yaml can be imported."
    )
    list_display = ("name", "url", "enabled", "key")
    search_fields = ("name", "url")
    list_per_page = 50
    warn_unsaved_form = True
    actions = ("enable", "disable")
    actions_list = ("wrappers", "export_services", "import_services")
    fields = ("name", "url", "enabled", "key_variable")

    class Media:
        css: ClassVar = {"all": ("tools/admin/switch.css",)}
        js = ("tools/admin/switch.js",)

    def has_import_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """A file may bring new services and change old ones."""
        return request.user.has_perms(
            ["tools.add_registeredservice", "tools.change_registeredservice"]
        )

    @action(  # type: ignore[untyped-decorator]
        description="Generate wrappers", permissions=["change"], url_path="wrappers"
    )
    def wrappers(self, request: HttpRequest) -> HttpResponse:
        """The page that makes them."""
        # Only who generates pays for templates and connections.
        from tools.admin.wrapper_page import wrapper_page

        if request.method == "POST":
            return in_a_place(request, lambda: wrapper_page(self, request))
        return wrapper_page(self, request)

    @action(description="Export", permissions=["view"], url_path="export")  # type: ignore[untyped-decorator]
    def export_services(self, request: HttpRequest) -> HttpResponse:
        """Every service as a services.yaml."""
        name = f"services-{timezone.localtime():%Y-%m-%d}.yaml"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(to_yaml(export_registry()), content_type=MEDIA_TYPE, headers=headers)

    @action(description="Import", permissions=["import"], url_path="import")  # type: ignore[untyped-decorator]
    def import_services(self, request: HttpRequest) -> HttpResponse:
        """The page that takes such a file."""
        from tools.admin.registry_import import import_page

        return import_page(self, request)

    @admin.display(description="Key from", ordering="key_variable")
    def key(self, row: RegisteredService) -> str:
        return ServiceEntry(row.name, row.url, row.enabled, row.key_variable).key_name
