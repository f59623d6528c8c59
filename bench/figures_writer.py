"""One process that writes the journal and adds figures up, as a web process and a worker do.

    python -m bench.figures_writer SPOOL

It runs until it is killed.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Final

import django

FOLD_EVERY: Final = 0.5


def main(spool: Path) -> None:
    django.setup()
    from django.conf import settings

    from tools.services.drain_journal import JournalDrain

    threading.Thread(target=_fold, daemon=True).start()

    async def drain() -> None:
        await JournalDrain(settings.REDIS_URL, spool).run()

    asyncio.run(drain())


def _fold() -> None:
    from django.db import connection

    from tools.services.fold_figures import fold_figures

    pause = threading.Event()
    while not pause.wait(FOLD_EVERY):
        fold_figures()
        connection.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
