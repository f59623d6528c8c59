"""The settings a start goes by: database row, environment, then command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError

from controlplane.runtime.refusal import StartRefused
from tools.checks import keyless_on_network
from tools.conf import ConfigurationFault, ServiceSettings, with_overrides
from tools.selectors import service_settings

FLAGS = {"SERVICE__HOST": "--host", "SERVICE__PORT": "--port"}


def effective_settings(host: str | None = None, port: int | None = None) -> ServiceSettings:
    """What to listen on and how; `host` and `port` are the flags, which win over everything.

    Raises:
        StartRefused: when a value cannot be used, or when anyone on the network could call.
    """
    service = _configured()
    flags = {"SERVICE__HOST": host, "SERVICE__PORT": None if port is None else str(port)}
    try:
        service = with_overrides(
            service, {name: value for name, value in flags.items() if value is not None}
        )
    except ConfigurationFault as fault:
        text = "\n  ".join(fault.faults)
        for variable, flag in FLAGS.items():
            text = text.replace(variable, flag)
        raise StartRefused(f"The command line cannot be used:\n  {text}") from None
    refuse_keyless(service, "SERVICE__HOST")
    return service


def refuse_keyless(service: ServiceSettings, variable: str) -> None:
    """Make sure that not everybody on the network could call; `variable` sets the address.

    Raises:
        StartRefused: when anybody could.
    """
    if keyless_on_network(service):
        raise StartRefused(
            f"Refusing to listen on {service.service_host} with API keys off: anyone who reaches "
            "this machine could call every tool. Set SECURITY__API_KEYS_ENABLED=true, or "
            f"{variable}=127.0.0.1, or, behind a proxy that checks callers, "
            "ALLOW_KEYLESS_NETWORK=true."
        )


def _configured() -> ServiceSettings:
    with readable():
        return service_settings()


@contextmanager
def readable() -> Iterator[None]:
    """Refuse the start when configuration or database cannot be read in the block.

    Raises:
        StartRefused: saying which, and what to do.
    """
    try:
        yield
    except ConfigurationFault as fault:
        raise StartRefused(
            "The configuration cannot be used:\n  " + "\n  ".join(fault.faults)
        ) from None
    except DatabaseError as fault:
        reason = str(fault).strip().splitlines()[0]
        raise StartRefused(
            f"The database cannot be read ({reason}). Check DATABASE_URL; `manage.py up` creates "
            "what is missing."
        ) from None


def local_address(host: str, port: int) -> str:
    """The base URL under which this machine itself reaches a service listening on `host`."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - recognised, not listened on
        host = "127.0.0.1" if host != "::" else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
