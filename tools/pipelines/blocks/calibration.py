"""How likely it is that retrieval found what a question needs, from what retrieval itself shows.

The figures were fitted per embedding model, because cosines of two models lie differently: see
bench/fit_confidence.py, which prints this table. What they give the likelihood of is that the passage
ranked first is relevant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Final

import numpy as np

from tools.pipelines.blocks.embedder import GRANITE, MINILM, canonical
from tools.pipelines.contracts import Found, Rows

# The rank whose score tells how far the best one stands out.
MARGIN_RANK: Final = 6
LOOKED_AT: Final = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What retrieval shows: the best cosine, how far it is above that of the sixth passage, and the
    share of the things named in the question that the best passages name (None: it names none)."""

    top: float
    margin: float
    coverage: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of a logistic model. Questions that name nothing have their own starting point."""

    start: float
    start_nameless: float
    top: float
    margin: float
    coverage: float

    def confidence(self, evidence: Evidence) -> float:
        """Between 0 and 1."""
        total = self.top * evidence.top + self.margin * evidence.margin
        if evidence.coverage is None:
            total += self.start_nameless
        else:
            total += self.start + self.coverage * evidence.coverage
        # Beyond this it is 0 or 1 anyway.
        return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    GRANITE: Calibration(
        start=-7.325, start_nameless=-6.25, top=7.981, margin=17.32, coverage=1.218
    ),
    MINILM: Calibration(
        start=-2.76, start_nameless=-1.406, top=3.113, margin=7.053, coverage=1.587
    ),
}


def calibration_for(model: str) -> tuple[Calibration, bool]:
    """The figures for an embedding model, and whether they were fitted for it: others borrow those of
    the default one."""
    known = CALIBRATIONS.get(canonical(model))
    return (known, True) if known else (CALIBRATIONS[GRANITE], False)


def evidence_of(dense: Found, coverage: float | None) -> Evidence:
    """What the cosines of a search by meaning and the coverage of names show."""
    if not len(dense):
        return Evidence(0.0, 0.0, coverage)
    scores = np.asarray(dense.scores[:MARGIN_RANK], np.float64)
    return Evidence(float(scores[0]), float(scores[0] - scores[-1]), coverage)


def looked_at(found: Found) -> Rows:
    """The passages whose content counts as evidence."""
    return found.rows[:LOOKED_AT]
