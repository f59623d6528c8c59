"""Embedding models behind an API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.openai_server import KEY, Fault, OpenAiServer, vector
from tools.pipelines.blocks.embedder import EmbedderUnavailable
from tools.pipelines.blocks.endpoints.client import Api
from tools.pipelines.blocks.endpoints.embeddings import EndpointEmbedder
from tools.pipelines.blocks.endpoints.faults import EndpointDown, EndpointRefused


@pytest.fixture
def embedder(api: Api) -> EndpointEmbedder:
    return EndpointEmbedder("text-model", api=api)


def test_each_text_gets_its_own_unit_vector_in_batches(
    embedder: EndpointEmbedder, server: OpenAiServer
) -> None:
    texts = [f"text {number}" for number in range(150)]
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (150, 8)
    expected = np.array([vector(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert [len(sent["input"]) for _, sent in server.requests] == [64, 64, 22]
    assert {path for path, _ in server.requests} == {"/v1/embeddings"}
    assert server.requests[0][1]["model"] == "text-model"


def test_query_is_asked_for_once(embedder: EndpointEmbedder, server: OpenAiServer) -> None:
    first = embedder.embed_query("who?")
    assert embedder.embed_query("who?") is first
    np.testing.assert_array_equal(first, embedder.embed(["who?"])[0])
    assert len(server.requests) == 2


def test_model_is_known_by_its_name_and_the_size_of_its_vectors(
    embedder: EndpointEmbedder, server: OpenAiServer
) -> None:
    server.dimensions = 12
    assert (embedder.model_id, embedder.dimensions) == ("openai/text-model", 12)
    assert embedder.embed([]).shape == (0, 12)
    assert len(server.requests) == 1


def test_empty_text_is_sent_as_a_space(embedder: EndpointEmbedder, server: OpenAiServer) -> None:
    embedder.embed(["", " \n"])
    assert server.requests[0][1]["input"] == [" ", " "]


def test_vectors_of_another_size_are_a_fault_of_configuration(
    embedder: EndpointEmbedder, api: Api, server: OpenAiServer
) -> None:
    embedder.embed(["one"])
    server.dimensions = 12
    with pytest.raises(EndpointRefused, match="vectors of 12 dimensions, not 8"):
        embedder.embed(["two"])
    with pytest.raises(EndpointRefused, match="vectors of 12 dimensions, not 384"):
        EndpointEmbedder("text-model", 384, api).embed(["one"])


def first_row(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda body: {"data": [{**body["data"][0], **changes}, *body["data"][1:]]}


@pytest.mark.parametrize(
    "change",
    [
        lambda body: {"data": body["data"][:-1]},
        lambda body: {"data": [*body["data"], {"index": 2, "embedding": [1.0] * 8}]},
        lambda body: {"data": []},
        lambda body: {},
        lambda body: [1, 2],
        first_row(index=7),
        first_row(embedding=[1.0]),
        first_row(embedding="AAAA"),
        first_row(embedding=[0.0] * 8),
        first_row(embedding=[float("nan")] * 8),
        lambda body: {"data": [{"index": place, "embedding": []} for place in range(2)]},
    ],
)
def test_answer_without_one_vector_for_each_text_is_not_used(
    embedder: EndpointEmbedder, server: OpenAiServer, change: Callable[[dict[str, Any]], Any]
) -> None:
    server.change = change
    with pytest.raises(EndpointDown, match="The language model gave an answer that cannot be used"):
        embedder.embed(["one", "two"])


def test_fault_of_the_api_is_told_in_time(embedder: EndpointEmbedder, server: OpenAiServer) -> None:
    server.behave(Fault(status=503), Fault(hang=True))
    with pytest.raises(EndpointDown, match="status 503"):
        embedder.embed(["one"])
    with pytest.raises(EndpointDown, match="in time"):
        embedder.embed(["one"], timeout=0.3)


def test_deployment_says_where_the_api_is(
    server: OpenAiServer, configured: Callable[..., None]
) -> None:
    configured(EMBEDDINGS_URL=server.url, EMBEDDINGS_API_KEY=KEY)
    assert EndpointEmbedder("text-model").dimensions == 8
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    configured(EMBEDDINGS_URL="")
    with pytest.raises(EmbedderUnavailable, match="set EMBEDDINGS_URL"):
        EndpointEmbedder("text-model")
