"""Settings of workers that know the trial pipeline."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as _APPS

INSTALLED_APPS = [*_APPS, "tests.tools.backends.pipeline.apps.TrialConfig"]
