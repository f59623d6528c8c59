"""The health of the service in the admin. Importing this package registers its pages."""

from health.admin import (
    changes,
    deliveries,
    history,
    objectives,
    schedule,
    schedules,
    webhooks,
)

__all__ = ["changes", "deliveries", "history", "objectives", "schedule", "schedules", "webhooks"]
