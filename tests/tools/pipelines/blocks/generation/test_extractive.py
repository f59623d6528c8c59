"""Answers made of sentences of the passages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tools.pipelines.blocks.generation.support import SmallIndex, foreign, run_on
from tools.context import tokens
from tools.pipelines.blocks.generation.extractive import ExtractiveGenerator
from tools.pipelines.contracts import Citation, Draft, Passage, QueryCancelled, Stage, Usage

QUERY = "When was the lighthouse of Skerry Point built?"


def extract(
    index: SmallIndex, query: str, passages: list[Passage] | None = None, max_tokens: int = 500
) -> Draft:
    generator = ExtractiveGenerator()
    given = index.passages if passages is None else passages
    run = run_on(index, generator)
    return generator.generate(query, given, max_tokens=max_tokens, run=run)


def cited_sentences(draft: Draft) -> list[tuple[str, int]]:
    """The sentences of an answer, each with the number behind it."""
    return [(text, int(number)) for text, number in re.findall(r"(.+?) \[(\d+)\] ?", draft.text)]


def test_sentence_that_answers_comes_with_its_citation(index: SmallIndex) -> None:
    draft = extract(index, QUERY)
    assert draft.text.startswith("The lighthouse of Skerry Point was built in 1871. [1]")
    assert draft.citations[0] == Citation(1, "p0", "Lighthouse.txt")
    assert (draft.generator, draft.note, draft.truncated) == ("extractive", "", False)
    assert draft.usage == Usage(completion_tokens=tokens.count(draft.text))


@pytest.mark.parametrize(
    "query",
    [
        QUERY,
        "How is sourdough bread baked?",
        "How often does the ferry go to Skerry Point?",
        "Who designed the tower of Skerry Point?",
    ],
)
def test_every_sentence_stands_in_the_passage_that_it_cites(index: SmallIndex, query: str) -> None:
    draft = extract(index, query)
    found = cited_sentences(draft)
    assert 1 <= len(found) <= 4
    assert all(text in index.passages[number - 1].text for text, number in found)
    assert [citation.number for citation in draft.citations] == sorted({n for _, n in found})


def test_sentence_about_the_passages_subject_is_found_by_its_title(index: SmallIndex) -> None:
    assert (
        "She was born in Harwick in 1840. [4]" in extract(index, "When was Ilse Brandt born?").text
    )


def test_same_statement_is_made_once(index: SmallIndex) -> None:
    text = extract(index, QUERY).text
    assert text.count("was built in") == 1


def test_sentences_of_a_passage_keep_their_order(index: SmallIndex) -> None:
    found = cited_sentences(
        extract(index, "How high is the lighthouse, how far is its lamp seen, when was it built?")
    )
    own = [index.passages[0].text.index(text) for text, number in found if number == 1]
    assert len(own) >= 2
    assert own == sorted(own)


@pytest.mark.parametrize(
    "query", ["Which genes regulate apoptosis in zebrafish embryos?", "x", "?", "who is it"]
)
def test_nothing_is_answered_when_no_sentence_has_to_do_with_the_question(
    index: SmallIndex, query: str
) -> None:
    # S0-037
    assert extract(index, query) == Draft("", "extractive")


def test_no_passages_make_no_answer(index: SmallIndex) -> None:
    # S0-037
    assert extract(index, QUERY, []) == Draft("", "extractive")


@pytest.mark.parametrize("limit", [1, 2, 5, 8, 12, 16, 20, 30, 40, 60, 80])
def test_answer_never_has_more_tokens_than_allowed(index: SmallIndex, limit: int) -> None:
    whole = extract(index, QUERY)
    draft = extract(index, QUERY, max_tokens=limit)
    assert tokens.count(draft.text) <= limit
    assert draft.usage.completion_tokens == tokens.count(draft.text)
    assert draft.truncated is (whole.usage.completion_tokens > limit)
    assert bool(draft.citations) is bool(draft.text)


def test_beginning_of_the_best_sentence_is_better_than_nothing(index: SmallIndex) -> None:
    draft = extract(index, QUERY, max_tokens=10)
    assert re.fullmatch(r"The lighthouse of \S.* … \[1\]", draft.text)
    assert draft.truncated


def test_passages_from_elsewhere_are_judged_by_their_words(index: SmallIndex) -> None:
    web = foreign(
        "tides", "Tides rise twice a day. At Harwick the tide rises by 5.4 metres. Boats wait."
    )
    draft = extract(index, "How many metres does the tide rise at Harwick?", [web])
    assert "At Harwick the tide rises by 5.4 metres. [1]" in draft.text
    assert draft.citations == (Citation(1, "web:tides", "https://tides.example"),)
    assert extract(index, "Which genes regulate apoptosis?", [web]).text == ""


def test_passage_with_the_row_of_another_is_not_taken_for_it(index: SmallIndex) -> None:
    impostor = Passage(0, "elsewhere", "elsewhere", "The tide rises at Harwick by 5.4 metres.")
    draft = extract(index, "How many metres does the tide rise at Harwick?", [impostor])
    assert draft.text == "The tide rises at Harwick by 5.4 metres. [1]"


def test_indexed_and_other_passages_are_weighed_together(index: SmallIndex) -> None:
    web = foreign("news", "The lighthouse of Skerry Point was sold in 2019 for one crown.")
    draft = extract(
        index, "When was the lighthouse of Skerry Point built and when was it sold?",
        [index.passages[1], web, index.passages[0]],
    )  # fmt: skip
    assert "was built in 1871. [3]" in draft.text
    assert "was sold in 2019 for one crown. [2]" in draft.text


def test_sentence_over_several_lines_becomes_one_line(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path, {"Notes": "The harbour master\nlives in the\told customs house. He fishes."}
    )
    assert extract(index, "Where does the harbour master live?").text.startswith(
        "The harbour master lives in the old customs house. [1]"
    )


def test_cancelled_query_is_not_answered(index: SmallIndex) -> None:
    def report(stage: Stage, message: str) -> None:
        raise QueryCancelled

    generator = ExtractiveGenerator()
    run = run_on(index, generator, report=report)
    with pytest.raises(QueryCancelled):
        generator.generate(QUERY, index.passages, max_tokens=500, run=run)
