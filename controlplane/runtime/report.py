"""What a start tells the operator."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from typing_extensions import override

from controlplane.env import PROJECT_DIR
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.prepare import Login

FIRST_CALL = '{"tool": "server_metrics", "arguments": {}}'
# What the demo corpus can be asked.
DEMO_CALL = '{"tool": "rag_basic", "arguments": {"query": "Who was Maren Holt?"}}'
# Made by the start itself, before it promises that the other one works.
WARMING_CALL = '{"tool": "rag_basic", "arguments": {"query": "What is this about?", "top_k": 1}}'


def manage(arguments: str) -> str:
    """A manage.py command line as the operator would type it here, in whatever terminal."""
    python = _from_here(Path(sys.executable))
    elsewhere = settings.VAR_DIR != PROJECT_DIR / "var"
    state = f"VAR_DIR={shlex.quote(str(settings.VAR_DIR))} " if elsewhere else ""
    return f"{state}{python} {_from_here(Path(sys.argv[0]).resolve())} {arguments}"


@dataclass(frozen=True, slots=True)
class Welcome:
    """The closing words of a start: where, who, a first call, and how to stop."""

    address: str
    paths: RuntimePaths
    login: Login
    health: str
    keys_enabled: bool
    demo_key: str | None = field(default=None, repr=False)
    foreground: bool = True
    first_call: str = FIRST_CALL

    @override
    def __str__(self) -> str:
        return "\n".join(
            [
                "",
                "The control plane is running.",
                "",
                f"  MCP         {self.address}/mcp",
                f"  Agents      {manage('client_config claude-code')}  (what to paste; -h lists others)",
                f"  REST API    {self.address}/tools",
                f"  API docs    {self.address}/api/docs",
                f"  Health      {self.address}/health  ({self.health})",
                f"  Admin       {self.address}/admin/",
                *login_lines(self.login),
                *self._key_lines(),
                "",
                "A first call:",
                "",
                *self._first_call(),
                "",
                f"  Logs        {_from_here(self.paths.log_dir)}  ({manage('services logs web -f')})",
                f"  Processes   {manage('services status')}",
                f"  Stop        {'Ctrl-C, or ' if self.foreground else ''}{manage('services stop')}",
                "",
            ]
        )

    def _key_lines(self) -> list[str]:
        if not self.demo_key:
            return []
        use = "" if self.keys_enabled else ", not needed while API keys are off"
        return [f"  API key     {self.demo_key}  (client demo; shown only now{use})"]

    def _first_call(self) -> list[str]:
        lines = [f"  curl -s {self.address}/call-tool \\"]
        if self.keys_enabled:
            lines.append(f"    -H 'X-API-Key: {self.demo_key or 'YOUR-KEY'}' \\")
        lines.append("    -H 'Content-Type: application/json' \\")
        lines.append(f"    -d '{self.first_call}'")
        return lines


def login_lines(login: Login) -> list[str]:
    """Who may log in to the admin, with a generated password the one time it is known."""
    change = manage(f"changepassword {login.user}")
    if login.password:
        return [
            f"  User        {login.user}",
            f"  Password    {login.password}  (shown only now; change it: {change})",
        ]
    origin = "from ADMIN_PASSWORD" if login.created else "set earlier"
    return [
        f"  User        {login.user}",
        f"  Password    {origin}  (change it: {change})",
    ]


def _from_here(path: Path) -> str:
    """The path as seen from the working folder when it is below it."""
    # Not resolved: the interpreter of a virtual environment is a link that must stay one.
    try:
        return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    except OSError:
        return str(path)
