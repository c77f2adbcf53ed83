# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the kan-bases suite: layers with learnable functions on edges, called from PyTorch. Rivals compute the same functions in
eager PyTorch, under torch.compile and in JAX: the closed form that is fastest for each, the forms of efficient-kan and pykan for splines.

Operations are those of the sparse mathematics: of a spline's functions those that differ from 0."""

import math

import numpy as np

from drawloom_bench.suites.case import TRAIN_RTOL, Case, jax_call, jax_of, jax_run, normal, torch_of, torch_run


class Layer:
    """A basis: our arguments for `kan_layer`, the operations of a row's product, and the rivals' functions of x [N, I] and the parameters, by
    their names, which give [N, I, K], with torch or jax.numpy as `lib`."""

    def __init__(self, name, basis, functions, nonzero, parameters=(), order=None, formulas=None, by_edge=None):
        self.name, self.basis, self.functions, self.nonzero = name, basis, functions, nonzero
        self.parameters, self.order, self.formulas, self.by_edge = parameters, order, formulas or {}, by_edge


def closed_cubic(lib, x, domain, functions):
    """The B-spline of order 3 on equal distances by two truncated powers of the distance from its middle."""
    h = (domain[1] - domain[0]) / (functions - 3)
    at = (x - domain[0]) / h + 1.0
    values = []
    for k in range(functions):
        v = lib.abs(at - k)
        far, near = lib.clip(2 - v, 0, None), lib.clip(1 - v, 0, None)
        values.append(far * far * far * (1 / 6) - near * near * near * (4 / 6))
    return lib.stack(values, 1)


def cox_de_boor(lib, x, domain, functions):
    """As efficient-kan computes it."""
    h = (domain[1] - domain[0]) / (functions - 3)
    t = domain[0] + (lib.arange(functions + 4) - 3) * h
    x = x[:, :, None]
    b = lib.where((x >= t[:-1]) & (x < t[1:]), 1.0, 0.0)
    for p in (1, 2, 3):
        b = (x - t[:-(p + 1)]) / (t[p:-1] - t[:-(p + 1)]) * b[..., :-1] + (t[p + 1:] - x) / (t[p + 1:] - t[1:-p]) * b[..., 1:]
    return b.swapaxes(1, 2)


def chebyshev(lib, x, functions):
    t = [lib.ones_like(x), x]
    while len(t) < functions:
        t.append(2 * x * t[-1] - t[-2])
    return lib.stack(t, 1)


def fourier(lib, x, functions):
    angles = [x * k for k in range(1, functions // 2 + 1)]
    return lib.stack([lib.cos(a) for a in angles] + [lib.sin(a) for a in angles], 1)


def gaussian(lib, x, centers, widths, functions):
    v = [(x - centers[k]) / widths for k in range(functions)]
    return lib.stack([lib.exp(-one * one) for one in v], 1)


def mexican_hat(lib, x, c, translation, scale):
    v = (x[:, :, None] - translation) / scale
    square = v * v
    return (c * (2 / (math.sqrt(3) * math.pi**0.25) * (1 - square) * lib.exp(-0.5 * square))).sum(1)


ROWS, WIDTH = 2**14, 64
DOMAIN = np.float32([-1, 1])


def rivals(layer, lib):
    """By name: functions of x, the coefficients [K in, out] and the parameters."""
    def of(formula):
        def run(x, c, *parameters):
            phi = formula(lib, x, *parameters, layer.functions)
            return phi.reshape(phi.shape[0], -1) @ c

        return run

    return {name: of(formula) for name, formula in layer.formulas.items()}


def pykan(lib, x, c, domain, functions):
    """A value for each edge, which are added up: as pykan keeps them for its pictures."""
    curves = lib.einsum("nki,kio->nio", cox_de_boor(lib, x, domain, functions), c.reshape(functions, x.shape[1], -1))
    return curves.sum(1)


def case_of(layer, train, goal, rows=ROWS, width=WIDTH):
    def make(options):
        import jax.numpy as jnp
        import torch

        import drawloom.torch

        rng = np.random.default_rng(0)
        x = rng.uniform(-0.999, 0.999, (rows, width)).astype(np.float32)
        dy, c = normal(rng, rows, width), normal(rng, layer.functions, width, width, scale=width ** -0.5)
        parameters = [np.float32(one(rng, width)) for one in layer.parameters]
        theirs = c[0] if layer.by_edge else c.reshape(-1, width)
        moving = 2 + (len(parameters) if layer.by_edge else 0)

        def torch_way(function, c=theirs):
            tdy, *given = torch_of([dy, x, c, *parameters])
            return torch_run(function, given, tdy if train else None, moving)

        def ours(x, c, *parameters):
            return drawloom.torch.kan_layer(x, c, basis=layer.basis, order=layer.order, parameters=parameters)

        jdy, *jgiven = jax_of([dy, x, theirs, *parameters])
        contenders = {"drawloom": torch_way(ours, c)}
        if layer.by_edge:
            functions = {"closed": lambda x, c, *numbers: layer.by_edge(torch, x, c, *numbers)}
            jax_functions = {"closed": lambda x, c, *numbers: layer.by_edge(jnp, x, c, *numbers)}
        else:
            functions, jax_functions = rivals(layer, torch), rivals(layer, jnp)
        for name, function in functions.items():
            contenders[f"eager {name}"] = torch_way(function)
            contenders[f"compile {name}"] = torch_way(torch.compile(function))
        for name, function in jax_functions.items():
            contenders[f"jax {name}"] = jax_run(function, jgiven, jdy if train else None, moving)
        if layer.basis == "uniform_bspline":
            contenders["eager pykan"] = torch_way(lambda x, c, domain: pykan(torch, x, c, domain, layer.functions))
        return contenders

    operations = 2 * rows * width * width * layer.nonzero * (3 if train else 1)
    data = 4 * rows * width * (4 if train else 2)
    return Case(f"{layer.name}{', train' if train else ''}", operations, data, make, goal, TRAIN_RTOL)


def network_case(goal, rows=ROWS, width=WIDTH, layers=4, functions=11):
    """A step's gradients of four spline layers with SiLU beside them."""
    def make(options):
        import jax
        import jax.numpy as jnp
        import torch

        import drawloom.torch

        rng = np.random.default_rng(0)
        x, dy = rng.uniform(-0.999, 0.999, (rows, width)).astype(np.float32), normal(rng, rows, width)
        splines = [normal(rng, functions, width, width, scale=0.3 * width ** -0.5) for _ in range(layers)]
        bases = [normal(rng, width, width, scale=0.3 * width ** -0.5) for _ in range(layers)]
        theirs = [c.reshape(-1, width) for c in splines]

        def formula(lib, form, silu, x, splines, bases):
            for c, base in zip(splines, bases):
                phi = form(lib, x, DOMAIN, functions)
                x = phi.reshape(phi.shape[0], -1) @ c + silu(x) @ base.T
            return x

        def torch_way(function, splines=theirs):
            tx, tdy, *leaves = torch_of([x, dy, *splines, *bases])
            run = torch_run(lambda *leaves: function(tx, leaves[:layers], leaves[layers:]), leaves, tdy)
            return lambda: run()[1:]

        def ours(x, splines, bases):
            domain = torch.from_numpy(DOMAIN)
            return drawloom.torch.kan_network(x, [dict(coefficients=c, basis="uniform_bspline", order=3, parameters=[domain], base="silu",
                                                       base_weight=base) for c, base in zip(splines, bases)])

        silu = torch.nn.functional.silu
        contenders = {"drawloom": torch_way(ours, splines)}
        for name, form in (("closed", closed_cubic), ("efficient-kan", cox_de_boor)):
            def function(x, splines, bases, form=form):
                return formula(torch, form, silu, x, splines, bases)

            contenders[f"eager {name}"] = torch_way(function)
            contenders[f"compile {name}"] = torch_way(torch.compile(function))

        def step(dy, x, splines, bases):
            _, pull = jax.vjp(lambda s, b: formula(jnp, closed_cubic, jax.nn.silu, x, s, b), splines, bases)
            ds, db = pull(dy)
            return [*ds, *db]

        contenders["jax closed"] = jax_call(step, *jax_of([dy, x]), jax_of(theirs), jax_of(bases))
        return contenders

    operations = 2 * rows * width * width * 5 * 3 * layers
    return Case("network of 4 layers, train", operations, 4 * rows * width * 2, make, goal, TRAIN_RTOL)


SPLINE = {"closed": closed_cubic, "efficient-kan": cox_de_boor}
LAYERS = [
    (Layer("B-spline, grid 8", "uniform_bspline", 11, 4, [lambda rng, width: DOMAIN], 3, SPLINE), "1.33", "1.45"),
    (Layer("B-spline, grid 5", "uniform_bspline", 8, 4, [lambda rng, width: DOMAIN], 3, SPLINE), "1.33", "1.45"),
    (Layer("Chebyshev, degree 7", "chebyshev", 8, 8, formulas={"closed": chebyshev}), "2", "2"),
    (Layer("Fourier, 4", "fourier", 8, 8, formulas={"closed": fourier}), "2", "2"),
    (Layer("Gaussians, 8", "gaussian", 8, 8, [lambda rng, width: np.linspace(-1, 1, 8), lambda rng, width: np.full(1, 2 / 7)],
           formulas={"closed": gaussian}), "2", "2"),
]
WAVELET = Layer("wavelet of each edge", "mexican_hat", 1, 1, [lambda rng, width: rng.uniform(-1, 1, (1, width, width)),
                                                              lambda rng, width: rng.uniform(0.5, 2, (1, width, width))], by_edge=mexican_hat)
CASES = [case_of(layer, train, goals[train]) for layer, *goals in LAYERS for train in (False, True)]
CASES += [case_of(WAVELET, train, "2", rows=2**11) for train in (False, True)] + [network_case("3")]
