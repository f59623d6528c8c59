"""The settings of the suite with the lossy journal."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as _APPS

INSTALLED_APPS = [*_APPS, "tests.chaos.lossy.LossyConfig"]
