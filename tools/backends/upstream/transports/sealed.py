"""What is configured under seal: opened where it is used, and nowhere else."""

from __future__ import annotations

import json

from tools.backends.upstream.channel import ChannelFault
from tools.vault import VaultFault, unseal


def opened_texts(sealed: str, what: str) -> dict[str, str]:
    """The texts by name that were sealed as a JSON object; none for an empty seal.

    Raises:
        ChannelFault: they cannot be opened, or are something else.
    """
    if not sealed:
        return {}
    try:
        read = json.loads(unseal(sealed))
    except VaultFault as fault:
        raise ChannelFault(f"its {what}: {fault}", sent=False) from None
    except ValueError:
        read = None
    if not isinstance(read, dict) or not all(isinstance(one, str) for one in read.values()):
        raise ChannelFault(f"its {what} are no names with texts", sent=False)
    return read
