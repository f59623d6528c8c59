"""Who may manage corpora: the documents that pipelines answer from.

These are no calls of tools and leave no row in the request log; each takes one of the caller's calls
per minute. What goes into a corpus is what agents are told later, so a door that is open to a network
without keys does not let anybody do it.
"""

from __future__ import annotations

from tools.contracts import Caller, CallerKind, Credentials
from tools.errors import ErrorDetails, NotPermitted, Stopping
from tools.execution import admission, identity
from tools.execution.runtime import serving


async def manager(credentials: Credentials) -> Caller:
    """Who presented `credentials`, if they may manage corpora.

    Raises:
        Unauthenticated: the caller is not known.
        NotPermitted: the caller is known and may not.
        RateLimited: the caller has no calls left.
    """
    runtime = serving()
    if runtime.stopping:
        raise Stopping
    await identity.prepare(credentials)
    caller = identity.identify(credentials, runtime.directory.catalogue)
    if not _may_manage(caller, open_to_network=runtime.settings.reachable_from_network):
        raise NotPermitted(
            "This caller may not manage corpora",
            ErrorDetails(
                suggestion="Use the key of an API client with 'manages corpora' switched on"
            ),
        )
    await admission.take_rate(caller, runtime.rate)
    return caller


def _may_manage(caller: Caller, *, open_to_network: bool) -> bool:
    match caller.kind:
        case CallerKind.ADMIN | CallerKind.LOCAL:
            return True
        case CallerKind.ANONYMOUS:
            # Only with keys off; on loopback that means somebody on this machine.
            return not open_to_network
        case CallerKind.API_KEY:
            return caller.manages_corpora
    return False
