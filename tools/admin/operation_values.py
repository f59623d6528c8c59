"""What agents see of an operation, for people who may look at it and not change it.

Whoever may change an operation has these as fields of the form. Without a form there is only the row,
and these are in the row of its tool.
"""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString

from tools.admin.json_fields import panel, pretty
from tools.models import ApiOperation


class ToolValues:
    """For the ModelAdmin of operations; each is named as the field of the form."""

    @admin.display(description="Name")
    def name(self, operation: ApiOperation) -> str:
        return operation.tool.name

    @admin.display(description="Description")
    def description(self, operation: ApiOperation) -> str:
        return operation.tool.description

    @admin.display(description="Arguments")
    def input_schema(self, operation: ApiOperation) -> SafeString:
        return panel(pretty(operation.tool.input_schema))

    @admin.display(description="Enabled", boolean=True)
    def enabled(self, operation: ApiOperation) -> bool:
        return operation.tool.enabled

    @admin.display(description="Read-only", boolean=True)
    def read_only(self, operation: ApiOperation) -> bool:
        return operation.tool.read_only

    @admin.display(description="Destructive", boolean=True)
    def destructive(self, operation: ApiOperation) -> bool:
        return operation.tool.destructive

    @admin.display(description="Idempotent", boolean=True)
    def idempotent(self, operation: ApiOperation) -> bool:
        return operation.tool.idempotent

    @admin.display(description="Cache, in seconds")
    def cache_ttl_seconds(self, operation: ApiOperation) -> str:
        return str(operation.tool.cache_ttl_seconds or "never")

    @admin.display(description="Shorten long answers", boolean=True)
    def requires_context_management(self, operation: ApiOperation) -> bool:
        return operation.tool.requires_context_management
