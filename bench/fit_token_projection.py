"""Make the matrix that projects MiniLM's token vectors from 384 dimensions to 128.

Run with `python -m bench.fit_token_projection [FILE]`; without FILE, the one of the product is written.
It is fitted on the project's own text (documentation and docstrings), so that nothing else has to be
there to make it again. Its columns are the directions that keep most of the dot products of token
vectors. Stored vectors are known by its SHA-256: with another matrix, all indexes must be built anew.
"""

from __future__ import annotations

import ast
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PROJECT = Path(__file__).resolve().parent.parent
FOLDERS = ("bench", "controlplane", "docs", "health", "tests", "tools")
SHORTEST = 40


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as folder:
        os.environ["VAR_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
        from tools.pipelines.blocks.token_encoder import DIMENSIONS, PROJECTION

        target = Path(sys.argv[1]) if sys.argv[1:] else PROJECTION
        moments, count = second_moments(sorted(set(texts())))
        values, directions = np.linalg.eigh(moments)
        kept = directions[:, ::-1][:, :DIMENSIONS]
        # The sign of a direction is arbitrary; this makes it the same everywhere.
        kept *= np.sign(kept[np.abs(kept).argmax(axis=0), np.arange(DIMENSIONS)])
        target.parent.mkdir(exist_ok=True)
        np.save(target, kept.astype(np.float16))
        share = values[::-1][:DIMENSIONS].sum() / values.sum()
    print(f"{count} tokens; {DIMENSIONS} of {len(values)} directions hold {share:.1%} of them")


def second_moments(passages: list[str]) -> tuple[NDArray[Any], int]:
    """The mean outer product of the token vectors of all passages, and how many tokens there are."""
    from tools.pipelines.blocks.encoder import batches
    from tools.pipelines.blocks.minilm import MiniLm

    model = MiniLm.load(threads=os.cpu_count() or 1)
    read = [piece for text in passages for piece in model.read_all(text)]
    total, count = np.zeros((MiniLm.dimensions, MiniLm.dimensions)), 0
    for places in batches([len(piece.ids) for piece in read]):
        for states, place in zip(
            model.run([read[place] for place in places], "states"), places, strict=True
        ):
            own = states[1 : len(read[place].ids) - 1].astype(np.float64)
            own /= np.linalg.norm(own, axis=1, keepdims=True)
            total += own.T @ own
            count += len(own)
    return total / count, count


def texts() -> Iterator[str]:
    """The paragraphs of the documentation and the docstrings of the code."""
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")]
    for page in pages:
        yield from long_enough(page.read_text("utf-8").split("\n\n"))
    for folder in FOLDERS:
        for module in (PROJECT / folder).rglob("*.py"):
            tree = ast.parse(module.read_text("utf-8"))
            yield from long_enough(
                ast.get_docstring(node) or ""
                for node in ast.walk(tree)
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            )


def long_enough(found: Iterator[str] | list[str]) -> Iterator[str]:
    yield from (text.strip() for text in found if len(text.strip()) >= SHORTEST)


if __name__ == "__main__":
    main()
