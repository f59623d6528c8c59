"""Services that client wrappers are generated for."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from typing_extensions import override

from tools.models.audited import AuditedModel
from tools.models.http_rules import address_faults
from tools.models.signals import AnnouncingManager
from tools.models.tool_rules import SLUG_PATTERN

# Keys of APIs and nothing else: their values are sent to the service.
KEY_VARIABLE_PATTERN: Final = r"^([A-Z][A-Z0-9_]{0,90}_API_KEY|CONTROL_PLANE_KEY)\Z"


_ODD: Final = frozenset('"\\{}`<>')


class RegisteredService(AuditedModel):
    """A service with GET /tools and POST /call-tool: this control plane, or one like it."""

    name = models.CharField(
        max_length=64,
        unique=True,
        validators=[
            RegexValidator(
                SLUG_PATTERN, "Use lower-case letters, digits and hyphens; begin with a letter."
            )
        ],
        help_text="What its wrappers are called by, such as code-graph-rag.",
    )
    url = models.CharField(
        "address",
        max_length=500,
        help_text="What comes before /tools and /call-tool, such as http://127.0.0.1:8001.",
    )
    enabled = models.BooleanField(default=True, help_text="Whether wrappers are generated for it.")
    key_variable = models.CharField(
        "variable with the key",
        max_length=100,
        blank=True,
        validators=[
            RegexValidator(
                KEY_VARIABLE_PATTERN,
                "Name a variable that ends with _API_KEY, in capitals, or CONTROL_PLANE_KEY.",
            )
        ],
        help_text=(
            "Variable of the environment that wrappers read the key from. "
            "Empty: the name in capitals with _API_KEY, such as CODE_GRAPH_RAG_API_KEY."
        ),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("name",)
        verbose_name = "registered service"
        constraints = (
            models.CheckConstraint(
                condition=Q(name__regex=SLUG_PATTERN), name="registered_service_name_pattern"
            ),
            models.CheckConstraint(
                condition=Q(key_variable="") | Q(key_variable__regex=KEY_VARIABLE_PATTERN),
                name="registered_service_key_variable",
            ),
        )

    @override
    def __str__(self) -> str:
        return self.name

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        found = address_faults(self.url)
        if not found and (not self.url.isascii() or set(self.url) & _ODD):
            # Programs that wrappers use read more into them; they have a form with % each.
            found = ["Write quotes, braces, backslashes and letters beyond ASCII as %XX."]
        if found:
            raise ValidationError({"url": found})
