"""A language model as a chooser: any behind an OpenAI-compatible API that calls tools."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from agent.prompt import instructions
from agent.router import Choice, Offered


class ModelFault(Exception):
    """The model's API did not answer as it should."""


@dataclass(frozen=True, slots=True)
class ModelChooser:
    """Asks a model to call one of the tools, and takes its call for the choice."""

    base_url: str
    key: str
    model: str
    today: date
    seconds: float = 60.0

    async def __call__(self, message: str, tools: Sequence[Offered]) -> Choice | None:
        answer = await asyncio.to_thread(self._asked, message, tools)
        try:
            calls = answer["choices"][0]["message"].get("tool_calls") or []
            if not calls:
                return None
            called = calls[0]["function"]
            return _choice(called["name"], called.get("arguments") or "{}", tools)
        except (KeyError, IndexError, TypeError, AttributeError) as fault:
            raise ModelFault(f"{self.model}: an answer without a message") from fault

    def _asked(self, message: str, tools: Sequence[Offered]) -> Any:
        if not self.base_url.startswith(("http://", "https://")):
            raise ModelFault(f"{self.base_url} is no http or https address")
        body = {
            "model": self.model,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": instructions(self.today)},
                {"role": "user", "content": message},
            ],
            "tools": [function(tool) for tool in tools],
        }
        request = urllib.request.Request(  # noqa: S310 - checked above
            f"{self.base_url.rstrip('/')}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=self.seconds) as response:  # noqa: S310 - checked above
                return json.load(response)
        except urllib.error.HTTPError as fault:
            fault.close()
            raise ModelFault(f"{self.model}: {fault}") from fault
        except (OSError, ValueError, RecursionError) as fault:
            raise ModelFault(f"{self.model}: {fault}") from fault


def function(tool: Offered) -> dict[str, Any]:
    """A tool as models are told of it."""
    about = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": about}


def _choice(name: str, arguments: str, tools: Sequence[Offered]) -> Choice:
    """What was called; arguments that are no object count as none."""
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        parsed = {}
    return chosen(name, parsed if isinstance(parsed, dict) else {}, tools)


def chosen(name: str, given: Mapping[str, Any], tools: Sequence[Offered]) -> Choice:
    """A call as a choice."""
    schema = next((tool.input_schema for tool in tools if tool.name == name), {})
    missing = tuple(one for one in schema.get("required", ()) if one not in given)
    return Choice(name, given, missing, "called by the model", 1.0)
