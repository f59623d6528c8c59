"""The entity graph of an index: what passages name, walks over it, and groups of passages.

Everything in here is arrays: a version's files are mapped, and opening them costs next to nothing.
"""

from tools.pipelines.blocks.graph.build import build_graph
from tools.pipelines.blocks.graph.communities import build_communities, open_communities
from tools.pipelines.blocks.graph.walk import open_graph

__all__ = ["build_communities", "build_graph", "open_communities", "open_graph"]
