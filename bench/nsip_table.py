"""What the NSIP tools' answers cost before and after they are shortened, and what stays of them.

Run with `python -m bench.nsip_table` for the table as Markdown. The answers come over HTTP from the
stand-in of the test suite and go through the backend and the budget stage as those of a call do.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

HEAD: Final = ("answer", "tokens", "after", "reduction", "what was kept")


@dataclass(frozen=True, slots=True)
class Row:
    """One answer. `after` and `before` are the same where it passed complete."""

    answer: str
    before: int
    after: int
    kept: str

    def cells(self) -> tuple[str, ...]:
        saved = "passed complete" if self.after == self.before else f"{self.reduction:.1f} %"
        return (self.answer, f"{self.before}", f"{self.after}", saved, self.kept)

    @property
    def reduction(self) -> float:
        return (self.before - self.after) / self.before * 100


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as folder:
        os.environ["VAR_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
        import django

        django.setup()
        # Each request to the API is logged; here only the table is wanted.
        logging.disable(logging.INFO)
        print(markdown(asyncio.run(rows())))


async def rows() -> list[Row]:
    """The answers that the requirements measure, each through the path of a call."""
    from tests.nsip_flock import EWE, RAM
    from tests.nsip_server import nsip_server

    asked: Sequence[tuple[str, str, dict[str, Any]]] = (
        ("get_animal", "nsip_get_animal", {"search_string": RAM}),
        ("get_lineage, 3 generations", "nsip_get_lineage", {"lpn_id": RAM}),
        ("get_lineage, 4 generations", "nsip_get_lineage", {"lpn_id": EWE}),
        ("get_progeny, 10 of 204", "nsip_get_progeny", {"lpn_id": RAM, "page_size": 10}),
        ("get_progeny, 100 of 204", "nsip_get_progeny", {"lpn_id": RAM, "page_size": 100}),
        ("search_animals, 15", "nsip_search_animals", {"breed_id": 640, "page_size": 15}),
        ("search_animals, 100", "nsip_search_animals", {"breed_id": 640, "page_size": 100}),
        ("search_by_lpn, ram", "nsip_search_by_lpn", {"lpn_id": RAM}),
        ("search_by_lpn, ewe", "nsip_search_by_lpn", {"lpn_id": EWE}),
    )
    with nsip_server() as server:
        found = [await measured(server, *one) for one in asked]
    return [row for each in found for row in each]


async def measured(server: Any, title: str, name: str, arguments: dict[str, Any]) -> list[Row]:
    """What a call answers and, where it passes complete, what its summary would be."""
    from tests.nsip.calls import TOOLS, call, spec_of
    from tools.context.rules import Rules
    from tools.context.summaries import fitted, forms_of
    from tools.execution.budget import apply_budget

    async def keep(body: str) -> bool:
        return True

    data, spec = await call(server, name, **arguments), spec_of(TOOLS[name], server)
    answer = await apply_budget(spec, data, json.dumps(data), request_id="", keep=keep)
    before, after = answer.tokens_before, answer.tokens_after
    assert before is not None
    assert after is not None
    if before != after:
        return [Row(title, before, after, kept(answer.data, data))]
    forms = forms_of(Rules.from_json(spec.binding["rules"]).summary, data)
    summary = fitted(forms, tokens=before, budget=spec.token_budget) if forms else None
    passed = [Row(title, before, after, "everything")]
    if summary is None:
        return passed
    short = Row(f"{title}: its summary", before, summary.tokens, kept(summary.value, data))
    return [*passed, short]


def kept(summary: dict[str, Any], data: dict[str, Any]) -> str:
    """In words what a summary has of an answer."""
    said = []
    if "LpnId" in summary:
        contact, traits = summary["Contact"] or {}, summary["TopTraits"]
        said.append(f"{summary['LpnId']}, breed, sire, dam, {summary['TotalProgeny']} progeny")
        said.append(f"all {len(contact)} contact fields, {len(traits)} top traits")
    lineage = summary.get("Lineage", summary)
    if generations := lineage.get("generations"):
        original = data.get("lineage", data)["generations"]
        all_of, some = sum(map(len, original)), sum(map(len, generations))
        said.append(f"{some} of {all_of} ancestors with farm")
    if ids := summary.get("Progeny", {}).get("lpn_ids"):
        said.append(f"the first {len(ids)} of {summary['Progeny']['total_count']} progeny")
    for key in ("animals", "results"):
        if key in summary:
            said.append(f"total {summary['total_count']}, page and next page")
            fields = ", ".join(summary[key][0])
            said.append(f"{len(summary[key])} of {len(data[key])} rows with {fields}")
    return "; ".join(said)


def markdown(found: Sequence[Row]) -> str:
    """The table as the documentation has it."""
    lines = [HEAD, ("---",) * len(HEAD), *(row.cells() for row in found)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    main()
