"""Which generator writes the answers of a pipeline."""

from __future__ import annotations

from tools.conf import deployment
from tools.pipelines.blocks.generation.extractive import ExtractiveGenerator
from tools.pipelines.contracts import Generator


def generator_for(llm_model: str | None) -> Generator:
    """The configured language model, under the pipeline's own name for it if it has one; else the
    generator that takes sentences from the passages."""
    rag = deployment().rag
    model = llm_model or rag.llm_model
    if rag.llm and model:
        # Imported here: a process without a language model needs no HTTP client.
        from tools.pipelines.blocks.generation.chat import ChatOrExtractive

        return ChatOrExtractive(model)
    if rag.llm:
        return ExtractiveGenerator("The language model has no name; set LLM_MODEL")
    if llm_model:
        return ExtractiveGenerator(f"No language model is configured, so {llm_model} is not used")
    return ExtractiveGenerator()
