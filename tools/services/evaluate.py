"""Measures pipelines on collections with judgements, and keeps bad index versions out of use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db.models import QuerySet

from tools.models import (
    Corpus,
    EvaluationPart,
    EvaluationRun,
    IndexVersion,
    PipelineConfig,
    QuestionSet,
)
from tools.models.corpora import VersionState
from tools.pipelines.blocks.embedder import CachedQueries, EmbedderUnavailable, embedder
from tools.pipelines.blocks.token_encoder import TokenEncoder, token_encoder
from tools.pipelines.contracts import BlockUnavailable, IndexSpec, Run
from tools.pipelines.evaluation.datasets import DatasetFault, read_dataset, read_questions
from tools.pipelines.evaluation.measures import LEADING
from tools.pipelines.evaluation.runs import Measured, Task, default_parameters, run_pipeline
from tools.pipelines.evaluation.significance import compare
from tools.pipelines.manager import pipeline_manager
from tools.selectors.specs import index_spec
from tools.services.evaluation_corpus import Ingested, Progress, ingest_dataset, slug_of, task_for
from tools.techniques import techniques

# Measured when no pipeline is configured for a corpus that has a gate.
GATE_PIPELINE: Final = "basic"
PLACES: Final = 6
WARMING: Final = "What is this about?"


class EvaluationFault(Exception):
    """What was asked for cannot be measured; the message is for the operator."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The runs of one evaluation, and documents of the collection that the index does not have."""

    runs: tuple[EvaluationRun, ...]
    ingested: Ingested


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a version may be switched to. `losses` has the loss by pipeline; below 0 it gained."""

    passed: bool
    reason: str = ""
    losses: Mapping[str, float] | None = None


def evaluate(
    folder: Path,
    pipelines: Sequence[str],
    *,
    corpus: str = "",
    keep_others: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Evaluated:
    """Ingest a collection, run pipelines on it, and store how well they did.

    Without `corpus` the collection has a corpus of its own.

    Raises:
        EvaluationFault: a pipeline is not known.
        DatasetFault: the collection cannot be used.
        CorpusFault: its index cannot be built.
    """
    _check(pipelines)
    dataset = read_dataset(folder)
    # Documents of a corpus that people fill are theirs.
    ingested = ingest_dataset(
        dataset,
        corpus or slug_of(dataset),
        keep_others=keep_others or bool(corpus),
        progress=progress,
    )
    runs = tuple(
        _measure(name, ingested.version, ingested.task, progress)
        for name in dict.fromkeys(pipelines)
    )
    return Evaluated(runs, ingested)


def passes_gate(version: IndexVersion) -> str | None:
    """Why the quality gate of its corpus does not let a version into use; None when it does."""
    result = gate(version.corpus, version)
    return None if result.passed else result.reason


def gate(corpus: Corpus, version: IndexVersion) -> GateResult:
    """Compare a version with the one in use on the corpus' evaluation set.

    A gate that cannot be asked does not let anything through.
    """
    active = corpus.versions.filter(state=VersionState.ACTIVE).exclude(pk=version.pk).first()
    if corpus.largest_loss is None or not corpus.gate_dataset or active is None:
        return GateResult(passed=True)
    try:
        task = task_for(corpus, read_questions(Path(corpus.gate_dataset)))
        losses = {
            name: _mean(active, task, name) - _mean(version, task, name)
            for name in _pipelines_of(corpus)
        }
    except (DatasetFault, BlockUnavailable, EmbedderUnavailable) as fault:
        return GateResult(passed=False, reason=f"The quality gate cannot be asked: {fault}.")
    worst = max(losses, key=losses.__getitem__)
    # Differences of floats: a loss of exactly the limit passes.
    if losses[worst] <= corpus.largest_loss + 1e-9:
        return GateResult(passed=True, losses=losses)
    return GateResult(
        passed=False,
        reason=f"{worst} loses {losses[worst]:.4f} {LEADING} on {task.dataset.name} against version "
        f"{active.number}; at most {corpus.largest_loss:g} may be lost.",
        losses=losses,
    )


def _pipelines_of(corpus: Corpus) -> list[str]:
    names = PipelineConfig.objects.filter(corpus=corpus).values_list("pipeline_name", flat=True)
    return [name for name in names if techniques.get(name)] or [GATE_PIPELINE]


def _mean(version: IndexVersion, task: Task, name: str) -> float:
    """The leading measure of a pipeline on a version; it is not measured twice."""
    known = EvaluationRun.objects.filter(
        question_set=None,
        version=version,
        pipeline_name=name,
        dataset=task.dataset.name,
        parameters=_parameters(name),
    ).first()
    if known is None or set(known.per_query) != set(task.dataset.judged_queries):
        known = _measure(name, version, task)
    return float(known.measures[LEADING])


def _measure(
    name: str,
    version: IndexVersion,
    task: Task,
    progress: Progress = lambda what, done, total: None,
) -> EvaluationRun:
    measured = measure_pipeline(name, version, task, progress)
    previous = _runs(name, task, None).exclude(version=version).exclude(version=None).first()
    return keep_run(name, version, task, measured, previous)


def measure_pipeline(name: str, version: IndexVersion, task: Task, progress: Progress) -> Measured:
    """Ask a pipeline every judged question of a task, on one index version.

    Raises:
        BlockUnavailable: it needs something that is not there.
        EmbedderUnavailable: the version's model cannot be used here.
    """
    manager = pipeline_manager()
    index = manager.index(IndexSpec(**index_spec(version)))
    run = Run(index=index, generator=manager.generator(""))
    pipeline, parameters = manager.pipeline(name), _parameters(name)
    # Models are loaded by the first question; its time is not that of a query.
    asked = pipeline.parameters.model_validate({**parameters, "query": WARMING})
    pipeline.rank(WARMING, asked, run, 1)
    _forget_questions(version)
    return run_pipeline(
        pipeline,
        parameters,
        run,
        task,
        lambda done, total: progress(f"Running {name}", done, total),
    )


def keep_part(
    part: EvaluationPart, version: IndexVersion, task: Task, measured: Measured
) -> EvaluationRun:
    """The run of one pipeline of an evaluation, compared with the one before it."""
    name, question_set = part.pipeline_name, part.job.question_set
    previous = _runs(name, task, question_set).first()
    return keep_run(name, version, task, measured, previous, question_set=question_set, part=part)


def _runs(name: str, task: Task, question_set: QuestionSet | None) -> QuerySet[EvaluationRun]:
    """The runs of a pipeline on the same questions, latest first."""
    rows = EvaluationRun.objects.filter(pipeline_name=name, question_set=question_set)
    # A set may get another name; a folder is known by nothing else.
    return rows if question_set else rows.filter(dataset=task.dataset.name)


def _forget_questions(version: IndexVersion) -> None:
    """Let the models forget what the pipeline before this one asked: those vectors would come free."""
    for model in (embedder(version.embedding_model), token_encoder()):
        if isinstance(model, CachedQueries | TokenEncoder):
            model.forget_queries()


def keep_run(
    name: str,
    version: IndexVersion,
    task: Task,
    measured: Measured,
    previous: EvaluationRun | None,
    **fields: Any,
) -> EvaluationRun:
    """Write down what was measured, and how it compares with a run before it."""
    # Rounded before they are compared: what was stored earlier was, too.
    per_query = {key: round(value, PLACES) for key, value in measured.leading.items()}
    comparison: dict[str, Any] = {}
    found = compare(previous.per_query, per_query) if previous is not None else None
    if previous is not None and found is not None:
        number = previous.version.number if previous.version else None
        against = {"run": previous.pk, "version": number}
        comparison = {**against, "measure": LEADING, **found.to_json()}
    return EvaluationRun.objects.create(
        pipeline_name=name,
        version=version,
        dataset=task.dataset.name,
        parameters=_parameters(name),
        queries=len(measured.per_query),
        measures={key: round(value, PLACES) for key, value in measured.measures.items()},
        per_query=per_query,
        comparison=comparison,
        **fields,
    )


def _parameters(name: str) -> dict[str, Any]:
    """What a call that says nothing gets: the operator's defaults over the technique's own."""
    config = PipelineConfig.objects.filter(pipeline_name=name).first()
    return default_parameters(
        type(pipeline_manager().pipeline(name)), config.default_parameters if config else {}
    )


def _check(pipelines: Sequence[str]) -> None:
    if not pipelines:
        raise EvaluationFault("Name at least one pipeline.")
    unknown = [name for name in pipelines if techniques.get(name) is None]
    if unknown:
        known = ", ".join(techniques.names())
        raise EvaluationFault(f"No pipeline {', '.join(unknown)}; known are {known}.")
