# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear layers whose frozen weights are in codes of a few bits, with and without adapters."""

from __future__ import annotations

import math
from numbers import Real
from typing import Union

import torch

from .._errors import CallError
from ..structured import dense, quantized
from . import functional
from ._quantized import DoubleScales, QuantizedTensor, of_bitsandbytes, quantize
from ._structured_layers import PeftLayer, RowLengths, StructuredLinear, _count, _uniform


class QuantizedLinear(StructuredLinear):
    """A linear layer with a frozen weight in codes, y = x W^T + bias.

    quantized  W as `QuantizedTensor` [out, in], of `drawloom.torch.quantize` or `read_gguf`
    bias       a Parameter, which trains, or a tensor [out], or None

    x is of any type of floats; codes are multiplied by their scales in float32 and rounded to it. `to(dtype)` and the like leave
    the weight as it is.
    """

    def __init__(self, quantized: QuantizedTensor, bias: torch.Tensor | None = None) -> None:
        if not isinstance(quantized, QuantizedTensor):
            raise CallError(f"QuantizedLinear: the weight is a QuantizedTensor, not a {type(quantized).__name__}; drawloom.torch.quantize makes "
                            "one of floats, read_gguf reads them")
        self._set_up(quantized, bias)

    def _set_up(self, weight, bias, adapter=None, leaves=None):
        """`adapter`: a term that is added to the weight, of these leaves."""
        if len(weight.shape) != 2:
            raise CallError(f"{type(self).__name__}: the weight has the shape {list(weight.shape)}; it is a matrix [out, in]")
        # The packing that is decoded fastest where rows are few.
        weight = weight.packed("parts")
        offsets = {} if weight.offsets is None else {"offsets": weight.offsets}
        base = quantized("codes", "scales", *offsets, format=weight.format, packing=weight.packing)
        double = isinstance(weight.scales, DoubleScales)
        scales = weight.scales.codes if double else weight.scales
        super().__init__((base if adapter is None else base + adapter).T, {"codes": weight.codes, "scales": scales, **offsets, **(leaves or {})},
                         bias)
        self._frozen_term, self._form = base.T, (weight.format, weight.packing, weight.shape)
        self._block = weight.scales.block if double else None
        for name in ("table", "scales", "offset"):
            self.register_buffer(f"scales_{name}", getattr(weight.scales, name) if double else None)

    @property
    def quantized(self) -> QuantizedTensor:
        """The frozen weight."""
        scales = self.scales
        if self._block is not None:
            scales = DoubleScales(scales, self.scales_table, self.scales_scales, self.scales_offset, self._block)
        return QuantizedTensor(self.codes, scales, getattr(self, "offsets", None), *self._form)

    def _frozen(self):
        """Names of the buffers that no change of the type is for."""
        return [name for name in ("scales", "offsets", "scales_table", "scales_scales", "scales_offset") if getattr(self, name, None) is not None]

    def _apply(self, fn, recurse=True):
        before = {name: getattr(self, name) for name in self._frozen()}
        super()._apply(fn, recurse)
        for name, tensor in before.items():
            now = getattr(self, name)
            if now.dtype != tensor.dtype:
                setattr(self, name, tensor.to(now.device))
        return self

    def _leaves(self):
        weight, leaves = self.quantized, super()._leaves()
        with torch.no_grad():
            leaves["scales"] = weight.scales.float()
            if weight.offsets is not None:
                leaves["offsets"] = weight.offsets.float()
        return leaves

    def _multiply(self, x, bias):
        return self._product(x, self.term, bias)

    def _product(self, x, term, bias):
        roles = term.roles
        leaves = {name: leaf.to(x.dtype) if roles[name] == "number" else leaf for name, leaf in self._leaves().items() if name in roles}
        return functional.structured_linear(x, term, leaves, None if bias is None else bias.to(x.dtype), association=self.association)

    def materialize(self) -> torch.Tensor:
        """The weight as torch.nn.Linear keeps it, [out, in]."""
        return self.quantized.dequantize()

    def extra_repr(self) -> str:
        double = ", double scales" if self._block is not None else ""
        return (f"{self.in_features}, {self.out_features}, format='{self._form[0]}', group={self.quantized.group}{double}, "
                f"bias={self.bias is not None}")


#: What an adapter may stand beside.
Base = Union[torch.nn.Linear, QuantizedLinear, QuantizedTensor]


def _of_base(what, base, options):
    """(codes, bias) of any of these."""
    if isinstance(base, QuantizedTensor):
        return base, None
    if type(base) is QuantizedLinear:
        return base.quantized, base.bias
    if not isinstance(base, torch.nn.Linear):
        raise CallError(f"{what}: the base is a torch.nn.Linear, a bitsandbytes.nn.Linear4bit, a QuantizedLinear or a QuantizedTensor, not a "
                        f"{type(base).__name__}")
    # Layers of bitsandbytes are known by what they have.
    if hasattr(base.weight, "quant_state"):
        return of_bitsandbytes(what, base), base.bias
    return quantize(base.weight.detach(), **options), base.bias


class QLoRALinear(PeftLayer, QuantizedLinear):
    """A frozen linear layer in codes of a few bits with a low-rank adapter: y = x W^T + (alpha / r) x A^T B^T + bias (arXiv 2305.14314).

    base      a torch.nn.Linear, whose weight is put in codes here as `format`, `group` and `double_scales` say (see
              `drawloom.torch.quantize`); or what has codes, which are taken as they are: a bitsandbytes.nn.Linear4bit, a
              `QuantizedLinear` or a `QuantizedTensor`, as `drawloom.torch.read_gguf` gives them. Its bias becomes a buffer
    r, alpha  the rank and the scale's numerator; `rslora` divides it by sqrt(r) instead (arXiv 2312.03732)
    dropout   the probability with which, in training, an element of the adapter's x is zero; the base's x is as it is

    Trains `lora_a` [r, in], drawn as torch.nn.Linear's weight, and `lora_b` [out, r], which starts at zero, both in float32; x may be
    of another type of floats. One program decodes the weight and computes both products, forward and backward: no matrix
    [out, in] of floats is kept.
    """

    _peft_base = ("bias",)

    def __init__(self, base: Base, r: int = 8, alpha: float = 16.0, *, rslora: bool = False, dropout: float = 0.0, format: str = "nf4",
                 group: int = 64, double_scales: bool = True) -> None:
        name = type(self).__name__
        _count(name, "r", r)
        if not isinstance(alpha, Real) or not math.isfinite(alpha):
            raise CallError(f"{name}: alpha is {alpha!r}; it is a finite number")
        weight, bias = _of_base(name, base, {"format": format, "group": group, "double_scales": double_scales})
        options = {"dtype": torch.float32, "device": weight.codes.device}
        scale = alpha / (math.sqrt(r) if rslora else r)
        outputs, inputs = weight.shape[0], weight.shape[-1]
        self._set_up(weight, None if bias is None else bias.detach(), scale * (dense("lora_b") @ dense("lora_a")),
                     {"lora_b": torch.nn.Parameter(torch.zeros(outputs, r, **options)), "lora_a": _uniform((r, inputs), inputs, options)})
        self._set_adapter(scale, dropout)

    def _frozen_product(self, x, bias):
        return self._product(x, self._frozen_term, bias)

    def materialize(self) -> torch.Tensor:
        """The weight as torch.nn.Linear keeps it, [out, in]."""
        return torch.addmm(self.quantized.dequantize(self.lora_a.dtype), self.lora_b, self.lora_a, alpha=self.scale)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, r={len(self.lora_a)}, scale={self.scale:g}"


class QDoRALinear(RowLengths, QLoRALinear):
    """`DoRALinear` with a frozen weight in codes of a few bits. The arguments are QLoRALinear's."""

    def __init__(self, base: Base, r: int = 8, alpha: float = 16.0, *, rslora: bool = False, dropout: float = 0.0, format: str = "nf4",
                 group: int = 64, double_scales: bool = True) -> None:
        super().__init__(base, r, alpha, rslora=rslora, dropout=dropout, format=format, group=group, double_scales=double_scales)
        self.register_buffer("squares", self.quantized.dequantize().square().sum(1))
        self._start()

    def _frozen(self):
        return [*super()._frozen(), "squares"]

    def _of_base(self):
        leaves = {name: leaf for name, leaf in self._leaves().items() if name in ("codes", "scales", "offsets")}
        return self.squares, functional.structured_linear(self.lora_a.to(self.squares.dtype), self._frozen_term, leaves).T
