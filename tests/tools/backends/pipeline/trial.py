"""A pipeline whose arguments say what it shall do. Registered in tests and their workers only."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import override

from tools.pipelines.contracts import (
    Draft,
    Found,
    Pipeline,
    Retrieval,
    Run,
    Stage,
    Usage,
)
from tools.techniques import Parameters


class TrialParameters(Parameters):
    """What the trial can be told."""

    delay: float = 0.0
    until: str = ""
    stubborn: bool = False
    crash: str = ""
    search: str = ""
    bug: bool = False
    hog_mb: int = 0
    trace: str = ""
    low: int = Field(default=0, description="Must not be above high.")
    high: int = 9

    @model_validator(mode="after")
    def _in_order(self) -> TrialParameters:
        if self.low > self.high:
            raise ValueError("low must not be above high")
        return self


class Trial(Pipeline[TrialParameters]):
    """Finds the first passages of the index; waits, dies or misbehaves on the way when told to.

    It waits for `delay` seconds and for the file `until`; `stubborn` makes it deaf to signals
    meanwhile. `trace` names a file that gets a line for what happens; `crash` one that is made before
    the process kills itself, which it does not do again when the file is there (`always`: every time).
    """

    name = "trial"
    title = "Trial"
    description = "Does what it is told; use it in tests."
    parameters: ClassVar[type[Parameters]] = TrialParameters

    @override
    def retrieve(self, query: str, parameters: TrialParameters, run: Run) -> Retrieval:
        _trace(parameters, f"started {os.getpid()}")
        try:
            run.report(Stage.RETRIEVE, "Looking")
            _crash(parameters.crash)
            hog = np.ones(parameters.hog_mb << 20, np.int8)
            _wait(parameters)
            if parameters.bug:
                raise RuntimeError("a secret cause: password=hunter2")
            web = (
                run.call_tool(parameters.search, {}) if parameters.search and run.call_tool else ""
            )
            run.report(Stage.RERANK, "Sorting")
        finally:
            _trace(parameters, f"ended {os.getpid()}")
        count = min(parameters.top_k, len(run.index))
        rows = np.arange(count, dtype=np.int64)
        scores = (
            np.linspace(1.0, 0.1, count, dtype=np.float32) if count else rows.astype(np.float32)
        )
        about = {"instance": id(self), "pid": os.getpid(), "web": web, "hog": len(hog)}
        return Retrieval(Found(rows, scores), metadata=about)

    @override
    def generate(
        self, query: str, parameters: TrialParameters, retrieval: Retrieval, run: Run
    ) -> Draft:
        return Draft(f"You asked: {query}", "trial", Usage(3, 4))

    @override
    def tell(
        self, parameters: TrialParameters, retrieval: Retrieval, draft: Draft
    ) -> Mapping[str, Any]:
        return retrieval.metadata


def _wait(parameters: TrialParameters) -> None:
    if parameters.stubborn:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGUSR2})
    time.sleep(parameters.delay)
    while parameters.until and not Path(parameters.until).exists():
        time.sleep(0.01)


def _crash(how: str) -> None:
    if how == "always" or (how and not Path(how).exists()):
        if how != "always":
            Path(how).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def _trace(parameters: TrialParameters, line: str) -> None:
    if parameters.trace:
        with Path(parameters.trace).open("a") as trace:
            trace.write(f"{line}\n")
