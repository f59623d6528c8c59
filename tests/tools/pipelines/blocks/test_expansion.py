from tools.pipelines.blocks.expansion import ADDED_WORDS, expanded, key_words
from tools.pipelines.contracts import Passage


def passages(*texts: str) -> list[Passage]:
    return [Passage(row, str(row), str(row), text) for row, text in enumerate(texts)]


def test_words_that_only_the_best_passages_have_are_added() -> None:
    found = passages(
        "The turbine blade is cooled by film cooling.",
        "Film cooling of a turbine keeps the metal below its limit.",
        "A turbine needs cooling.",
        *["The metal of bridges has its limit."] * 5,
    )

    assert key_words("turbine", found)[:2] == ["cooling", "film"]
    assert expanded("turbine", found).startswith("turbine cooling film")


def test_words_of_the_question_in_any_form_are_not_added_again() -> None:
    found = passages("Turbines were cooled.", "Cooling turbines.", "A cooled turbine.")

    assert key_words("how is a turbine cooled", found) == []
    assert expanded("how is a turbine cooled", found) == "how is a turbine cooled"


def test_frequent_words_and_numbers_are_not_added() -> None:
    assert key_words("pumps", passages("It is of 1984 and so on, at no 12.")) == []


def test_only_a_few_words_are_added() -> None:
    long = passages(" ".join(f"word{chr(97 + n)}" for n in range(20)))

    assert len(key_words("pumps", long)) == ADDED_WORDS


def test_a_question_stays_within_what_a_question_may_be() -> None:
    query = "x" * 7999

    assert expanded(query, passages("Some more words.")) == query


def test_nothing_found_adds_nothing() -> None:
    assert expanded("pumps", []) == "pumps"
