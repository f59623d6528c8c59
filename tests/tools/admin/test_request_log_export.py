"""The filtered log as a file."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client

from tests.factories import make_client
from tests.tools.log_rows import NOW, failed, record, row, running
from tests.trail import latest
from tools.admin.request_log import export, formats
from tools.admin.slow_pages import MOST_AT_ONCE as MOST_PLACES
from tools.models import AuditEntry, ToolRequest, ToolResponse
from tools.selectors.request_log import streams

pytestmark = pytest.mark.django_db

EXPORT = "/admin/tools/toolrequest/export/"


def content(client: Client, **query: Any) -> str:
    answer: Any = client.get(EXPORT, query)
    assert answer.status_code == 200
    assert answer.streaming
    return str(b"".join(answer.streaming_content).decode())


def let_go(answer: Any) -> None:
    """End a request whose answer nobody reads; the database stays open for the test."""
    request_finished.disconnect(close_old_connections)
    answer.close()
    request_finished.connect(close_old_connections)


def table(client: Client, **query: Any) -> list[dict[str, str]]:
    text = content(client, format="csv", **query)
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def lines(client: Client, **query: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content(client, format="jsonl", **query).splitlines()]


def test_csv_has_the_calls_of_the_filters(admin_client: Client) -> None:
    client, _ = make_client(name="Chat agent")
    call = failed(tool_id="wanted", caller=f"client:{client.pk}", cache_hit=False)
    record(tool_id="other")
    (found,) = table(admin_client, tool__exact="wanted", status__in="failure,timeout")
    assert found["call_id"] == str(call.pk)
    assert found["client"] == "Chat agent"
    assert found["received_at"] == NOW.isoformat()
    assert found["duration_ms"] == "1234.5"
    assert found["cache_hit"] == "false"
    assert json.loads(found["arguments"]) == call.parameters
    assert "answer" not in found


def test_json_lines_have_the_same_calls_with_their_kinds_of_values(admin_client: Client) -> None:
    call = running(tool_id="wanted", parameters={"sheep": [1, "Ü"]})
    (found,) = lines(admin_client, tool__exact="wanted")
    assert found["arguments"] == {"sheep": [1, "Ü"]}
    assert found["finished_at"] is None
    assert found["duration_ms"] is None
    assert found["request_id"] == str(call.request_id)


def test_the_latest_come_first_and_portions_leave_nothing_out(admin_client: Client) -> None:
    ToolRequest.objects.bulk_create(row() for _ in range(1_203))
    found = [one["call_id"] for one in lines(admin_client)]
    assert found == sorted((str(pk) for pk in keys()), reverse=True)


def keys() -> Any:
    return ToolRequest.objects.values_list("pk", flat=True)


def test_a_file_that_was_cut_says_so_in_its_last_line(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MOST_EXPORTED", 3)
    for _ in range(3):
        record()
    assert len(table(admin_client)) == 3
    assert len(lines(admin_client)) == 3
    record()
    *calls, last = table(admin_client)
    assert len(calls) == 3
    assert last["call_id"].startswith("# Cut after 3 calls; there are more. The rest: http://")
    *told, cut = lines(admin_client)
    assert len(told) == 3
    assert cut["cut"] == "Cut after 3 calls; there are more."


def parts(client: Client, kind: str, **query: Any) -> list[list[dict[str, Any]]]:
    """The rows of each file, from the first to the one that was not cut."""
    found, address = [], f"{EXPORT}?{urlencode({'format': kind, **query})}"
    while address:
        answer: Any = client.get(address)
        text = b"".join(answer.streaming_content).decode().removeprefix("\ufeff")
        rows: list[dict[str, Any]]
        if kind == "csv":
            rows = list(csv.DictReader(io.StringIO(text)))
            _, _, address = rows[-1]["call_id"].partition("The rest: ") if rows else ("", "", "")
        else:
            rows = [json.loads(line) for line in text.splitlines()]
            address = rows[-1].get("rest", "") if rows else ""
        found.append(rows[:-1] if address else rows)
    return found


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("at_once", [2, 500])
def test_parts_of_a_file_that_was_cut_make_up_the_whole(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, kind: str, at_once: int
) -> None:
    monkeypatch.setattr(streams, "AT_ONCE", at_once)
    # Of one moment, too: those are told apart by their ids.
    ToolRequest.objects.bulk_create(row(tool_id="wanted", transport="cli") for _ in range(4))
    record(tool_id="wanted", received_at=NOW - timedelta(hours=1), transport="cli")
    record(tool_id="other", received_at=NOW - timedelta(hours=1), transport="cli")
    ToolRequest.objects.bulk_create(row(tool_id="wanted") for _ in range(3))
    asked = {"tool__exact": "wanted", "transport__exact": "cli", "answers": "1"}
    ((*whole,),) = parts(admin_client, kind, **asked)
    assert len(whole) == 5
    monkeypatch.setattr(formats, "MOST_EXPORTED", 3)
    cut = parts(admin_client, kind, **asked)
    assert [len(part) for part in cut] == [3, 2]
    assert [one for part in cut for one in part] == whole
    monkeypatch.setattr(formats, "LONGEST_SECONDS", 0.0)
    assert [one for part in parts(admin_client, kind, **asked) for one in part] == whole


def test_a_time_that_is_counted_from_now_is_the_same_for_all_parts(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MOST_EXPORTED", 1)
    now = datetime.now(UTC)
    for seconds in (5, 10, 15):
        record(received_at=now - timedelta(minutes=59, seconds=seconds))
    _, cut = lines(admin_client, within="1h")
    asked = parse_qs(urlsplit(cut["rest"]).query)
    assert "within" not in asked
    begins = datetime.fromisoformat(asked["received_at__gte"][0])
    assert timedelta(hours=1) <= datetime.now(UTC) - begins < timedelta(hours=1, minutes=1)
    assert [len(part) for part in parts(admin_client, "jsonl", within="1h")] == [1, 1, 1]


@pytest.mark.parametrize("evil", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1"])
def test_no_cell_is_a_formula(admin_client: Client, evil: str) -> None:
    failed(error=evil, query_text=evil, correlation_id=evil.strip())
    (found,) = table(admin_client)
    assert found["error"] == f"'{evil}"
    assert found["query_text"] == f"'{evil}"
    assert found["correlation_id"] == f"'{evil.strip()}"
    (plain,) = lines(admin_client)
    assert plain["error"] == evil


def test_answers_come_only_if_asked_for(admin_client: Client) -> None:
    call = record()
    ToolResponse.objects.create(
        request=call, response_id=call.request_id, received_at=NOW, body='{"a":1}', truncated=True
    )
    record(tool_id="without")
    assert "answer" not in lines(admin_client)[0]
    found = {one["tool"]: one for one in lines(admin_client, answers="1")}
    assert found["search_notes"]["answer"] == '{"a":1}'
    assert found["search_notes"]["answer_truncated"] is True
    assert found["without"]["answer"] is None
    assert {one["answer"] for one in table(admin_client, answers="1")} == {'{"a":1}', ""}


def test_filters_that_make_no_sense_export_nothing(admin_client: Client) -> None:
    for query in ({"code__exact": "NOPE"}, {"format": "xlsx"}, {"unknown": "1"}):
        answer = admin_client.get(EXPORT, query, follow=True)
        assert "Nothing was exported" in answer.content.decode()


def test_a_third_export_at_once_is_put_off_until_one_ends(admin_client: Client) -> None:
    record()
    under_way = [admin_client.get(EXPORT), admin_client.get(EXPORT)]
    refused = admin_client.get(EXPORT)
    assert refused.status_code == 503
    assert "Wait until one of them is done" in refused.content.decode()
    # The audit trail tells of those that took something away.
    assert AuditEntry.objects.filter(action="exported").count() == 2
    # Its reader went away before the end, or never began.
    for one in under_way:
        let_go(one)
        let_go(one)
    assert len(table(admin_client)) == 1


def test_an_export_that_cannot_be_written_down_is_not_made_and_holds_nothing(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    record()

    def fail(*given: Any, **more: Any) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(export, "record_action", fail)
        for _ in range(MOST_PLACES + 1):
            with pytest.raises(OSError, match="the disk is full"):
                admin_client.get(EXPORT)
    assert len(table(admin_client)) == 1


def test_it_is_to_be_saved_and_not_to_be_kept_on_the_way(admin_client: Client) -> None:
    answer = admin_client.get(EXPORT, {"format": "csv"})
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="calls-')
    assert "no-store" in answer["Cache-Control"]
    let_go(answer)


def test_the_audit_trail_says_who_took_which_calls_away(admin_client: Client) -> None:
    record(tool_id="wanted")
    lines(admin_client, tool__exact="wanted")
    entry = latest()
    assert (entry.action, entry.actor) == ("exported", "admin")
    assert entry.note == "As jsonl, without answers. Filters: tool__exact=wanted."


def test_a_search_that_takes_too_long_ends_and_says_so(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "LONGEST_SECONDS", 0.0)
    record()
    # There is nothing that was not looked at.
    assert len(lines(admin_client)) == 1
    monkeypatch.setattr(streams, "AT_ONCE", 1)
    record()
    call, cut = lines(admin_client)
    assert call["tool"] == "search_notes"
    assert cut["cut"] == "Cut after 0 seconds; older calls were not looked at."
