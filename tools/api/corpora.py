"""`/api/corpora`: documents in, index versions built and switched. One use case for each method.

Nothing of a body is read before the caller is known to be somebody who may manage corpora.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol, cast
from urllib.parse import urlsplit

from django.core.exceptions import TooManyFilesSent
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools.api.base import AsyncAPIView, in_thread
from tools.api.corpora_schema import (
    BOTH_UPLOADS,
    DOCUMENT_LIST,
    UPLOAD_PARAMETERS,
    describe,
)
from tools.api.credentials import credentials_of
from tools.api.exceptions import respond
from tools.api.request_ids import given_request_id
from tools.conf import deployment
from tools.contracts import Envelope
from tools.errors import ErrorDetails, ForbiddenOrigin, InvalidArguments, MalformedRequest
from tools.execution.managers import manager
from tools.execution.runtime import serving
from tools.services import manage_corpora as corpora
from tools.services.audit.acting import act_for

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
# What a form adds to the files in it.
FORM_BYTES: Final = 64 << 10
LARGEST_PAGE: Final = 200
_LOCAL_ORIGIN: Final = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?\Z")


class Receiving(Protocol):
    """A request whose body is still with the caller."""

    async def receive_body(self, limit: int) -> None: ...


class ManagingView(AsyncAPIView):
    """What the views of corpora have in common: who may, and how bodies come in."""

    async def admit(self, request: Request) -> None:
        """Let in who may manage corpora.

        Raises:
            ControlPlaneError: a page of another origin, an unknown caller, or one who may not.
        """
        if request.method not in SAFE:
            _check_origin(request)
        credentials = credentials_of(request)
        caller = await manager(credentials)
        act_for(caller, credentials.address, f"{request.method} {request.path}")

    async def receive(self, request: Request, limit: int) -> None:
        """Take the body in, where it was not taken in yet.

        Raises:
            BodyTooLarge: it is larger than `limit`.
        """
        underlying = request._request
        if hasattr(underlying, "receive_body"):
            await cast("Receiving", underlying).receive_body(limit)

    async def values(self, request: Request) -> Mapping[str, Any]:
        """The JSON object of the body; nothing counts as an empty one."""
        await self.receive(request, deployment().max_body_bytes)
        if request.META.get("CONTENT_LENGTH", "0") in {"", "0"}:
            return {}
        if not isinstance(request.data, Mapping):
            raise MalformedRequest("The body must be a JSON object")
        return request.data

    async def forced(self, request: Request) -> bool:
        """Whether the body, if there is one, says `force`."""
        values = await self.values(request)
        force = values.get("force", False)
        if not isinstance(force, bool) or set(values) - {"force"}:
            raise InvalidArguments(
                "Invalid parameter: force",
                ErrorDetails(parameter="force", expected="true or false, and no other key"),
            )
        return force

    def answer(self, request: Request, data: Mapping[str, Any], status: int = 200) -> Response:
        headers = {}
        if status == 202:
            headers["Location"] = str(data["status_url"])
        return respond(
            Envelope(
                request_id=given_request_id(request) or uuid.uuid4(),
                success=True,
                data=data,
                http_status=status,
                headers=headers,
            )
        )


class CorporaView(ManagingView):
    """All corpora."""

    @extend_schema(**describe("list_corpora", "List the corpora", answer="Corpora"))
    async def get(self, request: Request) -> Response:
        await self.admit(request)
        return self.answer(request, await in_thread(corpora.list_corpora))

    @extend_schema(
        **describe("create_corpus", "Create a corpus", 201, answer="Corpus", body="NewCorpus")
    )
    async def post(self, request: Request) -> Response:
        await self.admit(request)
        values = await self.values(request)
        return self.answer(request, await in_thread(corpora.create_corpus, values), 201)


class CorpusView(ManagingView):
    """One corpus."""

    @extend_schema(**describe("read_corpus", "A corpus and how it stands", answer="Corpus"))
    async def get(self, request: Request, slug: str) -> Response:
        await self.admit(request)
        return self.answer(request, await in_thread(corpora.read_corpus, slug))

    @extend_schema(
        **describe("change_corpus", "Change a corpus", answer="Corpus", body="CorpusChange")
    )
    async def patch(self, request: Request, slug: str) -> Response:
        await self.admit(request)
        values = await self.values(request)
        return self.answer(request, await in_thread(corpora.change_corpus, slug, values))

    @extend_schema(**describe("delete_corpus", "Delete a corpus", answer="Deleted"))
    async def delete(self, request: Request, slug: str) -> Response:
        await self.admit(request)
        return self.answer(request, await in_thread(corpora.delete_corpus, slug))


class DocumentsView(ManagingView):
    """The documents of a corpus."""

    @extend_schema(
        **describe("list_documents", "The documents of a corpus", answer="Documents"),
        parameters=DOCUMENT_LIST,
    )
    async def get(self, request: Request, slug: str) -> Response:
        await self.admit(request)
        wanted = _page(request)
        return self.answer(request, await in_thread(corpora.list_documents, slug, **wanted))

    @extend_schema(
        **describe("upload_documents", "Add documents", 201, answer="Uploaded"),
        parameters=UPLOAD_PARAMETERS,
        request=BOTH_UPLOADS,
    )
    async def post(self, request: Request, slug: str) -> Response:
        await self.admit(request)
        largest = deployment().rag.max_document_bytes
        form = (request.content_type or "").startswith("multipart/form-data")
        await self.receive(request, largest + FORM_BYTES if form else largest)
        take = _take_form if form else _take_body
        done = await in_thread(take, request, slug)
        return self.answer(request, done, 201 if done["changed"] else 200)


class DocumentView(ManagingView):
    """One document."""

    @extend_schema(**describe("read_document", "A document, without its bytes", answer="Document"))
    async def get(self, request: Request, slug: str, number: int) -> Response:
        await self.admit(request)
        return self.answer(request, await in_thread(corpora.read_document, slug, number))

    @extend_schema(**describe("delete_document", "Take a document out", answer="Deleted"))
    async def delete(self, request: Request, slug: str, number: int) -> Response:
        await self.admit(request)
        return self.answer(request, await in_thread(corpora.delete_document, slug, number))


class IndexView(ManagingView):
    """The index of a corpus."""

    @extend_schema(
        **describe(
            "build_index", "Build a new index version", 202, answer="Begun", body="BuildIndex"
        )
    )
    async def post(self, request: Request, slug: str) -> Response:
        await self.admit(request)
        force = await self.forced(request)
        begun = await in_thread(corpora.begin_index, slug, force=force)
        return self.answer(request, begun, 202)


class StatusView(ManagingView):
    """How far a corpus is."""

    @extend_schema(**describe("corpus_status", "Documents and index versions", answer="Status"))
    async def get(self, request: Request, slug: str) -> Response:
        await self.admit(request)
        return self.answer(request, await in_thread(corpora.status_of, slug))


class ActivateView(ManagingView):
    """Which version queries use."""

    @extend_schema(
        **describe(
            "activate_version", "Use this index version", answer="Version", body="UseVersion"
        )
    )
    async def post(self, request: Request, slug: str, number: int) -> Response:
        await self.admit(request)
        force = await self.forced(request)
        done = await in_thread(corpora.switch_version, slug, number, force=force)
        return self.answer(request, done)


def _take_form(request: Request, slug: str) -> dict[str, Any]:
    """The files of a form, whatever their fields are named; one is read at a time."""
    underlying: HttpRequest = request._request
    try:
        sent = [file for _, files in underlying.FILES.lists() for file in files]
    except TooManyFilesSent:
        raise InvalidArguments(
            "Too many files in one request",
            ErrorDetails(expected="at most 100", suggestion="Send a zip archive instead"),
        ) from None
    except MultiPartParserError as fault:
        raise MalformedRequest("The form cannot be read") from fault
    if not sent:
        raise _no_document("Send files as multipart/form-data, or one as the body with ?name=")

    def contents() -> Iterator[tuple[str, bytes]]:
        for file in sent:
            yield file.name or "", file.read()

    return corpora.upload_files(slug, contents())


def _take_body(request: Request, slug: str) -> dict[str, Any]:
    """The body as it is, under the name of the query."""
    name = request.query_params.get("name", "")
    if not name:
        raise _no_document("Name the document: ?name=notes.md")
    content = request._request.read()
    if not content:
        raise _no_document("Send the document as the body")
    about = {key: request.query_params.get(key, "") for key in ("title", "source")}
    return corpora.upload_file(slug, name, content, **about)


def _no_document(suggestion: str) -> InvalidArguments:
    return InvalidArguments("There is no document here", ErrorDetails(suggestion=suggestion))


def _page(request: Request) -> dict[str, Any]:
    """The query of a list of documents.

    Raises:
        InvalidArguments: naming what cannot be used.
    """
    status = request.query_params.get("status", "")
    if status and status not in corpora.STATUSES:
        raise InvalidArguments(
            "Invalid parameter: status",
            ErrorDetails(
                parameter="status",
                value=status[:100],
                expected=f"one of {', '.join(corpora.STATUSES)}",
            ),
        )
    return {
        "page": _number(request, "page", 1, 1_000_000),
        "page_size": _number(request, "page_size", 50, LARGEST_PAGE),
        "status": status,
    }


def _number(request: Request, name: str, default: int, largest: int) -> int:
    text = request.query_params.get(name, str(default))
    number = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0
    if not 1 <= number <= largest:
        raise InvalidArguments(
            f"Invalid parameter: {name}",
            ErrorDetails(
                parameter=name, value=text[:100], expected=f"a whole number from 1 to {largest}"
            ),
        )
    return number


def _check_origin(request: Request) -> None:
    """Refuse pages that are neither ours nor allowed: a browser sends forms without asking."""
    origin = request.META.get("HTTP_ORIGIN", "")
    if not origin:
        return
    settings = serving().settings
    try:
        same = urlsplit(origin).netloc == request.META.get("HTTP_HOST")
    except ValueError:
        same = False
    allowed = settings.cors_enabled and (
        _LOCAL_ORIGIN.match(origin) or origin in settings.cors_allowed_origins
    )
    if not (same or allowed):
        raise ForbiddenOrigin(
            "Pages of that origin may not manage corpora",
            ErrorDetails(
                parameter="Origin",
                value=origin[:200],
                suggestion="Ask the operator to add it to cors.allowed_origins",
            ),
        )
