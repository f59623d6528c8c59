"""What is kept: the catalogue, who may use it, how the service runs, and what was called."""

from tools.models.access import ApiClient
from tools.models.catalog import CatalogState, Tool, Toolset
from tools.models.journal import ToolRequest, ToolResponse
from tools.models.offerings import Prompt, Resource
from tools.models.service import ServiceConfiguration

__all__ = [
    "ApiClient",
    "CatalogState",
    "Prompt",
    "Resource",
    "ServiceConfiguration",
    "Tool",
    "ToolRequest",
    "ToolResponse",
    "Toolset",
]
