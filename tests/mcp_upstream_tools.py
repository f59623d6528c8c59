"""What the tools of the scriptable upstream do."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.mcp_upstream_state import Folder

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
QUESTION = {
    "mode": "form",
    "message": "What is your name?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    },
}

Result = dict[str, Any]


class Garbage(Exception):
    """Answer with bytes that are not JSON."""


class CannotAsk(Exception):
    """Answer with the error for clients that lack a capability."""


@dataclass
class Call:
    """One call of a tool, and the way back to its client.

    `tell` sends a notice on the call's own stream, `ask` a request, and gives its response. `headers`
    are those of HTTP that came along.
    """

    arguments: dict[str, Any]
    params: dict[str, Any]
    folder: Folder
    modern: bool
    askable: bool
    tell: Callable[[dict[str, Any]], Awaitable[None]]
    ask: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
    announce: Callable[[str], Awaitable[None]]
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def meta(self) -> dict[str, Any]:
        return dict(self.params.get("_meta") or {})


def text(words: str, **more: Any) -> Result:
    return {"content": [{"type": "text", "text": words}], **more}


async def echo(call: Call) -> Result:
    return text(call.arguments.get("text", ""))


async def sleep(call: Call) -> Result:
    milliseconds = call.arguments.get("ms", 0)
    await asyncio.sleep(milliseconds / 1000)
    return text(f"slept {milliseconds} ms")


async def fail(call: Call) -> Result:
    return text(call.arguments.get("message", "It did not work."), isError=True)


async def garbage(call: Call) -> Result:
    raise Garbage


async def malformed(call: Call) -> Result:
    return {"content": "this is not a list", "isError": "perhaps"}


async def huge(call: Call) -> Result:
    return text("0123456789abcde\n" * (64 * call.arguments.get("kilobytes", 1)))


async def progress(call: Call) -> Result:
    steps = call.arguments.get("steps", 3)
    token = call.meta.get("progressToken")
    for step in range(1, steps + 1):
        if token is not None:
            params = {"progressToken": token, "progress": step, "total": steps}
            params["message"] = f"step {step}"
            await call.tell({"method": "notifications/progress", "params": params})
    return text(f"{steps} steps")


async def elicit(call: Call) -> Result:
    insist = call.folder.switches().insist
    if not call.askable and insist == "refuse":
        raise CannotAsk
    if not call.askable and not insist:
        return text("There is nobody to ask.", isError=True)
    if not call.modern:
        return _greeting(await call.ask("elicitation/create", QUESTION))
    if insist == "sample":
        asked = {"model": {"method": "sampling/createMessage", "params": {"messages": []}}}
        return {"resultType": "input_required", "inputRequests": asked}
    answers = call.params.get("inputResponses") or {}
    if "name" not in answers:
        asked = {"name": {"method": "elicitation/create", "params": QUESTION}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "asked"}
    if call.params.get("requestState") != "asked":
        return text("The state did not come back.", isError=True)
    return _greeting(answers["name"])


def _greeting(answer: dict[str, Any]) -> Result:
    if answer.get("action") != "accept":
        return text(f"No name: {answer.get('action')}.", isError=True)
    return text(f"Hello {answer['content']['name']}.")


async def change(call: Call) -> Result:
    name = call.arguments.get("tool", "echo")
    words = call.arguments.get("description", "Says something else than it did.")
    descriptions = {**call.folder.switches().descriptions, name: words}
    call.folder.set(descriptions=descriptions)
    await call.announce("tools")
    return text(f"{name} changed")


async def crash(call: Call) -> Result:
    os.kill(os.getpid(), signal.SIGKILL)
    return text("never said")


async def counted(call: Call) -> Result:
    return text(f"ran for {call.arguments.get('key', '')}")


async def image(call: Call) -> Result:
    return {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}


async def audio(call: Call) -> Result:
    return {"content": [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]}


async def link(call: Call) -> Result:
    linked = {"type": "resource_link", "uri": "trial://page", "name": "page"}
    return {"content": [{**linked, "mimeType": "text/plain"}]}


async def embedded(call: Call) -> Result:
    page = {"uri": "trial://page", "mimeType": "text/plain", "text": "The page."}
    return {"content": [{"type": "resource", "resource": page}]}


async def structured(call: Call) -> Result:
    number = call.arguments.get("number", 1)
    return text(
        f"{number} and {2 * number}", structuredContent={"number": number, "double": 2 * number}
    )


async def context(call: Call) -> Result:
    return text("see inside", structuredContent={"meta": call.meta, "headers": call.headers})


async def mixed(call: Call) -> Result:
    return {"content": [*(await huge(call))["content"], *(await image(call))["content"]]}


async def plain(call: Call) -> Result:
    return text(f"{call.params['name']} ran")


HANDLERS: dict[str, Callable[[Call], Awaitable[Result]]] = {
    handler.__name__: handler
    for handler in (
        *(echo, sleep, fail, garbage, malformed, huge, progress, elicit, change, crash),
        *(counted, image, audio, link, embedded, structured, context, mixed),
    )
}
