"""The configuration file of supervisord, written anew at every start."""

from __future__ import annotations

import configparser
import os
import pwd
import resource
import shlex
from collections.abc import Sequence

from controlplane.env import PROJECT_DIR
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.programs import STORE, Program

WANTED_FILES = 4096
Sections = dict[str, dict[str, object]]


def render(paths: RuntimePaths, programs: Sequence[Program]) -> str:
    """The text of the file. Programs of one group are stopped together, groups one by one."""
    sections: Sections = {
        "unix_http_server": {"file": paths.supervisor_socket, "chmod": "0700"},
        "supervisord": _supervisord(paths),
        "rpcinterface:supervisor": {
            "supervisor.rpcinterface_factory": "supervisor.rpcinterface:make_main_rpcinterface"
        },
    }
    groups: dict[str, list[str]] = {}
    for program in programs:
        groups.setdefault(program.group, []).append(program.name)
        sections[f"program:{program.name}"] = _program(paths, program)
    for group, names in groups.items():
        # Low numbers start first and stop last.
        sections[f"group:{group}"] = {
            "programs": ",".join(names),
            "priority": 10 if group == STORE else 100,
        }
    return "\n".join(_section(name, values) for name, values in sections.items())


def write(paths: RuntimePaths, programs: Sequence[Program]) -> None:
    """Put the file in place, whole or not at all."""
    temporary = paths.supervisor_config.with_suffix(".new")
    temporary.write_text(render(paths, programs))
    temporary.replace(paths.supervisor_config)


def read_commands(paths: RuntimePaths) -> dict[str, list[str]]:
    """The command lines in the file of the last start, by program; none when there was no start."""
    parser = configparser.RawConfigParser()
    try:
        parser.read(paths.supervisor_config)
    except configparser.Error:
        return {}
    return {
        section.removeprefix("program:"): [
            part.replace("%%", "%") for part in shlex.split(parser[section]["command"])
        ]
        for section in parser.sections()
        if section.startswith("program:")
    }


def _supervisord(paths: RuntimePaths) -> dict[str, object]:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    return {
        "logfile": paths.log("supervisord"),
        "logfile_maxbytes": "10MB",
        "logfile_backups": 3,
        "pidfile": paths.supervisor_pid,
        "identifier": f"controlplane-{paths.digest}",
        "childlogdir": paths.log_dir,
        "directory": PROJECT_DIR,
        # Named so that supervisord does not warn a root operator about itself.
        "user": pwd.getpwuid(os.getuid()).pw_name,
        "minfds": files,
        "minprocs": 32,
        "silent": "true",
    }


def _program(paths: RuntimePaths, program: Program) -> dict[str, object]:
    return {
        "command": shlex.join(program.arguments),
        "directory": PROJECT_DIR,
        "autostart": "true",
        "autorestart": "true",
        "startsecs": program.start_seconds,
        # Never reached: controlplane.runtime.supervisord does not count failures towards it.
        "startretries": 1000,
        "stopsignal": "TERM",
        "stopwaitsecs": program.stop_seconds,
        "killasgroup": "true",
        "redirect_stderr": "true",
        # supervisord expands this one twice.
        "stdout_logfile": str(paths.log(program.name)).replace("%", "%%"),
        "stdout_logfile_maxbytes": "10MB",
        "stdout_logfile_backups": 5,
    }


def _section(name: str, values: dict[str, object]) -> str:
    # supervisord expands %(...)s in every value.
    lines = [f"{key} = {str(value).replace('%', '%%')}" for key, value in values.items()]
    return "\n".join([f"[{name}]", *lines, ""])
