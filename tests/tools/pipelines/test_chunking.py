"""Passages fit their limit, lose nothing and follow the structure of the document."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.pipelines.blocks.embedder import known_models, token_counter
from tools.pipelines.chunking import ChunkSettings, ChunkText, chunk_document, split_sentences
from tools.pipelines.reading import Block, BlockKind, ReadDocument, media_type_of, read_document

Counter = Callable[[str], int]


def words(text: str) -> int:
    return len(text.split())


def rough(text: str) -> int:
    """Parts of words, marks, line ends, and two for the ends: counts of parts do not add up."""
    return len(re.findall(r"\w{1,4}|[^\w\s]|\n+", text)) + 2


def chunks(
    *blocks: Block, tokens: int = 64, overlap: int = 0, count: Counter = words
) -> list[ChunkText]:
    return chunk_document(ReadDocument("", {}, blocks), ChunkSettings(tokens, overlap), count)


def markdown(text: str, tokens: int = 64, count: Counter = words) -> list[ChunkText]:
    content = text.encode()
    read = read_document("a.md", media_type_of("a.md", content), content)
    return chunk_document(read, ChunkSettings(tokens), count)


def sentences(count: int, word: str = "word") -> str:
    return " ".join(
        f"{word.capitalize()} {number} is a sentence of eight words." for number in range(count)
    )


def quoted(chunk: ChunkText) -> list[str]:
    return [chunk.text[start:end] for start, end in chunk.sentences]


def test_short_document_is_one_passage_whatever_its_headings() -> None:
    found = markdown("# One\n\nText a.\n\n# Two\n\nText b.\n\n# Three\n\nText c.")
    assert [chunk.text for chunk in found] == [
        "One\n\nText a.\n\nTwo\n\nText b.\n\nThree\n\nText c."
    ]


def test_sections_that_are_big_enough_stay_apart() -> None:
    found = markdown(
        f"# One\n\n{sentences(5)}\n\n# Two\n\n{sentences(5)}\n\n# Three\n\n{sentences(5)}"
    )
    assert [chunk.heading for chunk in found] == ["One", "Two", "Three"]
    assert all(chunk.text.startswith(chunk.heading) for chunk in found)


def test_small_sections_share_a_passage() -> None:
    parts = "\n\n".join(f"# Part {number}\n\nJust five words stand here." for number in range(18))
    found = markdown(parts)
    assert [chunk.tokens for chunk in found] == [63, 63]


def test_no_heading_is_left_at_the_end_of_a_passage() -> None:
    text = "\n\n".join(f"# H{n}\n\n## Sub {n}\n\n{sentences(9)}" for n in range(4))
    for chunk in markdown(text, tokens=48):
        assert chunk.text.endswith("words.")


def test_long_section_is_cut_evenly_between_sentences_under_its_heading() -> None:
    found = markdown(f"# Top\n\n## Deep\n\n{sentences(3)}\n\n## Long\n\n{sentences(17)}")
    long = [chunk for chunk in found if chunk.heading == "Long"]
    assert len(long) == 3
    assert all(chunk.text.endswith("eight words.") for chunk in long)
    assert min(chunk.tokens for chunk in long) >= 40


def test_headings_are_not_quoted() -> None:
    (chunk,) = markdown("# One\n\nText a. Text b.\n\n# Two\n\n- item\n- other")
    assert quoted(chunk) == ["Text a.", "Text b.", "- item", "- other"]


def test_passage_of_a_heading_alone_can_still_be_quoted() -> None:
    (chunk,) = markdown("# Only a heading")
    assert quoted(chunk) == ["Only a heading"]


def test_table_is_cut_between_rows_and_repeats_its_header() -> None:
    rows = [f"Ship {number} | {number} tons | Orrin Bay" for number in range(30)]
    table = Block(BlockKind.TABLE, "\n".join(["Name | Weight | Port", *rows]), ("Ships",))
    found = chunks(Block(BlockKind.HEADING, "Ships", ("Ships",)), table)
    assert len(found) > 3
    for chunk in found:
        assert "Name | Weight | Port\nShip" in chunk.text
        assert all(quote in rows for quote in quoted(chunk))
    assert [quote for chunk in found for quote in quoted(chunk)] == rows


def test_small_table_quotes_its_rows() -> None:
    (chunk,) = chunks(Block(BlockKind.TABLE, "Name | Port\nTern | Orrin\nAuk | Vell"))
    assert quoted(chunk) == ["Tern | Orrin", "Auk | Vell"]


def test_code_that_fits_is_kept_whole() -> None:
    code = "\n".join(f"step {number} of the program" for number in range(11))
    found = chunks(
        Block(BlockKind.PARAGRAPH, sentences(6)),
        Block(BlockKind.CODE, code),
        Block(BlockKind.PARAGRAPH, sentences(6)),
    )
    assert sum(code in chunk.text for chunk in found) == 1


def test_code_that_does_not_fit_is_cut_between_lines() -> None:
    lines = [f"step {number} of the program" for number in range(40)]
    found = chunks(Block(BlockKind.CODE, "\n".join(lines)))
    assert [line for chunk in found for line in chunk.text.split("\n")] == lines


def test_rows_of_a_table_of_values_stay_whole_and_few_share_a_passage() -> None:
    rows = [f"name: Ship {number}; port: Orrin Bay; tons: {number}" for number in range(40)]
    found = chunks(*(Block(BlockKind.RECORD, row) for row in rows))
    assert [row for chunk in found for row in chunk.text.split("\n\n")] == rows
    assert all(chunk.tokens <= 24 for chunk in found)
    assert [quote for chunk in found for quote in quoted(chunk)] == rows


def test_records_that_name_themselves_never_share_a_passage() -> None:
    content = b"\n".join(
        b'{"id": %d, "title": "T%d", "text": "Few words."}' % (n, n) for n in range(3)
    )
    read = read_document("a.jsonl", "application/jsonl", content)
    found = chunk_document(read, ChunkSettings(64), words)
    assert [(chunk.heading, chunk.text, chunk.metadata) for chunk in found] == [
        (f"T{n}", f"T{n}\n\nFew words.", {"id": n}) for n in range(3)
    ]


def test_passage_tells_the_page_it_begins_on() -> None:
    found = chunks(
        *(Block(BlockKind.PARAGRAPH, sentences(4), page=number) for number in range(1, 7))
    )
    assert [chunk.page for chunk in found] == [1, 3, 5]


def test_sentence_longer_than_a_passage_is_cut_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(500))
    found = chunks(Block(BlockKind.PARAGRAPH, text))
    assert " ".join(chunk.text for chunk in found) == text
    assert max(chunk.tokens for chunk in found) <= 64


def test_word_longer_than_a_passage_is_cut_where_it_must_be() -> None:
    found = chunks(Block(BlockKind.PARAGRAPH, "字" * 1000), count=len)
    assert "".join(chunk.text for chunk in found) == "字" * 1000
    assert max(chunk.tokens for chunk in found) <= 64


def test_overlap_repeats_the_last_sentences() -> None:
    found = chunks(Block(BlockKind.PARAGRAPH, sentences(30)), overlap=20)
    assert len(found) > 4
    for before, after in pairwise(found):
        assert quoted(before)[-2:] == quoted(after)[:2]
        assert quoted(before)[-3] != quoted(after)[0]


def test_overlap_of_sentences_that_are_too_long_repeats_words() -> None:
    text = " ".join(f"word{number}" for number in range(500))
    found = chunks(Block(BlockKind.PARAGRAPH, text), overlap=8)
    for before, after in pairwise(found):
        assert before.text.split()[-1] in after.text.split()[:8]


@pytest.mark.parametrize(("tokens", "overlap"), [(8, 0), (64, 33), (64, -1)])
def test_settings_that_cannot_work_are_refused(tokens: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="tokens"):
        ChunkSettings(tokens, overlap)


def test_document_without_blocks_has_no_passages() -> None:
    assert chunks() == []


@pytest.mark.parametrize("model", known_models())
def test_passages_fit_by_the_count_of_the_real_models(model: str) -> None:
    count = token_counter(model)
    calls = 0

    def counted(text: str) -> int:
        nonlocal calls
        calls += 1
        return count(text)

    text = "\n\n".join(
        f"# Part {n}\n\n{sentences(3 + n % 40, 'Größe')}\n\n字字字。 🚢 x{n}" for n in range(40)
    )
    found = markdown(text, tokens=256, count=counted)
    assert max(chunk.tokens for chunk in found) <= 256
    assert all(count(chunk.text) == chunk.tokens for chunk in found)
    # Few calls: one for each block, each sentence of a long one, each passage, and the odd one more.
    assert calls <= 3 * 40 + len(split_sentences(text)) + 2 * len(found)


vocabulary = st.sampled_from(
    [
        "ship",
        "Harbour",
        "Dr.",
        "3.14",
        "e.g.",
        "日本語。",
        "mid-word",
        "end.",
        "Then",
        "why?",
        "😀",
        "مرحبا",
        "y" * 70,
    ]
)
lines = st.lists(vocabulary, min_size=1, max_size=25).map(" ".join)
bodies = st.lists(lines, min_size=1, max_size=12)
kinds = st.sampled_from([kind for kind in BlockKind if kind is not BlockKind.HEADING])


@st.composite
def documents(draw: st.DrawFn) -> ReadDocument:
    """Blocks of every kind under headings of any depth."""
    blocks: list[Block] = []
    path: tuple[str, ...] = ()
    for _ in range(draw(st.integers(1, 8))):
        if draw(st.booleans()):
            path = (*path[: draw(st.integers(0, 3))], draw(lines))
            blocks.append(Block(BlockKind.HEADING, path[-1], path))
        kind = draw(kinds)
        joint = " " if kind is BlockKind.PARAGRAPH else "\n"
        blocks.append(Block(kind, joint.join(draw(bodies)), path, draw(st.none() | st.just(3))))
    return ReadDocument("", {}, tuple(blocks))


def bare(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), st.sampled_from([24, 64, 256]), st.sampled_from([words, rough, len]))
def test_passages_hold_every_word_in_order_within_the_limit(
    read: ReadDocument, tokens: int, count: Counter
) -> None:
    found = chunk_document(read, ChunkSettings(tokens), count)
    assert all(chunk.tokens == count(chunk.text) <= tokens for chunk in found)
    assert [chunk.ordinal for chunk in found] == list(range(len(found)))
    whole = "".join(block.text for block in read.blocks)
    if any(block.kind is BlockKind.TABLE for block in read.blocks):
        # Headers of tables are repeated: every word is there, some more than once.
        every = bare("".join(chunk.text for chunk in found))
        rest = iter(every)
        assert all(character in rest for character in bare(whole))
    else:
        assert bare("".join(chunk.text for chunk in found)) == bare(whole)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), st.sampled_from([24, 64]), st.sampled_from([words, rough]))
def test_overlapping_passages_fit_and_can_be_quoted(
    read: ReadDocument, tokens: int, count: Counter
) -> None:
    found = chunk_document(read, ChunkSettings(tokens, tokens // 4), count)
    for chunk in found:
        assert count(chunk.text) <= tokens
        ends = [0, *(end for _, end in chunk.sentences)]
        assert all(
            before <= start < end <= len(chunk.text)
            for before, (start, end) in zip(ends, chunk.sentences, strict=False)
        )
        assert chunk.sentences
    assert found == chunk_document(read, ChunkSettings(tokens, tokens // 4), count)
