"""Characters that people do not see: which they are, and how they are shown."""

from __future__ import annotations

import pytest

from tools.upstreams.characters import (
    character_name,
    hidden_characters,
    visible,
    without_hidden,
)

ZERO_WIDTH = "\u200b"
RIGHT_TO_LEFT = "\u202e"
TAGS = "\U000e0049\U000e0067\U000e006e"


@pytest.mark.parametrize(
    "hidden",
    [
        *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad"),
        *("\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067", "\u2069"),
        *("\U000e0001", "\U000e0041", "\U000e007f"),
        *("\ufe0f", "\U000e0100", "\u3164", "\u2800", "\u115f"),
        *("\0", "\x1b", "\x7f", "\u2028", "\ue000", "\U0010ffff"),
    ],
)
def test_zero_width_direction_tag_and_blank_characters_are_found(hidden: str) -> None:
    text = f"Lists{hidden} todos"
    assert hidden_characters(text) == [hidden]
    assert without_hidden(text) == "Lists todos"
    assert f"U+{ord(hidden):04X}" in visible(text)
    assert hidden not in visible(text)


def test_each_is_reported_as_often_as_it_is_there_and_in_order() -> None:
    text = f"a{ZERO_WIDTH}b{RIGHT_TO_LEFT}c{ZERO_WIDTH}"
    assert hidden_characters(text) == [ZERO_WIDTH, RIGHT_TO_LEFT, ZERO_WIDTH]
    assert visible(text) == "a\u2423U+200Bb\u2423U+202Ec\u2423U+200B"


def test_text_smuggled_in_tags_is_written_out_character_by_character() -> None:
    assert hidden_characters(f"Echoes.{TAGS}") == list(TAGS)
    assert visible(TAGS) == "\u2423U+E0049\u2423U+E0067\u2423U+E006E"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Create a todo.",
        "Two\nlines\r\n\tindented",
        "Übergröße – naïve “quotes” … №5 ½",
        "查询待办事项",
        "इसे क्\u200dष देखें",
        "می\u200cخواهم",
        "Works ✔\ufe0f and 1\ufe0f\u20e3 too",
        "A family \U0001f468\u200d\U0001f469\u200d\U0001f467",
    ],
)
def test_what_people_see_is_left_alone(text: str) -> None:
    assert hidden_characters(text) == []
    assert visible(text) == without_hidden(text) == text


def test_a_joiner_between_latin_letters_joins_nothing_and_is_found() -> None:
    assert hidden_characters("dele\u200dte") == ["\u200d"]


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\u200b", "U+200B zero width space"),
        ("\u202e", "U+202E right-to-left override"),
        ("\U000e0049", "U+E0049 tag latin capital letter i"),
        ("\U000e0002", "U+E0002 tag"),
        ("\ue000", "U+E000"),
    ],
)
def test_a_character_is_named_by_number_and_words(character: str, name: str) -> None:
    assert character_name(character) == name
