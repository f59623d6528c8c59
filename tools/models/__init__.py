"""What is kept: the catalogue, who may use it, how the service runs, and what was called."""

from tools.models.access import ApiClient
from tools.models.catalog import CatalogState, Tool, Toolset
from tools.models.corpora import Chunk, Corpus, Document, IndexEntry, IndexVersion
from tools.models.figures import CallFigures, CallTotals
from tools.models.http_apis import ApiOperation, ApiService
from tools.models.journal import ToolRequest, ToolResponse
from tools.models.offerings import Prompt, Resource
from tools.models.pipelines import EvaluationRun, PipelineConfig
from tools.models.service import ServiceConfiguration
from tools.models.upstream_items import ItemState, UpstreamItem
from tools.models.upstreams import NewItems, UpstreamServer

__all__ = [
    "ApiClient",
    "ApiOperation",
    "ApiService",
    "CallFigures",
    "CallTotals",
    "CatalogState",
    "Chunk",
    "Corpus",
    "Document",
    "EvaluationRun",
    "IndexEntry",
    "IndexVersion",
    "ItemState",
    "NewItems",
    "PipelineConfig",
    "Prompt",
    "Resource",
    "ServiceConfiguration",
    "Tool",
    "ToolRequest",
    "ToolResponse",
    "Toolset",
    "UpstreamItem",
    "UpstreamServer",
]
