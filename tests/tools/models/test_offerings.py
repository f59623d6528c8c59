"""What prompts and resources may be: every rule, in the model and in the database."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.factories import make_prompt, make_resource, prompt_values, resource_values
from tests.tools.models.refusals import database_refuses, database_refuses_change, model_refuses
from tools.models import CatalogState, Prompt, Resource

pytestmark = pytest.mark.django_db

MEBIBYTE = 1024 * 1024
PIXEL = "iVBORw0KGgo="
TEXT = {"role": "user", "content": {"type": "text", "text": "Hello {{name}}"}}


def test_prompt_keeps_what_it_was_given() -> None:
    arguments = [{"name": "topic", "required": True, "choices": ["sheep", "goats"]}]
    kept = Prompt.objects.get(pk=make_prompt(name="ask", arguments=arguments).pk)
    assert (kept.name, kept.arguments, kept.enabled) == ("ask", arguments, True)
    assert str(kept) == "ask"


@pytest.mark.parametrize("name", ["", "1x", "a-b", "a b", "é", "x" * 65, "abc\n"])
def test_prompt_name_that_is_no_ascii_identifier_is_refused(name: str) -> None:
    row = Prompt(**prompt_values(name=name))
    assert model_refuses(row, "name")
    database_refuses(row)


def test_prompt_name_is_unique() -> None:
    make_prompt(name="ask")
    assert model_refuses(Prompt(**prompt_values(name="ask")), "name")
    database_refuses(Prompt(**prompt_values(name="ask")))


@pytest.mark.parametrize("messages", [[], {}, "", "role", None, [1], [{"role": "user"}]])
def test_prompt_without_messages_is_refused(messages: Any) -> None:
    row = Prompt(**prompt_values(messages=messages))
    assert model_refuses(row, "messages")
    database_refuses(row)


def test_placeholder_without_an_argument_is_refused() -> None:
    row = Prompt(**prompt_values(arguments=[]))
    assert model_refuses(row, "messages") == ["[0].content.text: topic is not among the arguments."]


def test_wrong_arguments_are_told_before_the_messages_that_need_them() -> None:
    row = Prompt(**prompt_values(arguments=[{"nome": "topic"}]))
    assert model_refuses(row, "arguments")[0] == "[0]: Must have name."


def test_braces_of_a_text_are_written_twice() -> None:
    make_prompt(arguments=[], messages=[TEXT])
    stray = {"role": "user", "content": {"type": "text", "text": 'Send {"a": 1}'}}
    (told,) = model_refuses(Prompt(**prompt_values(messages=[stray])), "messages")
    assert "write {{ or }} for a brace of the text" in told


def test_prompt_of_more_than_a_mebibyte_is_refused() -> None:
    large = {"role": "user", "content": {"type": "text", "text": "x" * MEBIBYTE}}
    assert model_refuses(Prompt(**prompt_values(messages=[large])), "messages") == [
        "At most 1 MiB."
    ]


@pytest.mark.parametrize("field", ["title", "description"])
@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_text_that_no_database_keeps_is_refused(field: str, text: str) -> None:
    told = model_refuses(Prompt(**prompt_values(**{field: text})), field)
    assert "Has a character that cannot be stored." in told


def test_resource_keeps_what_it_was_given() -> None:
    row = make_resource(uri="docs://guide", text="Grüße", audience=["user"], priority=0.5)
    kept = Resource.objects.get(pk=row.pk)
    assert (kept.uri, kept.text, kept.audience, kept.priority) == (
        "docs://guide",
        "Grüße",
        ["user"],
        0.5,
    )
    assert kept.size == 7
    assert str(kept) == "docs://guide"


def test_blob_is_kept_and_measured_before_base64() -> None:
    row = make_resource(blob=PIXEL, mime_type="image/png")
    assert Resource.objects.get(pk=row.pk).size == len(base64.b64decode(PIXEL))


@pytest.mark.parametrize("uri", ["guide", "", "docs: a", "a" * 501 + ":b", "docs://" + "x" * 494])
def test_uri_that_is_not_absolute_or_too_long_is_refused(uri: str) -> None:
    row = Resource(**resource_values(uri=uri))
    assert model_refuses(row, "uri")
    database_refuses(row)


@pytest.mark.parametrize("uri", ["result://x", "RESULT://x", "result:x"])
def test_scheme_of_kept_results_is_refused(uri: str) -> None:
    row = Resource(**resource_values(uri=uri))
    assert model_refuses(row, "uri") == ["result:// is reserved for kept results."]
    database_refuses(row, "resource_scheme_not_reserved")


def test_uri_is_unique() -> None:
    make_resource(uri="docs://guide")
    assert model_refuses(Resource(**resource_values(uri="docs://guide")), "uri")
    database_refuses(Resource(**resource_values(uri="docs://guide")))


def test_variables_need_a_template_and_a_template_variables() -> None:
    row = Resource(**resource_values(uri="docs://{id}"))
    assert model_refuses(row, "uri")
    database_refuses(row, "resource_uri_has_no_variables")
    assert model_refuses(Resource(**resource_values(is_template=True)), "uri")
    assert make_resource(uri="docs://{id}", is_template=True, text="About {id}").pk


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "a", "blob": PIXEL}, "blob"),
        ({"uri": "docs://{id}", "is_template": True, "blob": PIXEL, "text": ""}, "blob"),
    ],
)
def test_resource_has_exactly_one_body_and_a_template_a_text(
    values: dict[str, Any], field: str
) -> None:
    row = Resource(**resource_values(**values))
    assert any(problem.startswith(f"{field}: ") for problem in row.problems())
    database_refuses(row, "resource_has_one_body")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("blob", "not base64!", "Must be base64."),
        ("blob", base64.b64encode(b"x" * (MEBIBYTE + 1)).decode(), "At most 1 MiB."),
        ("blob", "A" * 2 * MEBIBYTE, "At most 1 MiB."),
        ("text", "ü" * (MEBIBYTE // 2 + 1), "At most 1 MiB."),
        ("text", "a\0b", "Has a character that cannot be stored."),
        ("mime_type", "markdown", "Use a media type such as text/markdown."),
        ("priority", 1.1, "Ensure this value is less than or equal to 1."),
        ("audience", ["everyone"], 'Must be a list of "user", "assistant".'),
        ("audience", ["user", "user"], 'Must be a list of "user", "assistant".'),
        ("choices", {"id": ["a"]}, "id is not a variable of the URI."),
        ("choices", ["a"], 'Must be an object such as {"chapter": ["1", "2"]}.'),
        ("name", " x", "Use one line without spaces at its ends."),
    ],
)
def test_wrong_value_is_told_beside_its_field(field: str, value: Any, told: str) -> None:
    assert told in model_refuses(Resource(**resource_values(**{field: value})), field)


def test_body_of_exactly_a_mebibyte_is_kept() -> None:
    assert make_resource(text="x" * MEBIBYTE).size == MEBIBYTE
    blob = base64.b64encode(b"x" * MEBIBYTE).decode()
    assert make_resource(blob=blob).size == MEBIBYTE


def test_text_of_a_template_uses_its_variables_alone() -> None:
    values = resource_values(uri="docs://{id}", is_template=True, text="{id} of {kind}")
    assert model_refuses(Resource(**values), "text") == ["kind is not a variable of the URI."]
    plain = make_resource(text='{"any": "json"}')
    assert plain.problems() == []


def test_suggested_values_belong_to_variables_of_the_template() -> None:
    values = resource_values(uri="docs://{id}", is_template=True, choices={"id": ["1", "2"]})
    assert Resource(**values).problems() == []
    assert Resource(**{**values, "choices": {"id": [1]}}).problems()


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("uri", "guide"),
        ("uri", "result://x"),
        ("name", "  "),
        ("mime_type", "markdown"),
        ("priority", 2),
        ("text", ""),
        ("blob", PIXEL),
        ("text", "x" * (MEBIBYTE + 1)),
    ],
)
def test_database_refuses_a_bad_bulk_change_of_a_sound_resource(field: str, bad: Any) -> None:
    database_refuses_change(make_resource(), **{field: bad})


def test_problems_of_a_bad_row_are_told_without_the_database(
    django_assert_num_queries: Any,
) -> None:
    sound, bad = make_resource(), Resource(**resource_values(uri="guide", name="", text=None))
    with django_assert_num_queries(0):
        assert sound.problems() == []
        assert {problem.split(":")[0] for problem in bad.problems()} == {"uri", "name", "text"}


def test_changes_of_both_are_announced() -> None:
    prompt, resource = make_prompt(), make_resource()
    version = CatalogState.objects.get().version
    prompt.save()
    resource.save()
    Prompt.objects.update(enabled=False)
    Resource.objects.update(enabled=False)
    prompt.delete()
    assert CatalogState.objects.get().version >= version + 5
