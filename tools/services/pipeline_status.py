"""How a pipeline is doing: whether it has something to search, and how its latest queries ended."""

from __future__ import annotations

from dataclasses import dataclass

from tools.models import PipelineConfig
from tools.services.tool_status import ToolStatus, calls_status, corpus_faults, tool_faults


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The computed state of a pipeline, and why it cannot answer where it cannot."""

    status: ToolStatus
    problems: tuple[str, ...] = ()


def pipeline_status(pipeline: PipelineConfig) -> PipelineStatus:
    """Unavailable without an index in use or with a bad tool; else as its latest queries ended."""
    problems = [*tool_faults(pipeline.tool), *corpus_faults(pipeline.corpus)]
    if not pipeline.tool.enabled:
        problems.append(f"The tool {pipeline.tool.name} is switched off.")
    if problems:
        return PipelineStatus(ToolStatus.UNAVAILABLE, tuple(problems))
    return PipelineStatus(calls_status(pipeline.tool))
