"""HTTP APIs in the admin: where they are, and their secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.failing_services import fail
from tests.tools.admin.pages import address, submit, text
from tools.conf import deployment
from tools.guards.breaker import CircuitBreakerConfig
from tools.models import ApiService
from tools.vault import unseal

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

SECRET = "s3cret-of-the-shop"
SCHEMA = '{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}'


def test_secret_goes_in_and_never_comes_out(admin_client: Client, service: ApiService) -> None:
    # F4-04
    page = address(ApiService, "change", service.pk)
    submit(admin_client, page, auth="bearer", new_secret=SECRET)
    service.refresh_from_db()
    assert SECRET not in service.secret
    assert unseal(service.secret) == SECRET
    shown = text(admin_client.get(page))
    assert "yes, encrypted" in shown
    assert SECRET not in shown
    assert service.secret not in shown
    # Saving the page again leaves it as it is.
    submit(admin_client, page, title="Shop")
    assert ApiService.objects.get().secret == service.secret
    submit(admin_client, page, auth="none", forget_secret="on")
    assert ApiService.objects.get().secret == ""


def test_signing_in_without_a_secret_is_refused(admin_client: Client, service: ApiService) -> None:
    page = submit(admin_client, address(ApiService, "change", service.pk), auth="bearer")
    assert "This way of signing in needs one." in text(page)


ELSEWHERE = (
    "https://evil.example/v1",
    "https://shop.example.evil.example/v1",
    "https://shop.example:8443/v1",
    "http://shop.example/v1",
    "https://evil.example\\@shop.example/v1",
)


@pytest.fixture
def signed_in(service: ApiService) -> ApiService:
    """The service with a key stored."""
    service.auth = "bearer"
    service.set_secret(SECRET)
    service.save()
    return service


@pytest.mark.parametrize("moved", ELSEWHERE)
@pytest.mark.parametrize("auth", ["bearer", "none"])
def test_stored_secret_does_not_go_along_to_another_origin(
    admin_client: Client, signed_in: ApiService, moved: str, auth: str
) -> None:
    page = address(ApiService, "change", signed_in.pk)
    refused = submit(admin_client, page, base_url=moved, auth=auth)
    assert "Enter it again, or switch on “Forget the stored one”." in text(refused)
    kept = ApiService.objects.get()
    assert (kept.base_url, kept.secret) == ("https://shop.example/v1", signed_in.secret)


def test_address_that_is_none_is_told_alone(admin_client: Client, signed_in: ApiService) -> None:
    page = address(ApiService, "change", signed_in.pk)
    shown = submit(admin_client, page, base_url="")
    assert shown.context["adminform"].form.errors == {"base_url": ["This field is required."]}
    assert ApiService.objects.get().secret == signed_in.secret


def test_address_moves_with_a_new_secret_or_with_none(
    admin_client: Client, signed_in: ApiService
) -> None:
    page = address(ApiService, "change", signed_in.pk)
    submit(admin_client, page, base_url="https://new.example/v1", new_secret="for-the-new-one")
    moved = ApiService.objects.get()
    assert (moved.base_url, unseal(moved.secret)) == ("https://new.example/v1", "for-the-new-one")
    submit(admin_client, page, base_url="https://other.example", auth="none", forget_secret="on")
    moved = ApiService.objects.get()
    assert (moved.base_url, moved.secret) == ("https://other.example", "")


@pytest.mark.parametrize(
    "moved", ["https://shop.example/v2", "https://shop.example:443/v1", "https://SHOP.example"]
)
def test_stored_secret_stays_when_only_the_path_changes(
    admin_client: Client, signed_in: ApiService, moved: str
) -> None:
    submit(admin_client, address(ApiService, "change", signed_in.pk), base_url=moved)
    kept = ApiService.objects.get()
    assert (kept.base_url, kept.secret) == (moved, signed_in.secret)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("base_url", "ftp://shop.example", "Must start with https:// or http://"),
        ("base_url", "https://me:pw@shop.example", "use the sign-in fields"),
        ("base_url", "https://shop.example/v1?key=1", "Must not have a query"),
        ("allowed_networks", '["10.0.0.1/8"]', "is not a network"),
        ("headers", '{"X-A": "a\\r\\nb"}', "printable ASCII"),
        ("headers", '{"Host": "other"}', "set by the client itself"),
        ("retries", "9", "less than or equal to 5"),
    ],
)
def test_what_cannot_be_is_told_at_its_field(
    admin_client: Client, service: ApiService, field: str, value: str, told: str
) -> None:
    page = submit(admin_client, address(ApiService, "change", service.pk), **{field: value})
    assert told in text(page)


def test_an_open_breaker_is_shown_and_reset_on_the_page(
    admin_client: Client, service: ApiService, redis_url: str
) -> None:
    page = address(ApiService, "change", service.pk)
    assert "Not called yet." in text(admin_client.get(page))
    fail(redis_url, service.dependency, 5, CircuitBreakerConfig())
    assert "OPEN" in text(admin_client.get(address(ApiService, "changelist")))
    assert "5 of 5 failures in a row; calls are refused" in text(admin_client.get(page))
    told = {"breaker": service.dependency, "service": service.pk}
    answer = admin_client.post(reverse("admin:tools_upstreamserver_breakers"), told, follow=True)
    assert answer.redirect_chain == [(page, 302)]
    assert "The breaker of api:shop is closed." in text(answer)
    assert "calls are refused" not in text(answer)


def test_without_redis_the_breaker_is_not_known(
    admin_client: Client, service: ApiService, settings: Settings, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    try:
        assert "not known" in text(admin_client.get(address(ApiService, "changelist")))
        page = text(admin_client.get(address(ApiService, "change", service.pk)))
        assert "Not known: Redis cannot be reached" in page
    finally:
        deployment.cache_clear()
