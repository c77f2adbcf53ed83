# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions on the edges of Kolmogorov-Arnold layers, one by one: their values, which of them matter, and formulas for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .._errors import CallError
from ._kan import kan_layer

# Formulas by their names, where {} stands for the argument.
FORMULAS: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "0": (torch.zeros_like, "0"),
    "x": (lambda x: x, "{}"),
    "x^2": (lambda x: x * x, "({})^2"),
    "x^3": (lambda x: x**3, "({})^3"),
    "1/x": (lambda x: 1 / x, "1/({})"),
    "sqrt": (torch.sqrt, "sqrt({})"),
    "exp": (torch.exp, "exp({})"),
    "log": (torch.log, "log({})"),
    "abs": (torch.abs, "abs({})"),
    "sin": (torch.sin, "sin({})"),
    "tanh": (torch.tanh, "tanh({})"),
    "sigmoid": (torch.sigmoid, "sigmoid({})"),
    "gaussian": (lambda x: torch.exp(-x * x), "exp(-({})^2)"),
}
# What a change of the argument's scale or place does not add to.
_PLAIN = ("0", "x")


@dataclass(frozen=True)
class Symbolic:
    """scale f(slope x + shift) + offset, with f by its name in FORMULAS.

    r2  the share of the variance that it explains, 1 at best
    """

    name: str
    slope: float
    shift: float
    scale: float
    offset: float
    r2: float

    def values(self, x: Tensor) -> Tensor:
        """Its values at x."""
        return self.scale * FORMULAS[self.name][0](self.slope * x + self.shift) + self.offset

    def text(self, argument: str, digits: int = 3) -> str:
        """The formula of an argument, as text."""
        def number(value):
            return f"{value:.{digits}g}"

        if self.name == "0" or self.scale == 0:
            return number(self.offset)
        inner = argument if self.slope == 1 else f"{number(self.slope)}*{argument}"
        inner += f" + {number(self.shift)}" if self.shift else ""
        outer = FORMULAS[self.name][1].format(inner)
        outer = f"({outer})" if self.name == "x" and self.shift and self.scale != 1 else outer
        return (outer if self.scale == 1 else f"{number(self.scale)}*{outer}") + (f" + {number(self.offset)}" if self.offset else "")


def _line(f, y):
    """(scale, offset, r2) of the best scale f + offset, for f [..., n] of formulas and y [n]; r2 is -inf where f is not finite."""
    centred, target = f - f.mean(-1, keepdim=True), y - y.mean()
    size, whole = (centred * centred).sum(-1), (target * target).sum()
    along = (centred * target).sum(-1)
    # What is the same everywhere explains nothing.
    tiny = 1e-20 * (f * f).sum(-1) + torch.finfo(f.dtype).tiny
    scale = torch.where(size > tiny, along / size.clamp(min=torch.finfo(f.dtype).tiny), 0)
    r2 = torch.where(whole > 0, scale * along / whole.clamp(min=torch.finfo(f.dtype).tiny), 1.0)
    good = torch.isfinite(f).all(-1)
    return scale, y.mean() - scale * f.mean(-1), torch.where(good, r2, -math.inf)


def _fit(name, x, y, size=21, zooms=6):
    """The best slope and shift of a grid from -10 to 10, then of finer ones around the best."""
    function = FORMULAS[name][0]
    if name in _PLAIN:
        scale, offset, r2 = _line(function(x), y)
        return Symbolic(name, 1.0, 0.0, float(scale), float(offset), float(r2))
    slope, shift, reach = 0.0, 0.0, 10.0
    for _ in range(zooms):
        steps = torch.linspace(-reach, reach, size, dtype=x.dtype)
        a, b = slope + steps[:, None, None], shift + steps[None, :, None]
        scale, offset, r2 = _line(function(a * x + b), y)
        at = int(r2.nan_to_num(nan=-math.inf).argmax())
        slope, shift = float(a[at // size]), float(b[0, at % size])
        found = Symbolic(name, slope, shift, float(scale.flatten()[at]), float(offset.flatten()[at]), float(r2.flatten()[at]))
        reach *= 2 / (size - 1) * 2
    return found


@torch.no_grad()
def fit_symbolic(x: Tensor, y: Tensor, names: Sequence[str] | None = None, points: int = 400) -> list[Symbolic]:
    """Formulas scale f(slope x + shift) + offset for values y [rows] at x [rows], the best first: one for each f of `names`, which are keys of
    drawloom.torch.FORMULAS (None: all). Of many rows so many `points`, evenly chosen by x, decide.
    """
    for name in names or ():
        if name not in FORMULAS:
            raise CallError(f"fit_symbolic: there is no '{name}'; there are {', '.join(FORMULAS)}")
    if x.ndim != 1 or x.shape != y.shape or x.numel() < 2:
        raise CallError(f"fit_symbolic: x and y have the shapes {list(x.shape)} and {list(y.shape)}; both have one of 2 rows at least")
    order = x.argsort()
    order = order[torch.linspace(0, len(order) - 1, min(points, len(order))).round().long()]
    x, y = x[order].detach().double().cpu(), y[order].detach().double().cpu()
    # Of formulas that explain as much, the one that stands first.
    return sorted((_fit(name, x, y) for name in names or FORMULAS), key=lambda one: -round(one.r2, 9))


def _wide(layer, outputs_of):
    """The arguments of a layer's kan_layer for other outputs: `outputs_of` makes them of what has [..., in, out]."""
    arguments = layer.arguments()
    arguments["parameters"] = [outputs_of(one) if one.ndim == 3 and one.shape[-1] == layer.out_features and one.shape[-1] > 1 else one
                               for one in arguments["parameters"]]
    return arguments | {"bias": None}


def edge_values(layer, x: Tensor) -> Tensor:
    """KANLayer.edge_values."""
    n, m = layer.in_features, layer.out_features
    arguments = _wide(layer, lambda one: one[:, :, None, :].expand(-1, -1, n, -1).reshape(*one.shape[:2], n * m))
    # Output (i, o) has the functions of the edge from i to o alone.
    own = torch.eye(n, dtype=x.dtype, device=x.device)
    arguments["coefficients"] = (arguments["coefficients"][:, :, None, :] * own[:, :, None]).reshape(-1, n, n * m)
    if layer.base is not None:
        arguments["base_weight"] = (arguments["base_weight"].T[:, :, None] * own[:, None, :]).reshape(n * m, n)
    return kan_layer(x, **arguments).unflatten(-1, (n, m))


def _functions_of_edge(layer, x, i, o):
    """The values of the basis' functions on one edge, [rows, functions]."""
    k = layer.functions
    arguments = _wide(layer, lambda one: one[:, :, o:o + 1].expand(-1, -1, k).contiguous())
    chosen = torch.zeros(k, layer.in_features, k, dtype=x.dtype, device=x.device)
    chosen[:, i] = torch.eye(k, dtype=x.dtype, device=x.device)
    return kan_layer(x, **(arguments | {"coefficients": chosen, "base": None, "base_weight": None}))


@torch.no_grad()
def snap_edge(layer, x: Tensor, i: int, o: int, names: Sequence[str] | None = None) -> Symbolic:
    """KANLayer.snap_edge."""
    for name, value, size in (("i", i, layer.in_features), ("o", o, layer.out_features)):
        if not isinstance(value, int) or not 0 <= value < size:
            raise CallError(f"snap_edge: {name} is {value!r}; it is a number from 0 to {size - 1}")
    rows = x.reshape(-1, layer.in_features)
    if layer.normalizer != "none":
        raise CallError(f"snap_edge: the layer computes functions of {layer.normalizer}(x), of which a formula of x would say something else")
    best = fit_symbolic(rows[:, i], edge_values(layer, rows)[:, i, o], names)[0]
    phi = _functions_of_edge(layer, rows, i, o).double()
    wanted = best.values(rows[:, i].double())
    layer.coefficients[:, i, o] = torch.linalg.lstsq(phi, wanted[:, None], driver="gelsd").solution[:, 0].to(layer.coefficients.dtype)
    if layer.base is not None:
        layer.base_weight[o, i] = 0
    return best
