"""What tools answer, as people read it."""

from __future__ import annotations

import json

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import AnyUrl

from agent.content import text_of
from agent.plain import complaint, readable

URI = AnyUrl("docs://guide")


def test_json_is_written_line_by_line() -> None:
    answer = {
        "total": 2,
        "todos": [{"title": "Tea", "tags": ["a", "b"]}, {"title": "Rice", "tags": []}],
        "note": None,
        "sure": True,
        "plain": [],
    }
    assert readable(json.dumps(answer)).splitlines() == [
        "total: 2",
        "todos:",
        "  - title: Tea",
        "    tags:",
        "      - a",
        "      - b",
        "  - title: Rice",
        "    tags: none",
        "note: none",
        "sure: true",
        "plain: none",
    ]


def test_an_answer_comes_first_and_what_it_was_made_of_is_counted() -> None:
    passages = [{"doc_id": f"a.md#{number}", "content": "Long.\n\nLonger."} for number in range(5)]
    answer = {
        "retrieved_documents": passages,
        "answer": "Tea, says the list. [1]",
        "sources": ["a.md", "b.md"],
        "response_id": "7",
    }
    assert readable(json.dumps(answer)).splitlines() == [
        "Tea, says the list. [1]",
        "retrieved_documents: 5 entries, too long to be shown here",
        "sources:",
        "  - a.md",
        "  - b.md",
        "response_id: 7",
    ]
    # Long text that is no list of parts is not left out, nor is anything without an answer.
    lines = "\n".join(["line"] * 40)
    assert lines in readable(json.dumps({"answer": "yes", "note": lines}))
    for none in ("", " ", None, 3):
        assert "content: Long." in readable(json.dumps({**answer, "answer": none}))


def test_other_text_stays_as_it_is() -> None:
    for text in ("tea tea", "7", '"tea"', "{}", "[]", "{no"):
        assert readable(text) == text


def test_what_is_nested_too_deeply_stays_as_it_is() -> None:
    for text in ("[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "[" * 100_000):
        assert readable(text) == text
        assert complaint(text) == text


def test_of_an_error_the_message_and_the_advice_are_told() -> None:
    error = {"code": -32602, "message": "No such id.", "data": {"suggestion": "List them."}}
    assert complaint(json.dumps({"error": error})) == "No such id. List them."
    assert complaint(json.dumps({"error": {"message": "No."}})) == "No."
    assert complaint("the drawer is stuck") == "the drawer is stuck"
    assert complaint('{"error": "odd"}') == '{"error": "odd"}'


def test_every_kind_of_content_is_shown_or_named() -> None:
    result = CallToolResult(
        content=[
            TextContent(type="text", text="one"),
            EmbeddedResource(type="resource", resource=TextResourceContents(uri=URI, text="two")),
            EmbeddedResource(type="resource", resource=BlobResourceContents(uri=URI, blob="eA==")),
            ResourceLink(type="resource_link", uri=URI, name="Guide"),
            ImageContent(type="image", data="eA==", mimeType="image/png"),
            AudioContent(type="audio", data="eA==", mimeType="audio/wav"),
        ]
    )
    assert text_of(result).splitlines() == [
        "one",
        "two",
        "[resource docs://guide, binary]",
        "[resource docs://guide: Guide]",
        "[image, image/png, not shown]",
        "[audio, audio/wav, not shown]",
    ]


def test_structured_content_stands_in_for_missing_text() -> None:
    assert text_of(CallToolResult(content=[], structuredContent={"a": 1})) == '{"a": 1}'
    assert text_of(CallToolResult(content=[])) == "(no content)"
