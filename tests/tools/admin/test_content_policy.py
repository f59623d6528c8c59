"""What browsers are told that pages may load."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.tools.admin.logging_in import LOG_IN


@pytest.mark.parametrize("page", [LOG_IN, "/admin/tools/tool/", "/admin/tools/tool/add/"])
def test_pages_say_what_browsers_may_load(client: Client, admin_client: Client, page: str) -> None:
    answer = (client if page == LOG_IN else admin_client).get(page)
    assert answer.status_code == 200
    policy = answer.headers["Content-Security-Policy"]
    told = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    assert told["default-src"] == "'self'"
    assert told["frame-ancestors"] == "'none'"
    assert "unsafe-inline" not in told["script-src"]
