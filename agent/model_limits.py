"""How long one call of a language model may take, whatever its provider makes of its own settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, Final, TypeVar

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import ensure_config, merge_configs, set_config_context
from typing_extensions import override

# A whole answer may take so many times what silence may last.
WHOLE_TIMES: Final = 5
T = TypeVar("T")


async def within(seconds: float, work: Callable[[], Awaitable[T]]) -> T:
    """What `work` comes to, with the model that it calls heard at least every so many seconds, and done in
    `WHOLE_TIMES` that.

    Raises:
        TimeoutError: it was silent for longer, or had not come to its end.
    """
    heard = _Heard()
    end = monotonic() + WHOLE_TIMES * seconds

    async def worked() -> T:
        return await work()

    with set_config_context(merge_configs(ensure_config(), {"callbacks": [heard]})) as context:
        task = asyncio.get_running_loop().create_task(worked(), context=context)
        try:
            while not task.done():
                silent = heard.at + seconds
                left = min(silent, end) - monotonic()
                if left <= 0:
                    raise TimeoutError(_told(seconds, silent=silent < end))
                await asyncio.wait({task}, timeout=left)
            return task.result()
        finally:
            task.cancel()
            task.add_done_callback(_forgotten)


class _Heard(BaseCallbackHandler):
    """When a piece of an answer came last."""

    # Not in a thread of its own, which may be late.
    run_inline = True

    def __init__(self) -> None:
        self.at = monotonic()

    @override
    def on_llm_new_token(self, *given: Any, **named: Any) -> None:
        self.at = monotonic()


def _told(seconds: float, *, silent: bool) -> str:
    if silent:
        return f"it was silent for {seconds:g} s"
    return f"its answer had not come to an end after {WHOLE_TIMES * seconds:g} s"


def _forgotten(task: asyncio.Task[Any]) -> None:
    """Nobody waits for it any more, and what it raised is nobody's concern."""
    if not task.cancelled():
        task.exception()
