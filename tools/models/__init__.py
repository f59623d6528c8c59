"""What is kept: the catalogue, who may use it, how the service runs, and what was called."""

from tools.models.access import ApiClient
from tools.models.audit import AuditEntry
from tools.models.catalog import CatalogState, Tool, Toolset
from tools.models.corpora import Chunk, Corpus, Document, IndexEntry, IndexVersion
from tools.models.evaluations import EvaluationJob, EvaluationPart, EvaluationRun
from tools.models.figures import CallFigures, CallTotals
from tools.models.http_apis import ApiOperation, ApiService
from tools.models.journal import ToolRequest, ToolResponse
from tools.models.offerings import Prompt, Resource
from tools.models.pipelines import PipelineConfig
from tools.models.questions import LabelledQuestion, QuestionSet
from tools.models.registered_services import RegisteredService
from tools.models.service import ServiceConfiguration
from tools.models.sums import CallSums, SumsSpan
from tools.models.tool_versions import ToolVersion
from tools.models.upstream_items import ItemState, UpstreamItem
from tools.models.upstreams import NewItems, UpstreamServer

__all__ = [
    "ApiClient",
    "ApiOperation",
    "ApiService",
    "AuditEntry",
    "CallFigures",
    "CallSums",
    "CallTotals",
    "CatalogState",
    "Chunk",
    "Corpus",
    "Document",
    "EvaluationJob",
    "EvaluationPart",
    "EvaluationRun",
    "IndexEntry",
    "IndexVersion",
    "ItemState",
    "LabelledQuestion",
    "NewItems",
    "PipelineConfig",
    "Prompt",
    "QuestionSet",
    "RegisteredService",
    "Resource",
    "ServiceConfiguration",
    "SumsSpan",
    "Tool",
    "ToolRequest",
    "ToolResponse",
    "ToolVersion",
    "Toolset",
    "UpstreamItem",
    "UpstreamServer",
]
