"""Measure how often a request reaches the right tool with the right arguments.

    python -m agent.evaluate_intents --part held-out
    python -m agent.evaluate_intents --part safety --failures
    python -m agent.evaluate_intents --url http://127.0.0.1:8000/mcp --failures
    MODEL=openai:gpt-5 python -m agent.evaluate_intents
    python -m agent.evaluate_intents --model gpt-4o-mini
    python -m agent.evaluate_intents --url http://127.0.0.1:8000/mcp --record

Without `--url` the tools come from `agent/intents/tools.json`, which `--record` writes. With it, the
router may also ask the control plane's `tool_search`. `CONTROL_PLANE_KEY` is sent where it is set.

Where MODEL is set, that model is measured after the router, built as the chat builds it (MODEL,
MODEL_BASE_URL, MODEL_API_KEY); `--model` names another. Where neither MODEL nor MODEL_BASE_URL is set,
`--model` is any behind an OpenAI-compatible API at `OPENAI_BASE_URL`, with `OPENAI_API_KEY`.

The safety part are requests for which nothing may be changed without asking; it is the router's alone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from agent.intents.cases import PARTS, TODAY, TOOLS, load, recorded_tools, written
from agent.intents.measure import Chooser, failures, measure, table
from agent.intents.model import ModelChooser, ModelFault
from agent.intents.safety import risks, violations
from agent.intents.wire import ControlPlane, WireFault
from agent.router import Choice, Offered, Router, Search
from agent.settings import BadSetting, Settings, printable

FAILED = 1
SAFETY = "safety"
HELD_OUT = "held-out"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 when it measured, 1 when something could not be reached."""
    given = _parsed(arguments)
    if given.part == SAFETY:
        return _safety(show=given.failures)
    try:
        return _measured(given)
    except (WireFault, ModelFault, BadSetting) as fault:
        sys.stderr.write(f"{fault}\n")
        return FAILED


def _measured(given: argparse.Namespace) -> int:
    plane = ControlPlane(given.url, _key("CONTROL_PLANE_KEY")) if given.url else None
    tools = plane.tools() if plane else recorded_tools()
    if given.record:
        TOOLS.write_text(written(tools), encoding="utf-8")
        _say(f"{len(tools)} tools recorded in {TOOLS}")
        return 0
    settings = Settings.from_environment()
    model: str = given.model or settings.model or ""
    # Made first: settings that cannot be used are told before anything is measured.
    modelled = _model(model, settings) if model else None
    search = Asked(plane.search) if plane else None
    _tell(
        "router with tool_search" if search else "router",
        router_chooser(tools, search),
        tools,
        given,
    )
    if search and search.failed:
        # The router goes on without, so the figures are not what they are called.
        raise WireFault(
            f"tool_search failed for {search.failed} requests, at last with {search.last}"
        )
    if modelled is not None:
        _say("")
        _tell(model, modelled, tools, given)
    return 0


class Asked:
    """A search that counts how often it fails."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.failed = 0
        self.last = ""

    async def __call__(self, message: str) -> Sequence[str]:
        try:
            return await self._search(message)
        except Exception as fault:
            self.failed += 1
            self.last = str(fault) or type(fault).__name__
            raise


def _tell(name: str, choose: Chooser, tools: Sequence[Offered], given: argparse.Namespace) -> None:
    """Print how one of them did."""
    outcomes = asyncio.run(measure(choose, load(given.part), tools))
    _say(f"{given.part} part, {len(tools)} tools, {name}\n\n{table(outcomes)}")
    if given.failures and (wrong := failures(outcomes)):
        _say(f"\n{wrong}")


def _safety(*, show: bool) -> int:
    """Put the requests that must change nothing to the router; 1 when one would."""
    requests = risks()
    wrong = asyncio.run(violations(requests))
    kept = len(requests) - len(wrong)
    share = 100 * kept / len(requests)
    _say(f"safety part, {kept} of {len(requests)} requests change nothing unasked, {share:.1f} %")
    if show:
        for risk, choice in wrong:
            _say(f"wrong call: {risk.say}\n    got     {choice.tool} {dict(choice.arguments)}")
    return FAILED if wrong else 0


def router_chooser(tools: Sequence[Offered], search: Search | None = None) -> Chooser:
    """The deterministic router, as a chooser."""
    router = Router(tools, search, today=lambda: TODAY)

    async def choose(message: str, offered: Sequence[Offered]) -> Choice | None:
        return await router.route(message)

    return choose


def _model(name: str, settings: Settings) -> Chooser:
    if settings.model is None and settings.model_base_url is None:
        base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
        return ModelChooser(base, _key("OPENAI_API_KEY"), name, TODAY)
    try:
        # Only here: all else needs none of the agent's packages.
        from agent.measured import chat_model_chooser
    except ImportError as fault:
        raise BadSetting(f"MODEL needs the packages of agent/requirements.txt: {fault}") from fault
    chooser: Chooser = chat_model_chooser(replace(settings, model=name), TODAY)
    return chooser


def _key(name: str) -> str:
    """A key that can be sent; one that cannot is not shown."""
    return printable(name, os.environ.get(name, ""))


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m agent.evaluate_intents",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=[*PARTS, SAFETY], default="development")
    parser.add_argument(
        "--url", default="", help="MCP address of a control plane to take the tools from"
    )
    parser.add_argument("--model", default="", help="measure this model as well as the router")
    parser.add_argument("--failures", action="store_true", help="list the requests that went wrong")
    parser.add_argument(
        "--record", action="store_true", help="write the tools of --url to tools.json"
    )
    given = parser.parse_args(arguments)
    if given.record and not given.url:
        parser.error("--record needs --url")
    if given.failures and given.part == HELD_OUT:
        parser.error("of the held-out part only totals are shown: the router is not tuned on it")
    if given.part == SAFETY and (given.model or given.url):
        parser.error("the safety part is for the router, and brings its own tools")
    return given


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
