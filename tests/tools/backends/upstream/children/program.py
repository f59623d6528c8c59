"""A child for tests: `program.py WAY MARK`. It answers every request with what it was asked.

Nothing but the standard library, so that it starts quickly. MARK tells tests whose process it is.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


def say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and asked["method"] != "keep":
            say({"jsonrpc": "2.0", "id": asked["id"], "result": result(asked)})


def result(asked: dict[str, Any]) -> Any:
    match asked["method"]:
        case "environment":
            return dict(os.environ)
        case "where":
            return str(Path.cwd())
        case "notify":
            say({"jsonrpc": "2.0", "method": "notifications/told"})
        case "hog":
            globals()["held"] = bytearray(os.urandom(1 << 20)) * int(asked["params"]["mb"])
        case "print":
            sys.stdout.write(asked["params"]["line"] * int(asked["params"].get("times", 1)))
            sys.stdout.flush()
        case "complain":
            sys.stderr.write(asked["params"]["line"] + "\n")
            sys.stderr.flush()
    return asked["params"]


def sleep_on() -> None:
    while True:
        time.sleep(3600)


def leave_daemon() -> None:
    """Start a process that has nothing to do with this one any more, and ignores being asked to end."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sleep_on()
    os.wait()


if __name__ == "__main__":
    match sys.argv[1]:
        case "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            say({"jsonrpc": "2.0", "method": "notifications/ready"})
            sleep_on()
        case "daemon":
            leave_daemon()
        case "family" if os.fork() == 0:
            sleep_on()
        case "leaving":
            os.close(0)
            say({"jsonrpc": "2.0", "method": "notifications/ready"})
            time.sleep(0.3)
            os._exit(3)
        case "gone":
            sys.exit("no configuration was found")
    serve()
