"""What counts as a name that ties passages together, and how many of them are covered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tools.pipelines.blocks.graph.shelves import CHAIN, graph, only, reached
from tools.pipelines.blocks.graph.walk import MappedGraph
from tools.pipelines.contracts import Found


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> MappedGraph:
    return graph(tmp_path_factory.mktemp("graph"), CHAIN)


def test_what_nearly_every_passage_names_connects_nothing(tmp_path: Path) -> None:
    articles = [(f"Note {number}", f"Item {number} belongs to Acme.") for number in range(60)]

    assert reached(graph(tmp_path, articles), only(0), depth=5, query="Acme") == {0}


def test_prose_without_capitals_is_tied_by_its_phrases(tmp_path: Path) -> None:
    articles = [
        ("", "the boundary layer grows along the heated plate ."),
        ("", "a laminar boundary layer was measured in the tunnel ."),
        ("", "wing sections of small camber were tested ."),
    ]

    assert reached(graph(tmp_path, articles), only(0), depth=1) == {0, 1}


def test_a_word_at_the_start_of_a_sentence_is_no_name(tmp_path: Path) -> None:
    articles = [
        ("", "Soon the wind turned, as soon as it was dark. Rain fell on Oslo."),
        ("", "Soon we will know. They left as soon as they could, for Bergen."),
    ]

    assert reached(graph(tmp_path, articles), only(0), depth=5) == {0}


def test_a_title_that_is_a_common_word_is_not_meant_by_the_word(tmp_path: Path) -> None:
    articles = [
        ("Brother", "Brother is a song. The singers of Brother met at school."),
        ("", "My brother lives in Oslo with another brother."),
        ("", "They played Brother at the end."),
    ]

    assert reached(graph(tmp_path, articles), only(0), depth=1) == {0, 2}


def test_headings_below_a_title_are_named_as_titles_are(tmp_path: Path) -> None:
    articles = [
        ("Handbook > Rate Limits", "Each caller has a number of calls per minute."),
        ("Errors", "A refusal says which of the Rate Limits was met."),
    ]

    assert reached(graph(tmp_path, articles), only(1), depth=1) == {0, 1}


def test_names_in_other_scripts_are_found(tmp_path: Path) -> None:
    articles = [
        ("Łódź", "Łódź leży w Polsce. W Łodzi mieszkał Józef Żółty."),
        ("", "Książkę napisał Józef Żółty."),
        ("東京", "東京は大きい。"),
        ("", "私は「東京」へ行く。"),
        ("Пётр Орлов", "Пётр Орлов родился в Москве."),
        ("", "Книгу написал Пётр Орлов."),
    ]
    found = graph(tmp_path, articles)

    assert 1 in reached(found, only(0), depth=1)
    assert 5 in reached(found, only(4), depth=1)
    assert "東京" in found.walk("東京について", Found.nothing(), depth=1, count=5).query_entities


def test_coverage_is_the_share_of_the_names_asked_for(chain: MappedGraph) -> None:
    question = "Did Marla Quist ever see Mount Helva?"

    assert chain.coverage(question, np.array([0])) == 0.5
    assert chain.coverage(question, np.array([0, 4])) == 1.0
    assert chain.coverage(question, np.array([5])) == 0.0
    assert chain.coverage(question, np.empty(0, np.int64)) == 0.0


def test_a_name_that_no_passage_has_is_not_covered(chain: MappedGraph) -> None:
    assert chain.coverage("Did Marla Quist meet Zorban Lux?", np.array([0])) == 0.5
    assert chain.coverage("Who is Zorban Lux?", np.array([0])) == 0.0


def test_a_question_that_names_nothing_has_no_coverage(chain: MappedGraph) -> None:
    assert chain.coverage("how does it work", np.array([0, 1])) is None
