# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with structured weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral

import torch

from .._errors import CallError
from ..structured import Term, block_diagonal, dense, kronecker, permute
from . import functional


class StructuredLinear(torch.nn.Module):
    """y = x W + bias with a weight that is known by how it is made, `drawloom.torch.structured_linear`.

    term     W, an expression of `drawloom.structured`
    leaves   the arrays that it is made of, by name: what is a torch.nn.Parameter trains, other tensors are buffers
    bias     a Parameter or tensor [out], or None

    x [..., in] -> y [..., out]. What trains are parameters of their own shapes, so gradients and optimizer states have these.
    """

    def __init__(self, term: Term, leaves: Mapping[str, torch.Tensor], bias: torch.Tensor | None = None, *, association: str = "auto") -> None:
        super().__init__()
        missing = [name for name in term.leaves if name not in leaves]
        if missing or set(leaves) - set(term.leaves):
            raise CallError(f"StructuredLinear: the leaves of {term} are {', '.join(term.leaves)}, not {', '.join(leaves)}")
        self.in_features, self.out_features = term.shape({name: tuple(leaf.shape) for name, leaf in leaves.items()})
        self.term, self.association = term, association
        self._keep("bias", bias)
        self._names = []
        for name in term.leaves:
            # Under its own name, unless a module has that for something else.
            attribute = name
            while hasattr(self, attribute) or attribute in term.leaves and attribute != name:
                attribute = f"{attribute}_"
            self._names.append((name, attribute))
            self._keep(attribute, leaves[name])

    def _keep(self, name, tensor):
        if tensor is None or isinstance(tensor, torch.nn.Parameter):
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def _leaves(self):
        return {name: getattr(self, attribute) for name, attribute in self._names}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.structured_linear(x, self.term, self._leaves(), self.bias, association=self.association)

    def materialize(self) -> torch.Tensor:
        """The weight as torch.nn.Linear keeps it, [out, in]."""
        first = next(iter(self._leaves().values()), self.bias)
        options = {} if first is None else {"dtype": first.dtype, "device": first.device}
        return functional.structured_linear(torch.eye(self.in_features, **options), self.term, self._leaves(),
                                            association=self.association).T

    def merge(self) -> torch.nn.Linear:
        """A torch.nn.Linear with the weight as it is now."""
        with torch.no_grad():
            weight = self.materialize().contiguous()
            layer = torch.nn.Linear(self.in_features, self.out_features, bias=self.bias is not None, device=weight.device, dtype=weight.dtype)
            layer.weight.copy_(weight)
            if self.bias is not None:
                layer.bias.copy_(self.bias)
        return layer

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, {self.term}, bias={self.bias is not None}"


def _count(layer, name, value, least=1):
    if not isinstance(value, Integral) or value < least:
        raise CallError(f"{layer}: {name} is {value!r}; it is a number from {least}")


def _uniform(shape, inputs, options):
    bound = 1 / math.sqrt(inputs)
    return torch.nn.Parameter(torch.empty(shape, **options).uniform_(-bound, bound))


class LoRALinear(StructuredLinear):
    """A frozen linear layer with a low-rank adapter: y = x W^T + (alpha / r) x A^T B^T + bias (arXiv 2106.09685).

    base      the torch.nn.Linear that is adapted; its weight and bias become buffers
    r, alpha  the rank and the scale's numerator; `rslora` divides it by sqrt(r) instead (arXiv 2312.03732)

    Trains `lora_a` [r, in], drawn as torch.nn.Linear's weight, and `lora_b` [out, r], which starts at zero. One program computes
    both products with the base's, forward and backward.
    """

    def __init__(self, base: torch.nn.Linear, r: int = 8, alpha: float = 16.0, *, rslora: bool = False) -> None:
        _count("LoRALinear", "r", r)
        if not isinstance(base, torch.nn.Linear):
            raise CallError(f"LoRALinear: the base is a torch.nn.Linear, not a {type(base).__name__}")
        weight = base.weight.detach()
        options = {"dtype": weight.dtype, "device": weight.device}
        scale = alpha / (math.sqrt(r) if rslora else r)
        super().__init__((dense("weight") + scale * (dense("lora_b") @ dense("lora_a"))).T, {
            "weight": weight, "lora_b": torch.nn.Parameter(torch.zeros(base.out_features, r, **options)),
            "lora_a": _uniform((r, base.in_features), base.in_features, options)}, None if base.bias is None else base.bias.detach())


class MonarchLinear(StructuredLinear):
    """A Monarch matrix (arXiv 2204.00595): two block-diagonal matrices with a permutation between them.

    `blocks` divides in_features and out_features. x is seen as [blocks, in / blocks]; block k of `first`
    [blocks, in / blocks, blocks] gives `blocks` elements, the q-th of each go through block q of `second` [blocks, blocks, out / blocks],
    and y[s blocks + q] is element s of these. 2 blocks (in + out) multiplications and additions a row instead of 2 in out.
    """

    def __init__(self, in_features: int, out_features: int, blocks: int, *, bias: bool = True,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        for name, value in (("in_features", in_features), ("out_features", out_features), ("blocks", blocks)):
            _count("MonarchLinear", name, value)
        if in_features % blocks or out_features % blocks:
            raise CallError(f"MonarchLinear: {blocks} blocks do not divide {in_features} inputs and {out_features} outputs")
        options = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        k, n = in_features // blocks, out_features // blocks
        super().__init__(block_diagonal("first") @ permute([blocks, blocks], [1, 0]) @ block_diagonal("second") @ permute([blocks, n], [1, 0]),
                         {"first": _uniform((blocks, k, blocks), k, options), "second": _uniform((blocks, blocks, n), blocks, options)},
                         _uniform((out_features,), in_features, options) if bias else None)


class KroneckerLinear(StructuredLinear):
    """A weight that is the Kronecker product of two small ones: W[a K2 + b, c N2 + d] = left[a, c] right[b, d].

    left, right  their extents, (K1, N1) and (K2, N2); x [..., K1 K2] -> y [..., N1 N2]
    """

    def __init__(self, left: Sequence[int], right: Sequence[int], *, bias: bool = True, device: torch.device | str | int | None = None,
                 dtype: torch.dtype | None = None) -> None:
        for name, extents in (("left", left), ("right", right)):
            if len(extents) != 2:
                raise CallError(f"KroneckerLinear: {name} is {list(extents)}; it is a pair of extents")
            for value in extents:
                _count("KroneckerLinear", f"an extent of {name}", value)
        options = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        inputs = left[0] * right[0]
        super().__init__(kronecker(dense("left"), dense("right")), {"left": _uniform(tuple(left), left[0], options),
                                                                    "right": _uniform(tuple(right), right[0], options)},
                         _uniform((left[1] * right[1],), inputs, options) if bias else None)
