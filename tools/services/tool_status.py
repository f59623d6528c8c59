"""How a tool is doing: what is wrong with its definition, and how its latest calls ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from tools.backends.builtin import BUILTINS
from tools.backends.registry import registry
from tools.contracts import ToolSource
from tools.errors import ErrorCode
from tools.models import (
    ApiOperation,
    Corpus,
    ItemState,
    PipelineConfig,
    Tool,
    UpstreamItem,
)
from tools.models.corpora import VersionState
from tools.models.tool_rules import ELSEWHERE, NO_OPERATION
from tools.selectors.latest_codes import latest_codes

LATEST_CALLS = 20
# What failed longer ago says nothing of how a tool is.
LATELY = timedelta(days=7)
FEWEST_TO_JUDGE = 3
# Codes that speak against the tool; the others speak against the caller.
TOOL_FAILED = frozenset(
    {
        ErrorCode.EXECUTION_ERROR,
        ErrorCode.INTERNAL_ERROR,
        ErrorCode.TIMEOUT,
        ErrorCode.SERVICE_UNAVAILABLE,
    }
)


class ToolStatus(StrEnum):
    """The three states a tool can be in; computed, never stored."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


def tool_status(tool: Tool) -> ToolStatus:
    """Unavailable when it cannot serve or nothing of late succeeded; degraded when some calls failed."""
    if not tool.enabled or tool_faults(tool) or index_faults(tool):
        return ToolStatus.UNAVAILABLE
    return calls_status(tool)


def calls_status(tool: Tool) -> ToolStatus:
    """The same of a tool that can serve: as its latest calls ended."""
    return _judged(latest_codes([tool.name], _lately(), LATEST_CALLS)[tool.name])


def tool_statuses(
    tools: Collection[Tool], faults: Mapping[int, Sequence[str]]
) -> Mapping[str, ToolStatus]:
    """The same of many tools, by name, in one query; `faults` are those of `listed_faults`."""
    codes = latest_codes([tool.name for tool in tools], _lately(), LATEST_CALLS)
    return {
        tool.name: ToolStatus.UNAVAILABLE
        if faults[tool.pk] or not tool.enabled
        else _judged(codes[tool.name])
        for tool in tools
    }


def listed_faults(tools: Collection[Tool]) -> Mapping[int, Sequence[str]]:
    """By key why callers do not get tools: `backing_faults`, and what `tool_faults` finds."""
    behind = backing_faults(tools)
    return {
        tool.pk: [*([behind[tool.pk]] if tool.pk in behind else []), *tool_faults(tool)]
        for tool in tools
    }


def backing_faults(tools: Collection[Tool]) -> Mapping[int, str]:
    """By key why tools have nothing behind them, as `index_faults` says it of one."""
    found: dict[int, str] = {}
    keys = {
        source: {tool.pk for tool in tools if tool.source == source}
        for source in (ToolSource.PIPELINE, ToolSource.HTTP_API)
    }
    for tool in tools:
        if tool.source == ToolSource.UPSTREAM and (faults := upstream_faults(tool)):
            found[tool.pk] = faults[0]
    if piped := keys[ToolSource.PIPELINE]:
        searched = PipelineConfig.objects.filter(
            tool__in=piped, corpus__versions__state=VersionState.ACTIVE
        )
        without = piped - set(searched.values_list("tool", flat=True))
        found |= dict.fromkeys(without, "Its corpus has no index yet.")
    if served := keys[ToolSource.HTTP_API]:
        switched = _apis_switched(served)
        off = (key for key, on in switched.items() if not on)
        found |= dict.fromkeys(off, "Its HTTP API is switched off.")
        if ToolSource.HTTP_API in ELSEWHERE:
            found |= dict.fromkeys(served - switched.keys(), NO_OPERATION)
    return found


def switched_off(tools: Collection[Tool]) -> set[int]:
    """Keys of the tools that are off on purpose: by their own switch, or by that of what is behind them."""
    off = {tool.pk for tool in tools if not tool.enabled}
    served = set()
    for tool in tools:
        item: UpstreamItem | None = getattr(tool, "upstream_item", None)
        if tool.source == ToolSource.HTTP_API:
            served.add(tool.pk)
        elif tool.source == ToolSource.UPSTREAM and item is not None and not item.server.enabled:
            off.add(tool.pk)
    switched = _apis_switched(served - off) if served - off else {}
    return off | {key for key, on in switched.items() if not on}


def _apis_switched(served: Collection[int]) -> dict[int, bool]:
    """Whether the HTTP API behind each tool is switched on, by key; without tools that have none."""
    rows = ApiOperation.objects.filter(tool__in=served).order_by()
    return dict(rows.values_list("tool", "service__enabled"))


def _judged(latest: Sequence[str]) -> ToolStatus:
    failed = sum(code in TOOL_FAILED for code in latest)
    if failed >= FEWEST_TO_JUDGE and failed == len(latest):
        return ToolStatus.UNAVAILABLE
    return ToolStatus.DEGRADED if failed else ToolStatus.HEALTHY


def _lately() -> datetime:
    return datetime.now(UTC) - LATELY


def tool_faults(tool: Tool) -> list[str]:
    """Everything wrong with the definition of `tool`, found without asking the database."""
    return [
        *tool.problems(),
        *source_faults(tool.source),
        *handler_faults(tool.source, tool.handler),
    ]


def handler_faults(source: str, handler: str) -> list[str]:
    """Why no work would be done under `handler`; sources other than our own find out by calling."""
    if source != ToolSource.BUILTIN or handler in BUILTINS:
        return []
    return [f"handler: {handler!r} is not a built-in; choose one of {', '.join(sorted(BUILTINS))}"]


def argument_faults(tool: Tool, schema: Any) -> list[str]:
    """Why the operation that `tool` belongs to could not be asked with arguments of `schema`."""
    operation: ApiOperation | None = getattr(tool, "api_operation", None)
    if operation is None or not isinstance(schema, Mapping):
        return []
    return [f"{operation}: {fault}" for fault in operation.argument_faults(schema)]


def source_faults(source: str) -> list[str]:
    """Why nothing would answer for tools of `source`."""
    if source not in list(ToolSource) or registry.get(ToolSource(source)) is not None:
        return []
    return [f"source: this version of the service has nothing that serves {source} tools"]


def index_faults(tool: Tool) -> list[str]:
    """Why a tool has nothing behind it: no index to search, no API or server that is switched on."""
    if tool.source == ToolSource.HTTP_API:
        return _api_faults(tool)
    if tool.source == ToolSource.UPSTREAM:
        return upstream_faults(tool)
    if tool.source != ToolSource.PIPELINE:
        return []
    pipeline = PipelineConfig.objects.filter(tool=tool).select_related("corpus").first()
    if pipeline is None:
        return ["It belongs to no pipeline any more; delete it."]
    return corpus_faults(pipeline.corpus)


def corpus_faults(corpus: Corpus) -> list[str]:
    """Why a corpus cannot be searched."""
    if corpus.versions.filter(state=VersionState.ACTIVE).exists():
        return []
    return [f"The corpus {corpus.slug} has no index yet."]


def _api_faults(tool: Tool) -> list[str]:
    operation: ApiOperation | None = getattr(tool, "api_operation", None)
    if operation is None:
        return [NO_OPERATION] if ToolSource.HTTP_API in ELSEWHERE else []
    service = operation.service
    off = f"The HTTP API {service} is switched off, so agents do not see it."
    return [] if service.enabled else [off]


def upstream_faults(row: Any) -> list[str]:
    """Why callers do not get a row that comes from an MCP server.

    Asks the database unless what the server offers was read with the row.
    """
    item: UpstreamItem | None = getattr(row, "upstream_item", None)
    if item is None:
        return ["It belongs to no MCP server any more; delete it."]
    faults = []
    match item.state:
        case ItemState.WAITING:
            faults.append("Waits for approval: the server offers it newly.")
        case ItemState.CHANGED:
            faults.append("Quarantined: the server has changed it since approval.")
        case ItemState.GONE:
            faults.append("The server no longer offers it.")
    if not item.server.enabled:
        faults.append(f"The MCP server {item.server} is switched off, so agents do not see it.")
    return faults


def flawed_tools() -> dict[str, list[str]]:
    """The enabled tools that cannot serve calls, by name, with what is wrong."""
    rows = ((tool.name, tool_faults(tool)) for tool in Tool.objects.filter(enabled=True))
    return {name: faults for name, faults in rows if faults}
