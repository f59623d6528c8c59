"""Questions put differently by the language model."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.openai_server import Fault, OpenAiServer
from tests.tools.pipelines.blocks.generation.support import SmallIndex, run_on
from tools.pipelines.blocks.generation.choose import generator_for
from tools.pipelines.blocks.generation.rewrite import rewrite_with_llm
from tools.pipelines.contracts import QueryCancelled, Stage

QUERY = "who made that tower"

pytestmark = pytest.mark.usefixtures("configured")


def rewrite(index: SmallIndex, llm_model: str = "", max_tokens: int = 4096) -> str | None:
    run = run_on(index, generator_for(llm_model), deadline=time.monotonic() + 30)
    return rewrite_with_llm(QUERY, max_tokens=max_tokens, run=run)


def test_model_puts_the_question_differently(index: SmallIndex, server: OpenAiServer) -> None:
    server.text = ['\n"Who designed the lighthouse of Skerry Point?"', "\nThis is better because"]
    assert rewrite(index) == "Who designed the lighthouse of Skerry Point?"
    sent = server.requests[0][1]
    assert sent["max_tokens"] == 256
    assert sent["messages"][1] == {"role": "user", "content": QUERY}
    rewrite(index, "another", 20)
    assert (server.requests[1][1]["model"], server.requests[1][1]["max_tokens"]) == ("another", 20)


@pytest.mark.parametrize("text", ["", " \n", QUERY.upper(), "word " * 500])
def test_answer_that_is_no_other_question_is_not_used(
    index: SmallIndex, server: OpenAiServer, text: str
) -> None:
    server.text = [text]
    assert rewrite(index) is None


def test_question_stays_as_it_is_when_the_model_fails(
    index: SmallIndex, server: OpenAiServer
) -> None:
    server.behave(Fault(status=500), Fault(status=401))
    assert rewrite(index) is None
    assert rewrite(index) is None
    assert len(server.requests) == 2


def test_nothing_is_asked_without_a_model_or_without_time(
    index: SmallIndex, server: OpenAiServer, configured: Callable[..., None]
) -> None:
    run = run_on(index, generator_for(""), deadline=time.monotonic() - 1)
    assert rewrite_with_llm(QUERY, max_tokens=100, run=run) is None
    configured(LLM_URL="")
    assert rewrite(index, "gpt-4") is None
    assert server.requests == []


def test_cancelling_ends_the_request(index: SmallIndex, server: OpenAiServer) -> None:
    server.behave(Fault(hang=True))

    def report(stage: Stage, message: str) -> None:
        raise QueryCancelled

    run = run_on(index, generator_for(""), report=report)
    with pytest.raises(QueryCancelled):
        rewrite_with_llm(QUERY, max_tokens=100, run=run)
    assert server.hung_up.wait(20)
