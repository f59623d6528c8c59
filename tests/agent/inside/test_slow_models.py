"""Models of LangChain that know nothing of time-outs: nobody waits for them without end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from typing_extensions import override

from agent import texts
from agent.chat_agent import ChatAgent
from agent.events import Done
from agent.settings import Settings
from tests.agent.inside.test_breaker import Clock

# Far above what is set here.
SECONDS = 20


class Model(BaseChatModel):
    """A provider's that takes no limits."""

    asked: int = 0

    @property
    @override
    def _llm_type(self) -> str:
        return "slow"

    @override
    def _generate(self, *given: Any, **named: Any) -> ChatResult:
        raise NotImplementedError


class Silent(Model):
    """Never answers."""

    @override
    async def _agenerate(self, *given: Any, **named: Any) -> ChatResult:
        self.asked += 1
        await asyncio.Event().wait()
        raise AssertionError("it has answered")


class Drips(Model):
    """Answers in pieces, so many."""

    pieces: int
    pause: float

    @override
    async def _astream(self, *given: Any, **named: Any) -> AsyncIterator[ChatGenerationChunk]:
        self.asked += 1
        for _ in range(self.pieces):
            await asyncio.sleep(self.pause)
            yield ChatGenerationChunk(message=AIMessageChunk(content="drip "))


async def turn(agent: ChatAgent) -> tuple[str, str]:
    async with asyncio.timeout(SECONDS):
        *_, last = [event async for event in agent.stream("Hello")]
    assert isinstance(last, Done)
    return last.final_output.strip(), last.status.value


# With how long silence may last, and how many times that a whole answer. A piece that the machine lets come late
# must not pass for silence: that may last far longer than the answer.
ENDLESS = [
    (Silent(), (0.5, 20), "it was silent for 0.5 s"),
    (Drips(pieces=10_000, pause=0.05), (10.0, 0.1), "its answer had not come to an end after 1 s"),
]


@pytest.mark.parametrize(("model", "limits", "reason"), ENDLESS, ids=["silent", "dripping"])
async def test_a_model_that_comes_to_no_end_is_given_up_and_counts_as_failed(
    model: Model,
    limits: tuple[float, float],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F2-10 C17
    seconds, times = limits
    monkeypatch.setattr("agent.model_limits.WHOLE_TIMES", times)
    agent = ChatAgent(Settings(model_seconds=seconds), model=model, clock=Clock())
    for failures in (1, 2, 3):
        assert await turn(agent) == (texts.MODEL_UNAVAILABLE, "degraded")
        assert agent.breaker.failures == failures
        assert reason in caplog.text
        caplog.clear()
    # Its breaker is open.
    assert await turn(agent) == (texts.MODEL_UNAVAILABLE, "degraded")
    assert model.asked == 3


async def test_a_model_that_speaks_slowly_is_heard_to_its_end() -> None:
    # F2-22
    model = Drips(pieces=11, pause=0.4)
    agent = ChatAgent(Settings(model_seconds=4.0), model=model)
    assert await turn(agent) == (" ".join(["drip"] * 11), "ok")
