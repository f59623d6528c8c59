"""Arguments on their way into a request, friendly and hostile."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tools.backends.http_api.calls import (
    body_field,
    get,
    in_path,
    post,
    query,
    service,
)
from tools.backends.http_api.outgoing import Outgoing
from tools.backends.http_api.request import build
from tools.errors import ExecutionFailed, InvalidArguments
from tools.operations import Operation, Parameter, Place

API = service("https://api.example.com/v1")
COLORS = ["blue", "black"]
POINT = {"x": 1, "y": "a b"}


def built(operation: Operation, **arguments: Any) -> Outgoing:
    return build(API, operation, arguments)


@pytest.mark.parametrize(
    ("settings", "value", "written"),
    [
        ({}, "blue", "/c/blue"),
        ({}, COLORS, "/c/blue,black"),
        ({}, POINT, "/c/x,1,y,a%20b"),
        ({"explode": True}, POINT, "/c/x=1,y=a%20b"),
        ({"style": "label"}, "blue", "/c/.blue"),
        ({"style": "label"}, COLORS, "/c/.blue,black"),
        ({"style": "label", "explode": True}, COLORS, "/c/.blue.black"),
        ({"style": "label", "explode": True}, POINT, "/c/.x=1.y=a%20b"),
        ({"style": "matrix"}, "blue", "/c/;p=blue"),
        ({"style": "matrix"}, COLORS, "/c/;p=blue,black"),
        ({"style": "matrix", "explode": True}, COLORS, "/c/;p=blue;p=black"),
        ({"style": "matrix"}, POINT, "/c/;p=x,1,y,a%20b"),
        ({"style": "matrix", "explode": True}, POINT, "/c/;x=1;y=a%20b"),
        ({"media_type": "application/json"}, {"a": 1}, "/c/%7B%22a%22%3A1%7D"),
    ],
)
def test_paths_are_written_in_every_style(
    settings: dict[str, Any], value: Any, written: str
) -> None:
    assert built(get("/c/{p}", in_path("p", **settings)), p=value).target == f"/v1{written}"


@pytest.mark.parametrize(
    ("settings", "value", "written"),
    [
        ({}, "blue", "p=blue"),
        ({}, "", "p="),
        ({}, True, "p=true"),
        ({}, 12345678901234567890123, "p=12345678901234567890123"),
        ({}, 5.0, "p=5"),
        ({}, 0.25, "p=0.25"),
        ({}, COLORS, "p=blue&p=black"),
        ({}, [], ""),
        ({}, ["a", None, "b"], "p=a&p=b"),
        ({}, POINT, "x=1&y=a%20b"),
        ({"explode": False}, COLORS, "p=blue,black"),
        ({"explode": False}, POINT, "p=x,1,y,a%20b"),
        ({"style": "spaceDelimited"}, COLORS, "p=blue%20black"),
        ({"style": "pipeDelimited"}, COLORS, "p=blue%7Cblack"),
        ({"style": "pipeDelimited", "explode": True}, COLORS, "p=blue&p=black"),
        ({"style": "deepObject"}, POINT, "p%5Bx%5D=1&p%5By%5D=a%20b"),
        ({"style": "deepObject"}, {"a": {"b": [1, 2]}}, "p%5Ba%5D%5Bb%5D%5B%5D=1&p%5Ba%5D%5Bb%5D%5B%5D=2"),
        ({"style": "deepObject"}, [{"a": 1}], "p%5B0%5D%5Ba%5D=1"),
        ({"media_type": "application/json"}, {"a": [1]}, "p=%7B%22a%22%3A%5B1%5D%7D"),
        ({"allow_reserved": True}, "a/b?c=d,e:f", "p=a/b?c=d,e:f"),
        ({"allow_reserved": True}, "a&b#c+d%20", "p=a%26b%23c%2Bd%2520"),
    ],
)  # fmt: skip
def test_queries_are_written_in_every_style(
    settings: dict[str, Any], value: Any, written: str
) -> None:
    target = built(get("/c", query("p", **settings)), p=value).target
    assert target == (f"/v1/c?{written}" if written else "/v1/c")


def test_arguments_win_over_what_is_always_sent() -> None:
    operation = get("/c?fixed=1", query("page"), query={"page": 1, "tags": ["a", "b"]})
    assert built(operation, page=3).target == "/v1/c?fixed=1&tags=a&tags=b&page=3"
    assert built(operation).target == "/v1/c?fixed=1&page=1&tags=a&tags=b"


def test_headers_and_cookies_are_written_simply() -> None:
    operation = get(
        "/c",
        Parameter("ids", "X-Ids", Place.HEADER),
        Parameter("point", "X-Point", Place.HEADER, explode=True),
        Parameter("session", "session", Place.COOKIE),
        Parameter("theme", "theme", Place.COOKIE),
        headers={"x-ids": "0", "X-Fixed": "yes"},
    )
    headers = built(operation, ids=[1, 2], point={"a": 1}, session="a; b=c", theme="dark").headers
    assert headers["X-Ids"] == "1,2"
    assert "x-ids" not in headers
    assert headers["X-Point"] == "a=1"
    assert headers["X-Fixed"] == "yes"
    assert headers["Cookie"] == "session=a%3B%20b%3Dc; theme=dark"


@pytest.mark.parametrize(
    "value",
    ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00b", "\x7f", ["ok", "a\r\nb"], {"k": "a\nb"}, "\ud800"],
)
def test_no_argument_begins_another_header(value: Any) -> None:
    operation = get("/c", Parameter("note", "X-Note", Place.HEADER))
    with pytest.raises(InvalidArguments) as told:
        built(operation, note=value)
    assert told.value.details.parameter == "note"


@pytest.mark.parametrize(
    "name", ["Host", "Content-Length", "Transfer-Encoding", "Authorization", "Cookie", "connection"]
)
def test_headers_of_the_connection_are_not_for_arguments(name: str) -> None:
    headers = built(get("/c", Parameter("x", name, Place.HEADER)), x="evil").headers
    assert "evil" not in headers.values()


@pytest.mark.parametrize(
    "value",
    [
        "..", ".", "../admin", "a/../../b", "..\\..\\x", "%2e%2e", "%2E%2E%2Fx", "%252e%252e",
        "..;/x", "a/..", "./a", "\x00", "a\x00b", "", None, [], {}, [".."], "\udc80",
    ],
)  # fmt: skip
def test_no_argument_steps_to_another_path(value: Any) -> None:
    with pytest.raises(InvalidArguments) as told:
        built(get("/things/{id}/parts", in_path("id")), id=value)
    assert told.value.details.parameter == "id"


def test_two_harmless_values_do_not_make_a_step_together() -> None:
    with pytest.raises(InvalidArguments):
        built(get("/{a}{b}/x", in_path("a"), in_path("b")), a=".", b=".")
    with pytest.raises(InvalidArguments):
        built(get("/x/.{a}/y", in_path("a")), a=".")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a/b", "a%2Fb"),
        ("a?b#c", "a%3Fb%23c"),
        ("ä ö", "%C3%A4%20%C3%B6"),
        ("a..b", "a..b"),
        ("...", "..."),
        ("x@evil.example:80", "x%40evil.example%3A80"),
        ("\r\nHost: evil", "%0D%0AHost%3A%20evil"),
        (-1, "-1"),
        (False, "false"),
    ],
)
def test_what_separates_parts_of_an_address_is_encoded_in_paths(value: Any, written: str) -> None:
    request = built(get("/things/{id}", in_path("id")), id=value)
    assert request.target == f"/v1/things/{written}"
    assert str(request.origin) == "https://api.example.com"


def test_a_path_parameter_without_an_argument_is_named() -> None:
    with pytest.raises(InvalidArguments, match="Invalid parameter: owner"):
        built(get("/{owner}/{id}", in_path("id")), id=1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "half \udfff"])
def test_what_has_no_form_in_a_query_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArguments):
        built(get("/c", query("p")), p=value)


def test_a_body_argument_is_the_whole_body() -> None:
    operation = post("/c", Parameter("body", "body", Place.BODY))
    assert built(operation, body=[1, "ä"]).body == '[1,"ä"]'.encode()
    assert built(operation, body=None).body == b"null"
    assert built(operation).body == b""
    assert built(get("/c")).body is None


def test_forms_repeat_lists_and_encode_everything() -> None:
    operation = post(
        "/c",
        body_field("name"),
        body_field("tags"),
        body_field("meta", style="deepObject"),
        body_field("extra"),
        body_type="application/x-www-form-urlencoded",
    )
    request = built(operation, name="a&b=c", tags=[1, 2], meta={"k": "v"}, extra={"x": None})
    assert request.body == (
        b"name=a%26b%3Dc&tags=1&tags=2&meta%5Bk%5D=v&extra=%7B%22x%22%3Anull%7D"
    )
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_parts_of_a_multipart_body_cannot_end_early() -> None:
    operation = post(
        "/c", body_field("file"), body_field('na"me'), body_field("o"), body_type="multipart/form-data"
    )  # fmt: skip
    arguments = {"file": "--x--\r\nContent-Disposition: evil", 'na"me': "b", "o": {"a": 1}}
    request = build(API, operation, arguments)
    boundary = request.headers["Content-Type"].partition("boundary=")[2].encode()
    assert request.body is not None
    parts = request.body.split(b"--" + boundary)
    assert parts[-1] == b"--\r\n"
    assert parts[1] == (
        b'\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
        b"--x--\r\nContent-Disposition: evil\r\n"
    )
    assert b'name="na%22me"' in parts[2]
    assert b"Content-Type: application/json\r\n\r\n" in parts[3]


def test_text_goes_as_it_is() -> None:
    operation = post("/c", Parameter("body", "body", Place.BODY), body_type="text/plain")
    request = built(operation, body="Grüße")
    assert request.body == "Grüße".encode()
    assert request.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_json_types_with_a_name_of_their_own_are_json() -> None:
    operation = post("/c", body_field("a"), body_type="application/vnd.api+json")
    request = built(operation, a=1)
    assert json.loads(request.body or b"") == {"a": 1}
    assert request.headers["Content-Type"] == "application/vnd.api+json"


@pytest.mark.parametrize("body_type", ["application/json", "text/plain"])
def test_what_has_no_form_in_a_body_is_refused(body_type: str) -> None:
    operation = post("/c", Parameter("body", "body", Place.BODY), body_type=body_type)
    for value in (float("nan"), "\ud800", [float("inf")]):
        with pytest.raises(InvalidArguments):
            built(operation, body=value)


@pytest.mark.parametrize(
    "address",
    ["", "ftp://x", "file:///etc/passwd", "https://", "http://a b/", "http://x:99999", "//x", "http://[::1"],
)  # fmt: skip
def test_a_service_without_a_usable_address_is_the_operators_to_correct(address: str) -> None:
    with pytest.raises(ExecutionFailed, match="cannot be called") as told:
        build(service(address), get(), {})
    assert told.value.details.suggestion is not None


def test_names_of_hosts_are_sent_in_ascii_and_users_in_them_are_not() -> None:
    request = build(service("http://me:pw@bücher.example:8080/"), get("/ä b"), {})
    assert str(request.origin) == "http://xn--bcher-kva.example:8080"
    assert request.target == "/%C3%A4%20b"


def test_requests_show_no_values_when_printed() -> None:
    request = built(get("/c", query("p")), p="private")
    assert "private" not in repr(request)


def test_json_body_without_any_of_its_fields_is_an_empty_object() -> None:
    written = built(post("/c", body_field("count"), body_type="application/json"))
    assert (written.body, written.headers["Content-Type"]) == (b"{}", "application/json")


def test_form_field_that_is_json_is_written_so() -> None:
    field = body_field("tags", media_type="application/json")
    form = post("/c", field, body_type="application/x-www-form-urlencoded")
    assert built(form, tags=["a", "b"]).body == b"tags=%5B%22a%22%2C%22b%22%5D"
