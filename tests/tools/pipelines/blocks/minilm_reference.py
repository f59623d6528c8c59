"""Sentences, and the vectors that sentence-transformers gave for them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np

from tools.pipelines.blocks.embedder import Vectors

REFERENCE = json.loads(Path(__file__).with_name("minilm_reference.json").read_text("utf-8"))
SENTENCES: list[str] = REFERENCE["sentences"]


def cosines(ours: Vectors) -> list[float]:
    """How near our vectors are to the original's for the same sentences."""
    theirs = [np.frombuffer(base64.b64decode(text), "<f4") for text in REFERENCE["vectors"]]
    return [float(a @ b) for a, b in zip(ours, theirs, strict=True)]
