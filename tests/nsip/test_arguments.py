"""What cannot be right is refused before the API is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.nsip.calls import TOOLS, call
from tests.nsip_flock import RAM
from tests.nsip_server import NsipServer
from tools.errors import InvalidArguments

ABOUT_AN_ANIMAL = ("nsip_get_lineage", "nsip_get_progeny", "nsip_search_by_lpn")
PAGED = ("nsip_search_animals", "nsip_get_progeny")


@pytest.mark.parametrize("name", ABOUT_AN_ANIMAL)
@pytest.mark.parametrize("lpn_id", ["123", "", "     ", None, 6401492020])
async def test_short_lpn_ids_are_refused_with_an_example(
    api: NsipServer, name: str, lpn_id: Any
) -> None:
    # S4-068 S4-072
    with pytest.raises(InvalidArguments) as refusal:
        await call(api, name, lpn_id=lpn_id)
    assert refusal.value.message.startswith("Invalid parameter: lpn_id")
    assert refusal.value.details.parameter == "lpn_id"
    assert refusal.value.details.suggestion is not None
    assert "6401492020FLE249" in refusal.value.details.suggestion
    assert not api.calls


@pytest.mark.parametrize(
    ("page", "page_size", "sent"),
    [(None, None, ("0", "20")), (1, 1, ("0", "1")), (3, 100, ("2", "100"))],
)
@pytest.mark.parametrize("name", PAGED)
async def test_pages_count_from_one_here_and_from_zero_there(
    api: NsipServer, name: str, page: int | None, page_size: int | None, sent: tuple[str, str]
) -> None:
    # F4-26
    asked = {"page": page, "page_size": page_size} if page else {}
    about = {"lpn_id": RAM} if name == "nsip_get_progeny" else {}
    answer = await call(api, name, **about, **asked)
    assert (api.asked[0].query["page"], api.asked[0].query["pageSize"]) == sent
    assert (answer["page"], answer["page_size"]) == (page or 1, page_size or 20)


@pytest.mark.parametrize(
    "wrong", [{"page": 0}, {"page": -1}, {"page_size": 0}, {"page_size": 101}, {"page": "first"}]
)
@pytest.mark.parametrize("name", PAGED)
async def test_pages_that_cannot_be_are_refused(
    api: NsipServer, name: str, wrong: dict[str, Any]
) -> None:
    # F4-03 F4-26
    about = {"lpn_id": RAM} if name == "nsip_get_progeny" else {}
    with pytest.raises(InvalidArguments) as refusal:
        await call(api, name, **about, **wrong)
    assert refusal.value.details.parameter == next(iter(wrong))
    assert not api.calls


@pytest.mark.parametrize("breed_id", [0, -640, "0", "Katahdin", "", "640; drop", 6.4, None, True])
async def test_breed_ids_that_are_none_are_refused(api: NsipServer, breed_id: Any) -> None:
    # F4-03 F4-28
    with pytest.raises(InvalidArguments) as refusal:
        await call(api, "nsip_get_trait_ranges", breed_id=breed_id)
    assert refusal.value.details.parameter == "breed_id"
    assert not api.calls


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nsip_get_progeny", {"lpn_id": RAM, "page_size": 101}),
        ("nsip_get_progeny", {"lpn_id": RAM, "page": 0}),
        ("nsip_get_lineage", {"lpn_id": "123"}),
        ("nsip_get_animal", {}),
        ("nsip_get_trait_ranges", {"breed_id": "Katahdin"}),
        ("nsip_get_trait_ranges", {"breed_id": True}),
        ("nsip_get_trait_ranges", {"breed_id": 6.5}),
        ("nsip_search_animals", {"search_criteria": {"breed_id": []}}),
        ("nsip_search_animals", {"search_criteria": "all"}),
    ],
)
async def test_a_loosened_schema_lets_nothing_wrong_through(
    api: NsipServer, name: str, arguments: dict[str, Any]
) -> None:
    # F4-03
    anything = {"type": "object", "properties": {}}
    with pytest.raises(InvalidArguments):
        await call(api, name, schema=anything, **arguments)
    assert not api.calls


async def test_whole_search_criteria_travel_under_the_names_of_the_api(api: NsipServer) -> None:
    # S4-013
    await call(
        api,
        "nsip_search_animals",
        search_criteria={
            "breed_group_id": "64",
            "born_after": "2018-01-01",
            "born_before": "2020-12-31",
            "gender": "Both",
            "proven_only": False,
            "status": "CURRENT",
            "flock_id": "640149",
            "trait_ranges": {"BWT": {"min": -0.5}},
        },
    )
    assert api.asked[0].body == {
        "breedGroupId": 64,
        "bornAfter": "2018-01-01",
        "bornBefore": "2020-12-31",
        "gender": "Both",
        "provenOnly": False,
        "status": "CURRENT",
        "flockId": "640149",
        "traitRanges": {"BWT": {"min": -0.5}},
    }


async def test_search_without_criteria_still_sends_a_body(api: NsipServer) -> None:
    # S4-013
    await call(api, "nsip_search_animals", breed_id=640)
    assert api.asked[0].body == {}
    assert api.asked[0].headers["content-type"].startswith("application/json")


@pytest.mark.parametrize(
    "wrong",
    [
        {"gender": "Ram"},
        {"born_after": "yesterday"},
        {"trait_ranges": {"BWT": {}}},
        {"trait_ranges": {"BWT": {"min": "low"}}},
        {"colour": "white"},
        {"breed_id": "none"},
    ],
)
async def test_criteria_that_the_api_does_not_know_are_refused(
    api: NsipServer, wrong: dict[str, Any]
) -> None:
    # F4-03
    with pytest.raises(InvalidArguments):
        await call(api, "nsip_search_animals", search_criteria=wrong)
    assert not api.calls


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
# Never a value of any argument: lists, objects, and texts that are too short or no number.
HOPELESS = {
    "breed_id": st.integers(max_value=0) | st.text("abc -.", max_size=6) | st.lists(ANYTHING),
    "lpn_id": st.text(max_size=4) | st.integers() | st.none() | st.lists(ANYTHING),
    "search_string": st.text(" \t", max_size=6) | st.integers() | st.none() | st.lists(ANYTHING),
    "page": st.integers(max_value=0) | st.text(max_size=4) | st.lists(ANYTHING),
    "page_size": st.integers(max_value=0) | st.integers(min_value=101) | st.lists(ANYTHING),
    "search_criteria": st.text(max_size=4) | st.lists(ANYTHING) | st.integers(),
    "sorted_trait": st.text("-/&?# ", min_size=1) | st.integers() | st.lists(ANYTHING),
    "reverse": st.integers() | st.text() | st.lists(ANYTHING),
    "not_an_argument": ANYTHING,
}
GOOD: dict[str, Any] = {"lpn_id": RAM, "search_string": RAM, "breed_id": 640}


@st.composite
def bad_calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool and arguments of which one is wrong."""
    name = draw(st.sampled_from(sorted(TOOLS)))
    taken = [one for one in TOOLS[name].input_schema["properties"] if one in HOPELESS]
    wrong = draw(st.sampled_from([*taken, "not_an_argument"]))
    good = {one: GOOD[one] for one in taken if one in GOOD}
    return name, {**good, wrong: draw(HOPELESS[wrong])}


@given(bad=bad_calls())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_no_bad_argument_reaches_the_api(
    api: NsipServer, bad: tuple[str, dict[str, Any]]
) -> None:
    # F4-03 S4-076
    name, arguments = bad
    with pytest.raises(InvalidArguments):
        await call(api, name, **arguments)
    assert not api.calls
