"""What `manage.py services` does to the running processes."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings

from controlplane.runtime.binding import check_port_is_free
from controlplane.runtime.control import (
    NotRunning,
    ProcessState,
    SupervisorClient,
    process_lives,
    wait_for,
)
from controlplane.runtime.instance import Instance, read_instance
from controlplane.runtime.launch import Launch
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.probe import (
    NO_ANSWER,
    HealthAnswer,
    accepted_host,
    ask_health,
    forget_health,
    redis_answers,
)
from controlplane.runtime.service import effective_settings

START_SECONDS = 20.0
# server.graceful_shutdown_seconds is at most 60.
STOP_SECONDS = 70.0


class UnknownProcess(Exception):
    """No supervised process has that name; the message lists those there are."""


def named(processes: list[ProcessState], name: str | None) -> list[ProcessState]:
    """The processes called `name`; `web` means all of `web-1`, `web-2`; no name means all.

    Raises:
        UnknownProcess: when there is none.
    """
    found = [one for one in processes if name in (None, one.name, one.name.split("-")[0])]
    if not found:
        known = ", ".join(one.name for one in processes)
        raise UnknownProcess(f"There is no process {name!r}; there are: {known}.")
    return found


class Steering:
    """The processes of one state folder. Methods raise `NotRunning` when there are none."""

    def __init__(self, paths: RuntimePaths) -> None:
        self._paths = paths
        self._client = SupervisorClient(paths)

    def processes(self) -> list[ProcessState]:
        return self._client.processes()

    def health(self) -> HealthAnswer:
        """What GET /health of the running instance says."""
        instance = read_instance(self._paths)
        if instance is None:
            return NO_ANSWER
        address = instance.address
        return ask_health(address, accepted_host(address, settings.ALLOWED_HOSTS))

    def health_of(self, process: ProcessState, service: HealthAnswer) -> tuple[str, bool | None]:
        """How one process is, and whether that is good, bad or unknown."""
        if not process.running:
            return "-", None
        if process.name == "redis":
            answers = redis_answers(settings.REDIS_URL)
            return ("answers", True) if answers else ("no answer", False)
        if process.group == "app" and process.name.startswith("web"):
            return service.status, service.well
        if process.name in service.dependencies:
            found = str(service.dependencies[process.name].get("status"))
            return found, found == "connected"
        return "-", None

    def start(self, name: str | None) -> list[ProcessState]:
        """Start what is stopped; the processes named, as they are afterwards."""
        for process in named(self.processes(), name):
            self._client.start(process)
        forget_health(settings.REDIS_URL)
        return self._settled(name)

    def stop(self, name: str) -> list[ProcessState]:
        """Stop the processes called `name`; the others go on."""
        for process in named(self.processes(), name):
            self._client.stop(process)
        wait_for(lambda: all(one.stopped for one in named(self.processes(), name)), STOP_SECONDS)
        forget_health(settings.REDIS_URL)
        return named(self.processes(), name)

    def stop_all(self) -> bool:
        """Stop everything, the supervisor included; False when it did not end in time."""
        pid = self._client.pid()
        self._client.shutdown()
        return wait_for(lambda: not process_lives(pid), STOP_SECONDS)

    def restart(self, name: str) -> list[ProcessState]:
        """Restart the processes called `name` one after another, so that others of a kind serve."""
        for process in named(self.processes(), name):
            self._client.stop(process)
            self._until(process.name, lambda one: one.stopped, STOP_SECONDS)
            self._client.start(process)
            self._until(process.name, lambda one: one.running, START_SECONDS)
        return self._settled(name)

    def restart_all(self) -> list[ProcessState]:
        """Restart everything from the settings as they are now: port and number of web processes too.

        Raises:
            StartRefused: when those settings cannot be used; everything goes on as before.
        """
        self.processes()
        before = read_instance(self._paths) or Instance("", 0)
        service = effective_settings(before.host_flag, before.port_flag)
        after = Instance(
            service.service_host, service.service_port, before.host_flag, before.port_flag
        )
        if (before.host, before.port) != (after.host, after.port):
            check_port_is_free(after.host, after.port)
        Launch(self._paths, service, after).write()
        old = {process.pid for process in self.processes()}
        self._client.restart()
        wait_for(lambda: self._renewed(old), STOP_SECONDS + START_SECONDS)
        return self._settled(None)

    def reload(self) -> list[ProcessState]:
        """Make the web processes read their configuration again, connections kept."""
        web = [one for one in named(self.processes(), "web") if one.pid]
        for process in web:
            self._client.signal(process, "HUP")
        return web

    def _renewed(self, old: set[int]) -> bool:
        try:
            processes = self.processes()
        except NotRunning:
            return False
        return bool(processes) and all(one.pid and one.pid not in old for one in processes)

    def _until(self, name: str, condition: Callable[[ProcessState], bool], seconds: float) -> None:
        wait_for(lambda: all(condition(one) for one in named(self.processes(), name)), seconds)

    def _settled(self, name: str | None) -> list[ProcessState]:
        """The processes once they run and the web processes answer, or as they are after a while."""

        def settled() -> bool:
            found = named(self.processes(), name)
            web = any(one.name.startswith("web") for one in found)
            return all(one.running for one in found) and (not web or self.health().serves)

        wait_for(settled, START_SECONDS)
        return named(self.processes(), name)
