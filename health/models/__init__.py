"""What the health app stores."""

from health.models.history import CurrentHealth, HealthSnapshot, StatusChange, Subject
from health.models.objectives import Counting, ServiceLevelObjective
from health.models.webhooks import DeliveryState, HealthWebhook, Told, WebhookDelivery

__all__ = [
    "Counting",
    "CurrentHealth",
    "DeliveryState",
    "HealthSnapshot",
    "HealthWebhook",
    "ServiceLevelObjective",
    "StatusChange",
    "Subject",
    "Told",
    "WebhookDelivery",
]
