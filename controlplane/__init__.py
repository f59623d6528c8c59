"""Wiring of the control plane: settings, URLs, ASGI, Celery and processes. No behaviour."""

import os

__version__ = "0.1.0"

# Read when numpy is first imported. Processes share the cores already; threads of each on top of that
# made queries cost more than twice the processor time on two busy cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
