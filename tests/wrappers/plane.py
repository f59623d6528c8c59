"""A running control plane with all its demo tools, and the wrappers generated for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tests.controlplane.stack import Stack, stack
from tests.nsip_flock import RAM
from tests.nsip_server import nsip_server
from tests.processes import wait_until
from tests.wrappers.rows import NAME

QUESTION: Final = {"query": "What do otters do while they sleep?"}
DOCUMENTS: Final = (
    ("examples/corpus/otters.md", "# Otters\n\nOtters hold hands while they sleep.\n"),
    ("docs/holt.md", "# Maren Holt\n\nMaren Holt was a shipbuilder in Varnhaven.\n"),
)


@dataclass
class Plane:
    """`made` is the folder of the wrappers; `told` what their generation printed."""

    stack: Stack
    output: Path
    told: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.stack.port}"

    @property
    def made(self) -> Path:
        return self.output / NAME

    @cached_property
    def tools(self) -> list[str]:
        """The demo tools that are listed."""
        listed = self.stack.get("/tools")[1]["tools"]
        return [tool["name"] for tool in listed if tool["name"] not in {"gone", "unruly"}]

    def calls(self) -> dict[str, dict[str, Any]]:
        """Arguments with which each demo tool succeeds, this once."""
        made = [self.stack.call("create_todo", title=f"Plant {n}")[1] for n in range(2)]
        first, second = (_id(one) for one in made)
        known = {
            "server_metrics": {},
            "rag_metrics": {"time_range": "1h"},
            "rag_health_check": {},
            "tool_search": {"query": "remember something"},
            "read_result": self._kept,
            "create_todo": {"title": 'Say "hello" to $HOME & `all`', "priority": 3},
            "list_todos": {},
            "search_todos": {"query": "plant"},
            "update_todo": {"todo_id": first, "title": "Grüße 🌱"},
            "delete_todo": {"todo_id": second},
            "nsip_get_last_update": {},
            "nsip_list_breeds": {},
            "nsip_get_statuses": {},
            "nsip_get_trait_ranges": {"breed_id": 640},
            "nsip_search_animals": {"breed_id": 640, "page_size": 3},
            "nsip_get_animal": {"search_string": RAM},
            "nsip_get_lineage": {"lpn_id": RAM},
            "nsip_get_progeny": {"lpn_id": RAM, "page_size": 5},
            "nsip_search_by_lpn": {"lpn_id": RAM},
        }
        pipelines = {name: QUESTION for name in self.tools if name not in known}
        assert all(name.startswith("rag_") for name in pipelines), pipelines
        return {name: {**known, **pipelines}[name] for name in self.tools}

    @cached_property
    def _kept(self) -> dict[str, Any]:
        """The arguments of read_result for an answer that was too long."""
        answer = self.stack.call("nsip_search_animals", breed_id=640, page_size=100)[1]
        found: dict[str, Any] = answer["meta"]["budget"]["full_result"]["arguments"]
        return found


def _id(answer: Any) -> Any:
    text = json.dumps(answer["data"])
    found = answer["data"].get("id", answer["data"].get("todo", {}).get("id"))
    assert found is not None, text
    return found


@contextmanager
def running_plane(folder: Path) -> Iterator[Plane]:
    """Started with a corpus of two documents and the stand-in of NSIP; wrappers are made."""
    for name, text in DOCUMENTS:
        (folder / "demo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "demo" / name).write_text(text)
    with nsip_server() as nsip, stack(CONTROL_PLANE_TEST_DEMO=str(folder / "demo")) as made:
        made.up(corpus=True).wait_until_running()
        plane = Plane(made, folder / "output")
        # One process for all of it: each takes seconds to start.
        code = f"from tests.wrappers.rows import fill; fill({nsip.url!r}, {plane.url!r}, {str(folder)!r})"
        done = made.manage("shell", "--no-imports", "-c", code)
        assert done.returncode == 0, done.stderr
        plane.told = done.stdout
        wait_until(lambda: made.call("gone")[0] == 404, what="a tool less")
        yield plane
