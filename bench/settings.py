"""The product's settings, with the bare views of the benchmark among its addresses."""

from controlplane.settings import *  # noqa: F403

ROOT_URLCONF = "bench.urls"
