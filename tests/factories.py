"""Rows for tests: plain functions, sound by default, every field open to an override."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import count
from typing import Any

from tools.contracts import ToolSource
from tools.models import (
    ApiClient,
    Chunk,
    Corpus,
    Document,
    IndexVersion,
    PipelineConfig,
    Prompt,
    Resource,
    ServiceConfiguration,
    Tool,
    Toolset,
)
from tools.services.issue_key import replace_key

numbers = count(1)


def tool_values(**overrides: Any) -> dict[str, Any]:
    """What a sound tool is made of; served by the commandable backend of tests/faults."""
    return {
        "name": f"echo_{next(numbers)}",
        "description": "Answers with its arguments; use it to try the path.",
        "input_schema": {"type": "object", "properties": {}},
        "source": ToolSource.HTTP_API.value,
        "handler": "echo",
        **overrides,
    }


def make_tool(**overrides: Any) -> Tool:
    """A saved tool."""
    tool = Tool(**tool_values(**overrides))
    tool.save()
    return tool


def prompt_values(**overrides: Any) -> dict[str, Any]:
    """What a sound prompt is made of."""
    return {
        "name": f"prompt_{next(numbers)}",
        "description": "Asks about a topic.",
        "arguments": [{"name": "topic", "required": True}],
        "messages": [{"role": "user", "content": {"type": "text", "text": "Tell about {topic}."}}],
        **overrides,
    }


def make_prompt(**overrides: Any) -> Prompt:
    """A saved prompt."""
    prompt = Prompt(**prompt_values(**overrides))
    prompt.save()
    return prompt


def resource_values(**overrides: Any) -> dict[str, Any]:
    """What a sound resource is made of."""
    number = next(numbers)
    values = {"uri": f"docs://page/{number}", "name": f"page {number}", **overrides}
    return values if "blob" in values else {"text": "Some text.", **values}


def make_resource(**overrides: Any) -> Resource:
    """A saved resource."""
    resource = Resource(**resource_values(**overrides))
    resource.save()
    return resource


def make_toolset(
    *,
    tools: Iterable[Tool] = (),
    prompts: Iterable[Prompt] = (),
    resources: Iterable[Resource] = (),
    **overrides: Any,
) -> Toolset:
    """A saved toolset that holds what is given."""
    toolset = Toolset(**{"slug": f"set-{next(numbers)}", **overrides})
    toolset.save()
    toolset.tools.set(tools)
    toolset.prompts.set(prompts)
    toolset.resources.set(resources)
    return toolset


def make_client(*, toolsets: Iterable[Toolset] = (), **overrides: Any) -> tuple[ApiClient, str]:
    """A saved client that was granted `toolsets`, and its key."""
    issued = replace_key(ApiClient(**{"name": f"client {next(numbers)}", **overrides}))
    issued.client.toolsets.set(toolsets)
    return issued.client, issued.key


def make_service(**overrides: Any) -> ServiceConfiguration:
    """A saved service configuration."""
    row = ServiceConfiguration(**{"service_name": "mcp-control-plane", **overrides})
    row.save()
    return row


def make_corpus(**overrides: Any) -> Corpus:
    """A saved corpus without documents."""
    corpus = Corpus(**{"slug": f"corpus-{next(numbers)}", **overrides})
    corpus.save()
    return corpus


def make_document(corpus: Corpus, *, chunks: Iterable[str] = (), **overrides: Any) -> Document:
    """A saved document of `corpus` with these texts as its passages, cut by hand."""
    texts = list(chunks)
    content = overrides.pop("content", b"A short text.")
    document = Document(
        corpus=corpus,
        **{
            "name": f"document-{next(numbers)}.txt",
            "media_type": "text/plain",
            "digest": hashlib.sha256(content).hexdigest(),
            "size": len(content),
            "content": content,
            "chunk_count": len(texts),
            **overrides,
        },
    )
    document.save()
    Chunk.objects.bulk_create(
        Chunk(document=document, ordinal=ordinal, text=text, tokens=len(text.split()))
        for ordinal, text in enumerate(texts)
    )
    return document


def make_version(corpus: Corpus, **overrides: Any) -> IndexVersion:
    """A saved index version of `corpus`: the row alone, without an index behind it."""
    version = IndexVersion(
        corpus=corpus,
        **{
            "number": corpus.versions.count() + 1,
            "embedding_model": corpus.embedding_model,
            **overrides,
        },
    )
    version.save()
    return version


def make_pipeline(**overrides: Any) -> PipelineConfig:
    """A saved pipeline with its tool, on a corpus of its own unless one is given."""
    values = {"pipeline_name": "basic", **overrides}
    pipeline = PipelineConfig(**{"corpus": values.get("corpus") or make_corpus(), **values})
    pipeline.save()
    return pipeline
