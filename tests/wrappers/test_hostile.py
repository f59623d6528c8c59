"""What services say, and what callers send, is text and nothing but text."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.node_env import NODE, node_environment, typescript_compiler
from tests.wrappers.foreign import Foreign, foreign
from tests.wrappers.generating import generate
from tests.wrappers.hostile import NAMES, TEXTS, VALUES, hostile_tools
from tests.wrappers.running import PROGRAM, load, run, run_all
from tools.services.generate_wrappers import Report
from tools.wrappers.tool_list import whole


@dataclass(frozen=True)
class Made:
    service: Foreign
    report: Report
    folder: Path

    @property
    def module(self) -> Any:
        return load(self.folder / "odd" / "python" / "odd_client.py")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("hostile")
    # Modules of Python are loaded into this process: what they left behind would be here, too.
    with foreign(hostile_tools()) as service, chdir(folder):
        report = generate(folder, ("odd", service.url))
        yield Made(service, report, folder)
    assert not list(folder.rglob("pwned"))


def test_everything_is_generated_and_stays_inside_its_folder(made: Made) -> None:
    assert made.report.errors == []
    paths = [path.relative_to(made.folder).parts for path in made.folder.rglob("*")]
    assert {parts[0] for parts in paths} == {"odd", ".wrappers.json"}
    assert made.report.tools["odd"] == len({*NAMES} - {""}) + len(TEXTS) + 3
    assert len(list((made.folder / "odd" / "scripts").iterdir())) == made.report.tools["odd"]


def test_every_script_tells_how_it_is_used(made: Made) -> None:
    # F3-16 F3-18
    scripts = [
        path
        for folder in ("scripts", "cli")
        for name in ("text_*", "every_*")
        for path in (made.folder / "odd" / folder).glob(name)
    ]
    for done in run_all(([path, "--help"] for path in scripts), made.folder):
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        assert "--timeout" in done.stdout


def test_the_clients_pass_strict_type_checking(made: Made) -> None:
    # F3-17
    files = [
        made.folder / "odd" / "python" / "odd_client.py",
        *(made.folder / "odd" / "cli" / f"{name}.py" for name in ("every_name", "plain", "text_4")),
    ]
    checked = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file="),
            *("--cache-dir", str(made.folder.parent / "types"), *map(str, files)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def test_the_typescript_module_compiles_strictly(made: Made) -> None:
    file = made.folder / "odd" / "typescript" / "odd_client.ts"
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext"]
    options += ["--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]
    options += [
        "--lib",
        "es2022,dom",
        "--erasableSyntaxOnly",
        "--noPropertyAccessFromIndexSignature",
    ]
    done = subprocess.run(
        [str(NODE), str(typescript_compiler()), *options, str(file)],
        env=dict(node_environment()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_comments_of_the_typescript_module_are_comments_of_one_line(made: Made) -> None:
    written = (made.folder / "odd" / "typescript" / "odd_client.ts").read_text()
    told = [line for line in written.splitlines() if line.startswith("/** Arguments of ")]
    assert len(told) == made.report.tools["odd"]
    assert "/** Arguments of then. */" in told
    assert "/** Arguments of *\\/. */" in told
    assert [line for line in told if "* then" in line or line.count("*/") != 1] == []


def test_values_arrive_as_they_were_sent(made: Made) -> None:
    sent = {f"w{place}": value.replace("\0", "") for place, value in enumerate(VALUES)}
    options = [f"--{name}={value}" for name, value in sent.items()]
    for path in ("scripts/many.sh", "cli/many.py"):
        done = run([made.folder / "odd" / path, *options], made.folder)
        assert json.loads(done.stdout)["echo"] == sent, done.stderr
    assert made.module.OddClient(retry=False).many(**sent)["echo"] == sent
    # Nothing is lost on the way of the async client, which writes HTTP itself, nor a NUL of a program.
    for values in (sent, {f"w{place}": value for place, value in enumerate(VALUES)}):
        answer = asyncio.run(made.module.AsyncOddClient(retry=False).many(**values))
        assert (answer["echo"], made.service.calls[-1]["arguments"]) == (values, values)


def test_values_arrive_through_the_typescript_client_as_they_were_sent(made: Made) -> None:
    # F3-20
    file = made.folder / "odd" / "typescript" / "odd_client.ts"
    many = {f"w{place}": value for place, value in enumerate(VALUES)}
    kinds = {
        "whole": -3,
        "number": 1.5,
        "truth": False,
        "items": list(VALUES),
        "object": {**dict.fromkeys(NAMES, 1), **dict.fromkeys(VALUES[:12], None)},
        "anything": {"text": TEXTS[12], "half": "\ud83d", "deep": [[[{}]]]},
        "maybe": None,
    }
    calls = {"many": many, "plain": kinds}
    orders = made.folder.parent / "orders.json"
    # They are longer than an argument of a program may be.
    orders.write_text(json.dumps({"calls": calls, "codes": {}, "retries": {}}))
    made.service.calls.clear()
    done = subprocess.run(
        [str(NODE), str(PROGRAM), str(file), "Odd", f"@{orders}"],
        cwd=made.folder,
        env=dict(node_environment()),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    seen = told["calls"]
    assert {tool: one["data"]["echo"] for tool, one in seen.items()} == calls
    # Tools called then, toString and toJSON are called by nobody else.
    assert told["used"] == {"awaited": True, "shown": "[object Object]", "json": '{"once":{}}'}
    assert [(one["tool"], one["arguments"]) for one in made.service.calls] == list(calls.items())


def test_every_kind_of_value_keeps_its_kind(made: Made) -> None:
    given = ["--whole=-3", "--number=1.5e3", "--truth", '--object={"a": [1]}', "--anything=[null]"]
    expected = {
        "whole": -3,
        "number": 1500,
        "truth": True,
        "object": {"a": [1]},
        "anything": [None],
        "items": ["-a", 'b"'],
        "maybe": "null",
    }
    bash = [*given, '--items=["-a", "b\\""]', "--maybe=null"]
    cli = [*given, "--items=-a", '--items=b"', "--maybe=null"]
    for path, options in (("scripts/plain.sh", bash), ("cli/plain.py", cli)):
        done = run([made.folder / "odd" / path, *options], made.folder)
        assert json.loads(done.stdout)["echo"] == expected, done.stderr
    client = made.module.OddClient()
    assert client.plain(**expected)["echo"] == expected
    # What is not given is left out; None is sent where it is a value.
    assert client.plain()["echo"] == {}
    assert client.plain(maybe=None, anything=None)["echo"] == {"maybe": None, "anything": None}
    waiting = made.module.AsyncOddClient()
    assert asyncio.run(waiting.plain(**expected))["echo"] == expected
    assert asyncio.run(waiting.plain())["echo"] == {}
    nothing = asyncio.run(waiting.plain(maybe=None, anything=None))
    assert nothing["echo"] == {"maybe": None, "anything": None}


@pytest.mark.parametrize(
    "wrong",
    [
        *("--whole=1.0", "--whole=x", "--whole=01", "--number=nan", "--number=Infinity"),
        *("--truth=perhaps", "--object=[]", "--object={", "--unknown=1", "--timeout=x"),
        *("--number=1e999", "--items=[1e999]", '--object={"a": 1e999}', "--anything=-1e999"),
        *('--object={"a": NaN}', "-x", "--timeout=-5", "--timeout=0", "--timeout=00.000"),
        *("--timeout=1000001", "--object=" + '{"a":' * 20_000 + "1" + "}" * 20_000),
    ],
)
def test_a_value_of_another_kind_is_refused_before_anything_is_sent(made: Made, wrong: str) -> None:
    made.service.calls.clear()
    for path in ("scripts/plain.sh", "cli/plain.py"):
        if (path, wrong) == ("cli/plain.py", "--whole=01"):
            # Python reads it as a number.
            continue
        done = run([made.folder / "odd" / path, wrong], made.folder)
        assert done.returncode in {1, 2}
        assert wrong.partition("=")[0] in done.stderr
    assert made.service.calls == []


@pytest.mark.parametrize(
    ("given", "echo"),
    [
        (["--truth", "No"], {"truth": False}),
        (["--truth=YES"], {"truth": True}),
        (["--truth", "0", "--word=x"], {"truth": False, "word": "x"}),
        (["--anything=NaN"], {"anything": "NaN"}),
        (["--anything=[-Infinity]"], {"anything": "[-Infinity]"}),
        (["--anything=9007199254740992"], {"anything": 9007199254740992}),
        (['--object={"9007199254740993": "\\"9007199254740993"}'], None),
        (["--anything=" + "[" * 20_000], {"anything": "[" * 20_000}),
        (["--number=0.30000000000000004"], {"number": 0.30000000000000004}),
        (["--number=100.00000000000000000"], {"number": 100}),
        (["--number=1e22"], {"number": 1e22}),
    ],
)
def test_both_command_lines_send_the_same(
    made: Made, given: list[str], echo: dict[str, Any] | None
) -> None:
    expected = echo or {"object": {"9007199254740993": '"9007199254740993'}}
    for path in ("scripts/plain.sh", "cli/plain.py"):
        done = run([made.folder / "odd" / path, *given], made.folder)
        assert done.returncode == 0, done.stderr
        assert made.service.calls[-1]["arguments"] == expected


@pytest.mark.parametrize(
    "given",
    [
        *("--whole=9007199254740993", "--items=[9007199254740993]", "--anything=9007199254740993"),
        *('--object={"a": ["1", -12345678901234567890]}', "--number=900719925474099.31"),
    ],
)
def test_a_script_sends_the_number_that_was_given_or_none(made: Made, given: str) -> None:
    # jq before 1.7 rounds; a newer one keeps what it reads.
    name, _, written = given.removeprefix("--").partition("=")
    made.service.calls.clear()
    done = run([made.folder / "odd" / "scripts" / "plain.sh", given], made.folder)
    if done.returncode == 0:
        assert made.service.calls[-1]["arguments"] == {name: json.loads(written)}
    else:
        assert f"--{name} has a number of more digits than jq keeps" in done.stderr
        assert made.service.calls == []


def test_a_script_takes_arguments_by_position_once(made: Made) -> None:
    script = made.folder / "odd" / "scripts" / "plain.sh"
    for given, echo in (
        (["-", "-5"], {"word": "-", "whole": -5}),
        (["--truth", "false", "x", "-3"], {"truth": False, "word": "x", "whole": -3}),
        (["--word=x", "", "3"], {"word": "x", "whole": 3}),
        (["--", "-x"], {"word": "-x"}),
    ):
        done = run([script, *given], made.folder)
        assert json.loads(done.stdout)["echo"] == echo, done.stderr
    made.service.calls.clear()
    for given in (["--word=x", "y"], ["y", "--word", "x"]):
        assert "--word is given twice" in run([script, *given], made.folder).stderr
    assert made.service.calls == []


@pytest.mark.parametrize("url", ["http://h:99999", "http://[", "http://h/é", "http://h/a b", "x"])
def test_an_address_that_is_none_is_told(made: Made, url: str) -> None:
    for path in ("scripts/plain.sh", "cli/plain.py"):
        done = run(
            [made.folder / "odd" / path, f"--service-url={url}"], made.folder, LANG="C.UTF-8"
        )
        assert done.returncode == 1
        assert done.stderr.startswith("Error: [")
        assert len(done.stderr.splitlines()) == 1


def test_a_timeout_that_no_timer_knows_is_refused(made: Made) -> None:
    done = run([made.folder / "odd" / "cli" / "plain.py", "--timeout=1e12"], made.folder)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


@pytest.mark.parametrize("given", ["0.0009", "1000000.001", "99999999"])
def test_a_timeout_that_means_none_to_curl_is_refused(made: Made, given: str) -> None:
    done = run([made.folder / "odd/scripts/plain.sh", "--timeout", given], made.folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "more than 0 and at most 1000000" in done.stderr


@pytest.mark.parametrize("given", ["0.5", "09", "1000000", "0030.0008"])
def test_every_other_timeout_is_taken_by_a_script(made: Made, given: str) -> None:
    done = run([made.folder / "odd/scripts/plain.sh", f"--timeout={given}"], made.folder)
    assert done.returncode == 0, done.stderr


def test_an_address_stands_for_one_call(made: Made) -> None:
    made.service.calls.clear()
    given = f"--service-url={made.service.url}/{{a,b}}[1-3]"
    done = run([made.folder / "odd" / "scripts" / "plain.sh", given], made.folder)
    assert (done.returncode, len(made.service.calls)) == (0, 1), done.stderr


STEERING = "".join(
    map(
        chr,
        [*range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)],
    )
)
READABLE = "Grüße 漢字 שלום \u00a0 – 😀 \\"


@pytest.mark.parametrize("option", [(), ("--json",)], ids=["data", "whole"])
@pytest.mark.parametrize(
    "program", ["scripts/plain.sh", "cli/plain.py", "skills/odd-plain/scripts/plain.sh"]
)
def test_an_answer_cannot_steer_the_terminal_it_is_printed_to(
    made: Made, program: str, option: tuple[str, ...]
) -> None:
    # F3-16
    data = {"said": f"\x1b[2J{STEERING}{READABLE}{STEERING}", STEERING: READABLE}
    told = {"success": True, "data": data, "request_id": "1"}
    made.service.replies.append((200, {}, json.dumps(told, ensure_ascii=False).encode()))
    done = run([made.folder / "odd" / program, *option], LANG="C.UTF-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == (told if option else data)
    assert not set(done.stdout) & set(STEERING)
    # What people read stays readable.
    assert READABLE.strip("\\") in done.stdout


@pytest.mark.parametrize("program", ["scripts/plain.sh", "cli/plain.py"])
def test_an_error_cannot_steer_the_terminal_it_is_printed_to(made: Made, program: str) -> None:
    # F3-16
    told = {
        "success": False,
        "code": "EXECUTION_ERROR",
        "error": f"It {STEERING}broke.",
        "request_id": "1",
    }
    made.service.replies.append((500, {}, json.dumps(told, ensure_ascii=False).encode()))
    done = run([made.folder / "odd" / program, "--json"], LANG="C.UTF-8")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"] == told["error"]
    assert not set(done.stdout + done.stderr) & set(STEERING)


def test_a_script_prints_no_control_characters_of_what_is_no_json(made: Made) -> None:
    body = b'{"success": true, "data": "a\x1b[2Jb\x07", "request_id": "1"}\n'
    made.service.replies.append((200, {}, body))
    done = run([made.folder / "odd" / "scripts" / "plain.sh", "--json"])
    assert not set(done.stdout + done.stderr) & {"\x1b", "\x07"}


def test_a_script_prints_no_returns_that_would_write_over_a_line(made: Made) -> None:
    # Where they stand they are space to JSON, and were the end of a line to those who read this.
    body = b'{"success": true,\r"data": "kept", "request_id": "1"}'
    made.service.replies.append((200, {}, body))
    done = run([made.folder / "odd" / "scripts" / "plain.sh", "--json"])
    assert done.stdout == body.decode().replace("\r", "") + "\n"


def test_names_that_mean_something_elsewhere_are_sent_as_they_are(made: Made) -> None:
    definition = json.loads((made.folder / "odd" / "skills" / "every_name.json").read_text())
    keys = list(definition["input_schema"]["properties"])
    assert keys == list(dict.fromkeys(NAMES))
    expected = {key: f"value {place}" for place, key in enumerate(keys)}
    values = list(expected.values())
    scripted = run([made.folder / "odd" / "scripts" / "every_name.sh", *values], made.folder)
    assert json.loads(scripted.stdout)["echo"] == expected, scripted.stderr
    client = made.module.OddClient
    parameters = list(client.every_name.__annotations__)[: len(keys)]
    answer = client().every_name(**dict(zip(parameters, values, strict=True)))
    assert answer["echo"] == expected
    waiting = made.module.AsyncOddClient
    answer = asyncio.run(waiting().every_name(**dict(zip(parameters, values, strict=True))))
    assert answer["echo"] == expected
    # Tools by such names are called by them, too.
    for name in sorted({*NAMES} - {""}):
        assert client().call(name, {})["tool"] == name
        assert asyncio.run(waiting().call(name, {}))["tool"] == name
    odd = [one for one in sorted({*NAMES} - {""}) if not one.isalnum()]
    definitions = [
        json.loads(path.read_text()) for path in (made.folder / "odd/skills").glob("*.json")
    ]
    folders = {one["name"]: made.folder / "odd" / "skills" / one["skill"] for one in definitions}
    called = run_all([next((folders[name] / "scripts").iterdir())] for name in odd)
    assert [json.loads(one.stdout)["tool"] for one in called] == odd


def test_skills_have_front_matter_that_agent_programs_read(made: Made) -> None:
    # F3-19
    names = set()
    for path in (made.folder / "odd" / "skills").glob("*/SKILL.md"):
        front = yaml.safe_load(path.read_text().split("---\n")[1])
        assert set(front) == {"name", "description"}
        assert front["name"] == path.parent.name
        assert 0 < len(front["name"]) <= 64
        assert 0 < len(front["description"]) <= 1024
        assert "<" not in front["description"]
        names.add(front["name"])
        script = next((path.parent / "scripts").iterdir())
        plain = made.folder / "odd" / "scripts" / script.name
        assert script.read_bytes() == plain.read_bytes()
    assert len(names) == made.report.tools["odd"]


def test_definitions_of_skills_are_the_tools_own(made: Made) -> None:
    # F3-19, and the JSON form of the origin
    given = {one["name"]: one for one in hostile_tools()}
    found = [json.loads(path.read_text()) for path in (made.folder / "odd/skills").glob("*.json")]
    for one in found:
        listed = whole(given[one["name"]])
        assert one["description"] == listed["description"]
        assert one["input_schema"] == listed["input_schema"]
        assert one["endpoint"] == f"{made.service.url}/call-tool"
        assert one["version"] == "1.2.3"
        assert one["timestamp"].endswith("Z")
    assert {one["name"] for one in found} == set(given)
