"""`manage.py generate_wrappers`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.wrappers.foreign import Foreign, foreign, tool
from tools.conf import deployment
from tools.models import RegisteredService

pytestmark = pytest.mark.django_db


@pytest.fixture
def service() -> Iterator[Foreign]:
    with foreign([tool("look"), tool("find")]) as made:
        yield made


@pytest.fixture
def registry(service: Foreign, tmp_path: Path) -> Path:
    path = tmp_path / "services.yaml"
    path.write_text(
        f"- {{name: seekr, url: '{service.url}', enabled: true}}\n"
        "- {name: docwell, url: 'http://127.0.0.1:9', enabled: false}\n"
    )
    return path


def run(*arguments: object) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("generate_wrappers", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_a_file_names_the_services_and_a_summary_is_printed(registry: Path, tmp_path: Path) -> None:
    # F3-15 F3-22 F3-23 S3-063
    told, _ = run("--services", registry, "--output", tmp_path / "out", "--type", "bash,cli")
    assert told.splitlines() == [
        "seekr: 2 tools, bash 2, cli 2",
        "1 service, 2 tools, 4 wrappers (bash 2, cli 2), 0 stale files removed, 0 kept, 0 errors",
    ]
    assert {path.name for path in (tmp_path / "out" / "seekr").iterdir()} == {"scripts", "cli"}


def test_without_a_file_the_registry_of_the_database_is_read(
    service: Foreign, tmp_path: Path
) -> None:
    RegisteredService(name="seekr", url=service.url).save()
    RegisteredService(name="other", url="http://127.0.0.1:9").save()
    told, _ = run("--output", tmp_path, "--service", "seekr", "--type", "skills")
    assert "seekr: 2 tools, skill 2" in told
    assert not (tmp_path / "other").exists()


def test_wrappers_of_a_service_that_was_switched_off_go_with_the_next_run(
    service: Foreign, tmp_path: Path
) -> None:
    RegisteredService(name="docwell", url=service.url).save()
    RegisteredService(name="seekr", url=service.url).save()
    given = ("--output", tmp_path, "--type", "bash")
    run(*given)
    RegisteredService.objects.filter(name="docwell").update(enabled=False)
    # A run for another service leaves it alone.
    assert "docwell" not in run(*given, "--service", "seekr")[0]
    assert (tmp_path / "docwell" / "scripts" / "look.sh").exists()
    told, errors = run(*given)
    assert told.splitlines() == [
        "seekr: 2 tools, bash 2",
        "1 service, 2 tools, 2 wrappers (bash 2), 2 stale files removed, 0 kept, 0 errors",
        "docwell: switched off; 2 earlier files removed",
    ]
    assert errors == ""
    assert not (tmp_path / "docwell").exists()


def test_rows_get_only_the_keys_of_the_deployment_and_a_file_gets_all(
    service: Foreign,
    registry: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "secret")
    monkeypatch.setenv("SEEKR_API_KEY", "theirs")
    RegisteredService(name="seekr", url=service.url, key_variable="LLM_API_KEY").save()
    run("--output", tmp_path / "rows", "--type", "bash")
    assert service.keys == [None]
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "REGISTRY_KEYS": ("SEEKR_API_KEY",)}
    RegisteredService(name="open", url=service.url, key_variable="SEEKR_API_KEY").save()
    deployment.cache_clear()
    try:
        run("--output", tmp_path / "rows", "--type", "bash")
    finally:
        deployment.cache_clear()
    assert sorted(service.keys[1:], key=str) == [None, "theirs"]
    run("--services", registry, "--output", tmp_path / "file", "--type", "bash")
    assert service.keys[3:] == ["theirs"]


def test_rows_do_not_lead_to_where_clouds_keep_credentials(tmp_path: Path) -> None:
    RegisteredService(name="meta", url="http://169.254.169.254").save()
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("generate_wrappers", "--output", str(tmp_path), stderr=err)
    assert "where it may not be" in err.getvalue()


def test_quiet_prints_errors_alone_and_verbose_what_was_removed(
    registry: Path, service: Foreign, tmp_path: Path
) -> None:
    given = ("--services", registry, "--output", tmp_path / "out", "--type", "bash")
    assert run(*given, "--quiet") == ("", "")
    del service.tools[0]
    told, _ = run(*given, "--verbose")
    assert told.splitlines()[0] == "removed seekr/scripts/look.sh"


def test_an_error_is_printed_and_the_command_fails(service: Foreign, tmp_path: Path) -> None:
    # F3-23
    service.tools.append({"name": "broken"})
    RegisteredService(name="seekr", url=service.url).save()
    err = io.StringIO()
    with pytest.raises(CommandError, match="Not everything was generated") as failed:
        call_command("generate_wrappers", "--output", str(tmp_path), "--quiet", stderr=err)
    assert failed.value.returncode == 1
    assert err.getvalue() == "Error: seekr/broken: its input_schema is not that of an object\n"
    assert (tmp_path / "seekr" / "scripts" / "look.sh").exists()


def test_an_empty_registry_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="service_registry import"):
        run("--output", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--type", "bash,exe"),
            "exe: no such type; there are bash, python, cli, skill, typescript",
        ),
        (("--service", "other"), "other is not in the registry; there are: docwell, seekr"),
        (("--service", "docwell"), "docwell is switched off"),
        (("--templates", "nowhere"), "nowhere is no folder with templates"),
        (("--services", "nowhere.yaml"), "nowhere.yaml cannot be read"),
    ],
)
def test_wrong_orders_are_refused(
    registry: Path, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    with pytest.raises(CommandError, match=told):
        run("--services", registry, "--output", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_a_bad_file_and_a_folder_that_is_none_are_told(registry: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("- {name: A, url: x}\n")
    with pytest.raises(CommandError, match="cannot be used"):
        run("--services", bad)
    bad.write_text("[]\n")
    with pytest.raises(CommandError, match="has no services"):
        run("--services", bad)
    with pytest.raises(CommandError, match="cannot be written"):
        run("--services", registry, "--output", bad)
