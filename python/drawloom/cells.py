# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent cells: what one channel does at one token.

    from drawloom.cells import Cell

    def leaky(states, inputs, parameters):
        (h,), (x,), (u,) = states, inputs, parameters
        h = 0.9 * h + (x + u * h).tanh()
        return [h], [h]

    cell = Cell(leaky, states=1, inputs=1, parameters=1)

The function is called when the cell is made, on values that have arithmetic, comparisons, `where` and the functions of rows (exp, tanh, sigmoid, relu,
...), and gives the new states and the outputs. `drawloom.torch.nonlinear_scan` and that of `drawloom.jax` go through the tokens with it.
Channels do not mix within a cell: what mixes them, such as the products with matrices in front of a GRU's gates, is in its inputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ._errors import CallError, CallTypeError
from .ops import cells as _cells
from .ops import tracing

__all__ = ["Cell", "gru", "indrnn", "indrnn_relu", "lstm", "mgu", "min_gru", "min_lstm"]


class Cell:
    """A cell of some states, inputs and parameters, which all are numbers of a channel.

    function    (states, inputs, parameters) -> (new states, outputs), lists of values
    """

    def __init__(self, function: Callable[[list[Any], list[Any], list[Any]], tuple[Sequence[Any], Sequence[Any]]], *, states: int = 1,
                 inputs: int = 1, parameters: int = 0):
        for name, count, least in (("states", states, 1), ("inputs", inputs, 1), ("parameters", parameters, 0)):
            if not isinstance(count, int) or isinstance(count, bool) or count < least:
                raise CallError(f"a cell has {least} or more {name}, not {count!r}")
        self.states, self.inputs, self.parameters = states, inputs, parameters
        traced = {dtype: _traced(function, (states, inputs, parameters), dtype) for dtype in ("float32", "float64")}
        self.outputs = len(traced["float32"]["outputs"])
        #: What the cell is, as text; the same for equal cells.
        self.text = json.dumps({"counts": [states, inputs, parameters], **traced})
        #: For each output, which of the op's results it is, behind last states and report.
        self.places = _cells.places_of(self.text)

    def __repr__(self) -> str:
        return f"cell of {self.states} states, {self.inputs} inputs, {self.parameters} parameters and {self.outputs} outputs"


class _Program(tracing.Program):
    what = "a cell"


def _traced(function, counts, dtype):
    program = _Program()
    program.inside = object()
    values = [tracing.Value(program, f"%a{i}", dtype, (), program.inside) for i in range(sum(counts))]
    states, inputs, parameters = values[:counts[0]], values[counts[0]:counts[0] + counts[1]], values[counts[0] + counts[1]:]
    result = function(states, inputs, parameters)
    if not isinstance(result, (tuple, list)) or len(result) != 2 or not all(isinstance(one, (tuple, list)) for one in result):
        raise CallError("the function of a cell gives two lists, the new states and the outputs")
    news, outputs = ([_value(program, one, dtype) for one in part] for part in result)
    if len(news) != counts[0]:
        raise CallError(f"the function of a cell gives {len(news)} new states; it has {counts[0]}")
    if any("tensor" in line for line in program.lines):
        raise CallError("the function of a cell makes rows of its values, or sums over them; they are numbers of one channel")
    return {"lines": "\n".join(program.lines), "arguments": [one.name for one in values], "states": [one.name for one in news],
            "outputs": [one.name for one in outputs]}


def _value(program, one, dtype):
    if tracing.is_number(one):
        return program.constant(one, dtype)
    if not isinstance(one, tracing.Value) or one.inside is not program.inside:
        raise CallError(f"the function of a cell gives {one!r}, which is not made of its values")
    if one.shape or one.dtype != dtype:
        raise CallTypeError(f"the function of a cell gives {one!r}; it gives numbers of the type that it gets")
    return one


def _gru(states, inputs, parameters):
    (h,), (z, r, c), (uz, ur, uc) = states, inputs, parameters
    z, r = (z + uz * h).sigmoid(), (r + ur * h).sigmoid()
    c = (c + uc * (r * h)).tanh()
    h = h + z * (c - h)
    return [h], [h]


def _lstm(states, inputs, parameters):
    (h, c), (f, g, o), (uf, ug, uo, pf, po) = states, inputs, parameters
    f = (f + uf * h + pf * c).sigmoid()
    g = (g + ug * h).tanh()
    c = g + f * (c - g)
    o = (o + uo * h + po * c).sigmoid()
    h = o * c.tanh()
    return [h, c], [h]


def _mgu(states, inputs, parameters):
    (h,), (f, c), (uf, uc) = states, inputs, parameters
    f = (f + uf * h).sigmoid()
    c = (c + uc * (f * h)).tanh()
    h = h + f * (c - h)
    return [h], [h]


def _indrnn(states, inputs, parameters):
    (h,), (x,), (u,) = states, inputs, parameters
    h = (x + u * h).tanh()
    return [h], [h]


def _indrnn_relu(states, inputs, parameters):
    (h,), (x,), (u,) = states, inputs, parameters
    h = (x + u * h).relu()
    return [h], [h]


def _min_gru(states, inputs, parameters):
    (h,), (z, c) = states, inputs
    h = h + z.sigmoid() * (c - h)
    return [h], [h]


def _min_lstm(states, inputs, parameters):
    (h,), (f, i, c) = states, inputs
    # f / (f + i) of two sigmoids, from their arguments: it is finite where both are 0.
    f = ((-i).softplus() - (-f).softplus()).sigmoid()
    h = c + f * (h - c)
    return [h], [h]


#: z = sigmoid(x_z + u_z h), r = sigmoid(x_r + u_r h), c = tanh(x_c + u_c r h), h' = (1 - z) h + z c (ParaGRU, arXiv 2510.21450).
gru = Cell(_gru, inputs=3, parameters=3)
#: f = sigmoid(x_f + u_f h + p_f c), g = tanh(x_g + u_g h), c' = f c + (1 - f) g, o = sigmoid(x_o + u_o h + p_o c'), h' = o tanh(c'): states
#: h and c; the input gate is what the forget gate leaves, and gates see the cell (ParaLSTM, arXiv 2510.21450).
lstm = Cell(_lstm, states=2, inputs=3, parameters=5)
#: f = sigmoid(x_f + u_f h), c = tanh(x_c + u_c f h), h' = (1 - f) h + f c (the minimal gated unit, arXiv 1603.09420).
mgu = Cell(_mgu, inputs=2, parameters=2)
#: h' = tanh(x + u h) (IndRNN, arXiv 1803.04831, with tanh).
indrnn = Cell(_indrnn, inputs=1, parameters=1)
#: h' = max(x + u h, 0) (IndRNN, arXiv 1803.04831).
indrnn_relu = Cell(_indrnn_relu, inputs=1, parameters=1)
#: h' = (1 - sigmoid(x_z)) h + sigmoid(x_z) x_c (minGRU, arXiv 2410.01201): affine in h.
min_gru = Cell(_min_gru, inputs=2)
#: f' = f / (f + i) of f = sigmoid(x_f) and i = sigmoid(x_i), h' = f' h + (1 - f') x_c (minLSTM, arXiv 2410.01201): affine in h.
min_lstm = Cell(_min_lstm, inputs=3)
