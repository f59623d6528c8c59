"""Wiring of the control plane: settings, URLs, ASGI, Celery and processes. No behaviour."""

__version__ = "0.1.0"
