"""What the generator does with many services, dead ones, broken tools, old files and other templates."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, TypedDict

import pytest

from tests.wrappers.foreign import Foreign, foreign, tool
from tests.wrappers.generating import generate
from tests.wrappers.running import load
from tests.yardstick import stretched
from tools.services.fetch_tools import INSIDE, WAITS, Asking
from tools.services.generate_wrappers import NothingToDo
from tools.services.service_registry import read_registry
from tools.wrappers.registry import ServiceEntry
from tools.wrappers.tool_list import ListedTool
from tools.wrappers.tree import MANIFEST, TreeFault
from tools.wrappers.wrapped import wrap_service

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "services.yaml"
NOWHERE = ("away", "http://127.0.0.1:9")


@pytest.fixture
def service() -> Iterator[Foreign]:
    with foreign([tool("look"), tool("find", word={"type": "string"})]) as made:
        yield made


def files(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix() for path in found}


def test_four_services_are_generated_in_ten_seconds(tmp_path: Path) -> None:
    # F3-30
    with ExitStack() as stack:
        tools = [tool(f"tool_{number}", word={"type": "string"}) for number in range(30)]
        services = [stack.enter_context(foreign(tools)) for _ in range(4)]
        limit = stretched(10)
        began = time.monotonic()
        report = generate(tmp_path, *((f"s{n}", one.url) for n, one in enumerate(services)))
        assert time.monotonic() - began < limit
    assert report.errors == []
    assert sum(report.tools.values()) == 120
    assert len(files(tmp_path)) == 4 * (30 * 5 + 2)


def test_a_dead_service_and_a_broken_tool_stop_nothing_else(
    service: Foreign, tmp_path: Path
) -> None:
    # F3-23
    service.tools += [{"name": "broken", "input_schema": []}, "nothing", tool("look")]
    report = generate(tmp_path, NOWHERE, ("seekr", service.url), types="bash")
    assert files(tmp_path) == {"seekr/scripts/find.sh", "seekr/scripts/look.sh"}
    away, *others = report.errors
    assert (
        away == "away: http://127.0.0.1:9/tools cannot be reached: nothing there takes connections"
    )
    assert others == [
        "seekr/broken: its input_schema is not that of an object",
        "seekr/entry 4: it is not an object",
        "seekr/look: it is listed twice; the first one counts",
    ]


def test_a_schema_without_end_spoils_no_other_tool(service: Foreign, tmp_path: Path) -> None:
    # F3-23
    ring = {"n": {"anyOf": [{"$ref": "#/$defs/n"}]}}
    keys = {f"k{n}": {"$ref": "#/$defs/w"} for n in range(9)}
    wide = {"w": {"type": "object", "properties": keys}}
    for name, definitions in (("ring", ring), ("wide", wide)):
        one = tool(name, a={"$ref": f"#/$defs/{name[0] if name == 'wide' else 'n'}"})
        one["input_schema"]["$defs"] = definitions
        service.tools.append(one)
    report = generate(tmp_path, ("seekr", service.url))
    assert (report.errors, report.tools) == ([], {"seekr": 4})
    module = tmp_path / "seekr" / "python" / "seekr_client.py"
    assert module.stat().st_size < 500_000


def test_a_tool_that_cannot_be_wrapped_is_left_out() -> None:
    # F3-23: whatever a list of one's own may hold.
    odd = ListedTool("odd", "", {"properties": {3: {}}})
    good = ListedTool("good", "", {"properties": {}})
    made = wrap_service(ServiceEntry("seekr", "http://x"), "", [odd, good])
    assert [one.name for one in made.tools] == ["good"]
    assert "TypeError" in made.faults["odd"]


def test_every_tool_has_files_of_its_own_and_exact_names_stay(tmp_path: Path) -> None:
    names = ("_email", "email", "email_", "get-user", "get_user", "getUser")
    with foreign([tool(name) for name in names]) as service:
        report = generate(tmp_path, ("seekr", service.url))
    assert report.errors == []
    for folder in ("scripts", "cli", "skills"):
        made = [path for path in (tmp_path / "seekr" / folder).iterdir() if path.is_file()]
        assert len(made) == len(names)
    for name in ("email", "get_user", "getUser"):
        assert f"tool={name}\n" in (tmp_path / "seekr" / "scripts" / f"{name}.sh").read_text()


def test_a_service_is_asked_three_times_with_longer_pauses(
    service: Foreign, tmp_path: Path
) -> None:
    # F3-15
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    service.listing += [(503, {}, b""), (500, {}, b"")]
    assert generate(tmp_path, ("seekr", service.url), asking=Asking(sleep=sleep)).errors == []
    assert (service.lists, waits) == (3, [1, 2])
    assert WAITS[:3] == (1, 2, 4)
    service.listing += [(503, {}, b"")] * 3
    report = generate(tmp_path, ("seekr", service.url), asking=Asking(sleep=sleep))
    assert (service.lists, waits) == (6, [1, 2, 1, 2])
    assert report.errors == [f"seekr: {service.url}/tools answered with status 503"]
    # What will not pass is not tried again.
    service.listing += [(401, {}, b""), (200, {}, b"<html>"), (302, {"Location": "/other"}, b"")]
    for told in ("status 401", "not JSON", "status 302"):
        report = generate(tmp_path, ("seekr", service.url), asking=Asking(sleep=sleep))
        assert told in report.errors[0]
    assert service.lists == 9


def test_a_place_is_asked_once_in_a_run_with_the_key_of_its_variable(
    service: Foreign, tmp_path: Path
) -> None:
    # F3-15
    two = [
        ServiceEntry("one", service.url, key_variable="A_API_KEY"),
        ServiceEntry("two", service.url),
    ]
    asking = Asking(keys={"A_API_KEY": "secret"})
    generate(
        tmp_path, two[0], ServiceEntry("too", service.url, key_variable="A_API_KEY"), asking=asking
    )
    assert (service.lists, service.keys) == (1, ["secret"])
    generate(tmp_path, *two, asking=asking)
    assert service.keys[1:] in (["secret", None], [None, "secret"])
    for path in tmp_path.rglob("*.*"):
        assert path.is_dir() or "secret" not in path.read_text()


def test_addresses_that_clouds_keep_credentials_at_are_refused_to_the_admin(tmp_path: Path) -> None:
    asking = Asking(networks=INSIDE, tries=1)
    for url in ("http://169.254.169.254", "http://[fd00:ec2::254]", "http://[fe80::1]"):
        report = generate(tmp_path, ("meta", url), asking=asking)
        assert "where it may not be" in report.errors[0]


def test_a_file_is_read_without_a_database() -> None:
    # S3-067: nothing in this file may open one.
    assert read_registry(EXAMPLE.read_text())[0].name == "ai-gateway"


def test_disabled_services_are_skipped_and_filters_combine(
    service: Foreign, tmp_path: Path
) -> None:
    # S3-063 F3-22
    entries = (
        ServiceEntry("ai-gateway", service.url),
        ServiceEntry("seekr", service.url),
        ServiceEntry("docwell", "http://127.0.0.1:9", enabled=False),
    )
    assert generate(tmp_path / "all", *entries).errors == []
    assert {path.name for path in (tmp_path / "all").iterdir()} == {"ai-gateway", "seekr", MANIFEST}
    generate(tmp_path / "some", *entries, types="scripts,skills", only=("seekr",))
    assert {path.name for path in (tmp_path / "some" / "seekr").iterdir()} == {"scripts", "skills"}
    assert not (tmp_path / "some" / "ai-gateway").exists()
    with pytest.raises(NothingToDo, match="docwell is switched off"):
        generate(tmp_path, *entries, only=("docwell",))
    with pytest.raises(NothingToDo, match="there are: ai-gateway, docwell, seekr"):
        generate(tmp_path, *entries, only=("other",))
    with pytest.raises(NothingToDo, match="Every service"):
        generate(tmp_path, entries[2])


def test_stale_files_are_removed_and_nothing_else(service: Foreign, tmp_path: Path) -> None:
    other = ("other", service.url)
    generate(tmp_path, ("seekr", service.url), other)
    mine = tmp_path / "seekr" / "scripts" / "mine.sh"
    mine.write_text("echo mine\n")
    del service.tools[0]
    # Of one service and kind alone.
    report = generate(tmp_path, ("seekr", service.url), other, types="bash", only=("seekr",))
    assert report.removed == ["seekr/scripts/look.sh"]
    report = generate(tmp_path, ("seekr", service.url), other, only=("seekr",))
    assert "seekr/skills/seekr-look/SKILL.md" in report.removed
    assert not (tmp_path / "seekr" / "skills" / "seekr-look").exists()
    assert (tmp_path / "other" / "scripts" / "look.sh").exists()
    # One that is only away keeps its files.
    away = generate(tmp_path, ("seekr", "http://127.0.0.1:9"), other)
    assert [path for path in away.removed if path.startswith("seekr")] == []
    assert (tmp_path / "seekr" / "scripts" / "find.sh").exists()
    service.tools.clear()
    gone = generate(tmp_path, ("seekr", service.url), other)
    assert {path.split("/")[0] for path in gone.removed} == {"seekr", "other"}
    assert mine.read_text() == "echo mine\n"
    assert files(tmp_path / "seekr" / "scripts") == {"mine.sh"}


@pytest.mark.parametrize(
    ("left", "why"),
    [
        ((), "no longer in the registry"),
        ((ServiceEntry("seekr", "http://127.0.0.1:9", False),), "switched off"),
    ],
)
def test_files_of_a_service_that_is_asked_for_no_more_are_removed_and_counted(
    service: Foreign, tmp_path: Path, left: tuple[ServiceEntry, ...], why: str
) -> None:
    other = ("other", service.url)
    generate(tmp_path, ("seekr", service.url), other, types="bash,cli")
    kept = files(tmp_path / "other")
    changed = tmp_path / "seekr" / "scripts" / "find.sh"
    changed.write_text("edited")
    mine = tmp_path / "seekr" / "cli" / "mine.py"
    mine.write_text("mine")
    # Neither a run for another service nor one for another type says anything about these files.
    for types, only in (("bash,cli", ("other",)), ("typescript", ())):
        report = generate(tmp_path, *left, other, types=types, only=only)
        assert (report.removed, report.ended, report.errors) == ([], [], [])
    report = generate(tmp_path, *left, other, types="bash,cli")
    assert report.removed == ["seekr/cli/find.py", "seekr/cli/look.py", "seekr/scripts/look.sh"]
    assert f"seekr: {why}; 3 earlier files removed" in report.lines()
    assert report.errors == [
        "seekr/scripts/find.sh: is stale, but was changed by somebody else; remove it"
    ]
    # Not what the generator never wrote, nor what somebody changed.
    assert files(tmp_path / "seekr") == {"scripts/find.sh", "cli/mine.py"}
    assert (changed.read_text(), mine.read_text()) == ("edited", "mine")
    changed.unlink()
    mine.unlink()
    report = generate(tmp_path, *left, other, types="bash,cli")
    assert (report.removed, report.ended, report.errors) == ([], [], [])
    assert files(tmp_path / "other") == {*kept, "typescript/other_client.ts"}


def test_files_of_a_service_that_is_away_stay_and_are_counted(
    service: Foreign, tmp_path: Path
) -> None:
    other = ("other", service.url)
    generate(tmp_path, ("seekr", service.url), other, types="bash")
    report = generate(tmp_path, ("seekr", "http://127.0.0.1:9"), other, types="bash")
    assert (report.removed, report.ended) == ([], [])
    assert "seekr: not read this time; 2 earlier files kept" in report.lines()
    assert len(files(tmp_path / "seekr")) == 2


def test_a_registry_that_is_all_switched_off_removes_nothing(
    service: Foreign, tmp_path: Path
) -> None:
    generate(tmp_path, ("seekr", service.url), types="bash")
    with pytest.raises(NothingToDo, match="switched off"):
        generate(tmp_path, ServiceEntry("seekr", service.url, False), types="bash")
    assert len(files(tmp_path / "seekr")) == 2


def test_a_tool_that_is_broken_for_once_keeps_its_files(service: Foreign, tmp_path: Path) -> None:
    generate(tmp_path, ("seekr", service.url))
    before = files(tmp_path)
    service.tools[0]["input_schema"] = None
    report = generate(tmp_path, ("seekr", service.url))
    assert len(report.errors) == 1
    assert (report.removed, files(tmp_path)) == ([], before)
    told = report.lines()
    assert "0 stale files removed, 5 kept, 1 error" in told[1]
    assert told[2] == "seekr: 5 earlier files kept of tools that could not be made"


def test_a_tool_that_is_always_broken_keeps_the_files_of_no_other(tmp_path: Path) -> None:
    # F3-23
    broken = ("look", "look-at", "Look", "漢字", "1st", "email", "get_user")
    gone = ("find", "looks", "look_up", "outlook", "tool_of")
    with foreign([tool(name) for name in (*broken, *gone)]) as service:
        assert generate(tmp_path, ("seekr", service.url)).errors == []
        before = files(tmp_path)
        service.tools = [{"name": name} for name in broken]
        report = generate(tmp_path, ("seekr", service.url))
    assert len(report.errors) == len(broken)
    left = files(tmp_path)
    assert {path.rpartition("/")[2] for path in before - left if "/scripts/" in path} == {
        f"{name}.sh" for name in gone
    }
    # A script, a command line, and a skill with its text, its script and its definition; the two modules are made.
    assert (len(report.removed), len(left)) == (5 * len(gone), 5 * len(broken) + 2)
    assert "25 stale files removed, 35 kept, 7 errors" in report.lines()[1]


@pytest.mark.parametrize("nameless", ["nothing", {"description": "No name."}, {"name": " "}])
def test_an_entry_without_a_name_keeps_all_files(
    service: Foreign, tmp_path: Path, nameless: object
) -> None:
    generate(tmp_path, ("seekr", service.url), types="bash")
    service.tools[0] = nameless
    report = generate(tmp_path, ("seekr", service.url), types="bash")
    assert (report.removed, len(files(tmp_path))) == ([], 2)
    assert report.spared == {"seekr": 1}


def test_files_of_somebody_else_are_neither_overwritten_nor_removed(
    service: Foreign, tmp_path: Path
) -> None:
    path = tmp_path / "seekr" / "scripts" / "look.sh"
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    report = generate(tmp_path, ("seekr", service.url), types="bash")
    assert report.errors == [
        "seekr/scripts/look.sh: was written or changed by somebody else; move it away"
    ]
    path.unlink()
    assert generate(tmp_path, ("seekr", service.url), types="bash").errors == []
    path.write_text("edited")
    del service.tools[0]
    report = generate(tmp_path, ("seekr", service.url), types="bash")
    assert "is stale, but was changed by somebody else" in report.errors[0]
    assert path.read_text() == "edited"


def test_a_manifest_leads_nowhere_else(service: Foreign, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    folder = tmp_path / "made"
    folder.mkdir()
    paths = ("../outside", str(outside), "seekr/../../outside")
    (folder / MANIFEST).write_text(json.dumps({"files": {path: [empty] for path in paths}}))
    assert generate(folder, ("seekr", service.url)).removed == []
    assert outside.exists()
    for text in ("[", '{"files": 3}', "{}"):
        (folder / MANIFEST).write_text(text)
        with pytest.raises(TreeFault, match="move it away"):
            generate(folder, ("seekr", service.url))
    # An interrupted run has listed what it was about to write.
    (folder / MANIFEST).unlink()
    generate(tmp_path / "again", ("seekr", service.url), types="bash")
    again = generate(tmp_path / "again", ("seekr", service.url), types="bash")
    assert again.errors == []


def test_links_are_replaced_and_not_followed(service: Foreign, tmp_path: Path) -> None:
    generate(tmp_path, ("seekr", service.url), types="bash")
    script = tmp_path / "seekr" / "scripts" / "look.sh"
    target = tmp_path / "target"
    target.write_bytes(script.read_bytes())
    script.unlink()
    script.symlink_to(target)
    service.tools[0]["description"] = "Another."
    generate(tmp_path, ("seekr", service.url), types="bash")
    assert not script.is_symlink()
    assert "Another." not in target.read_text()


def test_a_path_that_is_not_as_it_should_be_is_told_and_stops_no_other(
    service: Foreign, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    made = tmp_path / "made"
    (made / "seekr" / "scripts" / "look.sh").mkdir(parents=True)
    (made / "seekr" / "cli").symlink_to(outside)
    report = generate(made, ("seekr", service.url), types="bash,cli,skill")
    assert [one.partition(": ")[0] for one in report.errors] == [
        *("seekr/scripts/look.sh", "seekr/cli/find.py", "seekr/cli/look.py"),
    ]
    assert list(outside.iterdir()) == []
    # Nor is anything removed through such a link.
    (made / "seekr" / "skills").rename(tmp_path / "elsewhere")
    (made / "seekr" / "skills").symlink_to(tmp_path / "elsewhere")
    service.tools.clear()
    assert generate(made, ("seekr", service.url), types="skill").removed == []
    assert (made / "seekr" / "skills" / "find.json").is_file()


def test_what_services_say_moves_no_cursor(tmp_path: Path) -> None:
    with foreign([{"name": f"\x1b[2J{'x' * 100}"}, {"name": "a\nError: none"}]) as service:
        report = generate(tmp_path, ("seekr", service.url))
    assert len(report.lines()) == 4
    for line in report.lines():
        assert line.isprintable()
        assert len(line) < 600


@pytest.mark.parametrize("name", ["timeout", "value", "type", "range"])
def test_a_client_raises_no_error_of_its_language(
    service: Foreign, tmp_path: Path, name: str
) -> None:
    generate(tmp_path, (name, service.url), types="python,typescript")
    module = load(tmp_path / name / "python" / f"{name}_client.py")
    own = f"{name.capitalize()}Error"
    assert not hasattr(module, own)
    assert issubclass(getattr(module, f"{name.capitalize()}ServiceError"), Exception)
    written = (tmp_path / name / "typescript" / f"{name}_client.ts").read_text()
    assert f"class {own} " not in written


def test_types_of_arguments_hide_nothing_the_module_uses(tmp_path: Path) -> None:
    shape = {"type": "object", "properties": {"a": {"type": "string"}}}
    tools = [tool("typed", dict=shape), tool("base", exception=shape), tool("named", tuple=shape)]
    with foreign(tools) as service:
        assert generate(tmp_path, ("seekr", service.url), types="python").errors == []
    module = load(tmp_path / "seekr" / "python" / "seekr_client.py")
    assert (module.TypedDict, module.NamedTuple) == (TypedDict, NamedTuple)
    assert not hasattr(module, "BaseException")


def test_a_type_is_called_like_no_method_and_no_parameter(tmp_path: Path) -> None:
    # F3-17: where both are known, mypy takes the name for the other one.
    shape = {"type": "object", "properties": {"a": {"type": "string"}}}
    tools = [tool("BuyItem"), tool("buy", item=shape, BuyArguments={"type": "string"})]
    with foreign(tools) as service:
        assert generate(tmp_path, ("seekr", service.url), types="python").errors == []
    module = load(tmp_path / "seekr" / "python" / "seekr_client.py")
    parameters = module.SeekrClient.buy.__annotations__
    assert parameters["item"] == "BuyItem_ | None"
    assert set(module.BuyArguments_.__annotations__) == {"item", "BuyArguments"}
    assert not hasattr(module, "BuyArguments")


def test_run_bits_follow_the_umask(service: Foreign, tmp_path: Path) -> None:
    # F3-23
    before = os.umask(0o027)
    try:
        generate(tmp_path, ("seekr", service.url))
    finally:
        os.umask(before)
    modes = {
        path.suffix: stat.S_IMODE(path.stat().st_mode)
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert (modes[".sh"], modes[".md"]) == (0o750, 0o640)


def test_own_templates_come_first_one_by_one(service: Foreign, tmp_path: Path) -> None:
    # F3-21 S3-060
    own = tmp_path / "templates"
    (own / "bash").mkdir(parents=True)
    (own / "bash" / "tool_script.sh.j2").write_text(
        "{{ tool_name }}|{{ description }}|{{ arguments|to_json(0) }}|{{ service_url }}|"
        "{{ tool_name|snake_to_camel|upper_first }}|{{ arguments.word|python_type if arguments else '' }}"
    )
    generate(tmp_path / "out", ("seekr", service.url), types="bash,cli", templates=own)
    made = (tmp_path / "out" / "seekr" / "scripts" / "find.sh").read_text().replace("\n", "")
    expected = f'find|Does something.|{{"word": {{"type": "string"}}}}|{service.url}|Find|str'
    assert made == expected
    assert "argparse" in (tmp_path / "out" / "seekr" / "cli" / "find.py").read_text()


def test_a_template_that_fails_for_one_tool_fails_for_that_one(
    service: Foreign, tmp_path: Path
) -> None:
    # F3-21 F3-23
    own = tmp_path / "templates"
    (own / "bash").mkdir(parents=True)
    (own / "python").mkdir()
    (own / "bash" / "tool_script.sh.j2").write_text("{{ arguments.word.type }}")
    (own / "python" / "service_client.py.j2").write_text(
        "{% for one in tools %}{{ one.arguments[0].key }}{% endfor %}"
    )
    generate(tmp_path / "out", ("seekr", service.url), types="bash,python")
    report = generate(tmp_path / "out", ("seekr", service.url), types="bash,python", templates=own)
    assert [one.partition(": ")[0] for one in report.errors] == ["seekr/look", "seekr/look"]
    # What could not be made this time stays as it was.
    assert "look" in (tmp_path / "out" / "seekr" / "scripts" / "look.sh").read_text()
    assert (tmp_path / "out" / "seekr" / "scripts" / "find.sh").read_text() == "string"
    assert (tmp_path / "out" / "seekr" / "python" / "seekr_client.py").read_text() == "word"
    (own / "bash" / "tool_script.sh.j2").write_text("{{ 1 / 0 }}{{ tool.__class__.__mro__ }}")
    report = generate(tmp_path / "out", ("seekr", service.url), types="bash", templates=own)
    assert "ZeroDivisionError" in report.errors[0]


def test_an_empty_list_of_tools_is_a_service_without_wrappers(tmp_path: Path) -> None:
    with foreign() as nothing:
        report = generate(tmp_path, ("seekr", nothing.url))
    assert report.errors == []
    assert files(tmp_path) == {"seekr/python/seekr_client.py", "seekr/typescript/seekr_client.ts"}
