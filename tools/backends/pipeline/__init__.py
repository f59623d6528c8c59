"""Queries of the RAG pipelines: sent to Celery workers, waited for without blocking."""

from __future__ import annotations

from tools.backends.pipeline.backend import PipelineBackend, Send
from tools.backends.registry import registry
from tools.contracts import ToolSource

__all__ = ["PipelineBackend", "register_pipelines"]


def register_pipelines(send: Send) -> None:
    """Let pipelines be called; `send` hands a query to the workers."""
    registry.register(ToolSource.PIPELINE, PipelineBackend(send))
