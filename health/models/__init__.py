"""What the health app stores."""

from health.models.history import CurrentHealth, HealthSnapshot, StatusChange, Subject
from health.models.webhooks import DeliveryState, HealthWebhook, Told, WebhookDelivery

__all__ = [
    "CurrentHealth",
    "DeliveryState",
    "HealthSnapshot",
    "HealthWebhook",
    "StatusChange",
    "Subject",
    "Told",
    "WebhookDelivery",
]
