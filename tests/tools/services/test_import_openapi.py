"""Imports of OpenAPI documents: shown, saved, repeated."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from typing_extensions import override

from tests.factories import make_tool
from tests.openapi_documents import shop, written
from tools.models import ApiOperation, ApiService, Tool
from tools.services.import_openapi import apply, preview

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


@pytest.fixture
def service() -> ApiService:
    made = ApiService(slug="shop", base_url="https://shop.example/v1", prefix="shop_")
    made.save()
    return made


def take(service: ApiService, **paths: Any) -> Any:
    return apply(preview(written(shop(**paths)), service), service)


def test_operations_become_tools(service: ApiService) -> None:
    done = take(service)
    assert set(done.added) == {"GET /items/{id}", "POST /orders"}
    tool = Tool.objects.get(name="shop_get_item")
    assert (tool.source, tool.read_only, tool.dependency) == ("http_api", True, "api:shop")
    assert tool.input_schema["required"] == ["id"]
    order = ApiOperation.objects.get(tool__name="shop_add_order")
    assert (order.method, order.path, order.body_type) == ("POST", "/orders", "application/json")


def test_tool_follows_an_operation_that_is_saved_by_itself(service: ApiService) -> None:
    take(service)
    row = ApiOperation.objects.get(tool__name="shop_get_item")
    row.path = "/v2/items/{id}"
    row.save()
    assert Tool.objects.get(name="shop_get_item").handler == "shop GET /v2/items/{id}"


def test_each_operation_of_a_document_costs_few_queries(service: ApiService) -> None:
    def queries(count: int) -> int:
        """Of an import of so many operations; those of the import before stay as they are."""
        order = shop()["paths"]["/orders"]["post"]
        paths = {
            f"/orders/{number}": {"post": {**order, "operationId": f"order{number}"}}
            for number in range(count)
        }
        found = preview(written(shop(**paths)), service)
        with CaptureQueriesContext(connection) as captured:
            apply(found, service)
        return len(captured)

    take(service)
    two, ten_more = queries(2), queries(12)
    # The row, its tool, and what is kept of both; the tool is saved once.
    assert ten_more - two <= 8 * 34


def test_the_same_document_again_changes_nothing(service: ApiService) -> None:
    take(service)
    found = preview(written(shop()), service)
    assert (found.changes.added, found.changes.removed, found.changes.changed) == ((), (), ())
    assert (take(service).added, take(service).changed) == ((), ())


def test_what_an_operator_changed_stays(service: ApiService) -> None:
    # F4-23
    take(service)
    tool = Tool.objects.get(name="shop_get_item")
    tool.description = "Ours: looks an item up by its number."
    tool.save()
    later = shop()["paths"]["/items/{id}"]
    later["get"]["summary"] = "Get an item."
    later["get"]["parameters"].append({"name": "currency", "in": "query", "schema": {}})
    done = take(service, **{"/items/{id}": later})
    assert (done.changed, done.kept_edits) == (("GET /items/{id}",), ("GET /items/{id}",))
    tool.refresh_from_db()
    assert tool.description == "Ours: looks an item up by its number."
    assert "currency" in tool.input_schema["properties"]


def test_a_change_that_breaks_callers_is_told(service: ApiService) -> None:
    # F4-23
    take(service)
    later = shop()["paths"]["/items/{id}"]
    later["get"]["parameters"][1]["required"] = True
    found = preview(written(shop(**{"/items/{id}": later})), service)
    (change,) = found.changes.changed
    assert (change.key, change.breaks) == ("GET /items/{id}", True)


def renamed() -> dict[str, Any]:
    """The paths of a later document that calls an operation otherwise."""
    later = shop()["paths"]["/items/{id}"]
    later["get"]["operationId"] = "findItem"
    return {"/items/{id}": later}


def test_tool_keeps_its_name_whatever_a_later_document_calls_it(service: ApiService) -> None:
    # F4-23
    take(service)
    make_tool(name="shop_find_item")
    found = preview(written(shop(**renamed())), service)
    # Agents call it as before, so nothing breaks them, and no name is taken.
    assert (found.changes.changed, found.collisions) == ((), {})
    assert found.names["GET /items/{id}"] == "shop_get_item"
    done = apply(found, service)
    assert (done.changed, done.refused) == ((), {})
    assert ApiOperation.objects.get(path="/items/{id}").tool.name == "shop_get_item"


def test_tool_that_was_deleted_is_new_to_the_next_import(service: ApiService) -> None:
    take(service)
    Tool.objects.get(name="shop_get_item").delete()
    found = preview(written(shop()), service)
    assert (found.changes.added, found.changes.removed) == (("GET /items/{id}",), ())
    assert apply(found, service).added == ("GET /items/{id}",)


def test_name_of_a_tool_that_is_gone_from_the_document_is_still_taken(service: ApiService) -> None:
    take(service)
    moved = {"/items/{id}": None, "/v2/items/{id}": shop()["paths"]["/items/{id}"]}
    found = preview(written(shop(**moved)), service)
    assert found.collisions == {"GET /v2/items/{id}": "shop_get_item"}


def test_what_is_gone_is_switched_off_and_comes_back_by_hand(service: ApiService) -> None:
    take(service)
    done = take(service, **{"/orders": None})
    assert done.switched_off == ("POST /orders",)
    assert Tool.objects.get(name="shop_add_order").enabled is False


def test_name_of_another_tool_is_not_taken_over(service: ApiService) -> None:
    make_tool(name="shop_get_item", description="Somebody else's tool.")
    found = preview(written(shop()), service)
    assert found.collisions == {"GET /items/{id}": "shop_get_item"}
    done = apply(found, service)
    assert (done.added, set(done.refused)) == (("POST /orders",), {"GET /items/{id}"})
    assert Tool.objects.get(name="shop_get_item").description == "Somebody else's tool."


def test_what_was_not_taken_is_new_to_the_next_import(service: ApiService) -> None:
    other = make_tool(name="shop_get_item")
    take(service)
    assert preview(written(shop()), service).changes.added == ("GET /items/{id}",)
    other.delete()
    assert take(service).added == ("GET /items/{id}",)


def test_change_that_was_not_taken_is_no_edit_of_an_operator(service: ApiService) -> None:
    # F4-23
    take(service)
    rows = Tool.objects.filter(name="shop_get_item")
    later = shop()["paths"]["/items/{id}"]
    later["get"]["summary"] = "Get one item of the shop, with its price."
    # A row that cannot be saved as it is.
    rows.update(metadata=["no", "mapping"])
    assert set(take(service, **{"/items/{id}": later}).refused) == {"GET /items/{id}"}
    rows.update(metadata={})
    done = take(service, **{"/items/{id}": later})
    assert (done.changed, done.kept_edits) == (("GET /items/{id}",), ())
    assert "with its price" in rows.get().description


@pytest.mark.parametrize("style", ["form", "spaceDelimited", "pipeDelimited", "deepObject"])
def test_form_whose_fields_have_a_style_becomes_a_tool(service: ApiService, style: str) -> None:
    form = {
        "schema": {"type": "object", "properties": {"filter": {"type": "object"}}},
        "encoding": {"filter": {"style": style, "explode": True}},
    }
    content = {"application/x-www-form-urlencoded": form}
    find = {"operationId": "find", "requestBody": {"content": content}, "responses": {}}
    done = take(service, **{"/found": {"post": {**find, "summary": "Find items of the shop."}}})
    assert (set(done.added) >= {"POST /found"}, done.refused) == (True, {})


def test_only_what_was_chosen_is_saved(service: ApiService) -> None:
    done = apply(preview(written(shop()), service), service, {"POST /orders"})
    assert done.added == ("POST /orders",)
    assert preview(written(shop()), service).changes.added == ("GET /items/{id}",)


def test_command_makes_the_service_from_the_document(tmp_path: Path) -> None:
    document = tmp_path / "shop.json"
    document.write_text(written(shop()))
    told = io.StringIO()
    call_command("import_openapi", str(document), "--service", "shop", "--dry-run", stdout=told)
    assert "2 operations can be tools, 0 cannot" in told.getvalue()
    assert ApiService.objects.count() == 0
    call_command("import_openapi", str(document), "--service", "shop", stdout=told)
    assert "2 added, 0 changed, 0 switched off, 0 not taken" in told.getvalue()
    assert ApiService.objects.get().base_url == "https://shop.example/v1"


@pytest.mark.parametrize(
    ("text", "told"),
    [("{}", "openapi"), ("[1, 2", "JSON"), ("", "empty"), ("just words", "object")],
)
def test_what_is_no_document_is_refused_with_a_reason(tmp_path: Path, text: str, told: str) -> None:
    document = tmp_path / "odd"
    document.write_text(text)
    with pytest.raises(CommandError, match=told):
        call_command("import_openapi", str(document), "--service", "shop")
    assert ApiService.objects.count() == 0


def test_document_is_fetched_and_completes_its_own_address() -> None:
    document = {**shop(), "servers": [{"url": "/v2"}]}
    with served(written(document)) as address, pytest.raises(CommandError, match="cannot be had"):
        call_command("import_openapi", f"{address}/openapi.json", "--service", "shop")
    with served(written(document)) as address:
        call_command(
            *("import_openapi", f"{address}/openapi.json", "--service", "shop"),
            *("--allow-network", "127.0.0.1/32"),
            stdout=io.StringIO(),
        )
    service = ApiService.objects.get()
    assert service.base_url == f"{address}/v2"
    assert service.allowed_networks == ["127.0.0.1/32"]


@contextmanager
def served(text: str) -> Iterator[str]:
    """A server that answers everything with `text`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        @override
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
