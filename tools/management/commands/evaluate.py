"""`manage.py evaluate`: how well pipelines find what a collection with judgements says they should."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from tools.management.database import ready_database
from tools.pipelines.contracts import BlockUnavailable
from tools.pipelines.evaluation.datasets import DatasetFault
from tools.pipelines.evaluation.measures import MEASURES
from tools.services.documents import CorpusFault
from tools.services.evaluate import Evaluated, EvaluationFault, evaluate
from tools.techniques import techniques

SHOW_EVERY: Final = 2.0
MOST_NAMED: Final = 5
_FAULTS: Final = (EvaluationFault, DatasetFault, CorpusFault, BlockUnavailable)


class Command(BaseCommand):
    """Measures pipelines on a collection in the layout of BEIR."""

    help = "Measure pipelines on a folder with corpus.jsonl, queries.jsonl and qrels.tsv."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dataset", type=Path, required=True, help="Folder of the collection.")
        parser.add_argument(
            "--pipelines", default="all", help="Names with commas between them, or all."
        )
        parser.add_argument(
            "--corpus",
            default="",
            help="Slug of the corpus to ingest into; eval- and the folder's name when left out.",
        )
        parser.add_argument(
            "--keep",
            action="store_true",
            help="Keep documents of the corpus that the collection does not have.",
        )
        parser.add_argument("--json", type=Path, help="Also write the figures to this file.")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        ready_database(self.stdout)
        named = options["pipelines"]
        names = [name.strip() for name in named.split(",") if name.strip()]
        self._last, self._what = 0.0, ""
        try:
            result = evaluate(
                options["dataset"],
                techniques.names() if named == "all" else names,
                corpus=options["corpus"],
                keep_others=options["keep"],
                progress=self._progress,
            )
        except _FAULTS as fault:
            raise CommandError(str(fault)) from fault
        except ValidationError as fault:
            raise CommandError("; ".join(fault.messages)) from fault
        self._show(result)
        if options["json"]:
            self._write(options["json"], result)

    def _progress(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what == self._what and now - self._last < SHOW_EVERY and done < total:
            return
        self._last, self._what = now, what
        self.stderr.write(f"{what}: {done} of {total}")

    def _show(self, result: Evaluated) -> None:
        version, task = result.ingested.version, result.ingested.task
        self.stdout.write(
            f"{task.dataset.name}: {len(task.dataset.documents)} documents, {version.chunks} "
            f"passages, {len(task.dataset.judged_queries)} judged queries; index version "
            f"{version.number} of {version.corpus.slug}, {version.embedding_model}"
        )
        left_out = result.ingested.left_out
        if left_out:
            shown = ", ".join(list(left_out)[:MOST_NAMED])
            more = " and others" if len(left_out) > MOST_NAMED else ""
            self.stdout.write(f"Not in the index: {len(left_out)} documents ({shown}{more})")
        columns = [*MEASURES, "p50_ms", "p95_ms"]
        width = max(len(run.pipeline_name) for run in result.runs)
        headings = "  ".join(f"{name:>10}" for name in columns)
        self.stdout.write(f"{'pipeline':<{width}}  {headings}")
        for run in result.runs:
            figures = [
                f"{run.measures[name]:>10.{1 if name.endswith('_ms') else 4}f}" for name in columns
            ]
            self.stdout.write(f"{run.pipeline_name:<{width}}  {'  '.join(figures)}")
        for run in result.runs:
            if run.comparison:
                about = run.comparison
                self.stdout.write(
                    f"{run.pipeline_name}: {about['difference']:+.4f} {about['measure']} against "
                    f"version {about['version']}, p = {about['p_value']:.4f}, {about['better']} "
                    f"queries better, {about['worse']} worse"
                )

    def _write(self, path: Path, result: Evaluated) -> None:
        version = result.ingested.version
        content = {
            "dataset": result.ingested.task.dataset.name,
            "corpus": version.corpus.slug,
            "version": version.number,
            "embedding_model": version.embedding_model,
            "passages": version.chunks,
            "left_out": sorted(result.ingested.left_out),
            "pipelines": {
                run.pipeline_name: {
                    "queries": run.queries,
                    "parameters": run.parameters,
                    "measures": run.measures,
                    "comparison": run.comparison,
                }
                for run in result.runs
            },
        }
        try:
            path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        except OSError as fault:
            raise CommandError(f"{path} cannot be written: {fault.strerror}") from fault
