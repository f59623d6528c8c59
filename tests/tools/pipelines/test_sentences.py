"""Sentences end where a reader says they end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.pipelines.chunking import split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Hale paid 3.50 crowns.", "He left."],
        ["The U.S. Navy came, e.g. in May.", "J. R. Hill saw it."],
        ['"Stop!" he said.', "Then he ran."],
        ["See Fig. 3 and No. 7.", "No.", "It was on Sept. 4."],
        ["1. Stop the pump.", "2. Call Prof. Lund."],
        ["Wait... what?", "Yes!", "(So they said.)", "“Never.”"],
        ["Version 2.0.1 is out.", "It came at 5 p.m. and it works."],
        ["I met her and I.", "We left."],
        ["Was it 12?", "It was."],
        ["مرحبا؟", "نعم."],
        ["नमस्ते।", "ठीक है।"],
    ],
)
def test_sentences_are_told_apart(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


def test_scripts_without_spaces_are_told_apart() -> None:
    text = "東京へ行く。「本当？」はい！終わり"
    found = [text[start:end] for start, end in split_sentences(text)]
    assert found == ["東京へ行く。", "「本当？」", "はい！", "終わり"]


def test_items_and_paragraphs_end_a_sentence_and_wrapped_lines_do_not() -> None:
    text = "A line that\ngoes on\n- one\n- two\n2) three\n\nNext"
    found = [text[start:end] for start, end in split_sentences(text)]
    assert found == ["A line that\ngoes on", "- one", "- two", "2) three", "Next"]


@given(st.text(alphabet="aB1 .!?\n-\"')。「」I", max_size=200) | st.text(max_size=100))
def test_spans_hold_everything_but_white_space(text: str) -> None:
    spans = split_sentences(text)
    end = 0
    for start, stop in spans:
        assert text[end:start].strip() == ""
        assert text[start:stop].strip() == text[start:stop] != ""
        end = stop
    assert text[end:].strip() == ""


@pytest.mark.parametrize("mark", [".", "!?", "\n", "。", '."', " ", "\n- "])
def test_long_rows_of_marks_do_not_keep_the_reader(mark: str) -> None:
    text = "a" + mark * 300_000 + "b"
    assert split_sentences(text)[0][0] == 0
