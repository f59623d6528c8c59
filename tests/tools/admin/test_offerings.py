"""Prompts and resources in the admin."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.factories import make_prompt, make_resource, make_toolset, prompt_values
from tests.tools.admin.pages import act, address, submit, text
from tools.models import CatalogState, Prompt, Resource, Toolset

pytestmark = pytest.mark.django_db

MESSAGES = [{"role": "user", "content": {"type": "text", "text": "Sum up {topic}."}}]
PIXEL = base64.b64decode("iVBORw0KGgo=")


def new_prompt(**overrides: Any) -> dict[str, Any]:
    return {
        "name": "sum_up",
        "arguments": '[{"name": "topic"}]',
        "messages": json.dumps(MESSAGES),
        **overrides,
    }


def test_prompt_is_added_through_the_form(admin_client: Client) -> None:
    response = submit(admin_client, address(Prompt, "add"), **new_prompt(title="Sum up"))
    assert "was added successfully" in text(response)
    prompt = Prompt.objects.get()
    assert (prompt.name, prompt.title, prompt.arguments, prompt.messages, prompt.enabled) == (
        "sum_up",
        "Sum up",
        [{"name": "topic"}],
        MESSAGES,
        True,
    )


def test_form_for_a_new_prompt_starts_with_one_that_works(admin_client: Client) -> None:
    url = address(Prompt, "add")
    assert "State" not in text(admin_client.get(url))
    submit(admin_client, url, name="first")
    assert Prompt.objects.get().problems() == []


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name", "sum-up", "Use letters, digits and underscores only"),
        ("arguments", '[{"name": "a b"}]', "[0].name: Must be letters"),
        ("arguments", "[", "Not valid JSON at line 1, column 2"),
        ("messages", "", "This field is required"),
        ("messages", '[{"role": "user"}]', "[0]: Must have content."),
        (
            "messages",
            json.dumps(MESSAGES).replace("topic", "other"),
            "other is not among the arguments",
        ),
    ],
)
def test_wrong_prompt_is_told_beside_its_field_and_not_saved(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    response = submit(admin_client, address(Prompt, "add"), **new_prompt(**{field: value}))
    assert response.status_code == 200
    assert told in text(response)
    assert not Prompt.objects.exists()


def test_bad_prompt_is_flagged_in_the_list_and_on_its_page(admin_client: Client) -> None:
    make_prompt(name="sound")
    Prompt.objects.bulk_create([Prompt(**prompt_values(name="bent", arguments={"no": "list"}))])
    listed = text(admin_client.get(address(Prompt, "changelist")))
    assert listed.count("arguments: Must be a list of at most") == 1
    page = text(admin_client.get(address(Prompt, "change", Prompt.objects.get(name="bent").pk)))
    assert "arguments: Must be a list of at most" in page


@pytest.mark.parametrize("model", [Prompt, Resource])
def test_saving_an_untouched_form_changes_nothing(
    admin_client: Client, model: type[Prompt] | type[Resource]
) -> None:
    make_prompt(title="Ü", arguments=[{"name": "topic", "choices": ["a"]}])
    make_resource(text="\n two\nlines \r\n", audience=["user"], priority=0.5)
    row: Any = model.objects.get()
    before = dict(model.objects.values().get())
    assert "was changed successfully" in text(
        submit(admin_client, address(model, "change", row.pk))
    )
    after = dict(model.objects.values().get())
    assert after.pop("updated_at") > before.pop("updated_at")
    assert after == before


def test_resource_is_added_through_the_form(admin_client: Client) -> None:
    submit(
        admin_client,
        address(Resource, "add"),
        uri="docs://guide",
        name="guide",
        text="# Guide\r\n\r\nRead me.\r\n",
        mime_type="text/markdown",
        audience='["assistant"]',
        priority="1",
    )
    row = Resource.objects.get()
    assert (row.uri, row.text, row.mime_type, row.audience, row.priority) == (
        "docs://guide",
        "# Guide\n\nRead me.\n",
        "text/markdown",
        ["assistant"],
        1.0,
    )


@pytest.mark.parametrize(
    ("name", "content", "kept", "mime_type"),
    [
        ("guide.html", b"<p>Hi", ("<p>Hi", ""), "text/html"),
        ("dot.png", PIXEL, ("", base64.b64encode(PIXEL).decode()), "image/png"),
        ("nul", b"a\0b", ("", base64.b64encode(b"a\0b").decode()), ""),
    ],
)
def test_chosen_file_becomes_the_content(
    admin_client: Client, name: str, content: bytes, kept: tuple[str, str], mime_type: str
) -> None:
    row = make_resource(text="before")
    url = address(Resource, "change", row.pk)
    submit(admin_client, url, file=SimpleUploadedFile(name, content))
    row.refresh_from_db()
    assert ((row.text, row.blob), row.mime_type) == (kept, mime_type)


def test_file_that_is_too_large_is_refused(admin_client: Client) -> None:
    url = address(Resource, "add")
    large = SimpleUploadedFile("large.bin", b"\xff" * (1024 * 1024 + 1))
    response = submit(admin_client, url, uri="docs://large", name="large", file=large)
    assert "At most 1 MiB." in text(response)
    assert not Resource.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("uri", "guide", "Must be an absolute URI"),
        ("uri", "result://x", "result:// is reserved for kept results."),
        ("text", "", "Give a text or a blob."),
        ("blob", "AAAA", "Give either a text or a blob, not both."),
        ("priority", "2", "less than or equal to 1"),
        ("audience", '["all"]', "Must be a list of"),
    ],
)
def test_wrong_resource_is_told_beside_its_field_and_not_saved(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    values = {"uri": "docs://guide", "name": "guide", "text": "a", field: value}
    response = submit(admin_client, address(Resource, "add"), **values)
    assert response.status_code == 200
    assert told in text(response)
    assert not Resource.objects.exists()


def test_list_tells_texts_blobs_and_templates_apart(admin_client: Client) -> None:
    make_resource(uri="docs://a", text="x" * 2048)
    make_resource(uri="docs://b", blob=base64.b64encode(PIXEL).decode())
    make_resource(uri="docs://{id}", is_template=True, text="{id}")
    listed = text(admin_client.get(address(Resource, "changelist")))
    for shown in ("text", "blob", "template", "2.0\xa0KB", "8\xa0bytes"):
        assert f">{shown}<" in listed
    url = address(Resource, "changelist")
    filtered = text(admin_client.get(url, {"is_template__exact": 1}))
    assert "docs://a" not in filtered
    assert "docs://b" in text(admin_client.get(url, {"q": "docs://b"}))
    assert "docs://b" not in text(admin_client.get(url, {"q": "docs://a"}))


@pytest.mark.parametrize(
    ("action", "before", "after"), [("enable", False, True), ("disable", True, False)]
)
def test_bulk_switch_changes_the_selected_rows_and_announces_it(
    admin_client: Client, action: str, before: bool, after: bool
) -> None:
    prompts = [make_prompt(enabled=before) for _ in range(3)]
    resource = make_resource(enabled=before)
    version = CatalogState.objects.get().version
    assert f"2 prompts {action}d." in text(act(admin_client, Prompt, action, *prompts[:2]))
    assert f"1 resource {action}d." in text(act(admin_client, Resource, action, resource))
    assert [Prompt.objects.get(pk=row.pk).enabled for row in prompts] == [after, after, before]
    assert CatalogState.objects.get().version > version


def test_list_costs_the_same_queries_for_any_number_of_rows(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_toolset(
        prompts=[make_prompt() for _ in range(20)], resources=[make_resource() for _ in range(20)]
    )
    for model in (Prompt, Resource):
        with django_assert_max_num_queries(10):
            admin_client.get(address(model, "changelist"))


def test_toolset_takes_prompts_resources_and_its_switches(admin_client: Client) -> None:
    prompt, resource = make_prompt(), make_resource()
    submit(
        admin_client,
        address(Toolset, "add"),
        slug="notes",
        title="Notes",
        prompts=[prompt.pk],
        resources=[resource.pk],
        search_only="on",
        oauth_scope="notes:read",
    )
    toolset = Toolset.objects.get()
    assert (list(toolset.prompts.all()), list(toolset.resources.all())) == ([prompt], [resource])
    assert (toolset.title, toolset.search_only, toolset.oauth_scope) == (
        "Notes",
        True,
        "notes:read",
    )
    second = submit(admin_client, address(Toolset, "add"), slug="b", oauth_scope="notes:read")
    assert "Another toolset has this OAuth scope." in text(second)


@pytest.mark.parametrize("field", ["prompts", "resources"])
def test_members_of_a_toolset_are_offered_while_typing(admin_client: Client, field: str) -> None:
    make_prompt(name="alpha")
    make_resource(uri="docs://alpha")
    query = {"app_label": "tools", "model_name": "toolset", "field_name": field, "term": "alp"}
    found = admin_client.get("/admin/autocomplete/", query).json()["results"]
    assert [row["text"].removeprefix("docs://") for row in found] == ["alpha"]


def test_form_of_a_resource_can_send_a_file(admin_client: Client) -> None:
    page = text(admin_client.get(address(Resource, "add")))
    assert 'enctype="multipart/form-data"' in page
