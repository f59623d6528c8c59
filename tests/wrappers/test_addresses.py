"""Addresses that clients refuse, and do not show: they may hold a password."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest

from tests.http_server import http_server
from tests.wrappers.running import run, run_typescript

REFUSED: Final = (
    "http://me:secret@{place}",
    "http://secret@{place}",
    "HTTP://me:secret@{place}/base",
    "ftp://me:secret@{place}",
    "me:secret@{place}",
    "//me:secret@{place}",
    "http:///me:secret@",
    "http://me:secret@[",
    "http://{place}/?secret",
    "http://{place}?secret",
    "http://{place}/base#secret",
)
TOLD: Final = (
    "[INVALID_ARGUMENTS] the address of the service must be one of http or https, "
    "without a user name, a password, ? and #"
)


@pytest.mark.parametrize("written", REFUSED)
def test_an_address_with_a_password_or_a_query_is_refused_and_not_shown(
    module: Any, written: str
) -> None:
    made = Path(module.__file__).parents[1]
    with http_server() as server:
        url = written.format(place=f"127.0.0.1:{server.port}")
        waiting = module.AsyncSeekrClient(url)
        for call in (module.SeekrClient(url).look, lambda: asyncio.run(waiting.look())):
            with pytest.raises(module.SeekrError) as raised:
                call()
            assert str(raised.value) == TOLD
        for path in ("scripts/look.sh", "cli/look.py"):
            for done in (
                run([made / path, f"--service-url={url}"]),
                run([made / path], SEEKR_URL=url),
            ):
                assert (done.returncode, done.stdout) == (1, "")
                assert done.stderr == f"Error: {TOLD}\n"
        assert server.asked == []


def test_a_typescript_client_refuses_the_same_addresses(module: Any) -> None:
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    with http_server() as server:
        urls = [written.format(place=f"127.0.0.1:{server.port}") for written in REFUSED]
        seen, done = run_typescript(file, "Seekr", refused={url: {"baseUrl": url} for url in urls})
        assert server.asked == []
    told = {url: one["message"] for url, one in seen["refused"].items()}
    assert told == dict.fromkeys(urls, TOLD)
    assert "secret" not in "".join(told.values()) + done.stderr


@pytest.mark.parametrize("path", ["", "/", "/base", "/base/@here/"])
def test_an_address_is_what_comes_before_the_call(module: Any, path: str) -> None:
    made = Path(module.__file__).parents[1]
    with http_server() as server:
        for name in ("scripts/look.sh", "cli/look.py"):
            run([made / name, f"--service-url={server.url}{path}"])
        run_typescript(
            made / "typescript" / "seekr_client.ts",
            "Seekr",
            refused={"it": {"baseUrl": f"{server.url}{path}"}},
        )
        assert [one.target for one in server.asked] == [f"{path.rstrip('/')}/call-tool"] * 3
