"""Prompts and resources: what the catalogue offers beside tools."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from typing_extensions import override

from tools.models.audited import AuditedModel
from tools.models.fields import json_value
from tools.models.offering_rules import (
    LOCAL,
    ORIGINS,
    PROMPT_CONSTRAINTS,
    RESOURCE_CONSTRAINTS,
    UNSTORABLE,
    body_faults,
    choices_faults,
    messages_size_faults,
    remote_argument_faults,
    unstorable,
)
from tools.models.signals import AnnouncingManager
from tools.models.tool_rules import NAME_PATTERN
from tools.offerings import (
    MIME_PATTERN,
    argument_faults,
    audience_fault,
    message_faults,
    template_faults,
    uri_faults,
)


class Offering(AuditedModel):
    """What prompts and resources have in common: texts for people, a switch, checks on save."""

    title = models.CharField(max_length=200, blank=True, help_text="Shown to people by clients.")
    description = models.TextField(
        blank=True, help_text="What it is for and when to use it; people and models choose by it."
    )
    enabled = models.BooleanField(default=True, help_text="Whether clients see it and may read it.")
    origin = models.CharField(
        max_length=16,
        choices=ORIGINS,
        default=LOCAL,
        db_default=LOCAL,
        editable=False,
        help_text="Whether its content is kept here or comes from an MCP server.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        abstract = True

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse an invalid definition whichever way it is saved."""
        self.full_clean()
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        """Check what one field alone cannot tell."""
        faults: dict[str, list[str]] = {}
        for field, messages in self._faults():
            if messages:
                faults.setdefault(field, []).extend(messages)
        if faults:
            raise ValidationError(faults)

    def _faults(self) -> Iterable[tuple[str, list[str]]]:
        for field in ("title", "description"):
            if unstorable(getattr(self, field) or ""):
                yield field, [UNSTORABLE]

    @property
    def is_local(self) -> bool:
        """Whether its content is kept here."""
        return self.origin == LOCAL

    def problems(self) -> list[str]:
        """What is wrong with this row as it stands, found without asking the database."""
        try:
            self.full_clean(validate_unique=False, validate_constraints=False)
        except ValidationError as fault:
            return [
                f"{field}: {message}"
                for field, messages in fault.message_dict.items()
                for message in messages
            ]
        return []


class Prompt(Offering):
    """A ready-made start of a conversation, with places for what the person types in."""

    name = models.CharField(
        max_length=64,
        unique=True,
        validators=[
            RegexValidator(
                NAME_PATTERN,
                "Use letters, digits and underscores only, and do not start with a digit.",
            )
        ],
        help_text="What clients call it: letters, digits and underscores, at most 64, unique.",
    )
    arguments = models.JSONField(
        default=list,
        blank=True,
        validators=[json_value],
        help_text='Such as [{"name": "topic", "description": "...", "required": true, '
        '"choices": ["a", "b"]}]; choices are suggestions.',
    )
    messages = models.JSONField(
        default=list,
        blank=True,
        validators=[json_value],
        help_text='Such as [{"role": "user", "content": {"type": "text", "text": "About {topic}"}}]. '
        "{name} stands for an argument, {{ and }} for braces.",
    )

    class Meta:
        ordering = ("name",)
        constraints = PROMPT_CONSTRAINTS

    @override
    def __str__(self) -> str:
        return self.name

    @override
    def _faults(self) -> Iterable[tuple[str, list[str]]]:
        yield from super()._faults()
        if not self.is_local:
            yield "arguments", remote_argument_faults(self.arguments)
            return
        wrong = argument_faults(self.arguments)
        yield "arguments", wrong
        if not self.messages:
            yield "messages", ["This field is required."]
        elif not wrong:
            known = [argument["name"] for argument in self.arguments]
            faults = message_faults(self.messages, known)
            yield "messages", faults or messages_size_faults(self.messages)


class Resource(Offering):
    """A text or file that clients can read by its address, or a template for many texts."""

    uri = models.CharField(
        "URI",
        max_length=500,
        unique=True,
        help_text="Such as docs://guide; for a template such as docs://guide/{chapter}.",
    )
    is_template = models.BooleanField(
        default=False, help_text="The URI has {variables}, and so may the text."
    )
    name = models.CharField(
        max_length=200,
        validators=[RegexValidator(r"^\S(.*\S)?\Z", "Use one line without spaces at its ends.")],
        help_text="What clients call it; need not be unique.",
    )
    mime_type = models.CharField(
        "media type",
        max_length=200,
        blank=True,
        validators=[RegexValidator(MIME_PATTERN, "Use a media type such as text/markdown.")],
        help_text="Such as text/markdown. Empty: not said.",
    )
    text = models.TextField(
        blank=True, help_text="The content, if it is text. {{ and }} are braces in a template."
    )
    blob = models.TextField(blank=True, help_text="The content in base64, if it is no text.")
    audience = models.JSONField(
        default=list,
        blank=True,
        help_text='Whom it is for: ["user"], ["assistant"] or both. Empty: not said.',
    )
    priority = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="From 0 (optional) to 1 (required). Empty: not said.",
    )
    choices = models.JSONField(
        default=dict,
        blank=True,
        validators=[json_value],
        help_text='Suggested values of a template\'s variables, such as {"chapter": ["1", "2"]}.',
    )

    class Meta:
        ordering = ("uri",)
        constraints = RESOURCE_CONSTRAINTS

    @override
    def __str__(self) -> str:
        return self.uri

    @property
    def size(self) -> int:
        """Bytes of the content as clients get it, before base64."""
        return len(base64.b64decode(self.blob)) if self.blob else len(self.text.encode())

    @override
    def _faults(self) -> Iterable[tuple[str, list[str]]]:
        yield from super()._faults()
        uri, template = self.uri or "", bool(self.is_template)
        # An empty value has its own message: the field is required.
        if uri:
            yield "uri", template_faults(uri) if template else uri_faults(uri)
        if self.is_local:
            yield from body_faults(uri, self.text or "", self.blob or "", is_template=template)
        if fault := audience_fault(self.audience):
            yield "audience", [fault]
        yield "choices", choices_faults(uri, self.choices, is_template=template)
