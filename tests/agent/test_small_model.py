"""The trial with a small model can be repeated by whoever has its packages."""

from __future__ import annotations

import pytest

from bench import small_model
from tests.project.pages import PROJECT, read


def test_without_its_packages_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(small_model, "NEEDED", ("no_such_package",))
    assert small_model.main([]) == 1
    told = capsys.readouterr().err
    assert told.startswith("Not installed: no_such_package.")
    assert "small/bin/pip install xllamacpp==" in told


def test_the_page_has_the_commands_of_the_program() -> None:
    page = read(PROJECT / "docs" / "explanation" / "chat-agent.md")
    assert small_model._recipe() in page


def test_it_lists_no_request_of_the_held_out_part(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        small_model.main(["--part", "held-out", "--failures"])
    assert "only totals are shown" in capsys.readouterr().err
