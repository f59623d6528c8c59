"""Whatever JSON the API sends, a tool answers or says what is wrong; it never breaks."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.nsip.calls import TOOLS, call
from tests.nsip_flock import EWE
from tests.nsip_server import Fault, NsipServer
from tools.errors import ControlPlaneError

ARGUMENTS: dict[str, Any] = {"lpn_id": EWE, "search_string": EWE, "breed_id": 640}
KEYS = st.sampled_from(
    [
        *("data", "success", "LpnId", "lpnId", "content", "children", "Traits", "BreedGroup"),
        *("recordCount", "TotalCount", "records", "Results", "breeds", "breedId", "Id", "breed"),
        *("searchResultViewModel", "contactInfo", "ContactInfo", "flockCount", "bwt", "accbwt"),
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "6401492020FLE249", "<div>A</div><div>US Index: 1.2.3</div>", "²"])
    | st.just(1e308)
)
ANSWERS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


async def outcome(server: NsipServer, name: str, arguments: dict[str, Any]) -> Any:
    """The answer, or the failure that stands for it."""
    try:
        return await call(server, name, service={"retries": 0}, **arguments)
    except ControlPlaneError as failure:
        return failure


@given(name=st.sampled_from(sorted(TOOLS)), answer=ANSWERS)
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_any_json_gives_an_answer_or_a_named_failure(
    api: NsipServer, name: str, answer: Any
) -> None:
    # S4-069 S4-088
    api.fail(Fault(body=json.dumps(answer).encode()))
    taken = TOOLS[name].input_schema["properties"]
    given_arguments = {key: value for key, value in ARGUMENTS.items() if key in taken}
    read = await outcome(api, name, given_arguments)
    if isinstance(read, ControlPlaneError):
        assert read.details.suggestion
    else:
        assert json.loads(json.dumps(read)) == read
