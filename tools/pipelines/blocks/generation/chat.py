"""Answers written by a language model behind an OpenAI-compatible API."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tools.conf import deployment
from tools.pipelines.blocks.endpoints.chat import complete
from tools.pipelines.blocks.endpoints.client import llm_api
from tools.pipelines.blocks.endpoints.faults import EndpointDown, EndpointFault, EndpointTimeout
from tools.pipelines.blocks.generation.citations import cited, without_half_mark
from tools.pipelines.blocks.generation.extractive import ExtractiveGenerator
from tools.pipelines.blocks.generation.prompt import prompt_for
from tools.pipelines.contracts import Draft, Passage, Run, Stage

logger = logging.getLogger(__name__)

LONGEST_WAIT: Final = 60.0
# Kept back of the time that is left, so that something else can still be answered.
RESERVE: Final = 0.5


class ChatGenerator:
    """Lets a model write the answer; statements are cited as [n], the n-th passage."""

    def __init__(self, model: str) -> None:
        self.model = model

    def generate(
        self, query: str, passages: Sequence[Passage], *, max_tokens: int, run: Run
    ) -> Draft:
        """The model's answer.

        Raises:
            EndpointFault: there is none.
        """
        if not passages:
            return Draft("", self.model)
        api = llm_api()
        window = deployment().rag.llm_context_tokens
        prompt = prompt_for(query, passages, max_tokens=max_tokens, window=window)
        run.report(Stage.GENERATE, "Asking the language model")
        timeout = run.remaining(LONGEST_WAIT + RESERVE) - RESERVE
        if timeout <= 0:
            raise EndpointTimeout(api.title, 0.0)
        written = complete(
            api,
            self.model,
            prompt.messages,
            max_tokens=prompt.answer_tokens,
            timeout=timeout,
            tick=lambda: run.report(Stage.GENERATE, "The language model is writing"),
        )
        if not written.text.strip():
            raise EndpointDown(f"{api.title} wrote nothing")
        text = without_half_mark(written.text) if written.truncated else written.text
        answer, citations = cited(text, prompt.passages)
        return Draft(answer, self.model, written.usage, citations, written.truncated)


class ChatOrExtractive:
    """Lets a language model write; when it cannot, the answer is extracted and says so."""

    def __init__(self, model: str) -> None:
        self._chat = ChatGenerator(model)

    @property
    def model(self) -> str:
        return self._chat.model

    def generate(
        self, query: str, passages: Sequence[Passage], *, max_tokens: int, run: Run
    ) -> Draft:
        try:
            return self._chat.generate(query, passages, max_tokens=max_tokens, run=run)
        except EndpointFault as fault:
            logger.warning("The answer is extracted: %s", fault)
            draft = ExtractiveGenerator().generate(query, passages, max_tokens=max_tokens, run=run)
            return replace(draft, note=f"{fault}; the answer was extracted instead")
