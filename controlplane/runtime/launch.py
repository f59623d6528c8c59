"""Starting the supervisor and waiting for the first answer."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from controlplane.env import PROJECT_DIR
from controlplane.runtime import supervisor_config
from controlplane.runtime.control import NotRunning, SupervisorClient, wait_for
from controlplane.runtime.instance import Instance
from controlplane.runtime.logs import last_lines
from controlplane.runtime.orphans import stop_orphans
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.probe import (
    NO_ANSWER,
    HealthAnswer,
    NotTold,
    accepted_host,
    ask_health,
    refusal_of,
    served_catalogue,
)
from controlplane.runtime.programs import programs
from controlplane.runtime.refusal import StartRefused
from tools.conf import ServiceSettings

FIRST_ANSWER_SECONDS = 60.0
SETTLE_SECONDS = 10.0
FIRST_CALL_SECONDS = 60.0
CATALOGUE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start and where it will answer."""

    paths: RuntimePaths
    service: ServiceSettings
    instance: Instance
    config_file: str = ""

    def write(self) -> None:
        """Put the supervisor's file and the address in place.

        Raises:
            StartRefused: when a program is missing.
        """
        environment = settings.ENVIRONMENT
        listed = programs(
            self.paths,
            self.service,
            worker_concurrency=environment.worker_concurrency,
            pipeline_concurrency=environment.pipeline_concurrency,
            embedded_redis=not environment.redis_url,
        )
        supervisor_config.write(self.paths, listed)
        self.instance.write(self.paths)

    def start(self) -> subprocess.Popen[bytes]:
        """Start a supervisor in a session of its own, so that Ctrl-C reaches only who oversees it."""
        self.write()
        with self.paths.log("supervisord-start").open("wb") as output:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "controlplane.runtime.supervisord"),
                    *("-c", str(self.paths.supervisor_config), "-n"),
                ],
                cwd=PROJECT_DIR,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def health(self) -> HealthAnswer:
        """What the web process says now."""
        address = self.instance.address
        return ask_health(address, accepted_host(address, settings.ALLOWED_HOSTS))

    def wait_for_catalogue(
        self, number: int, key: str | None, given_up: Callable[[], bool]
    ) -> None:
        """Wait until the web process serves that catalogue; not where it does not tell which."""
        address = self.instance.address
        host = accepted_host(address, settings.ALLOWED_HOSTS)

        def served() -> bool:
            told = served_catalogue(address, host, key)
            return given_up() or (told is not None and told >= number)

        with contextlib.suppress(NotTold):
            wait_for(served, CATALOGUE_SECONDS)

    def wait_for_call(self, call: str, key: str | None, given_up: Callable[[], bool]) -> str:
        """Wait until a call succeeds, as the next one then will; else why it does not."""
        address = self.instance.address
        host = accepted_host(address, settings.ALLOWED_HOSTS)
        limit = time.monotonic() + FIRST_CALL_SECONDS
        while (refusal := refusal_of(address, host, call, key)) is not None:
            if not refusal.passing or given_up() or time.monotonic() >= limit:
                return refusal.reason
            # Each try is a call in the request log.
            time.sleep(1)
        return ""

    def wait_for_answer(
        self, supervisor: subprocess.Popen[bytes], given_up: Callable[[], bool]
    ) -> HealthAnswer:
        """Wait until the web process answers GET /health, and a little for it to be healthy.

        Raises:
            StartRefused: when it does not, with the end of its log; everything was stopped.
        """
        answer = NO_ANSWER
        client = SupervisorClient(self.paths)

        def over() -> bool:
            # Each question also wakes the supervisor, which otherwise idles before its first start.
            client.alive()
            return supervisor.poll() is not None or given_up()

        def well() -> bool:
            nonlocal answer
            answer = self.health()
            return over() or answer.well

        wait_for(lambda: over() or self.health().answered, FIRST_ANSWER_SECONDS)
        # The worker takes a little longer than the web process; calls are served meanwhile.
        wait_for(well, SETTLE_SECONDS)
        if answer.answered or given_up():
            return answer
        ended = supervisor.poll() is not None
        stop(self.paths, supervisor, self.service.server_graceful_shutdown_seconds)
        raise StartRefused(self._why_not(ended))

    def _environment(self) -> dict[str, str]:
        # Processes run in the project folder, where a relative path would mean another place.
        values = {**os.environ, "VAR_DIR": str(self.paths.var_dir)}
        if self.config_file:
            values["CONFIG_FILE"] = str(Path(self.config_file).resolve())
        # Only needed to create the administrator.
        values.pop("ADMIN_PASSWORD", None)
        return values

    def _why_not(self, supervisor_ended: bool) -> str:
        log = self.paths.log("supervisord-start" if supervisor_ended else "web")
        if not supervisor_ended and self.service.server_workers > 1:
            log = self.paths.log("web-1")
        lines = "\n  ".join(last_lines(log, 15)) or "(empty)"
        what = (
            "The supervisor did not start" if supervisor_ended else "The web process did not answer"
        )
        return f"{what}. The end of {log}:\n  {lines}"


def stop(paths: RuntimePaths, supervisor: subprocess.Popen[bytes], graceful_seconds: float) -> bool:
    """Stop everything and wait for it; False when it took force."""
    try:
        # Over the socket, because the supervisor sees that at once and a signal only at its next look.
        SupervisorClient(paths).shutdown()
    except NotRunning:
        if supervisor.poll() is None:
            supervisor.terminate()
    in_time = wait_for(lambda: supervisor.poll() is not None, graceful_seconds + 5)
    if not in_time:
        supervisor.kill()
        supervisor.wait()
    if not in_time or supervisor.returncode != 0:
        stop_orphans(paths, seconds=2)
    return in_time
