"""What can go wrong with a model's API, and which of it means that the API is down.

    EndpointFault
    ├── EndpointClosed         it failed too often; it is left alone for a while
    ├── EndpointRefused        it answers, but not to this request: a matter of configuration
    └── EndpointDown           no answer, or none that can be used; counts against it
        └── EndpointTimeout    no answer in time

Messages are for callers: no addresses, no keys, no texts of others. What an API itself says about
a fault goes to the log, without secrets.
"""

from __future__ import annotations

from typing import Final

from typing_extensions import override

from tools.pipelines.contracts import BlockUnavailable

# A call that had less time than this says nothing about the API when it runs out.
FAIR_WAIT: Final = 5.0


class EndpointFault(BlockUnavailable):
    """An API did not do what it was asked for."""

    @property
    def counts(self) -> bool:
        """Whether the API is the worse for it."""
        return False


class EndpointClosed(EndpointFault):
    """The API failed too often; `retry_after` seconds later it is asked again."""

    def __init__(self, title: str, retry_after: float) -> None:
        super().__init__(f"{title} failed repeatedly and is not asked for now")
        self.retry_after = retry_after


class EndpointRefused(EndpointFault):
    """The API does not take the request, and will not take it later either.

    `parameter` is the one of its parameters that the API does not know, as far as it says so.
    """

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter


class EndpointDown(EndpointFault):
    """The API cannot be reached, is overloaded, or answers what cannot be used."""

    @property
    @override
    def counts(self) -> bool:
        return True


class EndpointTimeout(EndpointDown):
    """The API did not answer within the `waited` seconds it was given."""

    def __init__(self, title: str, waited: float) -> None:
        super().__init__(f"{title} did not answer in time")
        self.waited = waited

    @property
    @override
    def counts(self) -> bool:
        return self.waited >= FAIR_WAIT
