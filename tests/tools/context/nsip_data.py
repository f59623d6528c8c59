"""Answers of the NSIP stand-in as nsip-client reads them: what the summaries are made for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

# The public client of NSIP, without types.
from nsip_client import NSIPClient  # type: ignore[import-untyped]

from tests.nsip_flock import RAM
from tests.nsip_server import nsip_server

FOUNDER = "6401492012FLE201"


@dataclass(frozen=True, slots=True)
class Answers:
    """One of each kind, of a ram with 204 lambs; `founder` is a profile without known ancestors."""

    animal: dict[str, Any]
    lineage: dict[str, Any]
    progeny: dict[int, dict[str, Any]]
    search: dict[int, dict[str, Any]]
    profile: dict[str, Any]
    founder: dict[str, Any]


@lru_cache(maxsize=2)
def nsip_answers(*, older: bool) -> Answers:
    """Answers in the API's shape of today or its older one."""
    with nsip_server(older=older) as server, NSIPClient(base_url=server.url) as client:
        return Answers(
            animal=client.get_animal_details(RAM).to_dict(),
            lineage=client.get_lineage(RAM).to_dict(),
            progeny={size: asdict(client.get_progeny(RAM, 0, size)) for size in (10, 100)},
            search={size: asdict(client.search_animals(0, size)) for size in (15, 100)},
            profile=_profile(client, RAM),
            founder=_profile(client, FOUNDER),
        )


def _profile(client: Any, lpn_id: str) -> dict[str, Any]:
    return {key: asdict(part) for key, part in sorted(client.search_by_lpn(lpn_id).items())}
