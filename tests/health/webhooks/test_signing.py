"""The signature of events, and the keys it takes."""

from __future__ import annotations

import base64

import pytest

from health.webhooks.signing import new_secret, secret_faults, signed_headers


def test_signature_is_that_of_the_specification() -> None:
    # The example that the libraries of Standard Webhooks are tested with.
    headers = signed_headers(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_new_secrets_are_keys_and_differ() -> None:
    first, second = new_secret(), new_secret()
    assert first != second
    assert secret_faults(first) == []


@pytest.mark.parametrize("size", [24, 64])
def test_keys_of_the_allowed_sizes_are_taken(size: int) -> None:
    assert secret_faults("whsec_" + base64.b64encode(b"k" * size).decode()) == []


@pytest.mark.parametrize(
    ("secret", "told"),
    [
        ("", "whsec_ and Base64"),
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_ and Base64"),
        ("whsec_not base64!", "whsec_ and Base64"),
        ("whsec_äöü", "whsec_ and Base64"),
        ("whsec_" + base64.b64encode(b"k" * 23).decode(), "24 to 64 bytes"),
        ("whsec_" + base64.b64encode(b"k" * 65).decode(), "24 to 64 bytes"),
    ],
)
def test_what_is_no_key_is_refused_without_repeating_it(secret: str, told: str) -> None:
    (fault,) = secret_faults(secret)
    assert told in fault
    assert not secret or secret not in fault
