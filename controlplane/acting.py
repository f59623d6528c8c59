"""Who acts in a request, for the audit trail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponse

from controlplane.lockout import address_of
from tools.services.audit.acting import Actor, ActorKind, acting


class ActingMiddleware:
    """What changes during a request is the doing of the person who sent it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with acting(partial(actor_of, request)):
            return self._get_response(request)


def actor_of(request: HttpRequest) -> Actor:
    """The person who is logged in; before that it is the service that acts."""
    address = address_of(request) or ""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return Actor(ActorKind.SERVICE, address=address, through=request.path)
    return Actor(ActorKind.PERSON, user.get_username(), address, request.path)
