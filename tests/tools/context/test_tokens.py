"""Exact counts, offline, for texts of any kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.context import tokens
from tools.errors import ErrorCode, TokenCountingFailed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ],
)
def test_published_counts_of_cl100k_base_are_met(text: str, expected: int) -> None:
    # F4-17: the counts are those its publisher prints for cl100k_base.
    assert tokens.count(text) == expected


def test_names_of_special_tokens_count_as_ordinary_text() -> None:
    assert tokens.count("<|endoftext|>") == 7
    assert tokens.count("a <|fim_prefix|> b") > 3


def test_json_is_counted_as_json_dumps_writes_it() -> None:
    # F4-17: measured on json.dumps(response).
    value = {"name": "Jürgen", "scores": [1, 2.5, None, True], "nested": {"note": "日本"}}

    assert tokens.count_json(value) == tokens.count(json.dumps(value))
    assert tokens.count_json(value) != tokens.count(json.dumps(value, ensure_ascii=False))


def test_half_a_surrogate_pair_is_counted() -> None:
    assert tokens.count("\ud800 abc") > 0


words = st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1, max_size=12)
gaps = st.sampled_from([" ", "  ", "\n", ", ", "'s ", '": "', "\\n", " - ", "\t\r\n ", "，", "…"])
texts = st.lists(st.tuples(words, gaps), min_size=1, max_size=60).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


@given(texts)
def test_counting_in_pieces_gives_the_count_of_the_whole(text: str) -> None:
    whole = len(tiktoken.get_encoding(tokens.ENCODING).encode_ordinary(text))
    parts = list(tokens.pieces(text, longest=64, look_back=64))

    assert "".join(parts) == text
    assert all(len(part) <= 64 for part in parts)
    assert sum(tokens.count(part) for part in parts) == whole


def test_a_long_document_is_counted_exactly() -> None:
    text = json.dumps([{"id": n, "note": f"Ewe {n} grazes; it's fine.\n\n"} for n in range(5000)])
    whole = len(tiktoken.get_encoding(tokens.ENCODING).encode_ordinary(text))

    assert len(text) > tokens.LONGEST_PIECE
    assert tokens.count(text) == whole


def test_a_million_spaces_before_a_word_do_not_break_the_tokenizer() -> None:
    # In one piece this is a panic inside the tokenizer, which no `except Exception` catches.
    counted = tokens.count(" " * 1_200_000 + "x")

    assert counted == pytest.approx(1_200_000 / 128, rel=0.01)


@pytest.mark.parametrize(("character", "per_token"), [("a", 8), ("-", 64), ("\n", 32)])
def test_two_megabytes_of_one_character_are_counted(character: str, per_token: int) -> None:
    assert tokens.count(character * 2_000_000) == pytest.approx(2_000_000 / per_token, rel=0.01)


def test_counting_uses_no_network_and_no_cache_folder(tmp_path: Path) -> None:
    program = (
        "import socket\n"
        "def refuse(*args, **kwargs):\n"
        "    raise AssertionError('the network was used')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from tools.context.tokens import count\n"
        "print(count('tiktoken is great!'))\n"
    )
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": "", "HOME": str(tmp_path)}
    project = Path(tokens.__file__).parents[2]

    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (run.stdout.strip(), run.returncode) == ("6", 0), run.stderr


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vocabulary as in a fresh process: not loaded yet."""
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})


@pytest.mark.usefixtures("unloaded")
def test_threads_that_count_first_together_agree() -> None:
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(tokens.count, ["tiktoken is great!"] * 32))

    assert counts == [6] * 32


@pytest.mark.usefixtures("unloaded")
def test_a_vocabulary_that_cannot_be_loaded_is_a_context_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S4-064
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "cache"))

    with pytest.raises(TokenCountingFailed) as raised:
        tokens.count("anything")

    assert raised.value.mcp_code == -32003
    assert raised.value.code is ErrorCode.EXECUTION_ERROR
    assert "file" not in raised.value.message


@pytest.mark.usefixtures("unloaded")
def test_counting_works_again_once_the_vocabulary_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    with monkeypatch.context() as broken:
        broken.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "cache"))
        with pytest.raises(TokenCountingFailed):
            tokens.count("anything")

    assert tokens.count("tiktoken is great!") == 6


@settings(deadline=None)  # the first count loads the vocabulary
@given(text=st.text(max_size=200), limit=st.integers(-1, 60))
def test_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    beginning = tokens.cut(text, limit)
    assert text.startswith(beginning)
    assert tokens.count(beginning) <= max(0, limit)
    if tokens.count(text) <= limit:
        assert beginning == text


def test_cut_keeps_as_much_as_it_may() -> None:
    words = "one two three four five six seven"
    assert tokens.cut(words, 3) == "one two three"
    assert tokens.cut(words * 100_000, 3) == "one two three"
    # Not half a character more.
    assert tokens.cut("お誕生日おめでとう", 4) == "お誕生"
