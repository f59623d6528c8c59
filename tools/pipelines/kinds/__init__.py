"""The techniques this product ships, one module each.

Modules in here are imported by every process, for their parameters: what is slow to import (models,
sparse matrices) is imported by the blocks, when they are opened.
"""

from __future__ import annotations

from typing import Any, Final

from tools.pipelines.contracts import Pipeline
from tools.pipelines.kinds.basic import Basic
from tools.pipelines.kinds.basic_rerank import BasicRerank
from tools.pipelines.kinds.crag import Crag
from tools.pipelines.kinds.graphrag import GraphRag
from tools.pipelines.kinds.iris_global_graphrag import IrisGlobalGraphRag
from tools.pipelines.kinds.pylate_colbert import PylateColbert
from tools.techniques import techniques

KINDS: Final[tuple[type[Pipeline[Any]], ...]] = (
    Basic,
    BasicRerank,
    Crag,
    GraphRag,
    PylateColbert,
    IrisGlobalGraphRag,
)


def register_kinds() -> None:
    """Make them known, once."""
    for kind in KINDS:
        if techniques.get(kind.name) is None:
            techniques.register(kind)
