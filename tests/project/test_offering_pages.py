"""The examples on the page about prompts and resources can be saved as they stand."""

from __future__ import annotations

import json

from tests.project.pages import PROJECT, fenced, names, read, rows, section
from tools.models import Prompt, Resource
from tools.offerings import match_template

PAGE = read(PROJECT / "docs" / "how-to" / "offer-prompts-and-resources.md")


def test_the_prompt_of_the_page_is_sound() -> None:
    arguments, messages = (json.loads(block) for block in fenced(PAGE, "json"))
    assert Prompt(name="flock", arguments=arguments, messages=messages).problems() == []


def test_the_template_of_the_page_is_sound_and_gives_the_address_it_names() -> None:
    table = rows(section(PAGE, "## Serve many texts from one row"))
    values = {row[0]: names(row[1])[0] for row in table}
    row = Resource(
        uri=values["URI"],
        name="breed",
        text=values["text"],
        choices=json.loads(values["choices"]),
        is_template=True,
    )
    assert row.problems() == []
    assert match_template(row.uri, "docs://breeds/Katahdin") == {"breed": "Katahdin"}
    assert "`docs://breeds/Katahdin`" in PAGE
