"""Rerankers behind an API."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.openai_server import KEY, Fault, OpenAiServer
from tools.pipelines.blocks.endpoints.client import rerank_api
from tools.pipelines.blocks.endpoints.faults import EndpointDown, EndpointTimeout
from tools.pipelines.blocks.endpoints.rerank import rerank

DOCUMENTS = ["nothing of it", "a red fox", "red"]


@pytest.fixture(autouse=True)
def reranker(server: OpenAiServer, configured: Callable[..., None]) -> None:
    configured(RERANK_URL=server.url, RERANK_API_KEY=KEY)


def test_scores_come_in_the_order_of_the_documents(server: OpenAiServer) -> None:
    scores = rerank(rerank_api(), "judge", "red fox", DOCUMENTS, timeout=20)
    np.testing.assert_array_equal(scores, np.array([0, 1, 0.5], np.float32))
    path, sent = server.requests[0]
    assert path == "/v1/rerank"
    assert sent == {"model": "judge", "query": "red fox", "documents": DOCUMENTS}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_nothing_is_asked_about_no_documents(server: OpenAiServer) -> None:
    assert len(rerank(rerank_api(), "judge", "red fox", [], timeout=20)) == 0
    assert server.requests == []


@pytest.mark.parametrize(
    "change",
    [
        lambda body: {"results": body["results"][:-1]},
        lambda body: {"results": [*body["results"], {"index": 3, "relevance_score": 1}]},
        lambda body: {"results": [{**row, "index": 0} for row in body["results"]]},
        lambda body: {"results": [{**row, "relevance_score": "high"} for row in body["results"]]},
        lambda body: {"results": [{**row, "relevance_score": None} for row in body["results"]]},
        lambda body: {"results": [{**row, "relevance_score": [1]} for row in body["results"]]},
        lambda body: {},
        lambda body: "fine",
    ],
)
def test_answer_without_one_score_for_each_document_is_not_used(
    server: OpenAiServer, change: Callable[[dict[str, Any]], Any]
) -> None:
    server.change = change
    with pytest.raises(EndpointDown, match="The reranker gave an answer that cannot be used"):
        rerank(rerank_api(), "judge", "red fox", DOCUMENTS, timeout=20)


def test_fault_of_the_api_is_told_in_time(server: OpenAiServer) -> None:
    server.behave(Fault(status=502), Fault(hang=True))
    with pytest.raises(EndpointDown, match="The reranker answered with status 502"):
        rerank(rerank_api(), "judge", "red fox", DOCUMENTS, timeout=20)
    with pytest.raises(EndpointTimeout):
        rerank(rerank_api(), "judge", "red fox", DOCUMENTS, timeout=0.3)
    with pytest.raises(EndpointTimeout):
        rerank(rerank_api(), "judge", "red fox", DOCUMENTS, timeout=0)
    assert len(server.requests) == 2
    assert len(rerank(rerank_api(), "judge", "red fox", DOCUMENTS, timeout=math.inf)) == 3
