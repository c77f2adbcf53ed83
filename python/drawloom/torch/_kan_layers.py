# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kolmogorov-Arnold layers and networks as modules, initialized as their papers or first implementations do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from .._errors import CallError
from . import _dense, _kan_edges
from ._kan import kan_layer, kan_network

_POINTWISE_KINDS = ("mexican_hat", "morlet", "gaussian_derivative", "shannon")


def _whole(what, **numbers):
    for name, value in numbers.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise CallError(f"{what}: {name} is {value!r}; it is a number from 1")


def _range(what, ends):
    ends = [float(one) for one in ends]
    if len(ends) != 2 or not all(map(math.isfinite, ends)) or not ends[0] < ends[1]:
        raise CallError(f"{what}: grid_range is {tuple(ends)}; it is a lower and a higher number")
    return ends


class KANLayer(torch.nn.Module):
    """A learnable function on every edge, `drawloom.torch.kan_layer`: x [..., in_features] -> y [..., out_features].

    basis, order, normalizer, base   as `kan_layer` has them
    functions                        how many there are on an edge
    parameters                       the basis' arrays by the names that attributes of the layer get; those named in `learned` train
    affine                           the layer norm has a weight and a bias
    coefficients                     [functions, in, out] to begin with; None for normal numbers with variance 1 / (in functions)
    """

    def __init__(self, in_features: int, out_features: int, *, basis: str, functions: int, order: int | None = None,
                 parameters: Mapping[str, Tensor] | None = None, learned: Sequence[str] = (), normalizer: str = "none", affine: bool = False,
                 base: str | None = None, bias: bool = False, coefficients: Tensor | None = None,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        _whole(type(self).__name__, in_features=in_features, out_features=out_features, functions=functions)
        options: dict[str, Any] = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        self.in_features, self.out_features = in_features, out_features
        self.basis, self.order, self.normalizer, self.base = basis, order, normalizer, base
        if coefficients is None:
            coefficients = torch.randn(functions, in_features, out_features, **options) / math.sqrt(in_features * functions)
        self.coefficients = torch.nn.Parameter(coefficients.to(**options))
        self._names = tuple(parameters or ())
        for name, value in (parameters or {}).items():
            self._keep(name, value.to(**options), name in learned)
        weight = torch.empty(out_features, in_features, **options) if base is not None else None
        if weight is not None:
            torch.nn.init.kaiming_uniform_(weight, a=math.sqrt(5))
        self._keep("base_weight", weight, True)
        self._keep("bias", torch.zeros(out_features, **options) if bias else None, True)
        self._keep("norm_weight", torch.ones(in_features, **options) if affine else None, True)
        self._keep("norm_bias", torch.zeros(in_features, **options) if affine else None, True)
        # Of each edge whether it trains (1), is left out (0) or stays as it is (2). None: all train.
        self.register_buffer("edges", None)
        #: Formulas of edges (i, o) that `snap_edge` has found.
        self.symbols: dict[tuple[int, int], _kan_edges.Symbolic] = {}

    edges: Tensor | None

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        # A layer with edges that are left out is loaded into any of its size, and the other way round.
        given = state_dict.get(prefix + "edges")
        self.edges = None if given is None else torch.ones(self.in_features, self.out_features, dtype=torch.int8, device=self.coefficients.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _of_edges(self, value):
        """A number of each edge, [..., in, out]: 0 where it is left out, without a gradient where it does not train."""
        if value is None or self.edges is None:
            return value
        return torch.where(self.edges == 1, value, torch.where(self.edges == 2, value.detach(), torch.zeros_like(value)))

    def _mark(self, where, as_):
        if self.edges is None:
            self.edges = torch.ones(self.in_features, self.out_features, dtype=torch.int8, device=self.coefficients.device)
        self.edges[where] = as_

    def edge_values(self, x: Tensor) -> Tensor:
        """The values of the functions on all edges, [..., in, out]: y is their sum over the inputs, and the bias."""
        return _kan_edges.edge_values(self, x)

    @torch.no_grad()
    def edge_scores(self, x: Tensor) -> Tensor:
        """How much each edge says about the rows of x, [in, out]: the deviation of its values."""
        return self.edge_values(x).flatten(0, -3).std(0, unbiased=False)

    @torch.no_grad()
    def prune_edges(self, keep: Tensor) -> None:
        """Leaves out the edges where `keep`, [in, out], is false: they give 0, and train no more."""
        if keep.dtype != torch.bool or keep.shape != (self.in_features, self.out_features):
            raise CallError(f"prune_edges: keep is {keep.dtype} {list(keep.shape)}; it is bool [{self.in_features}, {self.out_features}]")
        self._mark(~keep, 0)

    def snap_edge(self, x: Tensor, i: int, o: int, names: Sequence[str] | None = None) -> _kan_edges.Symbolic:
        """Puts the formula that is nearest to the values of one edge at rows x [..., in], of those of drawloom.torch.FORMULAS that are named, in
        place of its function, as far as the basis can say it there; the edge trains no more. The formula is given, and is in `symbols`."""
        found = _kan_edges.snap_edge(self, x, i, o, names)
        self._mark((i, o), 2)
        self.symbols[i, o] = found
        return found

    def _keep(self, name, value, learned):
        if learned:
            self.register_parameter(name, None if value is None else torch.nn.Parameter(value))
        else:
            self.register_buffer(name, value)

    @property
    def functions(self) -> int:
        """How many there are on an edge."""
        return self.coefficients.shape[0]

    def arguments(self) -> dict[str, Any]:
        """What `kan_layer` and `kan_network` are called with."""
        base_weight = self.base_weight if self.edges is None or self.base_weight is None else self._of_edges(self.base_weight.T).T
        return {"coefficients": self._of_edges(self.coefficients), "basis": self.basis, "order": self.order,
                "parameters": [getattr(self, name) for name in self._names], "normalizer": self.normalizer, "norm_weight": self.norm_weight,
                "norm_bias": self.norm_bias, "base": self.base, "base_weight": base_weight, "bias": self.bias}

    def forward(self, x: Tensor) -> Tensor:
        return kan_layer(x, **self.arguments())

    def extra_repr(self) -> str:
        order = "" if self.order is None else f", order={self.order}"
        return f"{self.in_features}, {self.out_features}, basis='{self.basis}'{order}, functions={self.functions}"


class KAN(torch.nn.Module):
    """KANLayers one after another, as one program: `drawloom.torch.kan_network`. Where a layer has hooks, they run one by one."""

    def __init__(self, layers: Sequence[torch.nn.Module]) -> None:
        super().__init__()
        if not layers:
            raise CallError(f"{type(self).__name__}: there are no layers")
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        if all(type(layer).forward is KANLayer.forward and _dense.plain(layer) for layer in self.layers):
            return kan_network(x, [layer.arguments() for layer in self.layers])
        for layer in self.layers:
            x = layer(x)
        return x

    def formula(self, names: Sequence[str] | None = None, digits: int = 3) -> list[str]:
        """The outputs as formulas of inputs with these `names` (x0, x1, ...), where each edge is left out or has a formula (`prune_edges`,
        `snap_edge` of the layers)."""
        first = self.layers[0].in_features
        terms = [f"x{i}" for i in range(first)] if names is None else list(names)
        if len(terms) != first:
            raise CallError(f"formula: there are {len(terms)} names, and {first} inputs")
        for number, layer in enumerate(self.layers):
            terms = [_sum_of(layer, number, o, terms, digits) for o in range(layer.out_features)]
        return terms


def _sum_of(layer, number, o, terms, digits):
    parts = []
    for i, term in enumerate(terms):
        if layer.edges is not None and layer.edges[i, o] == 0:
            continue
        if (i, o) not in layer.symbols:
            raise CallError(f"formula: the edge from {i} to {o} of layer {number} has no formula; snap_edge finds one, prune_edges leaves it out")
        parts.append(layer.symbols[i, o].text(term if term.isidentifier() else f"({term})", digits))
    bias = 0.0 if layer.bias is None else float(layer.bias[o])
    return " + ".join(parts + [f"{bias:.{digits}g}"] * (bias != 0)) or "0"


def _between(widths, what):
    widths = list(widths)
    if len(widths) < 2:
        raise CallError(f"{what}: the widths are {widths}; there are two at least, of what a network takes and of what it gives")
    return zip(widths, widths[1:])


# --- splines ----------------------------------------------------------------------------------------------------------

def bspline_values(x: Tensor, knots: Tensor, order: int) -> Tensor:
    """The B-splines of inputs, [..., in, functions], on knots [m, in] that do not decrease."""
    x, t = x[..., None], knots.T
    one = ((x >= t[:, :-1]) & (x < t[:, 1:])).to(x.dtype)
    for p in range(1, order + 1):
        rise, fall = t[:, p:-1] - t[:, :-(p + 1)], t[:, p + 1:] - t[:, 1:-p]
        left = torch.where(rise > 0, (x - t[:, :-(p + 1)]) / rise.clamp(min=torch.finfo(x.dtype).tiny), 0)
        right = torch.where(fall > 0, (t[:, p + 1:] - x) / fall.clamp(min=torch.finfo(x.dtype).tiny), 0)
        one = left * one[..., :-1] + right * one[..., 1:]
    return one


def _fitted(x, values, knots, order):
    """Coefficients [functions, in, out] of the splines that are nearest to values [rows, in, out] at x [rows, in]."""
    phi = bspline_values(x, knots, order).transpose(0, 1)
    # Splines without a point nearby have no say: the least solution.
    return torch.linalg.lstsq(phi, values.transpose(0, 1), driver="gelsd").solution.transpose(0, 1).contiguous()


class BSplineKANLayer(KANLayer):
    """B-splines of degree `order` on `grid` intervals of `grid_range` (Liu et al., arXiv 2404.19756), beside base_weight base(x). They begin as
    splines near to noise of +- `noise` / (2 grid). `learn_grid` makes the knots [grid + 2 order + 1, in] train.
    """

    def __init__(self, in_features: int, out_features: int, *, grid: int = 5, order: int = 3, grid_range: Sequence[float] = (-1.0, 1.0),
                 base: str | None = "silu", bias: bool = False, noise: float = 0.1, learn_grid: bool = False,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        _whole("BSplineKANLayer", in_features=in_features, out_features=out_features, grid=grid, order=order)
        low, high = _range("BSplineKANLayer", grid_range)
        knots = _uniform_knots(torch.full((in_features,), low), torch.full((in_features,), high), grid, order)
        points = torch.linspace(low, high, grid + 1, dtype=torch.float64)[:, None].expand(-1, in_features)
        values = (torch.rand(grid + 1, in_features, out_features, dtype=torch.float64) - 0.5) * noise / grid
        # The last point is outside of the last interval.
        points = torch.where(points == high, high - 1e-9 * (high - low), points)
        coefficients = _fitted(points, values, knots, order)
        super().__init__(in_features, out_features, basis="bspline" if learn_grid else "uniform_bspline", functions=grid + order, order=order,
                         parameters={"knots": knots} if learn_grid else {"domain": torch.tensor([low, high], dtype=torch.float64)},
                         learned=("knots",) if learn_grid else (), base=base, bias=bias, coefficients=coefficients, device=device, dtype=dtype)

    order: int

    @property
    def grid(self) -> int:
        """The number of intervals."""
        return self.functions - self.order

    def knots_of_inputs(self) -> Tensor:
        """The knots, [grid + 2 order + 1, in], in double precision."""
        if self.basis == "bspline":
            knots = self.knots.detach().double()
            return knots if knots.ndim == 2 else knots[:, None].expand(-1, self.in_features)
        low, high = self.domain.double()
        return _uniform_knots(low.expand(self.in_features), high.expand(self.in_features), self.grid, self.order).to(low.device)

    @torch.no_grad()
    def update_grid(self, x: Tensor, *, grid: int | None = None, uniform: float = 0.02, margin: float = 0.01) -> None:
        """Puts the knots where the inputs x [..., in] are: each input's at quantiles of its numbers, mixed with equal distances by the share
        `uniform`, `margin` beyond the least and the greatest. The functions stay what they are at x, as near as splines can; `grid` gives them
        another number of intervals. The coefficients are another parameter then, which an optimizer has to be told.
        """
        x = x.detach().reshape(-1, self.in_features).double()
        grid = self.grid if grid is None else grid
        _whole("update_grid", grid=grid)
        if not 0 <= uniform <= 1 or not margin > 0:
            raise CallError(f"update_grid: uniform is {uniform} and margin {margin}; they are from 0 to 1, and above 0")
        if len(x) < grid + 1 or not torch.isfinite(x).all():
            raise CallError(f"update_grid: x has {len(x)} rows, all finite or not; {grid} intervals take {grid + 1} finite rows at least")
        values = torch.einsum("nik,kio->nio", bspline_values(x, self.knots_of_inputs(), self.order), self.coefficients.double())
        ordered = x.sort(0).values
        adaptive = torch.quantile(ordered, torch.linspace(0, 1, grid + 1, dtype=x.dtype, device=x.device), dim=0)
        low, high = ordered[0] - margin, ordered[-1] + margin
        steps = torch.linspace(0, 1, grid + 1, dtype=x.dtype, device=x.device)[:, None]
        inner = uniform * (low + (high - low) * steps) + (1 - uniform) * adaptive
        inner[0], inner[-1] = low, high
        # As many of the mean distance in front and behind.
        h, more = (high - low) / grid, torch.arange(1, self.order + 1, dtype=x.dtype, device=x.device)[:, None]
        knots = torch.cat([low - h * more.flip(0), inner, high + h * more])
        dtype = self.coefficients.dtype
        learned = self.basis == "bspline" and isinstance(self.knots, torch.nn.Parameter)
        coefficients = _fitted(x, values, knots, self.order).to(dtype)
        if self.basis != "bspline":
            del self._buffers["domain"]
            self.basis, self._names = "bspline", ("knots",)
        else:
            delattr(self, "knots")
        self._keep("knots", knots.to(dtype), learned)
        if coefficients.shape == self.coefficients.shape:
            self.coefficients.copy_(coefficients)
        else:
            self.coefficients = torch.nn.Parameter(coefficients)


def _uniform_knots(low, high, grid, order):
    steps = torch.arange(-order, grid + order + 1, dtype=torch.float64, device=low.device)[:, None]
    return low.double() + (high - low).double() / grid * steps


class BSplineKAN(KAN):
    """A network of BSplineKANLayers between these widths; the other arguments are theirs."""

    def __init__(self, widths: Sequence[int], **options: Any) -> None:
        super().__init__([BSplineKANLayer(n, m, **options) for n, m in _between(widths, "BSplineKAN")])

    @torch.no_grad()
    def update_grid(self, x: Tensor, **options: Any) -> None:
        """BSplineKANLayer.update_grid of each layer in turn, by what the layers before it give for x."""
        for layer in self.layers:
            given = x
            x = layer(x)
            layer.update_grid(given, **options)


# --- radial functions ---------------------------------------------------------------------------------------------------

class FastKAN(KAN):
    """Gaussians on `grid` centers behind a layer norm, beside a dense layer of base(x) (Li, arXiv 2405.06721). The width of a Gaussian is the
    distance of centers, unless `width` says another."""

    def __init__(self, widths: Sequence[int], grid: int = 8, *, grid_range: Sequence[float] = (-2.0, 2.0), width: float | None = None,
                 base: str | None = "silu", layer_norm: bool = True, learn_centers: bool = False,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__([self._layer(n, m, "gaussian", grid, grid_range, width, base, layer_norm, learn_centers, device, dtype)
                          for n, m in _between(widths, type(self).__name__)])

    @staticmethod
    def _layer(n, m, basis, grid, grid_range, width, base, layer_norm, learn, device, dtype):
        _whole("FastKAN", grid=grid - 1)
        low, high = _range("FastKAN", grid_range)
        centers = torch.linspace(low, high, grid, dtype=torch.float64)
        coefficients = torch.nn.init.trunc_normal_(torch.empty(grid, n, m), std=0.1)
        layer = KANLayer(n, m, basis=basis, functions=grid, coefficients=coefficients,
                         parameters={"centers": centers, "widths": torch.tensor([width or (high - low) / (grid - 1)])},
                         learned=("centers",) if learn else (), normalizer="layer_norm" if layer_norm else "none", affine=layer_norm, base=base,
                         bias=base is not None, device=device, dtype=dtype)
        if base is not None:
            bound = 1 / math.sqrt(n)
            torch.nn.init.uniform_(layer.bias, -bound, bound)
        return layer


class FasterKAN(FastKAN):
    """1 - tanh^2 in place of Gaussians, and no dense layer beside them."""

    def __init__(self, widths: Sequence[int], grid: int = 8, *, grid_range: Sequence[float] = (-2.0, 2.0), width: float | None = None,
                 layer_norm: bool = True, learn_centers: bool = False, device: torch.device | str | int | None = None,
                 dtype: torch.dtype | None = None) -> None:
        KAN.__init__(self, [self._layer(n, m, "sech_squared", grid, grid_range, width, None, layer_norm, learn_centers, device, dtype)
                            for n, m in _between(widths, "FasterKAN")])


# --- polynomials, waves, wavelets ---------------------------------------------------------------------------------------

class PolynomialKAN(KAN):
    """Polynomials up to a degree, of what a normalizer brings into their domain: `basis` is "chebyshev", "chebyshev_second", "legendre",
    "hermite_e", "bernstein" and so on, with `parameters` by name where it has some, which train where `learn` says so. Coefficients begin as normal
    numbers with the deviation 1 / (in (degree + 1)), as those of ChebyKAN."""

    def __init__(self, widths: Sequence[int], basis: str = "chebyshev", degree: int = 4, *, normalizer: str = "tanh",
                 parameters: Mapping[str, Sequence[float]] | None = None, learn: bool = False, base: str | None = None, bias: bool = False,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        _whole(type(self).__name__, degree=degree)
        given = {name: torch.tensor(value, dtype=torch.float64) for name, value in (parameters or {}).items()}
        super().__init__([
            KANLayer(n, m, basis=basis, functions=degree + 1, parameters={name: one.clone() for name, one in given.items()},
                     learned=tuple(given) if learn else (), normalizer=normalizer, base=base, bias=bias,
                     coefficients=torch.randn(degree + 1, n, m) / (n * (degree + 1)), device=device, dtype=dtype)
            for n, m in _between(widths, type(self).__name__)])


class ChebyKAN(PolynomialKAN):
    """Chebyshev polynomials of tanh(x) (SS et al., arXiv 2405.07200)."""

    def __init__(self, widths: Sequence[int], degree: int = 4, **options: Any) -> None:
        super().__init__(widths, "chebyshev", degree, **options)


class JacobiKAN(PolynomialKAN):
    """Jacobi polynomials with exponents a and b of tanh(x)."""

    def __init__(self, widths: Sequence[int], degree: int = 4, a: float = 1.0, b: float = 1.0, **options: Any) -> None:
        super().__init__(widths, "jacobi", degree, parameters={"exponents": [a, b]}, **options)


class FourierKAN(KAN):
    """cos(kx) and sin(kx) for k up to `grid`, and a bias (Xu et al., arXiv 2406.01034). Coefficients begin as normal numbers with the variance
    1 / (in grid); `smooth` divides those of k by k^2."""

    def __init__(self, widths: Sequence[int], grid: int = 5, *, bias: bool = True, smooth: bool = False,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        _whole("FourierKAN", grid=grid)
        scale = 1 / torch.arange(1, grid + 1).double()**2 if smooth else torch.ones(grid).double()
        super().__init__([
            KANLayer(n, m, basis="fourier", functions=2 * grid, bias=bias, device=device, dtype=dtype,
                     coefficients=torch.randn(2 * grid, n, m) / math.sqrt(n * grid) * scale.repeat(2)[:, None, None])
            for n, m in _between(widths, "FourierKAN")])


class SineKAN(KAN):
    """sin(a_k x + b_ki) with frequencies that train, a phase for each function and input, and a bias (Reinhardt et al., arXiv 2407.04149)."""

    def __init__(self, widths: Sequence[int], grid: int = 5, *, bias: bool = True, device: torch.device | str | int | None = None,
                 dtype: torch.dtype | None = None) -> None:
        _whole("SineKAN", grid=grid)
        layers = []
        for n, m in _between(widths, "SineKAN"):
            frequencies = torch.arange(1, grid + 1).double() / (grid + 1)
            phases = torch.linspace(0, math.pi, grid, dtype=torch.float64)[:, None] + torch.linspace(0, math.pi, n, dtype=torch.float64)
            layers.append(KANLayer(n, m, basis="sine", functions=grid, parameters={"frequencies": frequencies, "phases": phases},
                                   learned=("frequencies",), bias=bias, coefficients=torch.randn(grid, n, m) * 0.4 / math.sqrt(n * grid),
                                   device=device, dtype=dtype))
        super().__init__(layers)


class WavKAN(torch.nn.Sequential):
    """A wavelet on every edge, with a translation and a scale of its own, and a batch norm behind every layer (Bozorgasl and Chen, arXiv
    2405.12832). `wavelet` is "mexican_hat", "morlet", "gaussian_derivative" or "shannon"."""

    def __init__(self, widths: Sequence[int], wavelet: str = "mexican_hat", *, batch_norm: bool = True,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        if wavelet not in _POINTWISE_KINDS:
            raise CallError(f"WavKAN: the wavelet is '{wavelet}'; it is one of {', '.join(_POINTWISE_KINDS)}")
        modules: list[torch.nn.Module] = []
        for n, m in _between(widths, "WavKAN"):
            coefficients = torch.nn.init.kaiming_uniform_(torch.empty(m, n), a=math.sqrt(5)).T[None]
            modules.append(KANLayer(n, m, basis=wavelet, functions=1, coefficients=coefficients.contiguous(),
                                    parameters={"translation": torch.zeros(1, n, m), "scale": torch.ones(1, n, m)},
                                    learned=("translation", "scale"), device=device, dtype=dtype))
            if batch_norm:
                modules.append(torch.nn.BatchNorm1d(m, device=device, dtype=dtype))
        super().__init__(*modules)


class ReLUKAN(KAN):
    """(r relu(x - s_k) relu(e_k - x))^2 on `grid` + `order` overlapping intervals of [0, 1], and a bias (Qiu et al., arXiv 2406.02075). The ends of
    the intervals train, for each input."""

    def __init__(self, widths: Sequence[int], grid: int = 5, order: int = 3, *, learn_intervals: bool = True,
                 device: torch.device | str | int | None = None, dtype: torch.dtype | None = None) -> None:
        _whole("ReLUKAN", grid=grid, order=order)
        layers = []
        for n, m in _between(widths, "ReLUKAN"):
            starts = (torch.arange(-order, grid).double() / grid)[:, None].repeat(1, n)
            bound = 1 / math.sqrt(n * (grid + order))
            layer = KANLayer(n, m, basis="relu_product", functions=grid + order, order=2,
                             parameters={"starts": starts, "ends": starts + (order + 1) / grid,
                                         "scale": torch.tensor([4.0 * grid**2 / (order + 1)**2])},
                             learned=("starts", "ends") if learn_intervals else (), bias=True,
                             coefficients=torch.empty(grid + order, n, m).uniform_(-bound, bound), device=device, dtype=dtype)
            torch.nn.init.uniform_(layer.bias, -bound, bound)
            layers.append(layer)
        super().__init__(layers)


# --- convolutions -------------------------------------------------------------------------------------------------------

def _pair(value):
    return (value, value) if isinstance(value, Integral) else tuple(value)


class KANConv2d(torch.nn.Module):
    """A convolution with a learnable function on each of its edges: the layer that `layer(in_channels kh kw, out_channels)` makes is applied to
    every patch of x [batch, in_channels, height, width], as torch.nn.functional.unfold orders a patch. Padding is with zeros."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], *, stride: int | Sequence[int] = 1,
                 padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, layer: Any = BSplineKANLayer) -> None:
        super().__init__()
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding, self.dilation = _pair(padding), _pair(dilation)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.layer = layer(in_channels * self.kernel_size[0] * self.kernel_size[1], out_channels)

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim != 4 or x.shape[1] != self.in_channels:
            raise CallError(f"KANConv2d: x has the shape {list(x.shape)}; it is [batch, {self.in_channels}, height, width]")
        patches = torch.nn.functional.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)
        height, width = ((extent + 2 * padding - dilation * (size - 1) - 1) // stride + 1 for extent, padding, dilation, size, stride in
                         zip(x.shape[2:], self.padding, self.dilation, self.kernel_size, self.stride))
        y = self.layer(patches.transpose(1, 2))
        return y.transpose(1, 2).reshape(len(x), self.out_channels, height, width)
