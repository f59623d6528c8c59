"""The way to the workers, without what it takes to go it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final


class DeliveryWorkers:
    """`send` takes a delivery and the seconds it is to wait; None where there is no way."""

    send: Callable[[int, int], None] | None = None


delivery_workers: Final = DeliveryWorkers()
