"""The command line of the Todo server."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from examples.todo_server.store import Store
from examples.todo_server.values import Unavailable

FILE: Final = "todo.sqlite3"
PROJECT: Final = Path(__file__).resolve().parents[2]


def open_store(url: str, folder: Path) -> Store:
    """The database at an address: postgresql://…, sqlite:///path, or the path of a SQLite file.

    Raises:
        Unavailable: it cannot be used.
    """
    if url.startswith(("postgresql://", "postgres://")):
        # Loaded only where it is used: starting takes longer with it.
        from examples.todo_server.store_postgresql import PostgresqlStore

        return PostgresqlStore(url)
    from examples.todo_server.store_sqlite import SqliteStore

    scheme, separator, path = url.partition("://")
    if separator and scheme != "sqlite":
        raise Unavailable(f"{scheme}:// is no database this server knows")
    # sqlite:///x is a path from here, sqlite:////x one from the root.
    return SqliteStore(Path(path[1:] if separator else url) if url else folder / FILE)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m examples.todo_server", description="A todo list as an MCP server."
    )
    parser.add_argument("--http", action="store_true", help="serve Streamable HTTP, not stdio")
    parser.add_argument("--port", type=int, default=8765, help="port of --http; 0 picks one")
    parser.add_argument(
        "--database",
        default=os.environ.get("TODO_DATABASE_URL", ""),
        help="postgresql://… or a SQLite file; TODO_DATABASE_URL says the same",
    )
    parser.add_argument(
        "--var-dir",
        type=Path,
        default=Path(os.environ.get("VAR_DIR") or PROJECT / "var"),
        help=f"folder of {FILE} when no database is named",
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        store = open_store(options.database, options.var_dir)
    except Unavailable as fault:
        sys.stderr.write(f"The todo database cannot be used: {fault}\n")
        return 1
    return _serve(store, options)


def _serve(store: Store, options: argparse.Namespace) -> int:
    # Loaded after the database is known to work: the protocol takes most of the start.
    from examples.todo_server.server import TodoServer
    from examples.todo_server.serving import serve_http, serve_stdio

    server = TodoServer(store)
    try:
        if options.http:
            serve_http(server, options.port)
        else:
            asyncio.run(serve_stdio(server))
    finally:
        server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
