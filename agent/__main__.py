"""A chat in the terminal: `python -m agent`, or `make chat`."""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from agent.chat_agent import ChatAgent
from agent.events import CallStatus, Event, ResponseDelta, ToolCall
from agent.logs import set_up_logs
from agent.settings import BadSetting, described
from agent.terminal import visible

# Lines that end the chat, besides the end of what is typed.
FAREWELLS: Final = frozenset({"exit", "quit"})


def main(arguments: Sequence[str] = ()) -> int:
    """Chat until the end of what is typed; 2 where a setting cannot be used."""
    argparse.ArgumentParser(
        prog="python -m agent",
        description=__doc__,
        epilog=described(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args(arguments)
    # Not every terminal knows every letter, and what is typed may be in another encoding.
    for stream, errors in ((sys.stdout, "backslashreplace"), (sys.stdin, "replace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    set_up_logs()
    try:
        agent = ChatAgent()
    except BadSetting as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    _write(f"{greeting(agent)}\n")
    # Lines are read between the runs of the loop: waiting for one then ends with Ctrl-C.
    with asyncio.Runner() as runner, suppress(KeyboardInterrupt):
        while (line := _ask()) is not None and line.strip().lower() not in FAREWELLS:
            if line.strip():
                runner.run(answer(agent, line))
    _write("\n")
    return 0


def greeting(agent: ChatAgent) -> str:
    model = agent.settings.model or "no language model: tools are picked by rules"
    return f"{agent.state.value}, {len(agent.tools)} tools, {model}. exit or Ctrl-D ends the chat."


async def answer(agent: ChatAgent, line: str) -> None:
    """Print what happens to a line."""
    async for event in agent.stream(line, thread_id="terminal"):
        for text in shown(event):
            _write(text)
    _write("\n")


def shown(event: Event) -> Iterator[str]:
    """What a person sees of an event; the answer as it comes, and each call of a tool."""
    if isinstance(event, ResponseDelta):
        yield event.text
    elif isinstance(event, ToolCall):
        endings = {
            CallStatus.IN_PROGRESS: f" {dict(event.args or {})}",
            CallStatus.COMPLETED: " answered",
            CallStatus.FAILED: f" failed: {event.error}",
        }
        yield f"\n[{event.tool_name}{endings[event.status]}]\n"


def _ask() -> str | None:
    _write("> " if sys.stdin.isatty() else "")
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def _write(text: str) -> None:
    sys.stdout.write(visible(text))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
