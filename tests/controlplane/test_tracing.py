"""A whole control plane and a collector: one trace through its processes, and a stop nobody delays."""

from __future__ import annotations

from pathlib import Path

from tests.controlplane.stack import stack
from tests.processes import wait_until
from tests.tools.tracing.collector import STAGES, collecting
from tests.tools.tracing.conftest import SOON, read_lines


def test_a_query_is_one_trace_through_all_processes_and_a_dead_collector_delays_no_stop(
    tmp_path: Path,
) -> None:
    # S0-028 F3-03
    page = tmp_path / "examples" / "corpus" / "otters.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Otters\n\nOtters hold hands while they sleep.\n")
    (tmp_path / "docs").mkdir()
    with (
        collecting() as collector,
        stack(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, SERVICE__NAME="otters", **SOON) as made,
    ):
        running = made.up(corpus=True, CONTROL_PLANE_TEST_DEMO=str(tmp_path))
        running.wait_until_running()
        question = {"query": "What do otters do while they sleep?"}
        wait_until(lambda: made.call("rag_basic_rerank", **question)[0] == 200, 60, "an index")
        status, body = made.call("rag_basic_rerank", **question)
        assert status == 200, body
        call = collector.call(body["request_id"])
        query = collector.find(
            lambda span: (
                span.name == "query basic_rerank"
                and span.attributes["controlplane.request_id"] == body["request_id"]
            )
        )
        assert tuple(span.name for span in collector.below(call)) == STAGES
        assert query.parent_id == collector.stages(call)["backend"].span_id
        assert [span.name for span in collector.below(query)] == ["retrieve", "rerank", "generate"]
        assert call.resource["process.pid"] != query.resource["process.pid"]
        assert {one.resource["service.name"] for one in (call, query)} == {"otters"}
        (line,) = [
            one
            for one in read_lines(made.log("web"))
            if one.get("request_id") == body["request_id"] and one["logger"] == "tools.calls"
        ]
        assert (line["trace_id"], line["span_id"]) == (call.trace_id, call.span_id)

        collector.hanging.set()
        assert made.call("rag_basic_rerank", query="What do otters hold?")[0] == 200
        running.interrupt()
        assert running.wait() == 0
        assert running.stop_seconds() <= 5
