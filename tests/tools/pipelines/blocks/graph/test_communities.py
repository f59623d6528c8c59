"""Groups of passages: what is put together, and what is said about it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.tools.pipelines.blocks.graph.shelves import shelf
from tools.pipelines.blocks.graph import build_communities, communities, open_communities
from tools.pipelines.blocks.graph.communities import MappedCommunities
from tools.pipelines.contracts import IndexSource, Matrix

TOPICS = ("lighthouse", "orchard", "railway", "glacier")
PER_TOPIC = 24


def near(topics: int, per_topic: int, kinds: int = 3) -> Matrix:
    """Vectors in clouds around one direction per topic, each with smaller clouds inside."""
    random = np.random.default_rng(7)
    centres = np.eye(32, dtype=np.float32)[:topics]
    inner = np.eye(32, dtype=np.float32)[topics : topics + topics * kinds]
    rows = []
    for number in range(topics * per_topic):
        topic = number // per_topic
        kind = inner[topic * kinds + number % kinds]
        rows.append(centres[topic] + 0.4 * kind + 0.12 * random.standard_normal(32))
    found = np.array(rows, np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def topics_shelf() -> IndexSource:
    articles = []
    for number in range(len(TOPICS) * PER_TOPIC):
        topic = TOPICS[number // PER_TOPIC]
        place = f"Vale {topic.title()}"
        articles.append(
            (
                f"{topic.title()} {number}",
                f"The {topic} at {place} was visited again in year {number}. "
                f"Nothing else of note happened there on that day.",
            )
        )
    return shelf(articles, near(len(TOPICS), PER_TOPIC))


@pytest.fixture(scope="module")
def source() -> IndexSource:
    return topics_shelf()


@pytest.fixture(scope="module")
def grouped(source: IndexSource, tmp_path_factory: pytest.TempPathFactory) -> MappedCommunities:
    folder = tmp_path_factory.mktemp("communities")
    build_communities(folder, source)
    return open_communities(folder)


def topic_of(row: int) -> str:
    return TOPICS[row // PER_TOPIC]


def test_no_community_mixes_two_topics(grouped: MappedCommunities) -> None:
    for level in range(grouped.levels):
        for community, _ in grouped.search(np.ones(32, np.float32), level, 1000):
            assert len({topic_of(row) for row in community.rows}) == 1


def test_every_passage_is_in_one_community_of_each_level(grouped: MappedCommunities) -> None:
    for level in range(grouped.levels):
        found = [one for one, _ in grouped.search(np.ones(32, np.float32), level, 1000)]
        rows = [row for community in found for row in community.rows]
        assert sorted(rows) == list(range(len(TOPICS) * PER_TOPIC))
        assert sum(community.size for community in found) == len(rows)


def test_finer_levels_split_the_coarser_ones(grouped: MappedCommunities) -> None:
    # F0-09
    assert grouped.levels >= 2
    levels = [
        [set(one.rows) for one, _ in grouped.search(np.ones(32, np.float32), level, 1000)]
        for level in range(grouped.levels)
    ]

    assert len(levels[0]) == len(TOPICS)
    for coarse, fine in pairwise(levels):
        assert len(fine) > len(coarse)
        assert all(sum(small <= large for large in coarse) == 1 for small in fine)


def test_the_community_nearest_the_question_comes_first(
    grouped: MappedCommunities, source: IndexSource
) -> None:
    for row in (0, 30, 60, 90):
        found = grouped.search(source.vectors[row], 0, 4)
        assert topic_of(found[0][0].rows[0]) == topic_of(row)
        assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)


def test_a_community_tells_what_it_is_about_in_its_own_passages_words(
    grouped: MappedCommunities, source: IndexSource
) -> None:
    for community, _ in grouped.search(np.ones(32, np.float32), 0, 4):
        topic = topic_of(community.rows[0])
        assert topic.title() in community.title
        lines = community.summary.splitlines()
        assert lines
        for line, row in zip(lines, community.summary_rows, strict=True):
            assert line in source.sentences[row]
            assert topic in line, "the typical sentence, not the filler"


def test_central_passages_come_first(grouped: MappedCommunities, source: IndexSource) -> None:
    community, _ = grouped.search(source.vectors[0], 0, 1)[0]
    members = source.vectors[list(community.rows)]

    closeness = members @ members.mean(axis=0)

    assert closeness.tolist() == sorted(closeness.tolist(), reverse=True)


def test_a_level_beyond_the_last_is_the_last(grouped: MappedCommunities) -> None:
    vector = np.ones(32, np.float32)

    assert grouped.search(vector, 5, 3) == grouped.search(vector, grouped.levels - 1, 3)


def test_the_same_passages_give_the_same_communities(
    grouped: MappedCommunities, source: IndexSource, tmp_path: Path
) -> None:
    build_communities(tmp_path, source)
    vector = np.ones(32, np.float32)

    assert open_communities(tmp_path).search(vector, 1, 99) == grouped.search(vector, 1, 99)


def test_passages_beyond_the_sample_join_the_nearest_community(
    source: IndexSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(communities, "LARGEST", 48)

    build_communities(tmp_path, source)

    found = [one for one, _ in open_communities(tmp_path).search(np.ones(32, np.float32), 0, 99)]
    assert sum(community.size for community in found) == len(source.passages)
    assert all(len({topic_of(row) for row in community.rows}) == 1 for community in found)


def test_an_empty_collection_has_no_communities(tmp_path: Path) -> None:
    build_communities(tmp_path, shelf([], np.empty((0, 8), np.float32)))

    assert open_communities(tmp_path).levels == 0
    assert open_communities(tmp_path).search(np.ones(8, np.float32), 1, 5) == []


@pytest.mark.parametrize(
    "articles",
    [
        [("Alone", "This is the only passage there is, and it stays alone.")],
        [("", ""), ("", "")],
        [("", "it is what it is, and so it was and so it will be")] * 12,
    ],
)
def test_few_or_empty_passages_are_grouped_too(
    tmp_path: Path, articles: list[tuple[str, str]]
) -> None:
    build_communities(tmp_path, shelf(articles))

    found = open_communities(tmp_path).search(np.ones(len(articles), np.float32), 0, 99)

    assert sum(community.size for community, _ in found) == len(articles)
    assert all(community.title for community, _ in found)
