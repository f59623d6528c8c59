"""Differences that somebody made up in order to keep a page busy."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from random import Random
from typing import Any

import pytest

from tests.upstream_rows import definition
from tools.admin.replay.lines import compare
from tools.admin.upstream_diff import shown
from tools.services.upstream_definitions import LARGEST_DEFINITION
from tools.upstreams.differences import differences
from tools.upstreams.matching import MOST_STEPS

LENGTH = 1_900


def muddled(dice: Random) -> tuple[str, str]:
    """Many places are alike, in no order."""
    return "".join(dice.choices(".,", k=LENGTH)), "".join(dice.choices(".,", k=LENGTH))


def slowest(dice: Random) -> tuple[str, str]:
    """Everything is alike, and the longest run is one: this takes time with the cube of its length."""
    return "." * LENGTH, ".," * (LENGTH // 2)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """At how many places each search of difflib looks, counted as it goes about it."""
    counts: list[int] = []
    search: Any = SequenceMatcher.find_longest_match

    def counted(self: Any, alo: int, ahi: int, blo: int, bhi: int) -> Any:
        steps: dict[str, int] = defaultdict(int)
        for piece in self.a[alo:ahi]:
            if piece not in steps:
                steps[piece] = 1 + bisect_left(self.b2j.get(piece, []), bhi)
            counts.append(steps[piece])
        return search(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(SequenceMatcher, "find_longest_match", counted)
    return counts


def largest(pair: Callable[[Random], tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Two definitions as long as one may be, each argument as long as is compared to the word."""
    dice = Random(3)  # noqa: S311 - not for secrets
    pairs = [pair(dice) for _ in range(LARGEST_DEFINITION // (LENGTH + 40))]
    for side in (0, 1):
        properties = {f"a{place}": {"description": one[side]} for place, one in enumerate(pairs)}
        yield definition("one", inputSchema={"type": "object", "properties": properties})


@pytest.mark.parametrize("pair", [muddled, slowest])
def test_the_largest_definition_takes_no_more_work_than_one_comparison_may(
    looked_at: list[int], pair: Callable[[Random], tuple[str, str]]
) -> None:
    old, new = largest(pair)
    assert LARGEST_DEFINITION * 0.9 < len(json.dumps(new)) <= LARGEST_DEFINITION
    found = shown(differences(old, new))
    assert 0 < sum(looked_at) <= MOST_STEPS
    # What was not compared is marked as a whole, and all of it is there.
    last = found[-1]
    assert last.new is not None
    assert [piece.marked for piece in last.new] == [True]
    written = json.dumps(new["inputSchema"]["properties"][f"a{len(found) - 1}"], indent=2)
    assert "".join(piece.text for piece in last.new) == written


def test_a_definition_of_ordinary_size_is_compared_to_the_word() -> None:
    texts = [" ".join(f"word{number}" for number in range(60))] * 20
    old = {f"a{number}": {"description": one} for number, one in enumerate(texts)}
    new = {name: {"description": f"{one['description']} more"} for name, one in old.items()}
    sides = (definition("one", inputSchema={"properties": side}) for side in (old, new))
    found = shown(differences(*sides))
    assert len(found) == 20
    assert all(
        [piece.text for piece in one.new or () if piece.marked] == [" more"] for one in found
    )


def test_answers_made_to_keep_a_replay_busy_take_no_more_work(looked_at: list[int]) -> None:
    dice = Random(3)  # noqa: S311 - not for secrets
    # As often as a line may come and still be looked for; and lines that are alike in every word.
    few = [str(number) for number in range(101)]
    lines, words = (dice.choices(few, k=LENGTH) for _ in range(2)), [muddled(dice)] * 20
    old, new = (
        "\n".join([*one, *(pair[side] for pair in words)]) for side, one in enumerate(lines)
    )
    found = compare(old, new)
    assert 0 < sum(looked_at) <= MOST_STEPS
    shown_old = [row.old for row in found.rows if row.old is not None]
    assert ["".join(piece.text for piece in line) for line in shown_old] == old.splitlines()


def test_lines_that_cannot_be_matched_stand_beside_those_of_their_number() -> None:
    found = compare("\n".join("." * LENGTH), "\n".join(".," * (LENGTH // 2)))
    assert [row.kind for row in found.rows] == ["same", "changed"] * (LENGTH // 2)


def test_a_row_more_in_a_long_answer_is_the_only_difference() -> None:
    rows = [{"id": number, "score": number / 7, "kept": True, "tags": []} for number in range(300)]
    old, new = (json.dumps(part, indent=2) for part in (rows[1:], rows))
    found = compare(old, new)
    assert (found.cut, [row.kind for row in found.rows]) == (
        False,
        ["same", *["added"] * 6, *["same"] * 3, "gap"],
    )
