"""What every retrieval technique declares: its name, when to use it, and its parameters.

A technique is registered by the module that implements it (`tools/pipelines/kinds/`), while apps load.
This side of it is light: the web process reads parameters and schemas here and never runs a pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

LONGEST_QUERY: Final = 8000
QUEUE_PREFIX: Final = "rag."
# Keys of a configuration's defaults that say how a pipeline is set up; callers cannot send them.
SET_UP_KEYS: Final = ("embedding_model", "llm_model")

_DOCUMENT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "doc_id": {"type": "string"},
        "content": {"type": "string"},
        "score": {"type": "number"},
        "metadata": {"type": "object"},
    },
    "required": ["doc_id", "content", "score", "metadata"],
}
_MILLISECONDS: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 0}
# What every technique answers.
ANSWER_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "retrieved_documents": {"type": "array", "items": _DOCUMENT},
        "sources": {"type": "array", "items": {"type": "string"}},
        "metadata": {
            "type": "object",
            "properties": {"pipeline_name": {"type": "string"}},
            "required": ["pipeline_name"],
        },
        "performance_metrics": {
            "type": "object",
            "properties": {
                "execution_time_ms": _MILLISECONDS,
                "retrieval_time_ms": _MILLISECONDS,
                "generation_time_ms": _MILLISECONDS,
                "tokens_used": {"type": "integer", "minimum": 0},
            },
            "required": [
                "execution_time_ms",
                "retrieval_time_ms",
                "generation_time_ms",
                "tokens_used",
            ],
        },
        "response_id": {"type": "string", "format": "uuid"},
    },
    "required": [
        "answer",
        "retrieved_documents",
        "sources",
        "metadata",
        "performance_metrics",
        "response_id",
    ],
}


class Parameters(BaseModel):
    """What a caller may send to any technique. Subclasses add their own and narrow these."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    query: str = Field(
        min_length=1, max_length=LONGEST_QUERY, description="The question, in words."
    )
    top_k: int = Field(default=5, ge=1, le=50, description="How many passages to retrieve at most.")
    include_sources: bool = Field(
        default=True, description="Also list where the passages are from."
    )
    include_metadata: bool = Field(default=True, description="Also tell how the answer came about.")


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What one pipeline may use: queries at a time, seconds per query, tokens per answer."""

    max_concurrent_queries: int = 5
    timeout_seconds: int = 30
    max_tokens: int = 4096


class Technique(Protocol):
    """The light side of a pipeline class."""

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    parameters: ClassVar[type[Parameters]]


class Techniques:
    """The techniques by name; refuses a second one of a name."""

    def __init__(self) -> None:
        self._known: dict[str, type[Technique]] = {}

    def register(self, technique: type[Technique]) -> None:
        """Let pipelines of this technique be configured."""
        if technique.name in self._known:
            raise RuntimeError(f"The technique {technique.name} is registered already")
        self._known[technique.name] = technique

    def get(self, name: str) -> type[Technique] | None:
        return self._known.get(name)

    def names(self) -> list[str]:
        return list(self._known)

    def __iter__(self) -> Iterator[type[Technique]]:
        return iter(self._known.values())


techniques = Techniques()


def queue_of(name: str) -> str:
    """The queue that queries of a technique go to."""
    return f"{QUEUE_PREFIX}{name}"


def input_schema(technique: type[Technique], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a tool of this technique; `defaults` are an operator's own."""
    schema = technique.parameters.model_json_schema()
    properties = {name: _property(about) for name, about in schema["properties"].items()}
    for name, value in defaults.items():
        if name in properties and name != "query":
            properties[name]["default"] = value
    return {
        "type": "object",
        "properties": properties,
        "required": ["query"],
        "additionalProperties": False,
    }


def _property(about: Mapping[str, Any]) -> dict[str, Any]:
    """One property without the titles that pydantic makes up from names."""
    return {key: value for key, value in about.items() if key != "title"}


def default_faults(name: str, defaults: Any) -> list[str]:
    """What is wrong with an operator's defaults for a technique; empty when nothing is."""
    technique = techniques.get(name)
    if technique is None:
        return [f"{name} is no known pipeline; known are {', '.join(techniques.names())}."]
    if not isinstance(defaults, dict):
        return ['Must be a JSON object, such as {"top_k": 5}.']
    if "query" in defaults:
        return ["query is what the caller asks; it has no default."]
    set_up = [key for key in SET_UP_KEYS if not isinstance(defaults.get(key, ""), str)]
    faults = [f"{key}: must be a text." for key in set_up]
    sendable = {key: value for key, value in defaults.items() if key not in SET_UP_KEYS}
    try:
        technique.parameters.model_validate({"query": "?", **sendable})
    except ValidationError as fault:
        faults += [f"{_place(error['loc'])}: {error['msg']}." for error in fault.errors()]
    return faults


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "the parameters together"
