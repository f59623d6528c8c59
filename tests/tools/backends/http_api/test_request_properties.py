"""Whatever the arguments are, the request keeps its shape."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, unquote

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tools.backends.http_api.calls import get, in_path, post, query, service
from tools.backends.http_api.outgoing import Outgoing
from tools.backends.http_api.request import build
from tools.errors import InvalidArguments
from tools.operations import Operation, Parameter, Place

API = service("https://api.example.com/v1")
TEXTS = st.text(st.characters(codec="utf-8"))
HOSTILE = st.text(st.sampled_from("./\\%?#&=;:@ \r\n\t[]{}a0é%2e%2F"), min_size=1)
SINGLE = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    st.none() | SINGLE | HOSTILE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def accepted(operation: Operation, arguments: dict[str, Any]) -> Outgoing:
    """The request; refused arguments are not looked at further, and may not be most of them."""
    try:
        return build(API, operation, arguments)
    except InvalidArguments as refusal:
        assume(refusal.details.parameter not in arguments)
        raise


@given(HOSTILE, st.lists(HOSTILE | SINGLE, min_size=1, max_size=3))
def test_no_value_changes_the_path(single: str, several: list[Any]) -> None:
    operation = get("/one/{a}/two/{b}/three", in_path("a"), in_path("b", style="matrix"))
    request = accepted(operation, {"a": single, "b": several})
    assert not set(request.target) & set("?# \r\n\t\\")
    segments = request.target.split("/")
    assert [segments[place] for place in (0, 1, 2, 4, 6)] == ["", "v1", "one", "two", "three"]
    assert len(segments) == 7
    assert not {".", ".."} & {unquote(segment) for segment in segments}
    assert unquote(segments[3]) == single


@given(VALUES, VALUES, VALUES)
def test_no_value_leaves_the_query_or_the_cookies(first: Any, second: Any, third: Any) -> None:
    operation = get(
        "/t",
        query("first", explode=False),
        query("second", style="deepObject", allow_reserved=True),
        Parameter("third", "third", Place.COOKIE, explode=False),
    )
    request = accepted(operation, {"first": first, "second": second, "third": third})
    path, _, sent = request.target.partition("?")
    assert path == "/v1/t"
    assert not set(sent) & set('# \r\n\t\\"<>')
    names = {name.partition("[")[0] for name, _ in parse_qsl(sent, keep_blank_values=True)}
    assert names <= {"first", "second"}
    assert ";" not in request.headers.get("Cookie", "")


@given(VALUES)
def test_no_value_begins_another_header(value: Any) -> None:
    operation = get("/t", Parameter("note", "X-Note", Place.HEADER))
    headers = accepted(operation, {"note": value}).headers
    assert set(headers) <= {"User-Agent", "Accept", "X-Note"}
    assert not set(headers.get("X-Note", "")) & set("\r\n\x00")


@given(TEXTS, st.lists(TEXTS))
def test_an_api_reads_back_the_texts_it_is_sent(single: str, several: list[str]) -> None:
    operation = get("/t", query("single"), query("several"))
    request = build(API, operation, {"single": single, "several": several})
    sent = parse_qsl(request.target.partition("?")[2], keep_blank_values=True)
    assert sent == [("single", single), *(("several", one) for one in several)]


@given(VALUES)
def test_a_json_body_is_the_argument(value: Any) -> None:
    operation = post("/t", Parameter("body", "body", Place.BODY))
    body = build(API, operation, {"body": value}).body
    assert body is not None
    assert json.loads(body) == value
