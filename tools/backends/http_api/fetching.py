"""What an adapter is given and what it is: code between a tool and the operations of its API.

Most tools are one request. An adapter is for those whose arguments or answers need more than a
mapping; it makes requests only through `Fetch`, so that every rule of the backend holds for it too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tools.operations import Operation

# Makes one request of the tool's service with these arguments: what was read from the answer.
# Raises the `ControlPlaneError` of the failure.
Fetch = Callable[[Operation, Mapping[str, Any]], Awaitable[Any]]
# Does the work of one tool: the arguments it was called with in, the tool's answer out.
Adapter = Callable[[Fetch, Mapping[str, Any]], Awaitable[Any]]
