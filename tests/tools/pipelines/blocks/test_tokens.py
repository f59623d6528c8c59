"""Late interaction and sentence vectors: what is stored is what was read, and scores are exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.pipelines.blocks.token_encoder import (
    DIMENSIONS,
    quantised,
    under_title,
)
from tools.pipelines.blocks.token_files import pooled
from tools.pipelines.blocks.tokens import (
    EncodedPassage,
    TokenEncoder,
    open_sentences,
    open_tokens,
    token_encoder,
    write_sentences,
    write_tokens,
)
from tools.pipelines.contracts import BlockUnavailable, Matrix

SENTENCES = [
    ["The lighthouse was built in 1821.", "Its keeper lived on the island with two goats."],
    ["Bread rises because yeast makes gas.", "Salt slows it.", "Heat ends it."],
    [],
    ["Ferries leave the northern quay at dawn. 🚀"],
]
TITLES = ["Lighthouse", "", "Empty", "Ferries"]
TEXTS = [" ".join(sentences) for sentences in SENTENCES]
QUERY = "Who looked after the lighthouse?"
ALL = np.arange(len(TEXTS))


def spans(text: str, sentences: list[str]) -> list[tuple[int, int]]:
    return [(text.index(one), text.index(one) + len(one)) for one in sentences]


@pytest.fixture(scope="module")
def encoder() -> TokenEncoder:
    return token_encoder()


@pytest.fixture(scope="module")
def encoded(encoder: TokenEncoder) -> list[EncodedPassage]:
    places = [spans(text, own) for text, own in zip(TEXTS, SENTENCES, strict=True)]
    return encoder.encode_passages(TEXTS, places, TITLES)


def floats(passage: EncodedPassage) -> Matrix:
    return passage.tokens * passage.scales[:, None]


def plain_maxsim(query: Matrix, passage: Matrix) -> float:
    return float(np.mean([max(float(q @ d) for d in passage) for q in query]))


def test_scores_are_those_of_plain_maxsim(
    tmp_path: Path, encoder: TokenEncoder, encoded: list[EncodedPassage]
) -> None:
    write_tokens(tmp_path / "tokens", encoded)
    rows = np.array([3, 0, 1, 0])
    found = open_tokens(tmp_path / "tokens").interact(QUERY, rows)
    query = encoder.encode_query(QUERY, 256)
    expected = [plain_maxsim(query, floats(encoded[row])) for row in rows]
    assert found.scores == pytest.approx(expected, abs=1e-5)
    assert found.token_scores.shape == (len(rows), len(query))
    assert found.token_scores.mean(axis=1) == pytest.approx(found.scores, abs=1e-5)
    assert found.comparisons == len(query) * sum(len(encoded[row].tokens) for row in rows)
    assert found.scores.argmax() in {1, 3}


def test_a_passage_without_tokens_comes_last(
    tmp_path: Path, encoder: TokenEncoder, encoded: list[EncodedPassage]
) -> None:
    (empty,) = encoder.encode_passages([""], [[]])
    write_tokens(tmp_path / "tokens", [empty, *encoded, empty])
    store = open_tokens(tmp_path / "tokens")
    found = store.interact(QUERY, np.arange(len(encoded) + 2))
    assert found.scores[[0, -1]] == pytest.approx([-1, -1])
    assert found.scores[1:-1].min() > -1
    assert store.interact(QUERY, np.array([0]), keep=0.5).scores == pytest.approx([-1])
    assert store.interact(QUERY, np.empty(0, np.int64)).scores.shape == (0,)
    assert store.interact(" ", ALL).scores == pytest.approx([0] * len(ALL))


def test_pooling_leaves_the_share_that_was_asked_for(
    tmp_path: Path, encoder: TokenEncoder, encoded: list[EncodedPassage]
) -> None:
    write_tokens(tmp_path / "tokens", encoded)
    store = open_tokens(tmp_path / "tokens")
    rows, query = np.array([0, 1]), encoder.encode_query(QUERY, 256)
    for keep in (0.5, 0.3, 0.01):
        left, expected = 0, []
        for row in rows:
            tokens = floats(encoded[row])
            count = max(int(np.ceil(len(tokens) * keep)), 1)
            cuts = [len(tokens) * number // count for number in range(1, count)]
            groups = [group.sum(axis=0) for group in np.split(tokens, cuts)]
            joined = np.array([group / np.linalg.norm(group) for group in groups])
            left += count
            expected.append(plain_maxsim(query, joined))
        found = store.interact(QUERY, rows, keep=keep)
        assert found.scores == pytest.approx(expected, abs=1e-5)
        assert found.comparisons == len(query) * left


@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=8),
    keep=st.floats(0.01, 0.99),
)
@settings(deadline=None)
def test_pooling_keeps_to_each_passage(lengths: list[int], keep: float) -> None:
    # Each passage points its own way, so a group across two of them would show.
    ways = np.eye(len(lengths), DIMENSIONS, dtype=np.float32)
    vectors, counts = pooled(np.repeat(ways, lengths, axis=0), np.array(lengths), keep)
    assert counts.tolist() == [int(np.ceil(length * keep)) for length in lengths]
    assert vectors == pytest.approx(np.repeat(ways, counts, axis=0))


def test_only_the_first_tokens_of_a_query_count(tmp_path: Path, encoder: TokenEncoder) -> None:
    longer = "lighthouse " * 400
    assert len(encoder.encode_query(longer, 7)) == 7
    assert len(encoder.encode_query(longer, 1000)) == 254
    assert np.linalg.norm(encoder.encode_query(QUERY, 256), axis=1) == pytest.approx(1, abs=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(0, 50))
def test_eight_bits_cost_less_than_a_hundredth(seed: int, count: int) -> None:
    drawn = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    values, scales = quantised(vectors)
    again = values * scales[:, None]
    assert values.dtype == np.int8
    assert np.linalg.norm(again, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.abs(again - vectors).max(initial=0) < 0.01


def test_a_title_moves_sentences_to_where_they_are_read() -> None:
    text, moved = under_title("Bread", "Salt slows it.", [(0, 14)])
    assert [text[start:end] for start, end in moved] == ["Salt slows it."]
    assert under_title("", "Salt slows it.", [(5, 10)]) == ("Salt slows it.", [(5, 10)])


def test_a_title_is_part_of_what_is_compared(
    encoder: TokenEncoder, encoded: list[EncodedPassage]
) -> None:
    untitled = encoder.encode_passages([TEXTS[3]], [[]])[0]
    assert len(encoded[3].tokens) > len(untitled.tokens)


def test_what_is_read_together_does_not_matter(
    encoder: TokenEncoder, encoded: list[EncodedPassage]
) -> None:
    alone = encoder.encode_passages([TEXTS[1]], [spans(TEXTS[1], SENTENCES[1])], [TITLES[1]])[0]
    assert np.abs(floats(alone) - floats(encoded[1])).max() < 0.02
    assert alone.sentences.astype(np.float32) == pytest.approx(
        encoded[1].sentences.astype(np.float32), abs=1e-3
    )


def test_nothing_of_a_long_passage_is_lost(encoder: TokenEncoder) -> None:
    last = "The goats of the lighthouse keeper ate the hymn book."
    text = "Timber was measured twice in the harbour. " * 100 + last
    passage = encoder.encode_passages([text], [[(0, 41), (len(text) - len(last), len(text))]])[0]
    assert len(passage.tokens) > 700
    first, end = passage.sentences.astype(np.float32) @ encoder.encode_question("goats")
    assert end > first + 0.2


def test_sentences_are_found_by_what_they_say(
    tmp_path: Path, encoded: list[EncodedPassage]
) -> None:
    write_sentences(
        tmp_path / "sentences",
        ((own, one.sentences) for own, one in zip(SENTENCES, encoded, strict=True)),
    )
    store = open_sentences(tmp_path / "sentences")
    assert [store.sentences(int(row)) for row in ALL] == SENTENCES
    keeper, bread, empty, _ = store.scores("Who looked after the lighthouse?", ALL)
    assert keeper.argmax() == 1 or keeper[0] > bread.max()
    assert empty.shape == (0,)
    (process,) = store.scores("What makes dough grow?", np.array([1]))
    assert process.argmax() == 0


def test_a_sentence_without_tokens_has_no_direction(encoder: TokenEncoder) -> None:
    passage = encoder.encode_passages(["One.   "], [[(0, 4), (5, 7)]])[0]
    assert passage.sentences.shape == (2, DIMENSIONS)
    assert np.linalg.norm(passage.sentences.astype(np.float32), axis=1) == pytest.approx(
        [1, 0], abs=1e-3
    )


def test_halves_of_characters_keep_the_places_of_sentences(encoder: TokenEncoder) -> None:
    odd, plain = encoder.encode_passages(
        ["half \ud800. Goats ate it.", "half ?. Goats ate it."], [[(8, 21)], [(8, 21)]]
    )
    assert np.array_equal(odd.sentences, plain.sentences)


def test_files_of_another_model_are_not_read(tmp_path: Path, encoded: list[EncodedPassage]) -> None:
    write_tokens(tmp_path / "tokens", encoded)
    about = tmp_path / "tokens" / "about.json"
    about.write_text('{"encoding": "someone else"}')
    with pytest.raises(BlockUnavailable, match="another model"):
        open_tokens(tmp_path / "tokens")
    about.unlink()
    with pytest.raises(BlockUnavailable, match="no usable tokens"):
        open_tokens(tmp_path / "tokens")
    with pytest.raises(BlockUnavailable, match="no usable sentences"):
        open_sentences(tmp_path / "sentences")


def test_a_file_that_was_cut_is_noticed(tmp_path: Path, encoded: list[EncodedPassage]) -> None:
    write_tokens(tmp_path / "tokens", encoded)
    vectors = tmp_path / "tokens" / "vectors.bin"
    vectors.write_bytes(vectors.read_bytes()[:-1])
    with pytest.raises(BlockUnavailable, match="damaged"):
        open_tokens(tmp_path / "tokens")


def test_an_index_of_nothing_can_be_opened(tmp_path: Path) -> None:
    write_tokens(tmp_path / "tokens", [])
    write_sentences(tmp_path / "sentences", [])
    nothing = np.empty(0, np.int64)
    assert open_tokens(tmp_path / "tokens").interact(QUERY, nothing).comparisons == 0
    assert open_sentences(tmp_path / "sentences").scores(QUERY, nothing) == []


def test_sentences_and_vectors_must_match(tmp_path: Path, encoded: list[EncodedPassage]) -> None:
    with pytest.raises(ValueError, match="one vector for each"):
        write_sentences(tmp_path / "sentences", [(["One."], encoded[0].sentences)])
