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
