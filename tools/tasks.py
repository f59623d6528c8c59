"""Celery tasks: periodic ones, which call one service each, calls that run as tasks, and queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

from celery import shared_task
from celery.signals import worker_process_init, worker_process_shutdown
from django.conf import settings

from tools.execution import queries
from tools.execution.background import background
from tools.execution.task_runs import run_task
from tools.pipelines.blocks.embedder import EmbedderUnavailable
from tools.services import fold_figures as adding_up
from tools.services import prune_journal as retention
from tools.services.asked_upstream import LOOK_KILL_SECONDS, START_SECONDS
from tools.services.model_endpoints import connect_breakers
from tools.services.over_redis import PATIENCE
from tools.techniques import QUEUE_PREFIX

# Beside the run itself: waiting for the claim of a dead worker to end.
CLAIM_SECONDS: Final = 10
KILL_SECONDS: Final = 10
# A worker that cannot read the catalogue now tries again; tasks wait for ten minutes by default.
OPEN_EVERY: Final = 5
MOST_OPENINGS: Final = 120
SHORTEST_QUERY: Final = 0.1
INGEST_QUEUE: Final = "ingest"
SEARCH_KILL_SECONDS: Final = 5
# Texts for people; by default Celery writes out the whole message a second time.
UNWRITTEN: Final[Mapping[str, Any]] = {"argsrepr": "(…)", "kwargsrepr": "{}"}


@shared_task(ignore_result=True)
def prune_journal() -> int:
    """Remove request log rows that outlived their retention."""
    return retention.prune_journal()


@shared_task(ignore_result=True)
def prepare_journal() -> int:
    """Make the coming days' partitions of the request log (PostgreSQL)."""
    return retention.prepare_journal()


@shared_task(ignore_result=True)
def fold_figures() -> int:
    """Add up the figures of calls."""
    return adding_up.fold_figures()


@shared_task(bind=True, ignore_result=True, max_retries=MOST_OPENINGS)
def run_call(self: Any, task_id: str, run_seconds: float) -> None:
    """Run the call behind an MCP task."""
    try:
        background.open()
    except Exception as fault:
        raise self.retry(exc=fault, countdown=OPEN_EVERY) from fault
    background.run(partial(run_task, task_id, run_seconds))


def send_call(task_id: str, run_seconds: float) -> None:
    """Hand a task to the workers.

    Raises:
        Exception: whatever the broker raises; also in a process that was given no broker.
    """
    if not run_call.app.conf.broker_url:
        raise RuntimeError("this process has no way to the workers")
    limit = math.ceil(run_seconds) + CLAIM_SECONDS
    run_call.apply_async(
        (task_id, run_seconds),
        soft_time_limit=limit,
        time_limit=limit + KILL_SECONDS,
        # Connections that died while idle are replaced; an outage is the caller's to handle.
        retry_policy={"max_retries": 1, "interval_start": 0},
    )


# A query whose process was killed is sent again by whoever waits for it, and only once. Its answer
# goes back by a way of its own; Celery writes down only how it ended otherwise.
@shared_task(
    bind=True,
    ignore_result=True,
    store_errors_even_if_ignored=True,
    acks_late=True,
    reject_on_worker_lost=False,
)
def run_query(self: Any, message: Mapping[str, Any]) -> None:
    """Answer a query of a pipeline."""
    queries.answer_query(self.request.id, message)


def send_query(query_id: str, queue: str, message: Mapping[str, Any]) -> None:
    """Hand a query to the workers of its pipeline.

    Raises:
        Exception: whatever the broker raises.
    """
    # Commands do not load the Celery application unless they send something.
    import_module(settings.CELERY_APPLICATION)
    seconds = max(SHORTEST_QUERY, float(message["seconds"]))
    run_query.apply_async(
        (message,),
        task_id=query_id,
        queue=queue,
        expires=seconds,
        **UNWRITTEN,
        # Declared as whole seconds; Celery hands them to timers that take fractions.
        soft_time_limit=seconds,  # type: ignore[arg-type]
        time_limit=seconds + queries.KILL_AFTER,  # type: ignore[arg-type]
        retry_policy={"max_retries": 1, "interval_start": 0},
    )


@worker_process_init.connect
def _start_queries(**kwargs: Any) -> None:
    """Processes of a worker that takes queries load their models before the first one."""
    taken = run_query.app.amqp.queues.consume_from
    if mine := [name for name in taken if name.startswith(QUEUE_PREFIX)]:
        connect_breakers()
        queries.start_process(mine)


@worker_process_shutdown.connect
def _stop_queries(**kwargs: Any) -> None:
    queries.stop_process()


@worker_process_shutdown.connect
def _close_background(**kwargs: Any) -> None:
    background.close()


# Building indexes: each step can be repeated, and finds what was done before. Documents may be large,
# so the steps have limits of their own; a message that comes back meanwhile finds somebody at it.
STEP_SECONDS: Final = 6 * 3600
STEP_KILL_SECONDS: Final = STEP_SECONDS + 60
MODEL_EVERY: Final = 30
MOST_MODEL_TRIES: Final = 20


@shared_task(
    ignore_result=True,
    acks_late=True,
    soft_time_limit=STEP_SECONDS,
    time_limit=STEP_KILL_SECONDS,
)
def plan_index(version_id: int) -> None:
    """Let the documents of an index version be worked on."""
    _index_versions().plan_version(version_id)


@shared_task(
    bind=True,
    max_retries=MOST_MODEL_TRIES,
    ignore_result=True,
    acks_late=True,
    soft_time_limit=STEP_SECONDS,
    time_limit=STEP_KILL_SECONDS,
)
def ingest_documents(self: Any, version_id: int, documents: list[int]) -> None:
    """Read, cut and embed some documents of an index version."""
    try:
        _index_versions().ingest_batch(version_id, documents)
    except EmbedderUnavailable as fault:
        if self.request.retries == MOST_MODEL_TRIES:
            _index_versions().abandon_version(version_id, str(fault))
            raise
        raise self.retry(exc=fault, countdown=MODEL_EVERY) from fault


@shared_task(
    ignore_result=True,
    acks_late=True,
    soft_time_limit=STEP_SECONDS,
    time_limit=STEP_KILL_SECONDS,
)
def assemble_index(version_id: int) -> None:
    """Put an index version together and switch to it."""
    _index_versions().assemble(version_id)


@shared_task(ignore_result=True)
def resume_indexes() -> int:
    """Go on with index versions that nobody works on any more."""
    return int(_index_versions().resume_indexes())


# An evaluation has one message for all its pipelines. One that comes back finds somebody at it, or goes
# on where that worker ended.
@shared_task(
    ignore_result=True,
    acks_late=True,
    soft_time_limit=STEP_SECONDS,
    time_limit=STEP_KILL_SECONDS,
)
def run_evaluation(job_id: int) -> None:
    """Measure the pipelines of an evaluation."""
    from tools.services.run_evaluation import run_job

    run_job(job_id)


@shared_task(ignore_result=True)
def resume_evaluations() -> int:
    """Go on with evaluations that nobody works on any more."""
    from tools.services.evaluation_jobs import resume_evaluations

    return resume_evaluations()


def send_indexing(task: str, arguments: Sequence[Any]) -> None:
    """Hand a step of an index build, or an evaluation, to the workers.

    Raises:
        Exception: whatever the broker raises.
    """
    import_module(settings.CELERY_APPLICATION)
    known = (plan_index, ingest_documents, assemble_index, run_evaluation)
    steps = {step.__name__: step for step in known}
    steps[task].apply_async(
        tuple(arguments), queue=INGEST_QUEUE, retry_policy={"max_retries": 1, "interval_start": 0}
    )


# Not told twice: whoever asked sees that nothing came of it, and asks again.
@shared_task(ignore_result=True, acks_late=False)
def look_at_upstream(ask_id: str, server_id: int) -> None:
    """Look at an MCP server for somebody who waits."""
    from tools.services.ask_upstream import answer

    answer(ask_id, server_id)


def send_look(ask_id: str, server_id: int, seconds: int) -> None:
    """Hand a look at an MCP server to the workers; worthless when none takes it up soon.

    Raises:
        Exception: whatever the broker raises.
    """
    import_module(settings.CELERY_APPLICATION)
    look_at_upstream.apply_async(
        (ask_id, server_id),
        expires=START_SECONDS,
        # The look itself ends before; these are for one that does not.
        soft_time_limit=seconds + PATIENCE + LOOK_KILL_SECONDS,
        time_limit=seconds + PATIENCE + 2 * LOOK_KILL_SECONDS,
        retry_policy={"max_retries": 1, "interval_start": 0},
    )


# Whoever asked waits for seconds only; nobody wants the answer of a second attempt.
@shared_task(ignore_result=True, acks_late=False)
def search_corpus(ask_id: str, corpus_id: int, query: str) -> None:
    """Search inside a corpus for somebody who waits."""
    from tools.services.answer_search import answer_search

    answer_search(ask_id, corpus_id, query)


def send_search(queue: str, ask_id: str, corpus_id: int, query: str, seconds: int) -> None:
    """Hand a search inside a corpus to the workers of a pipeline, which have the models.

    Raises:
        Exception: whatever the broker raises.
    """
    import_module(settings.CELERY_APPLICATION)
    search_corpus.apply_async(
        (ask_id, corpus_id, query),
        queue=queue,
        expires=seconds,
        **UNWRITTEN,
        soft_time_limit=seconds,
        time_limit=seconds + SEARCH_KILL_SECONDS,
        retry_policy={"max_retries": 1, "interval_start": 0},
    )


def _index_versions() -> Any:
    # Workers that only answer queries need none of what reads documents.
    from tools.services import index_versions

    return index_versions
