"""How services are asked for their tools: those that say nothing, or too little at a time, keep nobody back."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from tests.http_server import Reply, http_server
from tests.wrappers.dripping import STAGES, dripping
from tests.wrappers.foreign import foreign, tool
from tests.wrappers.generating import generate
from tools.models import RegisteredService
from tools.services import fetch_tools
from tools.services.fetch_tools import SECONDS, TRIES, WAITS, Asking, asking_for_rows
from tools.wrappers.registry import ServiceEntry

# What stands for the ten seconds.
SHORT = 1.0


def test_a_service_has_ten_seconds_for_each_of_three_tries() -> None:
    # F3-15
    assert (SECONDS, TRIES, WAITS) == (10, 3, (1, 2, 4))
    assert Asking().tries == asking_for_rows().tries == TRIES


def test_a_service_that_hangs_keeps_the_next_one_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # F3-15 F3-23
    monkeypatch.setattr(fetch_tools, "SECONDS", SHORT)
    with http_server(always=Reply(hang=True)) as silent, foreign([tool("look")]) as service:
        report = generate(tmp_path, ("silent", silent.url), ("seekr", service.url), types="bash")
        assert report.errors == [f"silent: {silent.url}/tools did not answer within {SHORT} s"]
        assert [one.path for one in silent.asked] == ["/tools"] * 3
    assert (tmp_path / "seekr" / "scripts" / "look.sh").exists()


@pytest.mark.parametrize("stage", STAGES)
def test_a_service_that_answers_drop_by_drop_keeps_the_next_one_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    # F3-15 F3-23
    monkeypatch.setattr(fetch_tools, "SECONDS", SHORT)
    with dripping(stage) as slow, foreign([tool("look")]) as service:
        services = (("slow", slow), ("seekr", service.url))
        report = generate(tmp_path, *services, types="bash", asking=Asking(tries=1))
    assert report.errors == [f"slow: {slow}/tools did not answer within {SHORT} s"]
    assert (tmp_path / "seekr" / "scripts" / "look.sh").exists()


def test_the_admin_asks_a_service_three_times_too(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # F3-15 S3-071
    monkeypatch.setattr(fetch_tools, "WAITS", (0, 0, 0))
    with foreign([tool("look")]) as service:
        RegisteredService.objects.create(name="seekr", url=service.url)
        service.listing += [(503, {}, b""), (500, {}, b"")]
        address = f"{reverse('admin:tools_registeredservice_changelist')}wrappers/"
        answer = admin_client.post(address, {"services": ["seekr"], "types": ["bash"]})
        assert service.lists == 3
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert packed.namelist() == ["seekr/scripts/look.sh", "SUMMARY.txt"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_service_that_wants_a_key_is_told_with_what_to_set(tmp_path: Path, status: int) -> None:
    # F3-15
    with foreign([tool("look")]) as service:
        service.listing += [(status, {}, b"")] * 4
        seekr = ("seekr", service.url)
        graph = ServiceEntry("graph", service.url, key_variable="MY_API_KEY")
        without = generate(tmp_path, seekr, graph, asking=Asking())
        wrong = generate(tmp_path, graph, asking=Asking(keys={"MY_API_KEY": "secret"}))
        rows = generate(tmp_path, seekr, asking=asking_for_rows())
    told = f"{service.url}/tools answered with status {status}"
    assert without.errors == [
        f"seekr: {told}; it wants a key: set SEEKR_API_KEY",
        f"graph: {told}; it wants a key: set MY_API_KEY",
    ]
    assert wrong.errors == [f"graph: {told}; it does not take the key in MY_API_KEY"]
    assert rows.errors == [
        f"seekr: {told}; it wants a key: set SEEKR_API_KEY, and name it in REGISTRY_KEYS"
    ]
