"""The configuration this process serves under."""

from __future__ import annotations

from tools.conf import ServiceSettings, deployment, with_overrides
from tools.models import ServiceConfiguration


def service_settings() -> ServiceSettings:
    """The configured row with the `SECTION__KEY` overrides on top; the defaults without a row.

    The row is the one `SERVICE__NAME` names, else the product's own, else the only one there is.

    Raises:
        ConfigurationFault: naming each override that cannot be used.
    """
    overrides = deployment().service_overrides
    name = overrides.get("SERVICE__NAME", ServiceSettings().service_name)
    rows = ServiceConfiguration.objects.all()
    row = rows.filter(service_name=name).first()
    if row is None and "SERVICE__NAME" not in overrides:
        row = rows.first()
    return with_overrides(row.to_settings() if row else ServiceSettings(), overrides)
