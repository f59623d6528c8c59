"""Texts of strangers stay texts in each language."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.wrappers import quoting

# As they come out of JSON: whole characters.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(TEXTS)
def test_a_docstring_ends_where_it_should(text: str) -> None:
    source = f'def f() -> None:\n    """{quoting.docstring(text)}\n    """\n'
    tree = ast.parse(source)
    assert len(tree.body) == 1
    assert len(tree.body[0].body) == 1  # type: ignore[attr-defined]


@given(TEXTS)
def test_literals_are_the_text_again(text: str) -> None:
    assert ast.literal_eval(quoting.py(text)) == text
    assert json.loads(quoting.js(text)) == text
    assert quoting.js(text).isascii()
    line = quoting.one_line(text)
    assert yaml.safe_load(quoting.yaml_text(line)) == line


@given(TEXTS)
def test_comments_have_no_end_of_their_own(text: str) -> None:
    assert "*/" not in quoting.jsdoc(text)
    assert "*/" not in quoting.jsdoc_line(text)
    assert len(quoting.jsdoc_line(text).splitlines()) <= 1
    line = quoting.one_line(text, 100)
    assert len(line) <= 100
    assert len(line.splitlines()) <= 1
    assert line.isprintable()
    assert len(quoting.cell(text).splitlines()) <= 1


@given(TEXTS)
def test_a_word_of_a_shell_is_one_word(text: str) -> None:
    assert shlex.split(quoting.sh(text)) == [text.replace("\0", "�")]


@settings(max_examples=20)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_a_shell_prints_what_it_was_given(texts: list[str]) -> None:
    words = [text.replace("\0", "�") for text in texts]
    script = "printf '%s\\0' " + " ".join(quoting.sh(text) for text in texts)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)  # noqa: S607
    assert done.stdout.decode().split("\0")[:-1] == words


def test_what_cannot_be_seen_is_written_as_its_number() -> None:
    assert quoting.visible("a\x1b[31m\u202e\r\nb\u2028") == "a\\u001b[31m\\u202e\nb\\u2028"
    assert quoting.visible("\U000e0041") == "\\U000e0041"
    assert quoting.argparse_help("100 %") == "'100 %%'"
    assert quoting.quoted_lines("a\n---\nb") == "> a\n> ---\n> b"


def test_a_word_longer_than_a_line_is_cut_before_lines_are_made() -> None:
    # Lines made of it whole take the square of its length: hours, for what a service may send.
    assert quoting.wrapped(f"a {'x' * 200} b") == f"a\n{'x' * 96}\n{'x' * 96}\nxxxxxxxx b"
    assert quoting.wrapped(f"{'x' * 96} {'漢' * 96}") == f"{'x' * 96}\n{'漢' * 96}"
