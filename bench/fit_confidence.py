"""Fits the figures of tools/pipelines/blocks/calibration.py on collections with judgements.

    python manage.py evaluate --dataset DIR --pipelines basic      # for each of them, once
    python -m bench.fit_confidence DIR DIR

The collections are searched through their indexes, so those must be there, made with the model to fit.
Prints the table for that model, and how well the figures order questions (AUC) and fit (mean confidence
beside the share of questions whose first passage is relevant).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
STEPS = 50
RIDGE = 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument(
        "--check", nargs="*", type=Path, default=[], help="Only measured, not fitted."
    )
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    import django

    django.setup()
    gathered = [gather(folder) for folder in options.datasets]
    seen = np.concatenate([one for one, _ in gathered])
    relevant = np.concatenate([one for _, one in gathered])
    named = ~np.isnan(seen[:, 2])
    usual = float(seen[named, 2].mean())
    weights = fitted(filled(seen, usual), relevant)
    start, top, margin, coverage = (round(float(value), 3) for value in weights)
    print(
        f"Calibration(start={start}, start_nameless={round(start + coverage * usual, 3)}, "
        f"top={top}, margin={margin}, coverage={coverage})"
    )
    for folder, (values, truth) in zip(options.datasets, gathered, strict=True):
        tell(folder, filled(values, usual), truth, weights)
    for folder in options.check:
        values, truth = gather(folder)
        tell(folder, filled(values, usual), truth, weights)


def gather(folder: Path) -> tuple[Values, Values]:
    """By question: top cosine, margin and coverage; and whether the first passage is relevant."""
    from tools.models import IndexVersion
    from tools.pipelines.blocks.calibration import evidence_of, looked_at
    from tools.pipelines.blocks.hybrid import POOL, first_stage
    from tools.pipelines.contracts import IndexSpec
    from tools.pipelines.evaluation.datasets import read_dataset
    from tools.pipelines.evaluation.runs import documents_of
    from tools.pipelines.index.open import open_index
    from tools.selectors.specs import index_spec
    from tools.services.evaluation_corpus import slug_of, task_for

    dataset = read_dataset(folder)
    version: Any = IndexVersion.objects.get(corpus__slug=slug_of(dataset), state="active")
    index, task = open_index(IndexSpec(**index_spec(version))), task_for(version.corpus, dataset)
    seen, relevant = [], []
    for query_id, text in dataset.judged_queries.items():
        stage = first_stage(index, text, POOL)
        shown = evidence_of(stage.dense, index.graph.coverage(text, looked_at(stage.found)))
        seen.append([shown.top, shown.margin, np.nan if shown.coverage is None else shown.coverage])
        first = documents_of(stage.found.best(1), index, task.ids)
        relevant.append(any(dataset.judgements[query_id].get(name, 0) > 0 for name in first))
    return np.array(seen, np.float64), np.array(relevant, np.float64)


def filled(seen: Values, usual: float) -> Values:
    """Questions that name nothing count as usual ones."""
    return np.where(np.isnan(seen), usual, seen)


def fitted(seen: Values, relevant: Values) -> Values:
    """A logistic model by Newton's method, with a little ridge on scaled values: start and weights."""
    middle, spread = seen.mean(axis=0), seen.std(axis=0)
    scaled = np.c_[np.ones(len(seen)), (seen - middle) / spread]
    ridge = np.diag([0.0] + [RIDGE * len(seen)] * seen.shape[1])
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - relevant) + ridge @ weights
        bend = (scaled * (likely * (1 - likely))[:, None]).T @ scaled + ridge
        weights = weights - np.linalg.solve(bend, slope)
    plain = weights[1:] / spread
    return np.concatenate([[weights[0] - plain @ middle], plain])


def tell(folder: Path, seen: Values, relevant: Values, weights: Values) -> None:
    likely = 1 / (1 + np.exp(-(weights[0] + seen @ weights[1:])))
    order = np.argsort(np.argsort(likely)) + 1
    hits, misses = relevant.sum(), len(relevant) - relevant.sum()
    area = (order[relevant > 0].sum() - hits * (hits + 1) / 2) / max(hits * misses, 1)
    print(
        f"{folder.name}: AUC {area:.3f}, mean confidence {likely.mean():.3f}, relevant "
        f"{relevant.mean():.3f}, below 0.8 {np.mean(likely < 0.8):.3f}, {len(relevant)} questions"
    )


if __name__ == "__main__":
    main()
