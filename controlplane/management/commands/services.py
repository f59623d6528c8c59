"""`manage.py services`: see and steer the processes of a running control plane."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from controlplane.management.commands.up import add_start_arguments, start_options
from controlplane.runtime.control import NotRunning, ProcessState, SupervisorClient
from controlplane.runtime.instance import read_instance, sole_starter
from controlplane.runtime.logs import follow, last_lines, log_files
from controlplane.runtime.refusal import StartRefused
from controlplane.runtime.startup import Startup, create_folders, quiet_logs, speaker
from controlplane.runtime.steering import Steering, UnknownProcess
from controlplane.runtime.table import Cell, duration, render, wants_colour
from controlplane.runtime.units import launchd_plist, systemd_unit

WELL, UNWELL, NOTHING_RUNS = 0, 1, 3
HELP = """
Actions:
  status            processes with state, pid, uptime, port and health
  start [NAME]      start what is stopped; with nothing running, start everything in the background
  stop [NAME]       stop one process; without a name everything, the supervisor too
  restart [NAME]    restart one process; without a name everything, with the settings as they are now
  reload            make the web processes read their configuration again, connections kept
  logs [NAME]       the last lines of the logs (-n COUNT), and what follows (-f)
  health            what GET /health says about each dependency
  unit              a systemd unit that starts the control plane at boot (--launchd: for macOS)

NAME is redis, web, worker, pipelines or beat.

Exit codes: 0 all is well, 1 something is not, 2 wrong usage, 3 nothing is running.
"""


class Command(BaseCommand):
    """One action on the processes that `manage.py up` or `services start` started."""

    help = "See and steer the processes of the control plane."
    requires_system_checks = []

    @override
    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        from argparse import RawDescriptionHelpFormatter

        parser = super().create_parser(prog_name, subcommand, epilog=HELP, **kwargs)
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=sorted(self._actions()), metavar="ACTION")
        parser.add_argument("name", nargs="?", metavar="NAME")
        parser.add_argument("-n", "--lines", type=int, default=100, help="logs: how many lines")
        parser.add_argument("-f", "--follow", action="store_true", help="logs: go on as they grow")
        parser.add_argument("--launchd", action="store_true", help="unit: a launchd property list")
        add_start_arguments(parser)

    @override
    def handle(self, *args: Any, action: str, **options: Any) -> None:
        self._paths = settings.RUNTIME_PATHS
        self._say = speaker(self.stdout)
        self._steering = Steering(self._paths)
        self._colour = wants_colour(sys.stdout, forced_off=options["no_color"])
        try:
            code = self._actions()[action](options)
        except NotRunning:
            raise CommandError(
                f"Nothing is running from {self._paths.var_dir}. Start it with `manage.py up`, or "
                "in the background with `manage.py services start`.",
                returncode=NOTHING_RUNS,
            ) from None
        except (StartRefused, UnknownProcess) as fault:
            raise CommandError(str(fault), returncode=UNWELL) from None
        if code != WELL:
            sys.exit(code)

    def _actions(self) -> dict[str, Callable[[dict[str, Any]], int]]:
        return {
            "status": self._status,
            "start": self._start,
            "stop": self._stop,
            "restart": self._restart,
            "reload": self._reload,
            "logs": self._logs,
            "health": self._health,
            "unit": self._unit,
        }

    def _status(self, options: dict[str, Any]) -> int:
        return self._show(self._steering.processes())

    def _start(self, options: dict[str, Any]) -> int:
        if SupervisorClient(self._paths).alive():
            return self._show(self._steering.start(options["name"]))
        create_folders(self._paths)
        with sole_starter(self._paths), quiet_logs():
            startup = Startup(self._paths, start_options(options), self._say)
            launch = startup.prepare()
            supervisor = startup.start(launch, foreground=False, given_up=lambda: False)
        _leave_running(supervisor)
        return WELL

    def _stop(self, options: dict[str, Any]) -> int:
        if options["name"]:
            stopped = self._steering.stop(options["name"])
            self._say(f"Stopped {', '.join(one.name for one in stopped)}.")
            return WELL if all(one.stopped for one in stopped) else UNWELL
        self._steering.processes()  # says so when nothing runs, before anything is announced
        self._say("Stopping; calls in flight are finished first.")
        ended = self._steering.stop_all()
        self._say("Stopped." if ended else "The supervisor has not ended yet.")
        return WELL if ended else UNWELL

    def _restart(self, options: dict[str, Any]) -> int:
        name = options["name"]
        return self._show(self._steering.restart(name) if name else self._steering.restart_all())

    def _reload(self, options: dict[str, Any]) -> int:
        told = self._steering.reload()
        self._say(
            f"Told {', '.join(one.name for one in told)} to read the configuration again; "
            "`services logs web` shows what came of it."
        )
        return WELL

    def _logs(self, options: dict[str, Any]) -> int:
        files = log_files(self._paths, options["name"])
        if not files:
            of = f" of {options['name']!r}" if options["name"] else ""
            raise CommandError(f"There is no log{of} in {self._paths.log_dir}.", returncode=UNWELL)
        for file in files:
            if len(files) > 1:
                self._say(f"==> {file.name} <==")
            for line in last_lines(file, options["lines"]):
                self._say(line)
        if options["follow"]:
            # Ends with Ctrl-C or with whoever reads our output.
            with suppress(KeyboardInterrupt, BrokenPipeError):
                for line in follow(files, gone=lambda: False):
                    self.stdout.write(line)
                    self.stdout.flush()
        return WELL

    def _health(self, options: dict[str, Any]) -> int:
        self._steering.processes()
        answer = self._steering.health()
        rows = [
            [
                Cell(name),
                Cell(str(found.get("status")), found.get("status") == "connected"),
                Cell(f"{found['response_time_ms']} ms" if "response_time_ms" in found else "-"),
                Cell(str(found.get("error") or "")),
            ]
            for name, found in answer.dependencies.items()
        ]
        overall = [Cell("service"), Cell(answer.status, answer.well), Cell("-"), Cell("")]
        header = ("NAME", "HEALTH", "TIME", "ERROR")
        self._say(render(header, [overall, *rows], colour=self._colour))
        return WELL if answer.well else UNWELL

    def _unit(self, options: dict[str, Any]) -> int:
        text = launchd_plist(self._paths) if options["launchd"] else systemd_unit(self._paths)
        self._say(text.rstrip())
        return WELL

    def _show(self, processes: list[ProcessState]) -> int:
        instance = read_instance(self._paths)
        service = self._steering.health()
        rows = []
        well = True
        for process in processes:
            health, good = self._steering.health_of(process, service)
            well = well and process.running and good is not False
            is_web = process.name.startswith("web")
            rows.append(
                [
                    Cell(process.name),
                    Cell(process.state, process.running),
                    Cell(str(process.pid) if process.pid else "-"),
                    Cell(duration(process.uptime_seconds) if process.pid else "-"),
                    Cell(str(instance.port) if instance and is_web else "-"),
                    Cell(health, good),
                ]
            )
        header = ("NAME", "STATE", "PID", "UPTIME", "PORT", "HEALTH")
        self._say(render(header, rows, colour=self._colour))
        return WELL if well else UNWELL


def _leave_running(supervisor: subprocess.Popen[bytes]) -> None:
    """Let go of a child that is meant to outlive us; Popen would warn about it."""
    supervisor.returncode = 0
