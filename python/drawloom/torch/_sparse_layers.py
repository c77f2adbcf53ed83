# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with sparse weights, and with an adapter for each row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real

import torch

from .._errors import CallError
from ..structured import Pattern, dense, sparse
from . import functional
from ._structured_layers import StructuredLinear, _count, _uniform


def _mean_inputs(pattern, height):
    """How many inputs an output has, on average; one at least."""
    return max(len(pattern) * height / pattern.shape[1], 1)


class BlockSparseLinear(StructuredLinear):
    """y = x W + bias, where W of in x out is zero but for some blocks of p x q.

    pattern  which blocks there are, a `drawloom.structured.Pattern` of in / p x out / q
    block    (p, q); (1, 1) is a matrix of single elements

    Trains `values` [blocks, p, q], drawn as torch.nn.Linear's weight for as many inputs as an output has, and no matrix of in x out is
    made, forward or backward. `pattern_*` are the pattern's arrays.
    """

    def __init__(self, pattern: Pattern, block: Sequence[int], *, bias: bool = True, device: torch.device | str | int | None = None,
                 dtype: torch.dtype | None = None) -> None:
        if not isinstance(pattern, Pattern):
            raise CallError(f"BlockSparseLinear: the pattern is a drawloom.structured.Pattern, not a {type(pattern).__name__}")
        if len(block) != 2:
            raise CallError(f"BlockSparseLinear: block is {list(block)}; it is a pair of extents")
        for value in block:
            _count("BlockSparseLinear", "an extent of a block", value)
        options = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        inputs = _mean_inputs(pattern, block[0])
        super().__init__(sparse("values", "pattern"), {
            "values": _uniform((len(pattern), *block), inputs, options), **pattern.leaves("pattern", torch.from_numpy)},
            _uniform((pattern.shape[1] * block[1],), inputs, options) if bias else None)
        self.density = len(pattern) / (pattern.shape[0] * pattern.shape[1])

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, block={tuple(self.values.shape[1:])}, density={self.density:.3g}, bias={self.bias is not None}"


class SLTrainLinear(StructuredLinear):
    """A low-rank weight and a sparse one, to train from scratch (SLTrain, arXiv 2406.02214): W = (alpha / r) A B + S.

    r        the rank: A [in, r] and B [r, out]
    density  the part of W that S has, at places that are drawn once and stay
    seed     of these places; None draws one of torch's generator

    Trains `a`, `b` and `values` [elements of S]; B starts at zero, the others uniformly. No matrix of in x out is made, forward or
    backward.
    """

    def __init__(self, in_features: int, out_features: int, r: int, density: float = 0.03, alpha: float = 16.0, *, seed: int | None = None,
                 bias: bool = True, device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        for name, value in (("in_features", in_features), ("out_features", out_features), ("r", r)):
            _count("SLTrainLinear", name, value)
        if not isinstance(density, Real) or not 0 <= density <= 1:
            raise CallError(f"SLTrainLinear: density is {density!r}; it is from 0 to 1")
        options = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        generator = torch.Generator().manual_seed(torch.randint(2**62, ()).item() if seed is None else seed)
        count = round(density * in_features * out_features)
        places = torch.randperm(in_features * out_features, generator=generator)[:count]
        pattern, _ = Pattern.of_coordinates((places // out_features).numpy(), (places % out_features).numpy(), (in_features, out_features))
        super().__init__(alpha / r * (dense("a") @ dense("b")) + sparse("values", "pattern"), {
            "a": _uniform((in_features, r), in_features, options), "b": torch.nn.Parameter(torch.zeros(r, out_features, **options)),
            "values": _uniform((count,), in_features, options), **pattern.leaves("pattern", torch.from_numpy)},
            _uniform((out_features,), in_features, options) if bias else None)


class MultiLoRALinear(torch.nn.Module):
    """A frozen linear layer with many low-rank adapters, of which each row has one: one batch serves and trains all of them
    (arXiv 2310.18547, 2312.02515).

    base      the torch.nn.Linear that is adapted; its weight and bias become buffers
    adapters  names and ranks: {"a": 8, "b": 16}
    alpha     the scales' numerator: adapter l of rank r is scaled by alpha / r, with `rslora` by alpha / sqrt(r)

    layer(x, which): x [..., in], and `which` a name for each entry of x's first dimension (None or "" for the base alone), or a tensor of
    adapters' numbers, as `adapted_linear` takes it. Trains `lora_a` [adapters, r, in], drawn as LoRALinear's, and `lora_b`
    [adapters, out, r], zeros at first, with r the largest rank: what an adapter of a smaller one has behind its own stays zero.
    """

    def __init__(self, base: torch.nn.Linear, adapters: Mapping[str, int], alpha: float = 16.0, *, rslora: bool = False) -> None:
        super().__init__()
        if not isinstance(base, torch.nn.Linear):
            raise CallError(f"MultiLoRALinear: the base is a torch.nn.Linear, not a {type(base).__name__}")
        if not isinstance(adapters, Mapping) or not adapters:
            raise CallError(f"MultiLoRALinear: adapters are names and ranks, as {{\"a\": 8}}, not {adapters!r}")
        for name, rank in adapters.items():
            _count("MultiLoRALinear", f"the rank of adapter '{name}'", rank)
        weight = base.weight.detach()
        options = {"dtype": weight.dtype, "device": weight.device}
        self.in_features, self.out_features, self.ranks = base.in_features, base.out_features, dict(adapters)
        most = max(adapters.values())
        a = torch.zeros(len(adapters), most, base.in_features, **options)
        bound = 1 / math.sqrt(base.in_features)
        for own, rank in zip(a, adapters.values()):
            own[:rank].uniform_(-bound, bound)
        self.register_buffer("weight", weight)
        self.register_buffer("bias", None if base.bias is None else base.bias.detach())
        self.lora_a = torch.nn.Parameter(a)
        self.lora_b = torch.nn.Parameter(torch.zeros(len(adapters), base.out_features, most, **options))
        self._scales = [alpha / (math.sqrt(rank) if rslora else rank) for rank in adapters.values()]
        self._numbers: dict[str | None, int] = {None: -1, "": -1, **{name: number for number, name in enumerate(adapters)}}
        self._term = dense("weight").T

    def forward(self, x: torch.Tensor, which: torch.Tensor | Sequence[str | None]) -> torch.Tensor:
        if not isinstance(which, torch.Tensor):
            unknown = [name for name in which if name not in self._numbers]
            if unknown:
                raise CallError(f"MultiLoRALinear: there is no adapter '{unknown[0]}'; there are {', '.join(self.ranks)}")
            which = torch.tensor([self._numbers[name] for name in which], dtype=torch.int32)
        scales = torch.tensor(self._scales, dtype=torch.float64 if self.weight.dtype == torch.float64 else torch.float32)
        return functional.adapted_linear(x, self._term, {"weight": self.weight}, self.lora_a, self.lora_b, which, scales, self.bias)

    def merge(self, name: str) -> torch.nn.Linear:
        """A torch.nn.Linear with the weight of one adapter as it is now."""
        if name not in self.ranks:
            raise CallError(f"MultiLoRALinear: there is no adapter '{name}'; there are {', '.join(self.ranks)}")
        layer = torch.nn.Linear(self.in_features, self.out_features, bias=self.bias is not None, device=self.weight.device, dtype=self.weight.dtype)
        number = self._numbers[name]
        with torch.no_grad():
            layer.weight.copy_(self.weight + self._scales[number] * (self.lora_b[number] @ self.lora_a[number]))
            if self.bias is not None:
                layer.bias.copy_(self.bias)
        return layer

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, adapters={self.ranks}, bias={self.bias is not None}"
