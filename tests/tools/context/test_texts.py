"""Texts are cut where a reader would stop."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.context.texts import CUT_MARK, beginning

PROSE = (
    "The ewe was sold. Her lambs stay at the farm! Was the ram tested? He was not, said 3.5 vets."
)


@pytest.mark.parametrize(
    ("room", "kept"),
    [
        (60, "The ewe was sold. Her lambs stay at the farm!"),
        (80, "The ewe was sold. Her lambs stay at the farm! Was the ram tested?"),
        # Just as long as two sentences, and one short of it.
        (53, "The ewe was sold. Her lambs stay at the farm!"),
        (52, "The ewe was sold. Her lambs stay at the"),
        # The sentence before would be less than half of it.
        (44, "The ewe was sold. Her lambs stay at"),
    ],
)
def test_a_text_ends_with_a_sentence_or_else_with_a_word(room: int, kept: str) -> None:
    assert beginning(PROSE, room) == kept


def test_a_full_stop_inside_a_number_ends_no_sentence() -> None:
    text = "Measured at 3.14159265358979 degrees by the gauge of the northern barn"

    assert beginning(text, 40) == "Measured at 3.14159265358979"


def test_sentences_of_other_scripts_end_too() -> None:
    text = "羊は草を食べる。馬も草を食べる。牛は水を飲む。"

    assert beginning(text, 120) == "羊は草を食べる。馬も草を食べる。"


def test_a_text_without_words_is_cut_anywhere() -> None:
    assert beginning("x" * 500, 60) == "x" * 52


def test_a_text_that_fits_is_whole() -> None:
    assert beginning("Sold.", 100) == "Sold."


@given(st.text(max_size=300), st.integers(0, 400))
def test_the_beginning_and_its_mark_fit_the_room(text: str, room: int) -> None:
    kept = beginning(text, room)

    assert text.startswith(kept)
    assert not kept or len(json.dumps(kept + CUT_MARK)) <= room
