"""Taking the port: who may listen where, and how several web processes share one address."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.refusal import StartRefused

BACKLOG = 2048


class PortRefused(StartRefused):
    """The address cannot be listened on."""


@dataclass(frozen=True, slots=True)
class Names:
    """How an operator sets the address; `port` is a pattern that takes a free number."""

    host: str = "SERVICE__HOST (or --host)"
    port: str = "SERVICE__PORT={0} (or --port {0}, or make run PORT={0})"
    both: str = "SERVICE__HOST, SERVICE__PORT"


SERVICE = Names()
LISTENER = Names("MCP_HOST", "MCP_PORT={0}", "MCP_HOST, MCP_PORT")


def check_port_is_free(host: str, port: int) -> None:
    """Make sure that nobody listens on the address.

    Raises:
        PortRefused: when somebody does, or when the address is not of this machine.
    """
    _bind(host, port, SERVICE, shared=False).close()


def sole_socket(host: str, port: int) -> socket.socket:
    """A listening socket of a stand-alone listener, shared with nobody.

    Raises:
        PortRefused: when the address is taken, by web processes of this folder too.
    """
    listener = _bind(host, port, LISTENER, shared=False)
    listener.listen(BACKLOG)
    return listener


@contextmanager
def listening_socket(paths: RuntimePaths, host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket that the other web processes of the same state folder can share.

    The kernel lets any process of this user share a port, another checkout's too. So each holder
    keeps a shared lock on a file of its state folder: only who finds that lock taken knows the
    port to be its siblings', everyone else must find the port free.

    Raises:
        PortRefused: when the port belongs to somebody else.
    """
    paths.create()
    descriptor = os.open(paths.port_lock(port), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        with _one_at_a_time(paths, port):
            if _nobody_of_ours(descriptor):
                check_port_is_free(host, port)
            listener = _bind(host, port, SERVICE, shared=True)
            # Only a listening socket keeps others off the port.
            listener.listen(BACKLOG)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        with listener:
            yield listener
    finally:
        os.close(descriptor)


@contextmanager
def _one_at_a_time(paths: RuntimePaths, port: int) -> Iterator[None]:
    gate = os.open(paths.port_lock(port).with_suffix(".gate"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield
    finally:
        os.close(gate)


def _nobody_of_ours(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _bind(host: str, port: int, names: Names, *, shared: bool) -> socket.socket:
    family, address = _resolve(host, port, names)
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Connections of an earlier run that linger in TIME_WAIT do not count as taken.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        opened.bind(address)
    except OSError as fault:
        opened.close()
        raise PortRefused(_reason(host, port, fault, names)) from None
    return opened


def _resolve(host: str, port: int, names: Names) -> tuple[socket.AddressFamily, tuple[object, ...]]:
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except socket.gaierror:
        raise PortRefused(
            f"{host!r} is not an address of this machine. Set {names.host} to one, "
            "such as 127.0.0.1."
        ) from None
    family, _, _, _, address = found[0]
    return family, tuple(address)


def _reason(host: str, port: int, fault: OSError, names: Names) -> str:
    if fault.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken by another program. Choose another with "
            f"{names.port.format(port + 10)}."
        )
    if fault.errno == errno.EADDRNOTAVAIL:
        return (
            f"{host} is not an address of this machine. Set {names.host} to one, such as 127.0.0.1."
        )
    return f"Cannot listen on {host} port {port} ({names.both}): {fault.strerror}."
