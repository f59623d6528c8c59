"""Wiring of the control plane: settings, URLs, ASGI, Celery and processes. No behaviour."""

import os
import sys

__version__ = "0.1.0"

# Read when numpy is first imported. Processes share the cores already; threads of each on top of that
# made queries cost more than twice the processor time on two busy cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# redis-py loads OpenTelemetry's SDK wherever that is installed, in case somebody asks it for figures. Nobody
# here does, and it is a twentieth of the start of a process that exports nothing.
sys.modules.setdefault("opentelemetry.sdk.metrics", None)  # type: ignore[arg-type] # says: not there
