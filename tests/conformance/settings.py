"""Settings of the worker that runs the fixtures: those of the suite, with another backend."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as _SUITE_APPS

INSTALLED_APPS = [app for app in _SUITE_APPS if app != "tests.faults"] + ["tests.conformance"]
