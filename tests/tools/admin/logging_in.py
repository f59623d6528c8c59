"""Log-ins of a person named root, whose password is `right`."""

from __future__ import annotations

from typing import Any

from django.test import Client

LOG_IN = "/admin/login/"
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


def log_in(password: str, name: str = "root", address: str = HERE) -> Any:
    given = {"username": name, "password": password}
    return Client().post(LOG_IN, given, REMOTE_ADDR=address)
