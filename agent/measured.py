"""The chat's own model as a chooser, so that what is measured is what people talk to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from agent.intents.measure import Chooser
from agent.intents.model import ModelFault, chosen, function
from agent.model import configured_model
from agent.prompt import instructions
from agent.router import Choice, Offered
from agent.settings import Settings


def chat_model_chooser(settings: Settings, today: date) -> Chooser:
    """The model of the settings as a chooser.

    Raises:
        BadSetting: it cannot be built.
        ModelFault: none is named.
    """
    model = configured_model(settings)
    if model is None:
        raise ModelFault("MODEL names no model")

    async def choose(message: str, tools: Sequence[Offered]) -> Choice | None:
        answer = await _asked(model, message, tools, today)
        if not answer.tool_calls:
            return None
        called = answer.tool_calls[0]
        return chosen(called["name"], called["args"], tools)

    return choose


async def _asked(
    model: BaseChatModel, message: str, tools: Sequence[Offered], today: date
) -> AIMessage:
    said = [SystemMessage(instructions(today)), HumanMessage(message)]
    try:
        answer = await model.bind_tools([function(tool) for tool in tools]).ainvoke(said)
    except Exception as fault:  # each provider raises its own
        raise ModelFault(f"the model failed: {fault}") from fault
    if not isinstance(answer, AIMessage):
        raise ModelFault("the model gave an answer without a message")
    return answer
