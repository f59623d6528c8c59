"""The log of a server's program on the server's page."""

from __future__ import annotations

import json
import time

import pytest
import redis
from django.contrib.auth.models import User
from django.test import Client

from tests.tools.admin.pages import address, text
from tests.upstream_rows import make_upstream
from tools.models import UpstreamServer
from tools.upstreams.child_logs import LOG_KEY, LOGS_KEY

pytestmark = pytest.mark.django_db


def local_server() -> UpstreamServer:
    return make_upstream(slug="todo", transport="stdio", command="todo", url="")


def write(url: str, process: str, *entries: tuple[str, str]) -> None:
    """What a process would have heard of its program."""
    with redis.Redis.from_url(url) as client:
        for what, told in entries:
            entry = {"at": time.time(), "what": what, "pid": 4711, "text": told}
            client.rpush(LOG_KEY.format(slug="todo", process=process), json.dumps(entry))
        client.zadd(LOGS_KEY.format(slug="todo"), {process: time.time()})


def test_last_words_and_exit_code_are_shown_of_each_process(
    admin_client: Client, redis_url: str
) -> None:
    server = local_server()
    write(
        redis_url,
        "one:11",
        ("started", ""),
        ("left_out", "12"),
        ("printed", "hello"),
        ("wrote", "KeyError: <b>x</b>"),
        ("ended", "exited with status 3"),
    )
    write(redis_url, "two:12", ("started", ""), ("wrote", "listening"))
    page = text(admin_client.get(address(UpstreamServer, "change", server.pk)))
    part = text(admin_client.get(address(UpstreamServer, "log", server.pk)))
    for shown in (page, part):
        assert "KeyError: &lt;b&gt;x&lt;/b&gt;" in shown
        assert "--- started, pid 4711" in shown
        assert "12 lines left out" in shown
        assert shown.index("Process two:12") < shown.index("Process one:11")
        assert shown.count("not running") == 1
        assert shown.count("running when last heard") == 1
    assert 'data-busy="yes"' in part


def test_server_without_a_program_has_no_log(admin_client: Client, redis_url: str) -> None:
    page = text(admin_client.get(address(UpstreamServer, "change", make_upstream().pk)))
    assert "The program's log" not in page


def test_server_that_is_off_is_not_followed(admin_client: Client, redis_url: str) -> None:
    server = local_server()
    UpstreamServer.objects.update(enabled=False)
    part = text(admin_client.get(address(UpstreamServer, "log", server.pk)))
    assert 'data-busy="no"' in part
    assert "Nothing yet" in part


def test_page_tells_when_the_log_cannot_be_read(admin_client: Client, without_redis: None) -> None:
    part = text(admin_client.get(address(UpstreamServer, "log", local_server().pk)))
    assert "Redis cannot be reached, and the log is in it." in part


def test_log_is_for_those_who_may_see_the_server(redis_url: str) -> None:
    stranger = Client()
    stranger.force_login(User.objects.create_user("clerk", is_staff=True))
    assert stranger.get(address(UpstreamServer, "log", local_server().pk)).status_code == 403
