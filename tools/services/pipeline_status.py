"""How a pipeline is doing: whether it has something to search, and how its latest queries ended."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from tools.conf import deployment
from tools.guards.queries import running_queries
from tools.guards.redis import RedisDown, RedisLink
from tools.models import PipelineConfig
from tools.services.tool_status import ToolStatus, index_faults, tool_faults, tool_status


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The computed state of a pipeline, and why it cannot answer where it cannot."""

    status: ToolStatus
    problems: tuple[str, ...] = ()


def pipeline_status(pipeline: PipelineConfig) -> PipelineStatus:
    """Unavailable without an index in use or with a bad tool; else as its latest queries ended."""
    problems = [*tool_faults(pipeline.tool), *index_faults(pipeline.tool)]
    if not pipeline.tool.enabled:
        problems.append(f"The tool {pipeline.tool.name} is switched off.")
    if problems:
        return PipelineStatus(ToolStatus.UNAVAILABLE, tuple(problems))
    return PipelineStatus(tool_status(pipeline.tool))


def queries_under_way() -> list[dict[str, Any]] | None:
    """The queries that workers are at now, oldest first; None while Redis cannot be asked."""
    try:
        return asyncio.run(_under_way())
    except RedisDown:
        return None


async def _under_way() -> list[dict[str, Any]]:
    link = RedisLink(deployment().redis_url)
    try:
        return await running_queries(link)
    finally:
        await link.close()
