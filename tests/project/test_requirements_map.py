"""docs/reference/requirements.md says what the tests say, and the tests name what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.requirements_map import (
    DEMANDED,
    PAGE,
    PROJECT,
    OutsideTest,
    is_real,
    named_in_tests,
    read_later,
    read_met,
    refreshed,
)

PAGE_TEXT = PAGE.read_text(encoding="utf-8")
REFRESH = "run `python -m tests.project.requirements_map --write`"


def test_every_id_in_a_test_is_a_real_one() -> None:
    assert [id for id in named_in_tests() if not is_real(id)] == []


def test_page_and_tests_name_the_same_ids() -> None:
    met, named = set(read_met(PAGE_TEXT)), set(named_in_tests())
    assert sorted(named - met) == [], f"named in tests, not in the page; {REFRESH}"
    assert sorted(met - named) == [], f"in the page, named in no test; {REFRESH}"


def test_each_id_points_to_the_tests_that_name_it() -> None:
    named = named_in_tests()
    wrong = {id for id, row in read_met(PAGE_TEXT).items() if row.tests != named.get(id)}
    assert sorted(wrong) == [], REFRESH


def test_each_row_says_what_is_asked_and_where_it_is_met() -> None:
    for row in read_met(PAGE_TEXT).values():
        assert row.what, f"{row.id}: write what it asks"
        assert row.where, f"{row.id}: write where it is met"
        for place in row.where:
            assert (PROJECT / place).exists(), f"{row.id}: {place} is not there"


def test_every_demanded_id_is_met_or_has_its_reason() -> None:
    met, later = read_met(PAGE_TEXT), read_later(PAGE_TEXT)
    missing = [id for id in DEMANDED if id not in met and id not in later]
    assert missing == []
    assert set(later) <= set(DEMANDED) - set(met)
    for row in later.values():
        assert row.what, f"{row.id}: write what it asks"
        assert row.why.endswith("."), f"{row.id}: give the reason in a sentence"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    return tmp_path


def test_ids_belong_to_the_test_around_them_its_decorators_included(project: Path) -> None:
    (project / "tests" / "test_some.py").write_text(
        "@parametrize(\n    [1],  # S3-001\n)\n"
        "def test_first():\n    # S3-002 T05\n    pass  # F3-01 and F3-02\n\n"
        "async def test_second():\n    text = '# S3-009'  # C08  # noqa: S104\n"
    )
    first, second = "tests/test_some.py::test_first", "tests/test_some.py::test_second"
    assert named_in_tests(project) == {
        "C08": (second,),
        "F3-01": (first,),
        "F3-02": (first,),
        "S3-001": (first,),
        "S3-002": (first,),
        "T05": (first,),
    }


def test_an_id_outside_a_test_is_refused_by_its_line(project: Path) -> None:
    (project / "tests" / "help.py").write_text("def helper():\n    # S3-001\n    pass\n")
    with pytest.raises(OutsideTest, match=r"tests/help\.py:2 names S3-001"):
        named_in_tests(project)


def test_refreshing_keeps_what_was_written_by_hand() -> None:
    page = refreshed(PAGE_TEXT, {"S3-001": ("tests/test_new.py::test_it",)})
    row = read_met(page)["S3-001"]
    before = read_met(PAGE_TEXT)["S3-001"]
    assert (row.what, row.where) == (before.what, before.where)
    assert row.tests == ("tests/test_new.py::test_it",)
    assert set(read_met(page)) == {"S3-001"}
    assert read_later(page) == read_later(PAGE_TEXT)


@pytest.mark.parametrize("bad", ["S3-73", "S3-073", "S5-001", "F3-34", "C22", "T17", "S3-000"])
def test_ids_beyond_the_list_are_not_real(bad: str) -> None:
    assert not is_real(bad)
