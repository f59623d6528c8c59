"""Measure how often a request reaches the right tool with the right arguments.

    python -m agent.evaluate_intents --part held-out
    python -m agent.evaluate_intents --url http://127.0.0.1:8000/mcp --failures
    python -m agent.evaluate_intents --model gpt-4o-mini
    python -m agent.evaluate_intents --url http://127.0.0.1:8000/mcp --record

Without `--url` the tools come from `agent/intents/tools.json`, which `--record` writes. With it, the
router may also ask the control plane's `tool_search`. `CONTROL_PLANE_KEY` is sent where it is set. A
model is any behind an OpenAI-compatible API at `OPENAI_BASE_URL`, with `OPENAI_API_KEY`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from agent.intents.cases import PARTS, TODAY, TOOLS, load, recorded_tools, written
from agent.intents.measure import Chooser, failures, measure, table
from agent.intents.model import ModelChooser, ModelFault
from agent.intents.wire import ControlPlane, WireFault
from agent.router import Choice, Offered, Router, Search

FAILED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 when it measured, 1 when something could not be reached."""
    given = _parsed(arguments)
    plane = ControlPlane(given.url, os.environ.get("CONTROL_PLANE_KEY", "")) if given.url else None
    try:
        tools = plane.tools() if plane else recorded_tools()
        if given.record:
            TOOLS.write_text(written(tools), encoding="utf-8")
            _say(f"{len(tools)} tools recorded in {TOOLS}")
            return 0
        choose = (
            _model(given.model)
            if given.model
            else router_chooser(tools, plane.search if plane else None)
        )
        outcomes = asyncio.run(measure(choose, load(given.part), tools))
    except (WireFault, ModelFault) as fault:
        sys.stderr.write(f"{fault}\n")
        return FAILED
    by = given.model or ("router with tool_search" if plane else "router")
    _say(f"{given.part} part, {len(tools)} tools, {by}\n\n{table(outcomes)}")
    if given.failures and (wrong := failures(outcomes)):
        _say(f"\n{wrong}")
    return 0


def router_chooser(tools: Sequence[Offered], search: Search | None = None) -> Chooser:
    """The deterministic router, as a chooser."""
    router = Router(tools, search, today=lambda: TODAY)

    async def choose(message: str, offered: Sequence[Offered]) -> Choice | None:
        return await router.route(message)

    return choose


def _model(name: str) -> Chooser:
    base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    return ModelChooser(base, os.environ.get("OPENAI_API_KEY", ""), name, TODAY)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m agent.evaluate_intents",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=list(PARTS), default="development")
    parser.add_argument(
        "--url", default="", help="MCP address of a control plane to take the tools from"
    )
    parser.add_argument("--model", default="", help="measure this model instead of the router")
    parser.add_argument("--failures", action="store_true", help="list the requests that went wrong")
    parser.add_argument(
        "--record", action="store_true", help="write the tools of --url to tools.json"
    )
    given = parser.parse_args(arguments)
    if given.record and not given.url:
        parser.error("--record needs --url")
    return given


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
