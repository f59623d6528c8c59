"""Question sets in the admin: made of files, typed lines and folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.factories import make_corpus, make_document
from tests.judged import write_collection
from tests.questions import make_questions
from tests.tools.admin.pages import act, address, submit, text
from tests.trail import became, latest, trail_of
from tools.models import AuditEntry, Corpus, LabelledQuestion, QuestionSet

pytestmark = pytest.mark.django_db

LINES = b'{"question": "Who oils the pump?", "relevant": ["pumps.md"]}\n'


@pytest.fixture
def corpus() -> Corpus:
    made = make_corpus(slug="library")
    make_document(made, name="pumps.md")
    make_document(made, name="birds.txt")
    return made


def file(content: bytes, name: str = "set.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def add(client: Client, corpus: Corpus, **fields: Any) -> Any:
    values = {"name": "Handbook", "corpus": corpus.pk, **fields}
    return submit(client, address(QuestionSet, "add"), **values)


def asked() -> dict[str, dict[str, int]]:
    return dict(LabelledQuestion.objects.values_list("text", "relevant"))


def test_a_set_is_made_of_a_file(admin_client: Client, corpus: Corpus) -> None:
    page = text(add(admin_client, corpus, file=file(LINES)))
    assert "1 question read: 1 added, 0 changed, 0 removed." in page
    assert asked() == {"Who oils the pump?": {"pumps.md": 1}}
    assert "Documents not in the corpus" in page
    assert "never: evaluate it" in page


def test_a_set_is_made_of_typed_lines(admin_client: Client, corpus: Corpus) -> None:
    add(admin_client, corpus, typed="Who oils the pump? | pumps.md = 2\nWhen? | birds.txt")
    assert asked() == {"Who oils the pump?": {"pumps.md": 2}, "When?": {"birds.txt": 1}}


def test_a_set_is_made_of_a_folder(admin_client: Client, corpus: Corpus, tmp_path: Path) -> None:
    make_document(corpus, name="pump%2F1")
    folder = write_collection(tmp_path / "small")
    page = text(add(admin_client, corpus, folder=str(folder)))
    assert "3 questions read: 3 added" in page
    # Ids that paths give a meaning to are those of the names that the command gives documents.
    assert "3 documents named are not in the corpus library" in page
    assert "<code>bird 2</code>" in page


def test_documents_that_the_corpus_lacks_are_told_and_the_set_is_kept(
    admin_client: Client, corpus: Corpus
) -> None:
    page = text(add(admin_client, corpus, typed="Who? | pumps.md | <b>gone.md"))
    assert "1 document named is not in the corpus library: <code>&lt;b&gt;gone.md</code>" in page
    assert asked() == {"Who?": {"pumps.md": 1, "<b>gone.md": 1}}


def test_bad_lines_are_told_beside_the_file_and_nothing_is_saved(
    admin_client: Client, corpus: Corpus
) -> None:
    page = text(add(admin_client, corpus, file=file(LINES + b"nope\n" * 12)))
    assert "Nothing was saved. Mend this, then send it again:" in page
    assert "Line 2: not JSON." in page
    assert "and 2 more of the kind." in page
    assert not QuestionSet.objects.exists()


def test_a_second_file_adds_and_replaces_only_when_told_to(
    admin_client: Client, corpus: Corpus
) -> None:
    questions = make_questions(corpus)
    url = address(QuestionSet, "change", questions.pk)
    content = b"id,question,document\nbirds,When do the birds return?,pumps.md\nnew,Who?,pumps.md"
    page = text(submit(admin_client, url, file=file(content, "set.csv")))
    assert "2 questions read: 1 added, 1 changed, 0 removed." in page
    assert set(LabelledQuestion.objects.values_list("key", flat=True)) == {"birds", "pumps", "new"}
    page = text(submit(admin_client, url, file=file(content, "set.csv"), replace="on"))
    assert "2 questions read: 0 added, 0 changed, 1 removed." in page
    page = text(submit(admin_client, url, replace="on"))
    assert "Give the questions that are to be there instead." in page
    assert LabelledQuestion.objects.count() == 2


def test_what_becomes_of_a_set_is_in_the_audit_trail(admin_client: Client, corpus: Corpus) -> None:
    add(admin_client, corpus, typed="Who? | pumps.md\nWhen? | birds.txt")
    questions = QuestionSet.objects.get()
    url = address(QuestionSet, "change", questions.pk)
    submit(admin_client, url, typed="When? | pumps.md", replace="on")
    submit(admin_client, url, typed="When? | pumps.md", replace="on")
    submit(admin_client, url, description="From the handbook.")
    told = [(one.action, one.fields, one.note) for one in trail_of(questions)]
    assert told == [
        ("added", "name, corpus", ""),
        ("changed", "", "Questions: 2 added, 0 changed, 0 removed."),
        ("changed", "", "Questions: 0 added, 1 changed, 1 removed."),
        ("changed", "description", ""),
    ]
    act(admin_client, QuestionSet, "delete_selected", questions)
    # The questions that went along have none of their own.
    assert (latest().action, latest().kind) == ("deleted", "tools.questionset")
    assert AuditEntry.objects.filter(kind="tools.labelledquestion").count() == 0


def test_a_single_question_that_is_changed_or_deleted_is_in_the_audit_trail(
    admin_client: Client, corpus: Corpus
) -> None:
    questions = make_questions(corpus, asked=())
    values = {"question_set": questions.pk, "text": "Who?", "documents": "pumps.md"}
    submit(admin_client, address(LabelledQuestion, "add"), **values)
    row = LabelledQuestion.objects.get()
    submit(admin_client, address(LabelledQuestion, "change", row.pk), text="Who oils the pump?")
    admin_client.post(address(LabelledQuestion, "delete", row.pk), {"post": "yes"})
    added, changed, deleted = trail_of(row)
    assert [one.action for one in (added, changed, deleted)] == ["added", "changed", "deleted"]
    assert became(changed, "text") == ("Who?", "Who oils the pump?")
    assert {one.actor for one in (added, changed, deleted)} == {"admin"}


def test_a_single_question_is_added_and_corrected(admin_client: Client, corpus: Corpus) -> None:
    questions = make_questions(corpus, asked=())
    url = address(LabelledQuestion, "add")
    values = {"question_set": questions.pk, "text": "Who oils the pump?"}
    submit(admin_client, url, **values, documents="pumps.md = 2\nbirds.txt=0\n")
    row = LabelledQuestion.objects.get()
    assert row.relevant == {"pumps.md": 2, "birds.txt": 0}
    again = text(submit(admin_client, url, **values, documents="pumps.md"))
    assert "The set has this question already." in again
    change = address(LabelledQuestion, "change", row.pk)
    submit(admin_client, change, text="Who paints the pump?")
    changed = LabelledQuestion.objects.get()
    assert (changed.text, changed.key, changed.relevant) == (
        "Who paints the pump?",
        row.key,
        row.relevant,
    )


@pytest.mark.parametrize(
    ("documents", "told"),
    [
        ("", "This field is required."),
        ("pumps.md = 0", "At least one document needs a grade of 1 or more."),
        ("pumps.md = 101", "must be a whole number from 0 to 100."),
        ("x" * 501, "cannot be the name of a document."),
    ],
)
def test_judgements_that_cannot_be_used_are_told(
    admin_client: Client, corpus: Corpus, documents: str, told: str
) -> None:
    questions = make_questions(corpus, asked=())
    page = submit(
        admin_client,
        address(LabelledQuestion, "add"),
        question_set=questions.pk,
        text="Who?",
        documents=documents,
    )
    assert told in text(page)
    assert not LabelledQuestion.objects.exists()


def test_a_set_goes_with_its_corpus_and_its_name_is_its_own(
    admin_client: Client, corpus: Corpus
) -> None:
    make_questions(corpus)
    assert "already exists" in text(add(admin_client, corpus, typed="Who? | a"))
    corpus.delete()
    assert not QuestionSet.objects.exists()


def test_pages_stay_cheap(
    admin_client: Client, corpus: Corpus, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        asked = [(str(key), f"Question {key}", {f"{key}.md": 1}) for key in range(200)]
        questions = make_questions(corpus, f"Set {number}", asked)
    pages = (
        address(QuestionSet, "changelist"),
        address(QuestionSet, "change", questions.pk),
        address(LabelledQuestion, "changelist"),
    )
    for page in pages:
        with django_assert_max_num_queries(20):
            assert admin_client.get(page).status_code == 200


def test_viewers_look_and_change_nothing(client: Client, corpus: Corpus) -> None:
    questions = make_questions(corpus)
    viewer = User.objects.create_user("viewer", is_staff=True)
    for name in ("view_questionset", "view_labelledquestion"):
        viewer.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(viewer)
    url = address(QuestionSet, "change", questions.pk)
    page = text(client.get(url))
    assert "Documents not in the corpus" in page
    assert 'name="typed"' not in page
    assert client.post(url, {"name": "Mine"}).status_code == 403
    assert client.get(address(QuestionSet, "add")).status_code == 403
    row = questions.questions.first()
    assert row is not None
    assert "birds.txt" in text(client.get(address(LabelledQuestion, "change", row.pk)))
