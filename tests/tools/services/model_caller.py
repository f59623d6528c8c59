"""A process that asks a model's API: `python -m tests.tools.services.model_caller <url> <redis> <time>`.

Its breakers are in Redis and go by the given time. Each line of its input is one question; it prints
how each went.
"""

from __future__ import annotations

import sys

from tools.conf import Endpoint
from tools.guards.sync_breaker import SyncBreakers
from tools.pipelines.blocks.endpoints.chat import complete
from tools.pipelines.blocks.endpoints.client import Api
from tools.pipelines.blocks.endpoints.faults import EndpointFault
from tools.services.model_endpoints import connect_breakers


def main(url: str, redis_url: str, now: str) -> None:
    connect_breakers(SyncBreakers(redis_url, now=lambda: float(now)))
    api = Api("llm_api", "The language model", Endpoint(url))
    for question in sys.stdin:
        messages = [{"role": "user", "content": question}]
        try:
            said = complete(api, "m", messages, max_tokens=50, timeout=20).text
        except EndpointFault as fault:
            said = type(fault).__name__
        sys.stdout.write(said + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
