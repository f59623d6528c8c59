"""The faults of `bench.health_faults`, one after the other on one control plane."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tests.chaos.health_faults import (
    INTERVAL,
    PROMISE,
    Fault,
    Outcome,
    frozen_fault,
    process_fault,
    suffer,
)
from tests.controlplane.stack import Stack, stack
from tests.mcp_upstream import HttpUpstream, http_upstream
from tests.processes import wait_until
from tests.run_on_postgres import PostgresServer, postgres_server

# A parameter that its technique does not know.
BREAK_PIPELINE = """
from tools.models import PipelineConfig
rows = PipelineConfig.objects.filter(tool__name="rag_basic")
# Past what checks it in the admin, as an older release might have left it.
rows.update(default_parameters={"no_such_parameter": 1})
"""
MEND_PIPELINE = """
from tools.models import PipelineConfig
PipelineConfig.objects.filter(tool__name="rag_basic").update(default_parameters={})
"""
ADD_SERVER = """
from tests.upstream_rows import make_upstream
make_upstream(slug="stub", url={url!r}, allowed_networks=["127.0.0.0/8"], connect_at_start=True)
"""


def shell(made: Stack, code: str) -> None:
    done = made.manage("shell", "--no-imports", "-c", code)
    assert done.returncode == 0, done.stderr


def faults(made: Stack, database: PostgresServer, server: HttpUpstream) -> Iterator[Fault]:
    # Without Redis no pipeline can be asked, and a service without pipelines is unavailable by its rules.
    yield process_fault(made, "redis", "unavailable", "redis: ")
    yield frozen_fault(made, "redis", "unavailable", "redis: ")
    yield Fault("database", database.stop, database.start, "unavailable", "database: ")
    yield process_fault(made, "worker", "degraded", "worker: ")
    yield process_fault(made, "beat", "degraded", "beat: ")
    yield Fault(
        "one pipeline",
        lambda: shell(made, BREAK_PIPELINE),
        lambda: shell(made, MEND_PIPELINE),
        "degraded",
        "pipeline rag_basic: ",
    )
    yield process_fault(made, "pipelines", "unavailable", "pipeline rag_basic: ")
    yield Fault("one upstream", server.kill, server.start, "degraded", "mcp:stub: ")


def table(outcomes: list[Outcome]) -> str:
    lines = [
        "| fault | told after | what was said | well again after | slowest answer |",
        "|---|---|---|---|---|",
    ]
    for one in outcomes:
        said = one.said if len(one.said) <= 150 else f"{one.said[:147]}..."
        lines.append(
            f"| {one.fault} | {one.noticed:.1f} s | {said} | {one.healed:.1f} s"
            f" | {one.slowest * 1000:.0f} ms |"
        )
    return "\n".join(lines)


def run(only: Collection[str]) -> None:
    """Those named in `only`, or all of them; prints as it goes and a table at the end."""
    outcomes: list[Outcome] = []
    with (
        postgres_server() as database,
        stack(DATABASE_URL=database.url, MONITORING__HEALTH_CHECK_INTERVAL=str(INTERVAL)) as made,
        http_upstream(made.folder / "upstream") as server,
    ):
        made.up(corpus=True).wait_until_running(600)
        shell(made, ADD_SERVER.format(url=server.url))
        wait_until(lambda: "mcp:stub" in made.get("/health")[1]["dependencies"], 30, "the server")
        for fault in faults(made, database, server):
            if not only or fault.name in only:
                outcomes.append(suffer(made, fault))
                print(outcomes[-1], flush=True)
    print(table(outcomes))
    late = [one.fault for one in outcomes if one.noticed > PROMISE]
    print(f"later than {PROMISE} s: {late}" if late else f"all told within {PROMISE} s")
