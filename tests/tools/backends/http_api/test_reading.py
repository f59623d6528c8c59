"""Answers of every kind as JSON values."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.http_server import HttpServer, Reply
from tests.tools.backends.http_api.calls import call, get, post, service
from tools.backends.http_api import HttpApiBackend
from tools.errors import UpstreamFailed
from tools.operations import Operation
from tools.vault import seal

PAGE = b"""<!DOCTYPE html><html><head><title>Breeds</title><script>var a = 1</script></head><body>
<h1>All breeds</h1><p>Two of <b>them</b>.</p><h2>Katahdin</h2>
<p><a href="/breeds/1?a=1&amp;b=2">More <i>here</i></a> <a href='javascript:x()'>no</a>
<a name=x>none</a> <a href=https://other.example/>Other</a></p></body></html>"""
FEED = b"""<?xml version="1.0"?><r:feed xmlns:r="urn:x" id="7"><item>a</item><item lang="de">b</item>
<empty/><mixed>one <b>two</b> three</mixed></r:feed>"""
BILLION_LAUGHS = (
    b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>"""
)
EXTERNAL = (
    b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>"""
)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


async def answered(
    backend: HttpApiBackend, server: HttpServer, body: bytes, content_type: str
) -> Any:
    server.always = Reply(body=body, content_type=content_type)
    return await call(backend, service(server.url), get())


@pytest.mark.parametrize(
    ("body", "content_type", "data"),
    [
        (b'{"a": [1, null, 2.5]}', "application/json", {"a": [1, None, 2.5]}),
        (b'{"a": 1}', "application/vnd.api+json; charset=utf-8", {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', "application/json", {"a": 1}),
        ('{"a": "ä"}'.encode("utf-16"), "application/json", {"a": "ä"}),
        ('{"a": "ä"}'.encode("latin-1"), "application/json; charset=ISO-8859-1", {"a": "ä"}),
        (b")]}',\n[1]", "application/json", [1]),
        (b"[NaN, Infinity, 1e999, -1e999, 1e3]", "application/json", [None, None, None, None, 1000.0]),
        (b"123456789012345678901234567890", "application/json", 123456789012345678901234567890),
        (b'"text"', "application/json", "text"),
        (b"null", "application/json", None),
        (b'{"a": 1}\n{"a": 2}\n\n', "application/x-ndjson", [{"a": 1}, {"a": 2}]),
        (b'\x1e{"a": 1}\n\x1e{"a": 2}\n', "application/json-seq", [{"a": 1}, {"a": 2}]),
        (b'{"a": 1}\r\n{"a": 2}', "application/json", [{"a": 1}, {"a": 2}]),
        (b'{"a": 1}', "application/x-ndjson", [{"a": 1}]),
        # Of another kind than they say.
        (b' {"a": 1}\n', "text/html; charset=utf-8", {"a": 1}),
        (b"[1]", "text/plain", [1]),
        (b'{"a": 1}', "application/octet-stream", {"a": 1}),
        (b'{"a": 1}', "", {"a": 1}),
        (b'{"a": 1}', "image/png", {"a": 1}),
        (b'{"a": 1}', "text/xml", {"a": 1}),
        (b"[not json]", "text/plain", {"text": "[not json]"}),
        (b"<?xml version='1.0'?><a>1</a>", "text/plain", {"a": "1"}),
        # Tables.
        (b"id,name\n1,Ann\n2,\"B, C\"\n", "text/csv", [{"id": "1", "name": "Ann"}, {"id": "2", "name": "B, C"}]),
        (b"id;name\r\n1;Ann", "text/csv", [{"id": "1", "name": "Ann"}]),
        (b"id\tname\n1\tA, B", "text/tab-separated-values", [{"id": "1", "name": "A, B"}]),
        (b"a,a,,d\n1,2,3\n1,2,3,4,5", "text/csv", [{"a": "1", "a_2": "2", "column_3": "3"}, {"a": "1", "a_2": "2", "column_3": "3", "d": "4", "column_5": "5"}]),
        (b"id,name\n", "text/csv", []),
        # Text.
        (b"Hello\r\nworld", "text/plain", {"text": "Hello\nworld"}),
        ("Grüße".encode("cp1252"), "text/plain", {"text": "Grüße"}),
        (b"key: value", "application/yaml", {"text": "key: value"}),
        (b"OK", "", {"text": "OK"}),
        # XML.
        (FEED, "application/xml", {"feed": {"@id": "7", "item": ["a", {"@lang": "de", "#text": "b"}], "empty": None, "mixed": {"b": "two", "#text": "one three"}}}),
        (b"<a><b>1</b><b>2</b><b>3</b></a>", "application/atom+xml", {"a": {"b": ["1", "2", "3"]}}),
        # Nothing.
        (b"", "application/json", {"status": 200}),
        (b" \n", "text/html", {"status": 200}),
    ],
)  # fmt: skip
async def test_answers_become_values(
    backend: HttpApiBackend, server: HttpServer, body: bytes, content_type: str, data: Any
) -> None:
    # F4-22
    assert await answered(backend, server, body, content_type) == data


async def test_pages_become_title_headings_text_and_links(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    # F4-22
    data = await answered(backend, server, PAGE, "text/html")
    assert data == {
        "title": "Breeds",
        "headings": [{"level": 1, "text": "All breeds"}, {"level": 2, "text": "Katahdin"}],
        "text": "All breeds\n\nTwo of them.\n\nKatahdin\n\nMore here no none Other",
        "links": [
            {"text": "More here", "url": f"{server.url}/breeds/1?a=1&b=2"},
            {"text": "Other", "url": "https://other.example/"},
        ],
    }


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"{not json", "application/json", "says that it is JSON"),
        (b"OK", "application/json", "says that it is JSON"),
        (b'{"a": 1} trailing', "application/json", "says that it is JSON"),
        (b'{"a": 1}\n{"a"', "application/x-ndjson", "says that it is JSON"),
        (bytes(range(256)), "application/json", "says that it is JSON"),
        (b"[" * 100_000, "application/json", "says that it is JSON"),
        (b"1" * 10_000, "application/json", "says that it is JSON"),
        (PAGE, "application/json", "is a web page"),
        (PAGE, "text/csv", "is a web page"),
        (b"<a><b></a>", "application/xml", "says that it is XML"),
        (b"no xml", "text/xml", "says that it is XML"),
        (b"<a>" * 101 + b"</a>" * 101, "application/xml", "nested more than 100"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "application/xml", "says that it is XML"),
        (BILLION_LAUGHS, "application/xml", "entities"),
        (EXTERNAL, "text/plain", "entities"),
        (b"<div>" * 5_000, "text/html", "nested too deep"),
    ],
)
async def test_answers_that_are_not_what_they_say_are_failures_of_the_api(
    backend: HttpApiBackend, server: HttpServer, body: bytes, content_type: str, reason: str
) -> None:
    # F4-22
    with pytest.raises(UpstreamFailed, match=reason) as told:
        await answered(backend, server, body, content_type)
    assert "root:" not in told.value.message


async def test_binary_contents_become_what_is_known_of_them(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    # F4-22
    known = {
        "content_type": "image/png",
        "bytes": len(PNG),
        "sha256": hashlib.sha256(PNG).hexdigest(),
    }
    server.always = Reply(body=PNG, content_type="image/png")
    data = await call(backend, service(server.url), get("/logo?size=2"))
    note = "Binary contents: they can be had at the url"
    assert data == {**known, "url": f"{server.url}/logo?size=2", "note": note}
    assert "url" not in await call(backend, service(server.url), post("/logo"))
    secret = service(server.url, auth="query", auth_name="key", secret=seal("secret-012345"))
    assert "url" not in await call(backend, secret, get("/logo"))


@pytest.mark.parametrize("content_type", ["application/octet-stream", "text/plain", ""])
async def test_binary_contents_are_known_by_their_look(
    backend: HttpApiBackend, server: HttpServer, content_type: str
) -> None:
    data = await answered(backend, server, PNG, content_type)
    assert data["bytes"] == len(PNG)
    assert "text" not in data


async def test_a_request_for_the_head_gives_the_head(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = Reply(body=b" " * 9_000_000, headers={"ETag": '"1"', "X-Internal": "no"})
    data = await call(backend, service(server.url), Operation("HEAD", "/things"))
    assert data == {
        "status": 200,
        "headers": {
            "content-type": "application/json",
            "content-length": "9000000",
            "etag": '"1"',
        },
    }


async def test_an_answer_without_contents_is_its_status(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = Reply(raw=b"HTTP/1.1 204 No Content\r\n\r\n")
    assert await call(backend, service(server.url), Operation("DELETE", "/things/1")) == {
        "status": 204
    }


async def test_a_large_answer_is_read_whole(backend: HttpApiBackend, server: HttpServer) -> None:
    rows = [{"id": number, "name": f"thing {number}"} for number in range(20_000)]
    data = await answered(backend, server, json.dumps(rows).encode(), "application/json")
    assert data == rows
