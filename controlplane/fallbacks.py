"""What is answered where no view is, or where one broke: the envelope, and pages for the admin."""

from __future__ import annotations

import uuid

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from tools.api.exceptions import envelope_of, translate
from tools.api.request_ids import given_request_id
from tools.errors import ErrorDetails, InternalFault, MalformedRequest, PathNotFound


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: a page below /admin/, else the envelope."""
    if request.path.startswith("/admin/"):
        return defaults.page_not_found(request, exception)
    return enveloped(
        PathNotFound(
            "There is nothing at this address",
            ErrorDetails(
                suggestion="The REST API is GET /tools, POST /call-tool and GET /health; see /api/docs"
            ),
        ),
        given_request_id(request),
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: a page below /admin/ that says whom to ask, else Django's own."""
    if not request.path.startswith("/admin/"):
        return defaults.permission_denied(request, exception)
    context = {**admin.site.each_context(request), "title": "Not allowed"}
    return render(request, "controlplane/forbidden.html", context, status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a page below /admin/, else the envelope. Django has logged the cause."""
    if request.path.startswith("/admin/"):
        return defaults.server_error(request)
    return enveloped(InternalFault(), given_request_id(request))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: what Django refused before any view saw it."""
    return enveloped(
        translate(exception) or MalformedRequest("The request cannot be read"),
        given_request_id(request),
    )


def enveloped(error: Exception, request_id: uuid.UUID | None = None) -> HttpResponse:
    """An error as a plain response with the envelope in it."""
    envelope = envelope_of(error, request_id or uuid.uuid4())
    return HttpResponse(
        envelope.to_bytes(),
        status=envelope.http_status,
        content_type="application/json",
        headers={**envelope.headers, "X-Request-ID": str(envelope.request_id)},
    )
