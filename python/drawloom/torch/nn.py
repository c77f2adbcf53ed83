# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules over drawloom.torch's functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral

import torch

from ..ops import encodings as _encodings
from ..ops import mlp as _mlp
from ..ops import rational as _rational
from . import functional
from ._cells import CellRNN, ParaGRU, ParaLSTM
from ._graph_layers import CompGCNConv, GATConv, GATv2Conv, GINConv, HGTConv, RGATConv, RGCNConv, SAGEConv, SimpleHGNConv
from ._kan_layers import (
    KAN,
    BSplineKAN,
    BSplineKANLayer,
    ChebyKAN,
    FasterKAN,
    FastKAN,
    FourierKAN,
    JacobiKAN,
    KANConv2d,
    KANLayer,
    PolynomialKAN,
    ReLUKAN,
    SineKAN,
    WavKAN,
)
from ._quantized_layers import QDoRALinear, QLoRALinear, QuantizedLinear
from ._sparse_layers import BlockSparseLinear, MultiLoRALinear, SLTrainLinear
from ._structured_layers import DoRALinear, KroneckerLinear, LoRALinear, MonarchLinear, StructuredLinear

__all__ = ["BSplineKAN", "BSplineKANLayer", "BlockSparseLinear", "CellRNN", "ChebyKAN", "CompGCNConv", "DoRALinear", "FastKAN", "FasterKAN",
           "FourierKAN", "FrequencyEncoding", "FusedMLP", "GATConv", "GATv2Conv", "GINConv", "GRKAN", "HGTConv", "JacobiKAN", "KAN",
           "KANConv2d", "KANLayer", "KroneckerLinear", "LoRALinear", "MonarchLinear", "MultiLoRALinear", "ParaGRU", "ParaLSTM",
           "PolynomialKAN",
           "QDoRALinear", "QLoRALinear", "QuantizedLinear", "RGATConv", "RGCNConv", "Rational", "ReLUKAN", "SAGEConv", "SLTrainLinear",
           "SimpleHGNConv", "SineKAN", "StructuredLinear", "WavKAN"]


def _tables(groups, degrees, form, init, options):
    a, b = _rational.initial(init, degrees, form)
    a = torch.nn.Parameter(torch.tensor(a[None], **options))
    b = torch.nn.Parameter(torch.tensor(b, **options).repeat(groups, 1))
    return a, b


def _options(device, dtype):
    return {"device": device, "dtype": dtype or torch.get_default_dtype()}


class Rational(torch.nn.Module):
    """A learnable activation, `drawloom.torch.rational`: one numerator a [1, m + 1] for all channels, and a denominator for
    each of `groups` groups of channels, b [groups, n].

    x [..., channels] -> y of the same shape. `init` names the activation that it starts as: "silu", "gelu", "relu", "tanh",
    "sigmoid" or "identity".
    """

    def __init__(self, channels: int, *, groups: int = 8, degrees: Sequence[int] = (5, 4), form: str = "abs_terms", init: str = "silu",
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        if channels % groups:
            raise functional.CallError(f"Rational: {groups} groups do not divide {channels} channels")
        self.channels, self.groups, self.degrees, self.form = channels, groups, tuple(degrees), form
        self.a, self.b = _tables(groups, degrees, form, init, _options(device, dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.rational(x, self.a, self.b, form=self.form)

    def extra_repr(self) -> str:
        return f"{self.channels}, groups={self.groups}, degrees={self.degrees}, form='{self.form}'"


def _linear(out_features, in_features, bias, options):
    """Initialized as torch.nn.Linear is."""
    bound = 1 / math.sqrt(in_features) if in_features else 0
    weight = torch.nn.Parameter(torch.empty(out_features, in_features, **options).uniform_(-bound, bound))
    return weight, torch.nn.Parameter(torch.empty(out_features, **options).uniform_(-bound, bound)) if bias else None


class FusedMLP(torch.nn.Module):
    """A chain of dense layers as one program, `drawloom.torch.fused_mlp`: in_features, then `hidden_layers` layers of `width`
    with the activation, then out_features. Any number of rows; x [..., in_features] -> y [..., out_features].

    activation   see `fused_mlp`; "rational" gives each hidden layer one of its own, with coefficients as in `Rational`
    """

    def __init__(self, in_features: int, out_features: int, *, width: int = 64, hidden_layers: int = 4, activation: str = "relu",
                 bias: bool = True, output_activation: str | None = None, groups: int = 8, degrees: Sequence[int] = (5, 4),
                 form: str = "abs_terms", init: str = "silu", device: torch.device | str | int | None = None,
                 dtype: torch.dtype | None = None) -> None:
        super().__init__()
        for name, value, least in (("in_features", in_features, 1), ("out_features", out_features, 1), ("width", width, 1),
                                   ("hidden_layers", hidden_layers, 0)):
            if not isinstance(value, Integral) or value < least:
                raise functional.CallError(f"FusedMLP: {name} is {value!r}; it is a number from {least}")
        _mlp.check_activation(activation, "FusedMLP: activation")
        _mlp.check_activation(output_activation or "none", "FusedMLP: output_activation", _mlp.ACTIVATIONS)
        options = _options(device, dtype)
        self.in_features, self.out_features, self.width, self.hidden_layers = in_features, out_features, width, hidden_layers
        self.activation, self.output_activation, self.form = activation, output_activation, form
        widths = [in_features, *[width] * hidden_layers, out_features]
        layers = [_linear(m, n, bias, options) for n, m in zip(widths, widths[1:])]
        self.weights = torch.nn.ParameterList([weight for weight, _ in layers])
        self.biases = torch.nn.ParameterList([bias for _, bias in layers] if bias else [])
        tables = []
        if activation == "rational":
            for _ in range(hidden_layers):
                tables += _tables(groups, degrees, form, init, options)
        self.activation_params = torch.nn.ParameterList(tables)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.fused_mlp(x, list(self.weights), list(self.biases), activation=self.activation,
                                    activation_params=list(self.activation_params),
                                    output_activation=self.output_activation, form=self.form)

    def extra_repr(self) -> str:
        return (f"{self.in_features}, {self.out_features}, width={self.width}, hidden_layers={self.hidden_layers}, "
                f"activation='{self.activation}', bias={len(self.biases) > 0}")


class GRKAN(torch.nn.Module):
    """A layer of the Kolmogorov-Arnold Transformer: y = F(x) W^T + bias with a group-rational F, as one program.

    x [..., in_features] -> y [..., out_features]. W is drawn with the variance that keeps that of x, gain / in_features with
    gain = 1 / E[F(z)^2] for a standard normal z.
    """

    def __init__(self, in_features: int, out_features: int, *, groups: int = 8, degrees: Sequence[int] = (5, 4),
                 form: str = "abs_terms", init: str = "silu", bias: bool = True, device: torch.device | str | int | None = None,
                 dtype: torch.dtype | None = None) -> None:
        super().__init__()
        if in_features % groups:
            raise functional.CallError(f"GRKAN: {groups} groups do not divide {in_features} channels")
        options = _options(device, dtype)
        self.in_features, self.out_features, self.groups, self.form = in_features, out_features, groups, form
        self.a, self.b = _tables(groups, degrees, form, init, options)
        self.weight, self.bias = _linear(out_features, in_features, bias, options)
        with torch.no_grad():
            self.weight.normal_(0, math.sqrt(_rational.gain(init, degrees, form) / in_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        biases = [] if self.bias is None else [self.bias]
        return functional.dense_after_rational(x, self.a, self.b, self.weight, biases, self.form)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, groups={self.groups}, form='{self.form}', bias={self.bias is not None}"


class FrequencyEncoding(torch.nn.Module):
    """Sines and cosines of coordinates at octaves of frequencies, `drawloom.torch.frequency_encode`:
    x [..., d] -> y [..., 2 d octaves]."""

    def __init__(self, octaves: int) -> None:
        super().__init__()
        _encodings.check_octaves(octaves)
        self.octaves = octaves

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.frequency_encode(x, self.octaves)

    def extra_repr(self) -> str:
        return f"octaves={self.octaves}"
