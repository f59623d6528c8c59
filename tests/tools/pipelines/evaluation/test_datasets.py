import json
from pathlib import Path
from typing import Any

import pytest

from tools.pipelines.evaluation.datasets import DatasetFault, JudgedDocument, read_dataset

DOCUMENTS = [{"_id": "d1", "title": "One", "text": "First."}, {"_id": "d2", "text": "Second."}]
QUERIES = [{"_id": "q1", "text": "What is first?"}, {"_id": "q2", "text": "Unjudged?"}]
JUDGEMENTS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"


def written(folder: Path, **files: str | list[Any]) -> Path:
    """A collection in `folder`; files by their names without what follows the dot."""
    content = {"corpus": DOCUMENTS, "queries": QUERIES, "qrels": JUDGEMENTS, **files}
    for name, value in content.items():
        lines = value if isinstance(value, str) else "".join(f"{json.dumps(x)}\n" for x in value)
        suffix = "tsv" if name == "qrels" else "jsonl"
        (folder / f"{name}.{suffix}").write_text(lines, encoding="utf-8")
    return folder


def test_a_collection_is_read_whole(tmp_path: Path) -> None:
    dataset = read_dataset(written(tmp_path))

    assert dataset.name == tmp_path.name
    assert dataset.documents["d1"] == JudgedDocument("d1", "One", "First.")
    assert dataset.documents["d2"].title == ""
    assert dataset.queries == {"q1": "What is first?", "q2": "Unjudged?"}
    assert dataset.judgements == {"q1": {"d1": 2, "d2": 0}}
    assert dataset.judged_queries == {"q1": "What is first?"}


def test_the_heading_of_the_judgements_may_be_left_out(tmp_path: Path) -> None:
    dataset = read_dataset(written(tmp_path, qrels="q1\td1\t1\n"))

    assert dataset.judgements == {"q1": {"d1": 1}}


def test_judgements_may_lie_in_a_folder_of_their_own(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")

    assert read_dataset(folder).judgements == {"q1": {"d1": 2, "d2": 0}}


def test_blank_lines_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    corpus = "\ufeff" + json.dumps(DOCUMENTS[0]) + "\n\n" + json.dumps(DOCUMENTS[1]) + "\n\n"

    assert len(read_dataset(written(tmp_path, corpus=corpus)).documents) == 2


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (written(tmp_path) / name).unlink()

    with pytest.raises(DatasetFault, match=f"{name} is missing"):
        read_dataset(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetFault, match="nowhere is not a folder"):
        read_dataset(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"corpus": "{}\n"}, "corpus.jsonl line 1: _id must be a text"),
        ({"corpus": '{"_id": "a", "text": "b"}\n[1]\n'}, "corpus.jsonl line 2: not a JSON object"),
        ({"corpus": '{"_id": "a", "text": "b"}\n\n{"_id"\n'}, "corpus.jsonl line 3: not JSON"),
        ({"corpus": [{"_id": "d1", "text": 5}]}, "corpus.jsonl line 1: text must be a text"),
        ({"corpus": [{"_id": "", "text": ""}]}, "corpus.jsonl line 1: _id is empty"),
        ({"corpus": [{"_id": "a", "text": "", "title": 1}]}, "line 1: title must be a text"),
        (
            {"corpus": [*DOCUMENTS, DOCUMENTS[0]]},
            "corpus.jsonl line 3: _id 'd1' stands there twice",
        ),
        ({"corpus": ""}, "corpus.jsonl is empty"),
        ({"queries": "\n"}, "queries.jsonl is empty"),
        (
            {"queries": [{"_id": "q", "text": " "}]},
            "queries.jsonl line 1: text must have 1 to 8000",
        ),
        ({"qrels": "q1\td1\t1\nq9\td1\t1\n"}, "qrels.tsv line 2: no query 'q9' in queries.jsonl"),
        ({"qrels": "q1\td9\t1\n"}, "qrels.tsv line 1: no document 'd9' in corpus.jsonl"),
        ({"qrels": "q1 d1 1\n"}, "qrels.tsv line 1: expected 3 columns"),
        ({"qrels": "q1\td1\t1\nq1\td2\tyes\n"}, "line 2: the grade 'yes' is not a whole number"),
        ({"qrels": "a\tb\tc\n"}, "judges no document relevant to any query"),
        ({"qrels": "q1\td1\t0\n"}, "judges no document relevant to any query"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(
    tmp_path: Path, files: dict[str, Any], message: str
) -> None:
    with pytest.raises(DatasetFault) as refused:
        read_dataset(written(tmp_path, **files))

    assert message in str(refused.value)


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (written(tmp_path) / "corpus.jsonl").write_bytes(b'{"_id": "a", "text": "\xe4"}\n')

    with pytest.raises(DatasetFault, match=r"corpus\.jsonl is not UTF-8"):
        read_dataset(tmp_path)
