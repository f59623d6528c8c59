"""Sets Django up, then hands out the application; what ASGI servers are pointed at."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
django.setup()

# Views and models can be imported only from here on.
from controlplane.application import application, begin_shutdown  # noqa: E402

__all__ = ["application", "begin_shutdown"]
