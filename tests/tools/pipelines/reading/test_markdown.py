"""Markdown comes out as its blocks, without its marks."""

from __future__ import annotations

import pytest

from tests.tools.pipelines.reading.files import block_with, read, shown
from tools.pipelines.reading import UnreadableDocument, markdown

PAGE = """---
title: Runbook
tags: [ops, mail]
updated: 2024-05-01
nested: {not: kept}
---

# Runbook

Read *this* [first](http://example.org/a_b), `then` act\\.

## Restart

1. Stop it.
2. Start it.
   - gently

> Never on **Friday**.

```sh
systemctl restart mail
```

| Queue | Limit |
|-------|------:|
| mail  | 1,000 |

![A diagram](x.png)

### Underneath

<div>Some &lt;html&gt;</div>
"""


def test_blocks_stand_under_their_headings_without_marks() -> None:
    found = read("runbook.md", PAGE.encode())
    assert found.title == "Runbook"
    assert found.metadata == {"tags": ["ops", "mail"], "updated": "2024-05-01"}
    assert shown(found) == [
        ("paragraph", "Read this first, then act."),
        ("heading", "Restart"),
        ("list", "1. Stop it.\n2. Start it.\n- gently"),
        ("paragraph", "Never on Friday."),
        ("code", "systemctl restart mail"),
        ("table", "Queue | Limit\nmail | 1,000"),
        ("paragraph", "A diagram"),
        ("heading", "Underneath"),
        ("paragraph", "Some <html>"),
    ]
    assert block_with(found, "systemctl").heading_path == ("Restart",)
    assert block_with(found, "<html>").heading_path == ("Restart", "Underneath")


def test_first_heading_is_the_title_where_no_other_is_given() -> None:
    found = read("a.md", b"# Title\n\nText\n\n## Part\n\nMore")
    assert found.title == "Title"
    assert [block.heading_path for block in found.blocks] == [(), ("Part",), ("Part",)]


def test_several_main_headings_stay_headings() -> None:
    found = read("a.md", b"# One\n\nText\n\n# Two\n\nMore")
    assert found.title == ""
    assert shown(found)[0] == ("heading", "One")


@pytest.mark.parametrize(
    "head",
    [
        "---\n- a\n- b\n---\n",
        "---\n: : :\n---\n",
        "---\nno mapping\n---\n",
        "---\na: &a [*a]\n---\n",
        # Ten to the thirtieth keys.
        "---\na0: &a0 {x: 1}\n"
        + "".join(f"a{n}: &a{n} {{<<: [{f'*a{n - 1}, ' * 10}]}}\n" for n in range(1, 31))
        + "---\n",
    ],
)
def test_what_is_no_front_matter_does_not_stop_reading(head: str) -> None:
    assert any(
        "Text of it." in text for _, text in shown(read("a.md", f"{head}\nText of it.".encode()))
    )


def test_heading_alone_is_still_found() -> None:
    assert shown(read("a.md", b"# Only a heading")) == [("heading", "Only a heading")]


def test_code_in_a_list_is_kept_as_code() -> None:
    found = read("a.md", b"- run\n\n  ```\n  make  run\n  ```\n\n- done\n")
    assert shown(found) == [("list", "- run"), ("code", "make  run"), ("list", "- done")]


def test_very_many_lines_end_as_plain_text_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "MOST_LINES", 4)
    found = read("a.md", b"# One\n\ntext\n\n# Two\n\n*more*")
    assert shown(found)[-2:] == [("paragraph", "# Two"), ("paragraph", "*more*")]
    assert found.notes == ("From line 4 on it was read as plain text.",)


@pytest.mark.parametrize(
    "mark", ["<!-- ", "<a ", "[", "*a ", "`", "<", ">", "- ", "![", "\\", "&amp;", "_a"]
)
def test_marks_without_end_do_not_keep_the_reader(mark: str) -> None:
    found = read("a.md", f"The start.\n\n{mark * 40_000}".encode())
    assert shown(found)[0] == ("paragraph", "The start.")


def test_paragraph_of_too_many_marks_is_read_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "MOST_MARKS", 3)
    assert shown(read("a.md", b"*a* b\n\n*a* *b*")) == [
        ("paragraph", "a b"),
        ("paragraph", "*a* *b*"),
    ]


def test_empty_markdown_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="no text"):
        read("a.md", b"---\nauthor: me\n---\n")
