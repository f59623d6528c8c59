"""Everything between the command line and the first answer, in the order an operator sees it."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage
from django.core.management.base import OutputWrapper

from controlplane import __version__
from controlplane.runtime import prepare
from controlplane.runtime.binding import check_port_is_free
from controlplane.runtime.instance import Instance
from controlplane.runtime.launch import Launch
from controlplane.runtime.orphans import stop_orphans
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.prepare import Login
from controlplane.runtime.probe import HealthAnswer, redis_answers
from controlplane.runtime.refusal import StartRefused
from controlplane.runtime.release import release_database
from controlplane.runtime.report import (
    DEMO_CALL,
    FIRST_CALL,
    WARMING_CALL,
    Welcome,
    login_lines,
)
from controlplane.runtime.service import effective_settings

Say = Callable[[str], None]


def speaker(stream: OutputWrapper) -> Say:
    """Writes a line at once; a reader that went away is no reason to stop serving."""

    def say(text: str) -> None:
        with suppress(OSError):
            stream.write(text)
            stream.flush()

    return say


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line of a start may say."""

    host: str | None = None
    port: int | None = None
    config: str | None = None
    demo: bool = True
    corpus: bool = True


def create_folders(paths: RuntimePaths) -> None:
    """Make the state folder.

    Raises:
        StartRefused: when this user may not write there.
    """
    try:
        paths.create()
    except OSError as fault:
        reason = fault.strerror or fault
        raise StartRefused(
            f"The folder {paths.var_dir} (VAR_DIR) cannot be used: {reason}"
        ) from None


def _describe(answer: HealthAnswer) -> str:
    """The overall status, and what is wrong where something is."""
    wrong = [
        f"{name}: {found.get('error') or found.get('status')}"
        for name, found in answer.dependencies.items()
        if found.get("status") != "connected"
    ]
    return "; ".join([answer.status, *wrong])


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Keep warnings of parts that expect a running Redis off the operator's terminal."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


class Startup:
    """One start: prepares what is missing, starts the supervisor, welcomes the operator."""

    def __init__(self, paths: RuntimePaths, options: Options, say: Say) -> None:
        self._paths = paths
        self._options = options
        self._say = say
        self._login: Login | None = None
        self._demo_key: str | None = None

    def prepare(self) -> Launch:
        """Everything up to the point where processes start.

        Raises:
            StartRefused: saying what to change; nothing was started.
        """
        self._say(f"MCP control plane {__version__}, state in {self._paths.var_dir}")
        leftovers = {orphan.program for orphan in stop_orphans(self._paths, seconds=5)}
        if leftovers:
            self._say(f"  Leftovers   of a killed run were stopped: {', '.join(sorted(leftovers))}")
        applied = prepare.migrate()
        self._say(f"  Database    {f'{applied} migrations applied' if applied else 'up to date'}")
        self._apply_config()
        service = effective_settings(self._options.host, self._options.port)
        check_port_is_free(service.service_host, service.service_port)
        self._run_checks()
        self._look_for_redis()
        environment = settings.ENVIRONMENT
        self._login = prepare.ensure_administrator(
            environment.admin_user, environment.admin_password
        )
        if self._options.demo:
            self._seed()
        release_database()
        instance = Instance(
            service.service_host, service.service_port, self._options.host, self._options.port
        )
        return Launch(self._paths, service, instance, self._config_file())

    def start(
        self, launch: Launch, *, foreground: bool, given_up: Callable[[], bool]
    ) -> subprocess.Popen[bytes]:
        """Start the processes and wait for the first answer, then say where everything is.

        Raises:
            StartRefused: when the web process never answered; everything was stopped again.
        """
        self._say("  Processes   starting")
        supervisor = launch.start()
        try:
            answer = launch.wait_for_answer(supervisor, given_up)
        except StartRefused:
            # A generated password would be lost with this run: the next one finds the user there.
            if self._login is not None and self._login.password:
                self._say("\n".join(login_lines(self._login)))
            raise
        searchable = self._options.corpus and not given_up() and self._ingest_demo(given_up)
        searchable = searchable and self._pipelines_answer(launch, given_up)
        if self._login is not None and not given_up():
            self._say(
                str(
                    Welcome(
                        address=launch.instance.address,
                        paths=self._paths,
                        login=self._login,
                        health=_describe(answer),
                        keys_enabled=launch.service.security_api_keys_enabled,
                        demo_key=self._demo_key,
                        foreground=foreground,
                        first_call=DEMO_CALL if searchable else FIRST_CALL,
                    )
                )
            )
        return supervisor

    def _ingest_demo(self, given_up: Callable[[], bool]) -> bool:
        # Loaded here: a start without the demo has no use for it.
        from controlplane.runtime.demo import ingest_demo

        return ingest_demo(self._say, given_up)

    def _pipelines_answer(self, launch: Launch, given_up: Callable[[], bool]) -> bool:
        """Whether the call that is about to be printed will work: the web process and a worker know the index.

        It also makes the worker load its models, which the operator's own call then need not wait for.
        """
        if launch.service.security_api_keys_enabled and not self._demo_key:
            return True
        from controlplane.runtime.demo import catalogue_with_demo

        # A call that comes before the index is known would fail, and be the first in the log.
        launch.wait_for_catalogue(catalogue_with_demo(), self._demo_key, given_up)
        refusal = launch.wait_for_call(WARMING_CALL, self._demo_key, given_up)
        if refusal and not given_up():
            self._say(f"  Corpus      demo: it cannot be asked yet: {refusal}")
        return not refusal

    def _config_file(self) -> str:
        return self._options.config or str(settings.ENVIRONMENT.config_file)

    def _apply_config(self) -> None:
        path = self._config_file()
        if path:
            report = prepare.apply_file(str(Path(path).resolve()))
            self._say(f"  Config      {report or path}")

    def _seed(self) -> None:
        seeded = prepare.ensure_demo()
        self._demo_key = seeded.demo_key
        for row in seeded.skipped:
            self._say(f"  Demo        left alone: {row}")

    def _run_checks(self) -> None:
        faults: list[CheckMessage] = [
            message for message in checks.run_checks() if message.is_serious()
        ]
        if faults:
            listed = "\n  ".join(f"{fault.msg} {fault.hint or ''}".strip() for fault in faults)
            raise StartRefused(f"The settings cannot be used:\n  {listed}")

    def _look_for_redis(self) -> None:
        if settings.ENVIRONMENT.redis_url and not redis_answers(settings.REDIS_URL, timeout=2):
            self._say(
                "  Redis       does not answer (REDIS_URL). Starting anyway: calls are served "
                "without shared limits and jobs until it does."
            )
