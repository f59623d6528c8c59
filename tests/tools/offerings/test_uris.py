"""Addresses of resources, and templates that match them."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.offerings import match_template, template_faults, template_variables, uri_faults


@pytest.mark.parametrize(
    "uri",
    [
        "docs://guide",
        "https://example.org/a/b?c=d#e",
        "file:///etc/motd",
        "urn:isbn:0451450523",
        "mailto:a@b.c",
        "x-y+z.1:a",
        "docs://gr%C3%BC%C3%9Fe",
        "http://[::1]:8000/x",
    ],
)
def test_absolute_uri_is_an_address(uri: str) -> None:
    assert uri_faults(uri) == []


@pytest.mark.parametrize(
    "uri",
    [
        "guide",
        "/guide",
        "//host/x",
        "docs:",
        "docs://",
        "1docs://x",
        "docs://a b",
        "docs://grüße",
        "docs://{id}",
        "docs://a%2",
        "docs://a\n",
        "http://[::1/x",
        "http://host:port/",
        "a<b>:c",
    ],
)
def test_anything_else_is_not(uri: str) -> None:
    assert uri_faults(uri)


@pytest.mark.parametrize("uri", ["result://x", "RESULT://x", "Result:x"])
def test_scheme_of_kept_results_is_reserved(uri: str) -> None:
    assert uri_faults(uri) == ["result:// is reserved for kept results."]
    assert template_faults(uri + "/{id}") == ["result:// is reserved for kept results."]


@pytest.mark.parametrize(
    "template", ["docs://{id}", "docs://a/{b}/c/{d}", "https://e.org/{name}.txt?x={y}", "urn:{a}"]
)
def test_plain_variables_make_a_template(template: str) -> None:
    assert template_faults(template) == []


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("docs://guide", "at least one"),
        ("docs://{a}/{a}", "once"),
        ("docs://{a}{b}", "where the first one ends"),
        ("{scheme}://x", "scheme cannot be"),
        ("docs://{a}/{+b}", "plain variables"),
        ("docs://{a}/{?b,c}", "plain variables"),
        ("docs://{a}/}", "plain variables"),
        ("{a}", "scheme cannot be"),
        ("docs://{a}/b c", "absolute URI"),
    ],
)
def test_template_beyond_level_one_is_refused(template: str, told: str) -> None:
    assert told in " ".join(template_faults(template))


@pytest.mark.parametrize(
    ("template", "uri", "found"),
    [
        ("docs://{id}", "docs://a", {"id": "a"}),
        ("docs://{id}", "docs://gr%C3%BC%C3%9Fe%2Fx", {"id": "grüße/x"}),
        ("docs://{id}", "docs://a+b", {"id": "a+b"}),
        ("docs://{a}/{b}", "docs://1/2", {"a": "1", "b": "2"}),
        ("docs://{name}.txt", "docs://a.b.txt", {"name": "a.b"}),
        ("docs://{a}-{b}", "docs://1-2-3", {"a": "1", "b": "2-3"}),
        ("docs://{id}", "docs://", None),
        ("docs://{id}", "docs://a/b", None),
        ("docs://{id}", "docs://a?b", None),
        ("docs://{id}/x", "docs://a/y", None),
        ("docs://{id}", "DOCS://a", None),
        ("docs://{name}.txt", "docs://axtxt", None),
    ],
)
def test_template_matches_what_it_would_give(
    template: str, uri: str, found: dict[str, str] | None
) -> None:
    assert match_template(template, uri) == found


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_encoded_values_come_back_from_any_template(values: list[str]) -> None:
    names = list(string.ascii_lowercase[: len(values)])
    template = "docs://" + "/".join(f"{{{name}}}" for name in names)
    assert template_variables(template) == tuple(names)
    uri = "docs://" + "/".join(quote(value, safe="") for value in values)
    assert match_template(template, uri) == dict(zip(names, values, strict=True))


def test_hostile_address_costs_no_time() -> None:
    template = "docs://" + "-".join(f"{{v{number}}}" for number in range(20)) + "!"
    assert template_faults(template) == []
    assert match_template(template, "docs://" + "-" * 4000) is None
    assert match_template(template, "docs://" + "a-" * 2000) is None
