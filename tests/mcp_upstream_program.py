"""The scriptable upstream as a program.

    python -m tests.mcp_upstream_program FOLDER            over stdio
    python -m tests.mcp_upstream_program FOLDER --port N   over Streamable HTTP

FOLDER has its switches and what happened to it, see tests/mcp_upstream_state.py.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests import mcp_upstream_http, mcp_upstream_stdio
from tests.mcp_upstream_peer import Peer
from tests.mcp_upstream_state import Folder


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int)
    options = parser.parse_args(arguments)
    folder = Folder(options.folder)
    folder.note("started", pid=os.getpid())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    peer = Peer(folder)
    if options.port:
        asyncio.run(mcp_upstream_http.serve(peer, options.port))
    else:
        asyncio.run(mcp_upstream_stdio.serve(peer))


if __name__ == "__main__":
    main()
