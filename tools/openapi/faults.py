"""Why a document, or one operation of it, cannot be used. Messages say what to do."""

from __future__ import annotations


class DocumentFault(ValueError):
    """The text is not an OpenAPI document that can be read."""


class Unservable(Exception):
    """One operation cannot become a tool; the rest of the document is not touched by it."""
