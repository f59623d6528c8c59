"""The product's own application with bare views beside it, for comparison in one process."""

from __future__ import annotations

import asyncio
import os

import uvicorn
import uvloop
from starlette.routing import Route

from controlplane.application import everything
from controlplane.asgi import application
from controlplane.rest import ViewEndpoint
from controlplane.runtime.tuning import tune_interpreter


def main() -> None:
    from bench.views import LeanCall, LeanTools, Remember

    everything.router.routes[:0] = [
        Route("/lean/tools", ViewEndpoint(LeanTools.as_view())),
        Route("/lean/call-tool", ViewEndpoint(LeanCall.as_view())),
        Route("/lean/remember", ViewEndpoint(Remember.as_view())),
    ]
    tune_interpreter()
    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=int(os.environ["BENCH_PORT"]),
        log_config=None,
        access_log=False,
        loop="uvloop",
        http="httptools",
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(uvicorn.Server(config).serve())


if __name__ == "__main__":
    main()
