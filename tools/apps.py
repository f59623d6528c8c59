"""The app of the catalogue, the call path and the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from typing_extensions import override


class ToolsConfig(AppConfig):
    name = "tools"
    verbose_name = "Tools"
    default_auto_field = "django.db.models.BigAutoField"

    @override
    def ready(self) -> None:
        from tools import checks  # noqa: F401 - registers the system checks
        from tools.backends.builtin import register_builtins
        from tools.backends.late import register_http_apis, register_upstreams
        from tools.backends.pipeline import register_pipelines
        from tools.guards.call_tasks import workers
        from tools.pipelines.kinds import register_kinds
        from tools.services.announce_change import connect_signals
        from tools.services.audit.plan import watch_all
        from tools.services.index_workers import index_workers
        from tools.services.search_workers import search_workers
        from tools.services.upstream_workers import upstream_workers

        workers.send = _send_call
        index_workers.send = _send_indexing
        upstream_workers.send = _send_look
        search_workers.send = _send_search
        register_kinds()
        register_builtins()
        register_pipelines(_send_query)
        register_http_apis()
        register_upstreams()
        connect_signals()
        watch_all()
        post_migrate.connect(_prepare_journal, sender=self, dispatch_uid="prepare-journal")


def _prepare_journal(**kwargs: Any) -> None:
    """A migrated database has its first days prepared; every start and beat go on from there."""
    from tools.services.prune_journal import prepare_journal

    prepare_journal()


def _send_call(task_id: str, run_seconds: float) -> None:
    """Imported when first needed: most commands never send one."""
    from tools.tasks import send_call

    send_call(task_id, run_seconds)


def _send_query(query_id: str, queue: str, message: Mapping[str, Any]) -> None:
    from tools.tasks import send_query

    send_query(query_id, queue, message)


def _send_look(ask_id: str, server_id: int, seconds: int) -> None:
    from tools.tasks import send_look

    send_look(ask_id, server_id, seconds)


def _send_search(queue: str, ask_id: str, corpus_id: int, query: str, seconds: int) -> None:
    from tools.tasks import send_search

    send_search(queue, ask_id, corpus_id, query, seconds)


def _send_indexing(task: str, arguments: Sequence[Any]) -> None:
    from tools.tasks import send_indexing

    send_indexing(task, arguments)
