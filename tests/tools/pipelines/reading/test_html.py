"""Pages come out as what a reader sees of them."""

from __future__ import annotations

import pytest

from tests.tools.pipelines.reading.files import block_with, read, shown
from tools.pipelines.reading import UnreadableDocument, document

PAGE = """<!doctype html>
<html lang="en"><head><title>Timetable - Ferry line</title>
<meta name="description" content="When the ferries go"><style>p { color: red }</style></head>
<body><nav><a href="/">Home</a></nav>
<header><h1>Timetable</h1></header>
<p>The ferry goes <b>every</b> hour &amp; on<br>Sundays twice.</p>
<script>var hidden = "secret";</script>
<h2>Summer</h2>
<ul><li>Morning<ul><li>six o'clock</li></ul></li><li>Evening</li></ul>
<table><caption>Fares</caption><thead><tr><th>Who</th><th>Fare</th></tr></thead>
<tr><td>Adults</td><td>4 <i>crowns</i></td></tr></table>
<pre>def fare():
    return 4</pre>
<p hidden>unseen</p><div style="display: none">nor this</div>
<p>שלום 🚢</p>
<footer>All rights reserved</footer></body></html>"""


def test_page_is_read_without_what_surrounds_it() -> None:
    found = read("timetable.html", PAGE.encode())
    assert found.title == "Timetable"
    assert found.metadata == {"language": "en", "description": "When the ferries go"}
    assert shown(found) == [
        ("paragraph", "The ferry goes every hour & on\nSundays twice."),
        ("heading", "Summer"),
        ("list", "- Morning\n- six o'clock\n- Evening"),
        ("paragraph", "Fares"),
        ("table", "Who | Fare\nAdults | 4 crowns"),
        ("code", "def fare():\n    return 4"),
        ("paragraph", "שלום 🚢"),
    ]
    assert block_with(found, "Adults").heading_path == ("Summer",)


def test_main_part_is_preferred_to_the_rest() -> None:
    found = read("a.html", b"<html><body><p>Menu</p><main><p>Text</p></main></body></html>")
    assert shown(found) == [("paragraph", "Text")]


def test_tables_that_lay_out_a_page_are_opened() -> None:
    page = "<html><table><tr><td><p>Left</p></td><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>"
    assert shown(read("a.html", page.encode())) == [("paragraph", "Left"), ("table", "a | b")]


def test_drawings_and_formulas_are_not_text() -> None:
    page = "<html><body><svg><text>drawn</text></svg><p>One</p><svg class='x'/><p>Two</p></body>"
    assert shown(read("a.html", page.encode())) == [("paragraph", "One"), ("paragraph", "Two")]


@pytest.mark.parametrize(
    "content",
    [
        "<html><p>Größe</p>".encode(),
        '<html><meta charset="iso-8859-1"><p>Größe</p>'.encode("latin-1"),
        "<html><p>Größe</p>".encode("utf-16"),
        "<html><p>Größe</p>".encode("cp1252"),
        '<html><meta charset="no-such"><p>Größe</p>'.encode("cp1252"),
    ],
    ids=["utf-8", "declared", "utf-16", "cp1252", "wrongly declared"],
)
def test_page_is_decoded_by_what_it_is(content: bytes) -> None:
    assert shown(read("a.html", content)) == [("paragraph", "Größe")]


def test_encoding_a_page_names_is_used() -> None:
    content = '<html><meta charset="windows-1251"><p>Привет</p>'.encode("cp1251")
    assert shown(read("a.html", content)) == [("paragraph", "Привет")]


@pytest.mark.parametrize("tag", ["div", "svg", "span", "ul"])
def test_page_nested_too_deeply_is_refused(tag: str) -> None:
    page = f"<html><body>{f'<{tag}>' * 200_000}deep"
    with pytest.raises(UnreadableDocument, match="deep"):
        read("deep.html", page.encode())


@pytest.mark.parametrize("inside", ["<td>", "<option>", "<tr>", "<p>", "<li>"])
def test_tags_that_close_themselves_may_be_many(inside: str) -> None:
    page = f"<html><body>{inside * 50_000}<p>end</p>"
    assert any("end" in text for _, text in shown(read("many.html", page.encode())))


def test_page_above_the_limit_is_read_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MOST_CHARACTERS", 1000)
    found = read("huge.html", b"<html><body>" + b"<p>word word word</p>" * 200)
    assert sum(len(block.text) for block in found.blocks) == 1000
    assert "Only the first part was read" in found.notes[0]


def test_broken_markup_is_read_as_browsers_do() -> None:
    found = read("a.html", b"<html><p>One<p>Two<b>bold</p><h2>Three</div>")
    assert shown(found) == [
        ("paragraph", "One"),
        ("paragraph", "Twobold"),
        ("heading", "Three"),
    ]


def test_page_without_text_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="no text"):
        read("a.html", b"<html><body><script>1</script></body></html>")
