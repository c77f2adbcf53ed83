# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.drawloom.nonlinear_scan, the function over it, and modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from .. import cells
from .._errors import CallError
from ..ops import cells as _cells
from . import _dispatch
from ._dispatch import intern, need

_specs: dict[tuple, object] = {}


def _spec(initial, inputs, parameters, cell, reverse=False, segments=None, newton=None, tolerance=None):
    key = cell, inputs[0].dtype in (torch.float16, torch.bfloat16), reverse, segments, newton, tolerance
    spec = _specs.get(key)
    if spec is None:
        spec = _specs[key] = intern(_cells.spec_of(*key))
    return spec


def _flatten(initial, inputs, parameters, *rest):
    return (*initial, *inputs, *parameters)


def _join(tensors, initial, inputs, parameters, *rest):
    at, end = len(initial), len(initial) + len(inputs)
    return list(tensors[:at]), list(tensors[at:end]), list(tensors[end:]), *rest


def _autocast(dtype, initial, inputs, parameters, *rest):
    # States and what multiplies them keep their digits.
    return [one.float() for one in initial], [one.to(dtype) for one in inputs], [one.float() for one in parameters], *rest


_op = _dispatch.define(
    "nonlinear_scan(Tensor[] initial, Tensor[] inputs, Tensor[] parameters, str cell, bool reverse=False, int? segments=None, "
    "int? newton=None, float? tolerance=None) -> Tensor[]", _spec, _flatten, _join, autocast=_autocast)


class NewtonReport(NamedTuple):
    """How Newton's iteration went."""

    #: How many steps there were, int32 [].
    steps: Tensor
    #: The largest residual, in units of max(1, |state|), []. Above the tolerance, tokens were gone through one after another.
    residual: Tensor


class Scanned(NamedTuple):
    """What `nonlinear_scan` gives."""

    #: One [B, T, D] for each output of the cell.
    outputs: list[Tensor]
    #: The states behind the last token, [B, D] each.
    states: list[Tensor]
    #: With newton, else None.
    report: NewtonReport | None


def nonlinear_scan(cell: cells.Cell, inputs: Sequence[Tensor], parameters: Sequence[Tensor] = (), initial: Sequence[Tensor] | None = None, *,
                   reverse: bool = False, segments: int | None = None, newton: int | None = None, tolerance: float | None = None) -> Scanned:
    r"""A recurrent cell along the tokens, channel by channel:

        (s_t, y_t) = f(s_{t-1}, x_t, w)

    cell        f: a cell of drawloom.cells, or one of your own (drawloom.cells.Cell)
    inputs      x: [B, T, D] each
    parameters  w: [D] each; float32, or float64 for float64
    initial     s_0: [B, D] each, of the type of parameters; None: zeros
    reverse     from the last token to the first

    Sequences and channels are computed side by side, tokens one after another. `segments` and `newton` make tokens parallel, too, for few
    sequences and channels and many processors; nothing but rounding changes unless states overflow, and have a program for each shape:

    segments    of a cell that is affine in its states, such as min_gru: into how many parts the tokens are cut. With newton, of its scans.
    newton      of any cell: how many steps of Newton's iteration there may be, which solves for all tokens' states at once (ParaRNN,
                arXiv 2510.21450). The report says how many there were. Where it does not converge, tokens are gone through one after another.
    tolerance   what a state may change by, and its residual be, in units of max(1, |state|), for Newton's iteration to end; None: 64 eps

    float16 and bfloat16 inputs are computed in float32. The gradient is a scan in the other direction (in `segments`, where these are
    given), which is exact however the states were found. Differentiable any number of times.
    """
    _cells.check_cell(cell, inputs, parameters, initial, segments, newton, tolerance)
    x = inputs[0]
    need(x.dim() == 3, f"nonlinear_scan: input 0 has the shape {list(x.shape)}; it is [batch, tokens, channels]")
    if initial is None:
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        initial = [torch.zeros(x.shape[0], x.shape[2], dtype=wide, device=x.device)] * cell.states
    results = _op(list(initial), list(inputs), list(parameters), cell.text, reverse, segments, newton, tolerance)
    outputs, states, report = _cells.outputs_of(cell, results, newton)
    return Scanned(outputs, states, None if report is None else NewtonReport(report[0].detach().int(), report[1].detach()))


class CellRNN(torch.nn.Module):
    """A layer of a recurrent cell, whose inputs are products of the layer's with matrices:

        x_k = W_k u + b_k,      s_t = f(s_{t-1}, x_t, w)

    u            [B, T, input_size]
    y            [B, T, hidden_size], the cell's first output; `forward` also gives the last states, [B, hidden_size] each
    weight       W_k below each other, [inputs hidden_size, input_size]
    bias         [inputs hidden_size]
    parameters   w, [parameters, hidden_size]: what a full layer has matrices of states for is diagonal here
    """

    def __init__(self, cell: cells.Cell, input_size: int, hidden_size: int, bias: bool = True, *, reverse: bool = False,
                 segments: int | None = None, newton: int | None = None, tolerance: float | None = None,
                 device: torch.device | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        if not isinstance(cell, cells.Cell) or cell.outputs < 1:
            raise CallError(f"CellRNN takes a drawloom.cells.Cell with an output, not {cell!r}")
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            if not isinstance(size, int) or size < 1:
                raise CallError(f"CellRNN: {name} is {size!r}; it is a whole number, 1 or more")
        self.cell, self.input_size, self.hidden_size = cell, input_size, hidden_size
        self.reverse, self.segments, self.newton, self.tolerance = reverse, segments, newton, tolerance
        options = {"device": device, "dtype": dtype}
        self.weight = torch.nn.Parameter(torch.empty(cell.inputs * hidden_size, input_size, **options))
        self.bias = torch.nn.Parameter(torch.empty(cell.inputs * hidden_size, **options)) if bias else None
        self.recurrent = torch.nn.Parameter(torch.empty(cell.parameters, hidden_size, **options))
        #: With newton, the report of the last call.
        self.report: NewtonReport | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Matrices by Xavier, diagonals uniform in [-1, 1] / sqrt(2), which keeps states from growing, biases 0."""
        for part in self.weight.data.chunk(self.cell.inputs):
            torch.nn.init.xavier_uniform_(part)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        torch.nn.init.uniform_(self.recurrent, -math.sqrt(0.5), math.sqrt(0.5))

    def extra_repr(self) -> str:
        """What a print of the module shows."""
        return f"{self.cell}, {self.input_size}, {self.hidden_size}, bias={self.bias is not None}"

    def forward(self, u: Tensor, initial: Sequence[Tensor] | None = None) -> tuple[Tensor, list[Tensor]]:
        """(y, last states)."""
        if u.dim() != 3 or u.shape[-1] != self.input_size:
            raise CallError(f"CellRNN: the input has the shape {list(u.shape)}; it is [batch, tokens, {self.input_size}]")
        # One product for each input of the cell: their results are not cut out of one.
        weights = self.weight.split(self.hidden_size)
        biases = [None] * len(weights) if self.bias is None else self.bias.split(self.hidden_size)
        inputs = [torch.nn.functional.linear(u, weight, bias) for weight, bias in zip(weights, biases)]
        parameters = list(self.recurrent.unbind())
        if inputs[0].dtype in (torch.float16, torch.bfloat16):
            parameters = [one.float() for one in parameters]
        result = nonlinear_scan(self.cell, inputs, parameters, initial, reverse=self.reverse, segments=self.segments, newton=self.newton,
                                tolerance=self.tolerance)
        self.report = result.report
        return result.outputs[0], result.states


class ParaGRU(CellRNN):
    """The GRU of ParaRNN (arXiv 2510.21450), whose matrices of states are diagonal (drawloom.cells.gru)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, *, reverse: bool = False, segments: int | None = None,
                 newton: int | None = None, tolerance: float | None = None, device: torch.device | None = None,
                 dtype: torch.dtype | None = None) -> None:
        super().__init__(cells.gru, input_size, hidden_size, bias, reverse=reverse, segments=segments, newton=newton, tolerance=tolerance,
                         device=device, dtype=dtype)


class ParaLSTM(CellRNN):
    """The LSTM of ParaRNN (arXiv 2510.21450), whose matrices of states are diagonal (drawloom.cells.lstm). Its states are h and c."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, *, reverse: bool = False, segments: int | None = None,
                 newton: int | None = None, tolerance: float | None = None, device: torch.device | None = None,
                 dtype: torch.dtype | None = None) -> None:
        super().__init__(cells.lstm, input_size, hidden_size, bias, reverse=reverse, segments=segments, newton=newton, tolerance=tolerance,
                         device=device, dtype=dtype)
