"""Puts rows into the catalogue whose names and texts are one long word each, or takes them away again.

Run by `manage.py shell`: rows of servers and old releases need not be as forms would have them.
"""

from __future__ import annotations

from typing import Any, Final

from tests.factories import (
    make_client,
    make_corpus,
    make_document,
    make_tool,
    make_toolset,
    make_version,
)
from tools.models import (
    ApiClient,
    ApiService,
    Corpus,
    EvaluationJob,
    EvaluationRun,
    QuestionSet,
    Tool,
    Toolset,
    UpstreamServer,
)

# Lists by name have it at their end.
LETTER: Final = "z"
MODELS: Final = (
    *((Tool, "name"), (ApiClient, "name"), (UpstreamServer, "slug"), (ApiService, "slug")),
    *((QuestionSet, "name"), (Corpus, "slug"), (Toolset, "slug")),
)


def word(letters: int) -> str:
    return LETTER * letters


def put() -> list[str]:
    """The addresses of pages that show them."""
    tool = _tool()
    make_toolset(slug=word(64), tools=[tool])
    client, _ = make_client(name=word(100))
    server = _made(
        UpstreamServer,
        slug=word(64),
        enabled=False,
        url=f"https://{word(60)}.example/mcp",
        last_discovery={"ok": False, "message": word(600), "warnings": [word(400)]},
    )
    api = _made(ApiService, slug=word(64), base_url=f"https://{word(60)}.example/{word(300)}")
    return [
        "/admin/tools/tool/try/?q=zzz",
        f"/admin/tools/tool/{tool.pk}/change/",
        f"/admin/tools/tool/{tool.pk}/try/",
        f"/admin/tools/tool/{tool.pk}/versions/?first=1&second=2",
        f"/admin/tools/tool/{tool.pk}/versions/1/revert/",
        f"/admin/tools/apiclient/{client.pk}/change/",
        f"/admin/tools/apiclient/{client.pk}/key/",
        f"/admin/tools/apiclient/{client.pk}/delete/",
        f"/admin/tools/upstreamserver/{server.pk}/change/",
        f"/admin/tools/apiservice/{api.pk}/delete/",
        *_knowledge(),
    ]


def take_away() -> None:
    for model, field in MODELS:
        model.objects.filter(**{f"{field}__startswith": word(20)}).delete()


def _tool() -> Tool:
    rows = {
        "type": "array",
        "items": {"type": "object", "properties": {word(70): {"type": "string"}}},
    }
    properties = {
        word(60): {"type": "string", "description": word(300), "default": word(300)},
        "group": {"type": "object", "required": [word(80)], "properties": {word(80): rows}},
    }
    schema = {"type": "object", "properties": properties}
    tool = make_tool(name=word(64), description=word(1500), input_schema=schema)
    tool.title, tool.description = word(200), f"{word(1400)} end"
    tool.save()
    return tool


def _knowledge() -> list[str]:
    corpus = make_corpus(slug=word(64))
    document = make_document(corpus, name=word(500), source=word(1000))
    version = make_version(corpus, state="failed", error=word(1000), embedding_model=word(200))
    questions = QuestionSet(name=word(100), corpus=corpus)
    questions.save()
    EvaluationJob(
        question_set=questions, state="failed", error=word(900), started_by=word(150)
    ).save()
    run = _made(
        EvaluationRun, pipeline_name="basic", question_set=questions, version=version, queries=1
    )
    return [
        f"/admin/tools/corpus/{corpus.pk}/change/",
        f"/admin/tools/document/{document.pk}/delete/",
        f"/admin/tools/evaluationrun/evaluate/?set={questions.pk}",
        f"/admin/tools/evaluationrun/{run.pk}/change/",
    ]


def _made(model: Any, **values: Any) -> Any:
    return model.objects.bulk_create([model(**values)])[0]
