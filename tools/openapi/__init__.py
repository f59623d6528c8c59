"""Reading OpenAPI documents: what each operation is as a tool, and what changed since the last time.

OpenAPI 3.0, 3.1 and 3.2 and Swagger 2. Nothing is fetched and nothing is kept: text in, values out.
"""

from tools.openapi.diff import Change, Changes, diff
from tools.openapi.document import Document
from tools.openapi.faults import DocumentFault
from tools.openapi.importing import operations
from tools.openapi.loading import read_document
from tools.openapi.values import AuthScheme, Imported, ImportedOperation, Refused

__all__ = [
    "AuthScheme",
    "Change",
    "Changes",
    "Document",
    "DocumentFault",
    "Imported",
    "ImportedOperation",
    "Refused",
    "diff",
    "operations",
    "read_document",
]
