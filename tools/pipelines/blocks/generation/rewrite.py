"""A question put differently by the language model, when there is one."""

from __future__ import annotations

import logging
from typing import Final

from tools.conf import deployment
from tools.pipelines.blocks.endpoints.faults import EndpointFault
from tools.pipelines.blocks.generation.prompt import REWRITING, message
from tools.pipelines.contracts import Run, Stage
from tools.techniques import LONGEST_QUERY

logger = logging.getLogger(__name__)

MOST_TOKENS: Final = 256
LONGEST_WAIT: Final = 15.0
# The answer still has to be written in the time that is left.
SHARE_OF_TIME: Final = 0.3


def rewrite_with_llm(query: str, *, max_tokens: int, run: Run) -> str | None:
    """Another wording of the question; None without a model, when it fails, or has no other."""
    model = _model(run)
    timeout = run.remaining() * SHARE_OF_TIME
    if not model or timeout <= 0:
        return None
    # Imported here: a process without a language model needs no HTTP client.
    from tools.pipelines.blocks.endpoints.chat import complete
    from tools.pipelines.blocks.endpoints.client import llm_api

    try:
        written = complete(
            llm_api(),
            model,
            (message("system", REWRITING), message("user", query)),
            max_tokens=min(max_tokens, MOST_TOKENS),
            timeout=min(timeout, LONGEST_WAIT),
            tick=lambda: run.report(Stage.RETRIEVE, "Rewriting the question"),
        )
    except EndpointFault as fault:
        logger.info("The question is not rewritten: %s", fault)
        return None
    lines = [line.strip().strip("\"'") for line in written.text.splitlines() if line.strip()]
    if written.truncated or not lines or lines[0].casefold() == query.strip().casefold():
        return None
    return lines[0][:LONGEST_QUERY]


def _model(run: Run) -> str:
    """The model that this query's pipeline uses; none where answers are extracted."""
    rag = deployment().rag
    return str(getattr(run.generator, "model", rag.llm_model)) if rag.llm else ""
