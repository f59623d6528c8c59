"""Settings of the test suite: those of the product plus a backend whose faults tests command.

State goes to a temporary folder, so a run never touches the checkout's own. Processes that tests
start inherit the folder through the environment unless a test gives them another.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "CONTROL_PLANE_TEST_DIR" not in os.environ:
    os.environ["CONTROL_PLANE_TEST_DIR"] = tempfile.mkdtemp(prefix="cp-test-")
    atexit.register(shutil.rmtree, os.environ["CONTROL_PLANE_TEST_DIR"], ignore_errors=True)
os.environ.setdefault("VAR_DIR", os.environ["CONTROL_PLANE_TEST_DIR"])

from controlplane.settings import *  # noqa: F403
from controlplane.settings import DATABASES, DEMO_DIR
from controlplane.settings import INSTALLED_APPS as _PRODUCT_APPS

INSTALLED_APPS = [*_PRODUCT_APPS, "tests.faults"]
# A test that starts everything may bring a small demo of its own.
DEMO_DIR = Path(os.environ.get("CONTROL_PLANE_TEST_DEMO") or DEMO_DIR)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, not memory: the journal writes from a thread of its own, as it does in production.
    DATABASES["default"]["TEST"] = {"NAME": str(Path(os.environ["VAR_DIR"]) / "test.sqlite3")}
