"""The Celery application: broker, queue, limits and the beat schedule."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from celery import Celery
from celery.signals import setup_logging, task_prerun
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
# Celery has workers and the beat run Django's checks, for which they load every page, and drops what is found: a
# quarter of their start. Whoever starts the service is told by `manage.py up` and `manage.py check`.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

QUEUE = "controlplane"
INGEST_QUEUE = "ingest"
# The longest a call may last is 300 s (server.timeout); tasks are told at that point and killed
# a little later. A message unacknowledged for longer than both belongs to a dead worker.
SOFT_LIMIT = 300
HARD_LIMIT = 310
VISIBILITY_TIMEOUT = 330
START_LIMIT = 120.0


def broker_url(redis_url: str) -> str:
    """`redis_url` in Celery's spelling, which differs for unix sockets."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    names = {"db": "virtual_host"}
    query = urlencode([(names.get(key, key), value) for key, value in parse_qsl(parts.query)])
    return f"redis+socket://{parts.netloc}{parts.path}" + (f"?{query}" if query else "")


def _every(task: str, period: timedelta) -> dict[str, Any]:
    """What is put on the schedule when it is not there; operators may change it."""
    return {"task": task, "schedule": period.total_seconds()}


def _schedule() -> dict[str, Any]:
    """What the program itself needs done."""
    return {
        "prune-journal": _every("tools.tasks.prune_journal", timedelta(hours=1)),
        "prepare-journal": _every("tools.tasks.prepare_journal", timedelta(hours=1)),
        "fold-figures": _every("tools.tasks.fold_figures", timedelta(minutes=1)),
        # As often as the configuration of the service says; see controlplane/beat.py.
        "health-checks": _every("health.tasks.check_health", timedelta(seconds=30)),
        "prune-health": _every("health.tasks.prune_health", timedelta(hours=1)),
        "send-webhooks": _every("health.tasks.send_deliveries", timedelta(seconds=30)),
        "resume-indexes": _every("tools.tasks.resume_indexes", timedelta(seconds=30)),
        "resume-evaluations": _every("tools.tasks.resume_evaluations", timedelta(seconds=30)),
    }


def _configuration() -> dict[str, Any]:
    url = broker_url(settings.REDIS_URL)
    return {
        "broker_url": url,
        "result_backend": url,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY_TIMEOUT,
            # kombu looks for messages of dead workers only every 100 s unless told otherwise.
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "health_check_interval": 25,
            "socket_keepalive": True,
        },
        # Redis may start later, or be restarted at any time: never give up on it.
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "redis_backend_health_check_interval": 25,
        # The result backend hands this to unix sockets as well, which refuse it.
        "redis_socket_keepalive": not url.startswith("redis+socket:"),
        "redis_retry_on_timeout": True,
        "task_serializer": "json",
        "result_serializer": "json",
        "event_serializer": "json",
        "accept_content": ["json"],
        "enable_utc": True,
        "timezone": "UTC",
        "task_default_queue": QUEUE,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_soft_time_limit": SOFT_LIMIT,
        "task_time_limit": HARD_LIMIT,
        "worker_prefetch_multiplier": 1,
        # Processes that run queries load models and indexes before they are ready.
        "worker_proc_alive_timeout": START_LIMIT,
        # A task survives a restart of Redis; its message may be delivered again, so tasks are
        # idempotent.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # Django's LOGGING stays in force: one JSON object a line.
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "result_expires": timedelta(hours=1),
        "beat_scheduler": "controlplane.beat:Scheduler",
        # The beat tells each time it goes round that it runs; see health/checks/broker.py.
        "beat_max_loop_interval": 2,
        "beat_schedule": _schedule(),
    }


@setup_logging.connect
def _keep_logging(**kwargs: Any) -> None:
    """Being connected is enough: Celery then leaves alone what Django's LOGGING has set up."""


@task_prerun.connect
def _name_the_task(task: Any = None, **kwargs: Any) -> None:
    """What a task changes, it changes; the next one says so in its turn."""
    from tools.services.audit.acting import act_as_task

    act_as_task(str(getattr(task, "name", "")))


app = Celery(QUEUE)
app.conf.update(_configuration())
# Threads know no current application; without a default one Celery would make one up for them.
app.set_default()
app.autodiscover_tasks()
