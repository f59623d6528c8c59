"""The shapes of `/api/corpora`, for the OpenAPI document."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from tools.api.serializers import EnvelopeSerializer
from tools.api.views import FAILURES
from tools.services.manage_corpora import STATUSES

CONFLICT: Final = {
    409: OpenApiResponse(
        EnvelopeSerializer, description="Not as things are: taken, or in use (INVALID_ARGUMENTS)"
    )
}
ERRORS: Final = (400, 401, 403, 404, 405, 406, 413, 415, 429, 500, 503)


def _settings(*, required: bool) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    return {
        "title": serializers.CharField(max_length=200, required=required, allow_blank=True),
        "description": serializers.CharField(required=required, allow_blank=True),
        "embedding_model": serializers.CharField(
            max_length=200, required=required, help_text="For the next index version."
        ),
        "chunk_tokens": serializers.IntegerField(
            min_value=32, max_value=512, required=required, help_text="Most tokens of a passage."
        ),
        "chunk_overlap": serializers.IntegerField(min_value=0, max_value=128, required=required),
    }


def _slug() -> serializers.Field[Any, Any, Any, Any]:
    return serializers.RegexField(r"^[a-z][a-z0-9-]*$", max_length=64)


def _document() -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    return {
        "id": serializers.IntegerField(),
        "name": serializers.CharField(help_text="A new upload of it replaces the document."),
        "title": serializers.CharField(allow_blank=True),
        "source": serializers.CharField(help_text="Where it is from, as answers cite it."),
        "media_type": serializers.CharField(),
        "digest": serializers.CharField(help_text="SHA-256 of the content."),
        "size": serializers.IntegerField(help_text="Bytes."),
        "metadata": serializers.DictField(),
        "status": serializers.ChoiceField(choices=STATUSES),
        "error": serializers.CharField(allow_blank=True),
        "chunk_count": serializers.IntegerField(),
        "uploaded_at": serializers.DateTimeField(),
        "updated_at": serializers.DateTimeField(),
    }


def _corpus() -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    return {
        "slug": _slug(),
        **_settings(required=True),
        "largest_loss": serializers.FloatField(allow_null=True),
        "gate_dataset": serializers.CharField(allow_blank=True),
        "created_at": serializers.DateTimeField(),
        "updated_at": serializers.DateTimeField(),
        "status": serializers.DictField(help_text="As /status answers."),
        "status_url": serializers.CharField(),
    }


def _result() -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    outcomes = ("added", "updated", "unchanged", "duplicate", "refused")
    return {
        "name": serializers.CharField(),
        "outcome": serializers.ChoiceField(choices=outcomes),
        "id": serializers.IntegerField(required=False, help_text="Of the document."),
        "reason": serializers.CharField(required=False, help_text="Why it was refused."),
    }


BODIES: Final[dict[str, dict[str, Any]]] = {
    "NewCorpus": {"slug": _slug(), **_settings(required=False)},
    "CorpusChange": _settings(required=False),
    "BuildIndex": {
        "force": serializers.BooleanField(
            required=False, help_text="Also when nothing has changed since the last version."
        )
    },
}
BODIES["UseVersion"] = {
    "force": serializers.BooleanField(
        required=False, help_text="Also when the quality gate refused it."
    )
}
ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "Corpus": _corpus(),
    "Corpora": {"corpora": inline_serializer("CorpusItem", _corpus(), many=True)},
    "Document": _document(),
    "Documents": {
        "documents": inline_serializer("DocumentItem", _document(), many=True),
        "page": serializers.IntegerField(),
        "page_size": serializers.IntegerField(),
        "pages": serializers.IntegerField(),
        "total": serializers.IntegerField(),
    },
    "Uploaded": {
        "results": inline_serializer("UploadResult", _result(), many=True),
        "changed": serializers.IntegerField(help_text="How many the next index version changes."),
        "refused": serializers.IntegerField(),
    },
    "Version": {
        "version": serializers.IntegerField(),
        "state": serializers.CharField(),
        "status_url": serializers.CharField(),
    },
    "Begun": {
        "version": serializers.IntegerField(),
        "state": serializers.CharField(),
        "another_follows": serializers.BooleanField(
            help_text="Whether the next version is begun when this one has ended: it was being built "
            "already and does not hold what has changed since."
        ),
        "status_url": serializers.CharField(),
    },
    "Deleted": {"deleted": serializers.CharField()},
    "Status": {},
}
DOCUMENT_LIST: Final = [
    OpenApiParameter("page", int, description="From 1."),
    OpenApiParameter("page_size", int, description="1 to 200; 50 unless told."),
    OpenApiParameter("status", str, enum=STATUSES),
]
UPLOAD_PARAMETERS: Final = [
    OpenApiParameter("name", str, description="The document's name, when it is the body itself."),
    OpenApiParameter("title", str, description="Its title, when it is the body itself."),
    OpenApiParameter("source", str, description="What answers cite, when it is the body itself."),
]
BOTH_UPLOADS: Final[dict[str, Any]] = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
    },
    "application/octet-stream": {"type": "string", "format": "binary"},
}


@cache
def _envelope(answer: str) -> Any:
    """The envelope around one of the answers above; one shape for all who give it."""
    fields = ANSWERS[answer]
    shape: dict[str, Any] = {
        "success": serializers.BooleanField(),
        "data": inline_serializer(answer, fields) if fields else serializers.DictField(),
        "request_id": serializers.UUIDField(),
        "timestamp": serializers.DateTimeField(),
    }
    return inline_serializer(f"{answer}Envelope", shape)


def describe(
    operation: str, summary: str, status: int = 200, *, answer: str, body: str = ""
) -> dict[str, Any]:
    """What `extend_schema` is told about one method: an envelope around `answer`, and the failures."""
    told: dict[str, Any] = {
        "operation_id": operation,
        "summary": summary,
        "tags": ["corpora"],
        "responses": {
            status: _envelope(answer),
            **{code: FAILURES[code] for code in ERRORS},
            **CONFLICT,
        },
    }
    if operation != "upload_documents":
        told["request"] = inline_serializer(body, BODIES[body]) if body else None
    return told
