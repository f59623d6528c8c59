"""System checks of the control plane.

tools.E001  a SECTION__KEY variable cannot be used
tools.E002  the service would listen beyond this machine with API keys off
tools.W001  an enabled tool cannot serve calls as it is defined
tools.W002  an enabled prompt or resource is left out as it is defined

E002, W001 and W002 read the database, so they run where Django is told to check it
(`manage.py check --database default`, `migrate`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, transaction

from tools.conf import ConfigurationFault, ServiceSettings, deployment, with_overrides
from tools.selectors import service_settings
from tools.services.offering_status import flawed_offerings
from tools.services.tool_status import flawed_tools

T = TypeVar("T")


@register
def overrides_can_be_used(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Every SECTION__KEY variable names a setting and has a value it can take."""
    try:
        with_overrides(ServiceSettings(), deployment().service_overrides)
    except ConfigurationFault as fault:
        hint = "Mend or unset the variable; docs/reference/settings.md lists what each one takes."
        return [Error(line, hint=hint, id="tools.E001") for line in fault.faults]
    return []


@register(Tags.database)
def network_needs_keys(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[CheckMessage]:
    """A service that others can reach asks for keys."""
    try:
        settings = _read(databases, service_settings)
    except ConfigurationFault:
        return []
    if settings is None or not keyless_on_network(settings):
        return []
    return [
        Error(
            f"{settings.service_name} would listen on {settings.service_host} with API keys off.",
            hint=(
                "Listen on 127.0.0.1, switch security.api_keys_enabled on, or set "
                "ALLOW_KEYLESS_NETWORK=true behind a proxy that checks callers."
            ),
            id="tools.E002",
        )
    ]


@register(Tags.database)
def tools_can_serve(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[CheckMessage]:
    """Every enabled tool is well defined and has something behind it."""
    flawed = _read(databases, flawed_tools) or {}
    return [
        Warning(
            f"The tool {name} is bad and left out or refused: {'; '.join(faults)}",
            hint="Mend or disable it in the admin.",
            id="tools.W001",
        )
        for name, faults in flawed.items()
    ]


@register(Tags.database)
def offerings_can_be_read(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[CheckMessage]:
    """Every enabled prompt and resource is well defined."""
    flawed = _read(databases, flawed_offerings) or {}
    return [
        Warning(
            f"The {name} is bad and left out: {'; '.join(faults)}",
            hint="Mend or disable it in the admin.",
            id="tools.W002",
        )
        for name, faults in flawed.items()
    ]


def keyless_on_network(settings: ServiceSettings) -> bool:
    """Whether anyone who can reach the machine could call tools without a key or a token."""
    open_to_all = settings.reachable_from_network and not settings.security_api_keys_enabled
    return open_to_all and not deployment().keys_optional


def _read(databases: Sequence[str] | None, selector: Callable[[], T]) -> T | None:
    """What `selector` finds, or None when Django did not ask for the database to be checked.

    None, too, when the tables are missing or older than the code: `migrate` runs these checks
    before it mends just that.
    """
    if not databases or "default" not in databases:
        return None
    try:
        with transaction.atomic():
            return selector()
    except DatabaseError:
        return None
