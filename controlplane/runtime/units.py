"""Service units for the machine's own start-up: systemd and launchd."""

from __future__ import annotations

import plistlib
import sys
from pathlib import Path

from controlplane.env import PROJECT_DIR
from controlplane.runtime.paths import RuntimePaths


def systemd_unit(paths: RuntimePaths) -> str:
    """A unit that starts the control plane at boot and restarts it when it fails."""
    command = " ".join(_systemd_quoted(part) for part in _command())
    return "\n".join(
        [
            "[Unit]",
            "Description=MCP control plane",
            "After=network-online.target",
            "Wants=network-online.target",
            "",
            "[Service]",
            f"WorkingDirectory={str(PROJECT_DIR).replace('%', '%%')}",
            f"Environment={_systemd_quoted(f'VAR_DIR={paths.var_dir}')}",
            f"ExecStart={command}",
            "Restart=on-failure",
            "RestartSec=1",
            # The supervisor stops the rest in order; a signal to all at once would kill Redis first.
            "KillMode=mixed",
            "TimeoutStopSec=75",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
    )


def launchd_plist(paths: RuntimePaths) -> str:
    """The same for macOS."""
    return plistlib.dumps(
        {
            "Label": f"controlplane.{paths.digest}",
            "ProgramArguments": _command(),
            "WorkingDirectory": str(PROJECT_DIR),
            "EnvironmentVariables": {"VAR_DIR": str(paths.var_dir)},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ExitTimeOut": 75,
            "StandardOutPath": str(paths.log("up")),
            "StandardErrorPath": str(paths.log("up")),
        }
    ).decode()


def _command() -> list[str]:
    return [sys.executable, str(Path(PROJECT_DIR) / "manage.py"), "up"]


def _systemd_quoted(part: str) -> str:
    escaped = part.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"' if set(part) & set(" \t\"'\\") else escaped
