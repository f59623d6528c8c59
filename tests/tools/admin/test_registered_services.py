"""The service registry in the admin: wrappers as a download, files in and out."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from controlplane.roles import OPERATOR, VIEWER, ensure_roles
from tests.tools.admin.pages import address, submit, text, untouched
from tests.wrappers.foreign import Foreign, foreign, tool
from tools.admin.tool_import import pack
from tools.conf import deployment
from tools.models import AuditEntry, RegisteredService
from tools.services.apply_config import read_document

pytestmark = pytest.mark.django_db

LIST = "/admin/tools/registeredservice/"
WRAPPERS = f"{LIST}wrappers/"
IMPORT = f"{LIST}import/"
EXPORT = f"{LIST}export/"
FILE = """
services:
- {name: docwell, url: "http://127.0.0.1:8003", enabled: false}
- {name: seekr, url: "http://127.0.0.1:8002", enabled: true}
"""


@pytest.fixture
def service() -> Iterator[Foreign]:
    with foreign([tool("look"), tool("find", word={"type": "string"})]) as made:
        yield made


def register(name: str, url: str, **more: Any) -> RegisteredService:
    row = RegisteredService(name=name, url=url, **more)
    row.save()
    return row


def unpacked(answer: Any) -> zipfile.ZipFile:
    assert answer.headers["Content-Type"] == "application/zip", text(answer)
    assert 'attachment; filename="wrappers-' in answer.headers["Content-Disposition"]
    return zipfile.ZipFile(io.BytesIO(answer.content))


def test_wrappers_are_downloaded_with_their_run_bits(
    admin_client: Client, service: Foreign
) -> None:
    # S3-071 S3-063
    register("seekr", service.url)
    register("docwell", "http://127.0.0.1:9", enabled=False)
    shown = untouched(admin_client, WRAPPERS)
    assert shown["services"] == "seekr"
    answer = admin_client.post(WRAPPERS, {"services": ["seekr"], "types": ["bash", "skill"]})
    packed = unpacked(answer)
    modes = {one.filename: one.external_attr >> 16 & 0o777 for one in packed.infolist()}
    assert modes["seekr/scripts/look.sh"] == 0o755
    assert modes["seekr/skills/seekr-find/SKILL.md"] == 0o644
    assert "seekr: 2 tools, bash 2, skill 2" in packed.read("SUMMARY.txt").decode()
    assert service.lists == 1


def test_one_dead_service_is_told_and_the_other_one_handed_out(
    admin_client: Client, service: Foreign
) -> None:
    register("seekr", service.url)
    register("away", "http://127.0.0.1:9")
    chosen = {"services": ["away", "seekr"], "types": ["bash"]}
    packed = unpacked(admin_client.post(WRAPPERS, chosen))
    assert "Error: away: " in packed.read("SUMMARY.txt").decode()
    assert "127.0.0.1:9/tools cannot be reached" in text(admin_client.get(LIST))
    alone = text(admin_client.post(WRAPPERS, {"services": ["away"], "types": ["bash"]}))
    assert "127.0.0.1:9/tools cannot be reached" in alone


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"services": [], "types": ["bash"]}, "Choose at least one service."),
        ({"services": ["seekr"], "types": []}, "Choose at least one type."),
        ({"services": ["other"], "types": ["bash"]}, "other is not one of the available choices"),
        ({"services": ["seekr"], "types": ["exe"]}, "exe is not one of the available choices"),
    ],
)
def test_what_cannot_be_chosen_is_told(
    admin_client: Client, chosen: dict[str, list[str]], told: str
) -> None:
    register("seekr", "http://127.0.0.1:9")
    assert told in text(admin_client.post(WRAPPERS, chosen))


def test_an_empty_registry_says_what_to_do(admin_client: Client) -> None:
    page = text(admin_client.get(WRAPPERS))
    assert "No service is switched on" in page
    assert address(RegisteredService, "add") in page


def test_only_keys_that_the_deployment_allows_are_sent(
    admin_client: Client, service: Foreign, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEKR_API_KEY", "for-seekr")
    monkeypatch.setenv("LLM_API_KEY", "not-for-seekr")
    row = register("seekr", service.url)
    chosen = {"services": ["seekr"], "types": ["bash"]}
    admin_client.post(WRAPPERS, chosen)
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "REGISTRY_KEYS": ("SEEKR_API_KEY",)}
    deployment.cache_clear()
    try:
        unpacked(admin_client.post(WRAPPERS, chosen))
        row.key_variable = "LLM_API_KEY"
        row.save()
        admin_client.post(WRAPPERS, chosen)
    finally:
        deployment.cache_clear()
    assert service.keys == [None, "for-seekr", None]


def test_what_is_not_told_is_counted(admin_client: Client, service: Foreign) -> None:
    service.tools = [{"name": f"broken {number}"} for number in range(23)]
    register("seekr", service.url)
    page = text(admin_client.post(WRAPPERS, {"services": ["seekr"], "types": ["bash"]}))
    assert "broken 19" in page
    assert "broken 20" not in page
    assert "And 3 more." in page


def test_addresses_of_a_clouds_credentials_are_not_asked(admin_client: Client) -> None:
    register("meta", "http://169.254.169.254")
    page = text(admin_client.post(WRAPPERS, {"services": ["meta"], "types": ["bash"]}))
    assert "where it may not be" in page


def test_a_file_is_shown_then_saved_and_comes_back_out(admin_client: Client) -> None:
    # S3-066
    register("seekr", "http://127.0.0.1:1")
    page = text(
        admin_client.post(IMPORT, {"file": SimpleUploadedFile("services.yaml", FILE.encode())})
    )
    assert "New: docwell." in page
    assert "Changed: seekr." in page
    assert RegisteredService.objects.count() == 1
    assert "1 service added, 1 changed." in save(admin_client, page)
    out = admin_client.get(EXPORT)
    assert out.headers["Content-Type"].startswith("application/yaml")
    assert read_document(text(out)) == read_document(FILE)
    assert "There is nothing to save." in text(admin_client.post(IMPORT, {"pasted": FILE}))
    actions = AuditEntry.objects.filter(kind="tools.registeredservice", actor="admin")
    assert sorted(actions.values_list("action", flat=True)) == ["added", "changed"]


def save(client: Client, page: str, **changes: str) -> str:
    """Press Save on the page that shows what a file would do."""
    sent = {name: hidden(page, name) for name in ("kept", "digest")} | {"save": "yes"} | changes
    return text(client.post(IMPORT, sent, follow=True))


def hidden(page: str, name: str) -> str:
    return page.partition(f'name="{name}" value="')[2].partition('"')[0]


def test_what_somebody_changed_since_the_preview_is_not_overwritten(admin_client: Client) -> None:
    row = register("seekr", "http://127.0.0.1:1")
    page = text(admin_client.post(IMPORT, {"pasted": FILE}))
    row.url = "http://127.0.0.1:2"
    row.save()
    assert "The services have changed since. Look at it again." in save(admin_client, page)
    assert [one.url for one in RegisteredService.objects.all()] == ["http://127.0.0.1:2"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kept": "x"}, "Choose the file again."),
        ({"kept": pack(FILE.replace("8003", "666"))}, "The services have changed since."),
        ({"digest": ""}, "The services have changed since."),
        ({"kept": pack("services: [")}, "Nothing was saved"),
    ],
)
def test_other_than_what_was_shown_is_not_saved(
    admin_client: Client, changes: dict[str, str], told: str
) -> None:
    page = text(admin_client.post(IMPORT, {"pasted": FILE}))
    assert told in save(admin_client, page, **changes)
    assert not RegisteredService.objects.exists()


def test_a_bad_file_saves_nothing(admin_client: Client) -> None:
    page = text(admin_client.post(IMPORT, {"pasted": "- {name: A, url: nowhere}"}))
    assert "A: name: Use lower-case letters" in page
    assert "A: url: Must start with" in page
    assert not RegisteredService.objects.exists()


def test_rows_are_added_and_switched_by_hand(admin_client: Client) -> None:
    # S3-066
    page = address(RegisteredService, "add")
    answer = submit(admin_client, page, name="code-graph-rag", url="http://127.0.0.1:8001")
    assert "was added successfully" in text(answer)
    row = RegisteredService.objects.get()
    assert "CODE_GRAPH_RAG_API_KEY" in text(admin_client.get(LIST))
    told = admin_client.post(
        address(RegisteredService, "switch", row.pk),
        {"on": "no"},
        headers={"accept": "application/json"},
    )
    assert told.json() == {"on": False, "told": "code-graph-rag is off."}
    refused = submit(admin_client, page, name="2fast", url="http://x", key_variable="SECRET_KEY")
    assert "begin with a letter" in text(refused)
    assert "ends with _API_KEY" in text(refused)


def test_viewers_export_and_operators_do_the_rest(client: Client) -> None:
    ensure_roles()
    for role, may in ((VIEWER, False), (OPERATOR, True)):
        user = User.objects.create_user(role, is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        client.force_login(user)
        assert client.get(EXPORT).status_code == 200
        for page in (WRAPPERS, IMPORT):
            assert (client.get(page).status_code == 200) is may
            assert (client.post(page, {}).status_code == 200) is may
            assert (page in text(client.get(LIST))) is may
    client.logout()
    assert client.get(WRAPPERS).status_code == 302
