"""A BERT encoder as an ONNX graph, built from its tensors: token ids in, one unit vector out.

RoBERTa is the same thing under other names, once its positions are counted from 0.

Weights are stored as 16-bit floats, which halves the file; all arithmetic is in 32 bits. A quick
graph multiplies in 8 bits instead: by weights of which each 64 share a scale, as those of Granite
are published, and by what goes in, rounded the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from typing_extensions import override

OPSET: Final = 20
IR_VERSION: Final = 10
INPUTS: Final = ("ids", "mask")
VECTORS: Final = "vectors"
STATES: Final = "states"
# Numbers that share a scale. 32 are nearer by a third and take a third longer.
BLOCK: Final = 64
# The runtime's own operators, one of which multiplies in 8 bits.
RUNTIME: Final = "com.microsoft"
IN_8_BITS: Final = 4


@dataclass(frozen=True, slots=True)
class BertShape:
    """What the tensors do not tell."""

    layers: int
    heads: int
    width: int
    epsilon: float
    pooling: Literal["mean", "first"] = "mean"


def build_graph(
    tensors: Mapping[str, NDArray[Any]], shape: BertShape, quick: bool = False
) -> onnx.ModelProto:
    """The encoder with pooling and normalisation behind it.

    Inputs `ids` and `mask` are int64 of (texts, tokens). Outputs are float32: `vectors` of
    (texts, width), and `states`, the tokens as the last layer leaves them, of (texts, tokens, width).
    """
    built = (_QuickEncoder if quick else _Encoder)(tensors, shape)
    hidden, bias = built.embeddings(), built.attention_bias()
    for number in range(shape.layers):
        hidden = built.layer(f"encoder.layer.{number}.", hidden, bias)
    built.states(hidden)
    built.pooled(hidden)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in INPUTS
    ]
    sizes: dict[str, list[str | int | None]] = {
        VECTORS: ["texts", shape.width],
        STATES: ["texts", "tokens", shape.width],
    }
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in sizes.items()
    ]
    graph = helper.make_graph(built.nodes, "bert", inputs, outputs, built.stored)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


class _Encoder:
    """A graph under construction: its nodes and stored tensors. Values are known by their names."""

    def __init__(self, tensors: Mapping[str, NDArray[Any]], shape: BertShape) -> None:
        self._tensors = tensors
        self._shape = shape
        self.nodes: list[onnx.NodeProto] = []
        self.stored: list[onnx.TensorProto] = []

    def embeddings(self) -> str:
        """Words, positions and the one segment, added and normalised."""
        table = self._half(self._tensors["embeddings.word_embeddings.weight"])
        words = self._node("Cast", self._node("Gather", table, "ids"), to=TensorProto.FLOAT)
        # All texts are of segment 0, so its vector is part of every position's.
        segment = self._tensors["embeddings.token_type_embeddings.weight"][0]
        places = self._tensors["embeddings.position_embeddings.weight"] + segment
        count = self._node("Shape", "ids", start=1, end=2)
        here = self._node("Slice", self._weight(places), self._sizes(0), count)
        return self._normalised("embeddings.LayerNorm", self._node("Add", words, here))

    def attention_bias(self) -> str:
        """0 where a token counts, hugely negative where it is padding: (texts, 1, 1, tokens)."""
        mask = self._node("Cast", "mask", to=TensorProto.FLOAT)
        wide = self._node("Unsqueeze", mask, self._sizes(1, 2))
        return self._node("Mul", self._node("Sub", self._number(1.0), wide), self._number(-1e9))

    def layer(self, prefix: str, hidden: str, bias: str) -> str:
        """Attention, then the two dense layers, each with its way around."""
        attended = self._attention(prefix + "attention.self.", hidden, bias)
        projected = self._linear(prefix + "attention.output.dense", attended)
        kept = self._node("Add", projected, hidden)
        hidden = self._normalised(prefix + "attention.output.LayerNorm", kept)
        inner = self._node("Gelu", self._linear(prefix + "intermediate.dense", hidden))
        kept = self._node("Add", self._linear(prefix + "output.dense", inner), hidden)
        return self._normalised(prefix + "output.LayerNorm", kept)

    def states(self, hidden: str) -> None:
        """The tokens themselves as an output."""
        self.nodes.append(helper.make_node("Identity", [hidden], [STATES]))

    def pooled(self, hidden: str) -> None:
        """One vector per text, of length 1."""
        pool = self._mean if self._shape.pooling == "mean" else self._first
        self.nodes.append(
            helper.make_node("LpNormalization", [pool(hidden)], [VECTORS], axis=-1, p=2)
        )

    def _first(self, hidden: str) -> str:
        """The first token, which stands for the text."""
        return self._node("Gather", hidden, self._stored(np.array(0, dtype=np.int64)), axis=1)

    def _mean(self, hidden: str) -> str:
        """The mean over the tokens that count."""
        mask = self._node("Cast", "mask", to=TensorProto.FLOAT)
        counted = self._node("Mul", hidden, self._node("Unsqueeze", mask, self._sizes(2)))
        total = self._node("ReduceSum", counted, self._sizes(1), keepdims=0)
        count = self._node("ReduceSum", mask, self._sizes(1), keepdims=1)
        return self._node("Div", total, count)

    def _attention(self, prefix: str, hidden: str, bias: str) -> str:
        size = self._shape.width // self._shape.heads

        def heads(name: str, order: list[int]) -> str:
            flat = self._linear(prefix + name, hidden)
            split = self._node("Reshape", flat, self._sizes(0, 0, self._shape.heads, size))
            return self._node("Transpose", split, perm=order)

        query, key = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1])
        scores = self._node("Mul", self._node("MatMul", query, key), self._number(size**-0.5))
        shares = self._node("Softmax", self._node("Add", scores, bias), axis=-1)
        mixed = self._node("MatMul", shares, heads("value", [0, 2, 1, 3]))
        joined = self._node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._node("Reshape", joined, self._sizes(0, 0, self._shape.width))

    def _linear(self, name: str, value: str) -> str:
        product = self._product(value, self._tensors[f"{name}.weight"])
        return self._node("Add", product, self._weight(self._tensors[f"{name}.bias"]))

    def _product(self, value: str, weights: NDArray[Any]) -> str:
        return self._node("MatMul", value, self._weight(weights.T))

    def _normalised(self, name: str, value: str) -> str:
        scale = self._weight(self._tensors[f"{name}.weight"])
        shift = self._weight(self._tensors[f"{name}.bias"])
        epsilon = self._shape.epsilon
        return self._node("LayerNormalization", value, scale, shift, epsilon=epsilon)

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def _stored(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.stored)}"
        self.stored.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def _half(self, value: NDArray[Any]) -> str:
        return self._stored(value.astype(np.float16))

    def _weight(self, value: NDArray[Any]) -> str:
        """A tensor that is stored in 16 bits and used in 32."""
        return self._node("Cast", self._half(value), to=TensorProto.FLOAT)

    def _number(self, value: float) -> str:
        return self._stored(np.array(value, dtype=np.float32))

    def _sizes(self, *sizes: int) -> str:
        return self._stored(np.array(sizes, dtype=np.int64))


class _QuickEncoder(_Encoder):
    """Multiplies in 8 bits."""

    @override
    def _product(self, value: str, weights: NDArray[Any]) -> str:
        rows, columns = weights.shape
        blocks = weights.astype(np.float32).reshape(rows, columns // BLOCK, BLOCK)
        scales = np.maximum(np.abs(blocks).max(axis=-1) / 127, np.finfo(np.float32).tiny)
        # Stored without a sign, from 1 to 255 around 128.
        numbers = np.rint(blocks / scales[..., None]) + 128
        return self._node(
            "MatMulNBits",
            value,
            self._stored(numbers.astype(np.uint8)),
            self._stored(scales.astype(np.float32)),
            domain=RUNTIME,
            K=columns,
            N=rows,
            bits=8,
            block_size=BLOCK,
            accuracy_level=IN_8_BITS,
        )
