"""A small collection with judgements, written for tests."""

from __future__ import annotations

import json
from pathlib import Path

DOCUMENTS = {
    "pump/1": ("Pumps", "The pump moves water to the upper tank. It is oiled every Monday."),
    "bird 2": ("Swallows", "Swallows fly south in autumn. They come back in April."),
    "bread-3": ("Bread", "Bread is baked from flour, water and salt. The dough rests."),
    "copy-4": ("Bread", "Bread is baked from flour, water and salt. The dough rests."),
    "empty-5": ("", ""),
    "clock-6": ("", "The clock in the tower strikes every quarter of an hour."),
}
QUERIES = {
    "q1": "When do the birds return in spring?",
    "q2": "Which machine carries water upwards?",
    "q3": "What is dough made of?",
    "unjudged": "Who sings?",
}
JUDGEMENTS = (
    ("q1", "bird 2", 2),
    ("q1", "bread-3", 0),
    ("q2", "pump/1", 1),
    ("q3", "bread-3", 1),
    ("q3", "copy-4", 1),
)


def write_collection(folder: Path, documents: dict[str, tuple[str, str]] | None = None) -> Path:
    """The collection in the layout of BEIR; `documents` in place of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    given = DOCUMENTS if documents is None else documents
    _write(
        folder / "corpus.jsonl",
        [{"_id": name, "title": title, "text": text} for name, (title, text) in given.items()],
    )
    _write(
        folder / "queries.jsonl", [{"_id": name, "text": text} for name, text in QUERIES.items()]
    )
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{query}\t{document}\t{grade}" for query, document, grade in JUDGEMENTS]
    (folder / "qrels.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _write(path: Path, items: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
