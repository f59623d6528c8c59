"""Where a running control plane keeps its files."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Kernels refuse socket paths from 104 (macOS) or 108 bytes (Linux) on, and supervisord first
# binds a temporary name that is up to eight characters longer.
LONGEST_SOCKET_PATH = 92


@dataclass(frozen=True, slots=True)
class RuntimePaths:
    """Paths below one state folder; sockets move to a short folder when that one is deep."""

    var_dir: Path

    @property
    def digest(self) -> str:
        """A short name of the state folder, for what must differ between two of them."""
        return hashlib.sha256(os.fsencode(self.var_dir)).hexdigest()[:16]

    @property
    def run_dir(self) -> Path:
        inside = self.var_dir / "run"
        if len(os.fsencode(inside / "supervisor.sock")) <= LONGEST_SOCKET_PATH:
            return inside
        # Derived from the folder, so every process of this checkout finds the same place.
        return Path(tempfile.gettempdir()) / f"controlplane-{os.getuid()}-{self.digest}"

    @property
    def redis_dir(self) -> Path:
        return self.var_dir / "redis"

    @property
    def redis_socket(self) -> Path:
        return self.run_dir / "redis.sock"

    @property
    def redis_url(self) -> str:
        return f"unix://{self.redis_socket}"

    @property
    def supervisor_socket(self) -> Path:
        return self.run_dir / "supervisor.sock"

    @property
    def supervisor_config(self) -> Path:
        return self.var_dir / "supervisord.conf"

    @property
    def supervisor_pid(self) -> Path:
        return self.run_dir / "supervisord.pid"

    @property
    def log_dir(self) -> Path:
        return self.var_dir / "log"

    @property
    def start_lock(self) -> Path:
        """Held by whoever starts or oversees the processes of this folder."""
        return self.run_dir / "start.lock"

    @property
    def instance_file(self) -> Path:
        """The address that the running web processes were told to listen on."""
        return self.run_dir / "instance.json"

    def port_lock(self, port: int) -> Path:
        """Shared by the web processes of this folder that listen on `port`."""
        return self.run_dir / f"port-{port}.lock"

    def log(self, program: str) -> Path:
        return self.log_dir / f"{program}.log"

    def create(self) -> None:
        """Make the folders, for the owner alone.

        Raises:
            PermissionError: when the run folder belongs to somebody else.
        """
        for folder in (self.var_dir, self.redis_dir, self.log_dir):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The database and the log of calls are nobody else's to read.
        self.var_dir.chmod(0o700)
        self.run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In a shared temporary folder somebody else may have made it first.
        if self.run_dir.stat().st_uid != os.getuid():
            raise PermissionError(f"{self.run_dir} belongs to another user")
        self.run_dir.chmod(0o700)
