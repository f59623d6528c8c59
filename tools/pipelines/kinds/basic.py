"""`basic`: the passages whose vectors are nearest to the question's."""

from __future__ import annotations

from typing_extensions import override

from tools.pipelines.contracts import Found, Pipeline, Retrieval, Run, Stage
from tools.techniques import Parameters


class Basic(Pipeline[Parameters]):
    """Retrieval by meaning alone."""

    name = "basic"
    title = "Basic RAG"
    description = (
        "Basic RAG with vector similarity search - best for general questions whose answer stands "
        "in one place. Gives an answer, the passages it is based on and their sources."
    )
    parameters = Parameters

    @override
    def retrieve(self, query: str, parameters: Parameters, run: Run) -> Retrieval:
        return Retrieval(self.rank(query, parameters, run, parameters.top_k))

    @override
    def rank(self, query: str, parameters: Parameters, run: Run, count: int) -> Found:
        run.report(Stage.RETRIEVE, "Searching by meaning")
        return run.index.vectors.search(run.index.embed_query(query), count)
