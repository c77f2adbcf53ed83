# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with learnable functions on edges: values against SciPy and PyWavelets, derivatives against differences, in every way they are said."""

import re

import numpy as np
import pytest
import torch

import drawloom
import drawloom.torch as dt
from drawloom import ops
from drawloom.torch import _kan
from kan_layers.bases import BASES, functions
from support.runner import run, tool

INPUTS, OUTPUTS, ROWS = 3, 4, 21
EPS = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}


def given(name, rng, dtype=torch.float64, rows=ROWS, inputs=INPUTS):
    """x, coefficients and the basis' arguments."""
    _, count, order, numbers = BASES[name]
    x = torch.tensor(rng.uniform(-0.95, 0.95, (rows, inputs)), dtype=dtype)
    c = torch.tensor(rng.normal(size=(count, inputs, OUTPUTS)), dtype=dtype)
    parameters = [torch.tensor(one, dtype=dtype if dtype == torch.float64 else torch.float32) for one in numbers]
    return x, c, {"basis": name, "order": order, "parameters": parameters}


def expected(name, x, c):
    """(value, sum of sizes) in double precision."""
    phi, c = functions(name, x.double().numpy()), c.double().numpy()
    return np.einsum("nik,kio->no", phi, c), np.einsum("nik,kio->no", abs(phi), abs(c))


def program(name, dtype="float64", gradients=False):
    """MLIR text of a layer, or of its gradients, and its arguments."""
    _, count, order, numbers = BASES[name]
    layer = _kan._kan.Layer(name, order, len(numbers))
    types = [ops.Array(dtype, shape) for shape in ((ROWS, INPUTS), (count, INPUTS, OUTPUTS), *(one.shape for one in numbers))]
    spec = ops.Spec("kan", (("layers", _kan._kan.text_of([layer])),))
    if gradients:
        spec = spec.vjp(range(len(types)), (0,))
        types.append(ops.Array(dtype, (ROWS, OUTPUTS)))
    return ops.text(spec, types)


@pytest.mark.parametrize("name", BASES)
def test_functions_are_those_of_scipy(name, rng):
    x, c, basis = given(name, rng)
    value, size = expected(name, x, c)
    found, = run(program(name), "main", [x, c, *basis["parameters"]], target="interpreter")
    # A function is some tens of operations, few of which cancel by more than a digit.
    assert np.all(abs(found - value) <= 300 * EPS[torch.float64] * (size + 1))


@pytest.mark.parametrize("by", ["--isa=native", "--isa=baseline", "--target=emulator"])
@pytest.mark.parametrize("name", BASES)
def test_gradients_are_those_of_the_interpreter(name, by, rng, tmp_path):
    _, count, _, numbers = BASES[name]
    (tmp_path / "layer.mlir").write_text(program(name, "float32", gradients=True))
    arguments = [rng.uniform(-0.95, 0.95, (ROWS, INPUTS)), rng.normal(size=(count, INPUTS, OUTPUTS)), *numbers, rng.normal(size=(ROWS, OUTPUTS))]
    for i, one in enumerate(arguments):
        np.save(tmp_path / f"{i}.npy", one)
    tool("drawloom-run", tmp_path / "layer.mlir", "--entry=main", by, "--convert", "--compare=interpreter",
         *(f"--input={tmp_path / f'{i}.npy'}" for i in range(len(arguments))))


def wide_gradient(dtype, folder):
    """The file of a layer of splines of 64 inputs and outputs with its gradients of x and c, and the shapes of its arguments."""
    shapes = (70, 64), (8, 64, 64), (2,), (70, 64)
    layer = _kan._kan.Layer("uniform_bspline", 3, 1)
    spec = ops.Spec("kan", (("layers", _kan._kan.text_of([layer])),)).vjp((0, 1), (0,))
    (folder / "layer.mlir").write_text(ops.text(spec, [ops.Array(dtype, shape) for shape in shapes]))
    return folder / "layer.mlir", shapes


def test_wide_layers_of_splines_run_on_the_gpu_emulated(rng, tmp_path):
    file, (x, c, _, g) = wide_gradient("float32", tmp_path)
    for i, one in enumerate([rng.uniform(-0.95, 0.95, x), rng.normal(size=c), np.array([-1, 1]), rng.normal(size=g)]):
        np.save(tmp_path / f"{i}.npy", one)
    tool("drawloom-run", file, "--entry=main", "--target=emulator", "--convert", "--compare=interpreter",
         *(f"--input={tmp_path / f'{i}.npy'}" for i in range(4)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_wide_layers_of_splines_fit_the_registers_of_a_gpu(dtype, tmp_path):
    file, _ = wide_gradient(dtype, tmp_path)
    kernels = tool("drawloom-run", file, "--entry=main", "--target=emulator", "--random", "--compile-to=shared")
    spilled = re.findall(r"drawloom.considered = .*?spilled = (\d+)", kernels)
    assert len(spilled) > 2 and set(spilled) == {"0"}


@pytest.mark.parametrize("name", ["fourier", "legendre"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_gradients_of_narrow_types_round_products_once(name, dtype, rng):
    x, c, basis = given(name, rng, dtype)
    g = torch.tensor(rng.normal(size=(ROWS, OUTPUTS)), dtype=dtype)
    dx, = torch.autograd.grad(dt.kan_layer(x.requires_grad_(), c, **basis), x, g)
    at, step = x.detach().double().numpy(), 1e-6
    slopes = (functions(name, at + step) - functions(name, at - step)) / (2 * step)
    # g c is rounded for each function, then the sum of all is.
    expected = np.einsum("nik,kio,no->ni", slopes, c.double().numpy(), g.double().numpy())
    size = np.einsum("nik,nik->ni", abs(slopes), abs(np.einsum("kio,no->nik", c.double().numpy(), g.double().numpy())))
    assert np.all(abs(dx.double().numpy() - expected) <= 1.01 * EPS[dtype] * (size + abs(expected)) + 1e-5)


@pytest.mark.parametrize("name", ["uniform_bspline", "chebyshev", "morlet"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_narrow_types_round_functions_once(name, dtype, rng):
    x, c, basis = given(name, rng, dtype)
    value, size = expected(name, x, c)
    narrow = 3 * EPS[dtype] * (size + abs(value)) if dtype in (torch.bfloat16, torch.float16) else 0
    wide = EPS[torch.float64] if dtype == torch.float64 else EPS[torch.float32]
    assert np.all(abs(dt.kan_layer(x, c, **basis).double().numpy() - value) <= 300 * wide * (size + 1) + narrow)


def by_input(numbers, rng):
    """A little different for each input, still increasing."""
    return numbers[:, None] * torch.tensor(rng.uniform(0.95, 1.05, (1, INPUTS)), dtype=numbers.dtype)


# All of them by check.gradient: test/dialects/Kan/edge-layer-of-splines-gradient.mlir and its like.
@pytest.mark.parametrize("name", ["uniform_bspline", "gaussian"])
def test_derivatives_are_those_of_differences(name, rng):
    x, c, basis = given(name, rng, rows=2)
    parameters = [by_input(one, rng) for one in basis["parameters"]]
    tensors = [one.requires_grad_() for one in (x, c, *parameters)]

    def layer(x, c, *parameters):
        return dt.kan_layer(x, c, basis=name, order=basis["order"], parameters=parameters)

    torch.autograd.gradcheck(layer, tensors, check_forward_ad=True)
    torch.autograd.gradgradcheck(lambda x: layer(x, c, *parameters), tensors[:1])


@pytest.mark.parametrize("name", ["bspline", "uniform_bspline", "piecewise_linear", "jacobi", "three_term", "rational", "sine", "relu_product"])
def test_parameters_may_differ_from_input_to_input(name, rng):
    x, c, basis = given(name, rng)
    parameters = [by_input(one, rng) for one in basis["parameters"]]
    value = dt.kan_layer(x, c, basis=name, order=basis["order"], parameters=parameters)
    alone = [dt.kan_layer(x[:, i:i + 1].contiguous(), c[:, i:i + 1].contiguous(), basis=name, order=basis["order"],
                          parameters=[one[:, i].contiguous() for one in parameters]) for i in range(INPUTS)]
    torch.testing.assert_close(value, sum(alone))


@pytest.mark.parametrize("name", ["sine", "mexican_hat", "relu_product"])
def test_parameters_may_differ_from_edge_to_edge(name, rng):
    x, c, basis = given(name, rng, rows=4)
    parameters = [one[:, None, None] * torch.tensor(rng.uniform(0.9, 1.1, (1, INPUTS, OUTPUTS))) for one in basis["parameters"]]

    def layer(x, c, *parameters):
        return dt.kan_layer(x, c, basis=name, order=basis["order"], parameters=parameters)

    value = layer(x, c, *parameters)
    alone = [layer(x, c[..., o:o + 1].contiguous(), *(one[..., o].contiguous() for one in parameters)) for o in range(OUTPUTS)]
    torch.testing.assert_close(value, torch.cat(alone, 1))


@pytest.mark.parametrize("name", BASES)
def test_nan_gives_nan(name, rng):
    x, c, basis = given(name, rng)
    x[5, 1] = float("nan")
    found, = run(program(name), "main", [x, c, *basis["parameters"]], target="interpreter")
    assert np.isnan(found[5]).all() and not np.isnan(np.delete(found, 5, 0)).any()


# Few functions are all multiplied, of many those that are not zero.
@pytest.mark.parametrize("functions", [5, 12])
@pytest.mark.parametrize("name", ["bspline", "uniform_bspline"])
def test_splines_are_zero_outside_of_their_knots_however_far(name, functions, rng):
    order = 4
    parameters = [torch.linspace(-1, 1, functions + order + 1) if name == "bspline" else torch.tensor([-0.5, 0.5])]
    x = torch.tensor([[-1e4, 1e10, 30.0], [-3e38, 3e38, -1e30], [float("inf"), float("-inf"), 50.0]], requires_grad=True)
    y = dt.kan_layer(x, torch.randn(functions, 3, OUTPUTS), basis=name, order=order, parameters=parameters)
    assert torch.equal(y, torch.zeros(3, OUTPUTS))
    assert torch.equal(torch.autograd.grad(y.sum(), x)[0], torch.zeros(3, 3))


@pytest.mark.parametrize("functions", [4, 9])
def test_splines_at_their_knots_belong_to_the_interval_behind(functions):
    knots = torch.cat([torch.full((3,), -1.0), torch.linspace(-1, 1, functions - 1)[1:-1], torch.full((3,), 1.0)]).double()
    x = torch.unique(knots)[:, None]
    phi = dt.kan_layer(x, torch.eye(functions, dtype=torch.float64)[:, None].contiguous(), basis="bspline", order=2, parameters=[knots])
    # They add up to 1 before the last knot, where nothing is.
    torch.testing.assert_close(phi.sum(1), (x[:, 0] < 1).double())


def test_knots_that_meet_are_sharper_places():
    # Three knots at each end: the first function is 1 at the first of them.
    knots = torch.tensor([0.0, 0, 0, 0.5, 1, 1, 1], dtype=torch.float64)
    x = torch.tensor([[0.0], [0.25], [0.75]], dtype=torch.float64)
    phi = dt.kan_layer(x, torch.eye(4, dtype=torch.float64)[:, None].contiguous(), basis="bspline", order=2, parameters=[knots])
    torch.testing.assert_close(phi, torch.tensor([[1, 0, 0, 0], [0.25, 0.625, 0.125, 0], [0, 0.125, 0.625, 0.25]], dtype=torch.float64))


LAYERS = {
    "base": lambda t: dict(base="silu", base_weight=t(OUTPUTS, INPUTS)),
    "bias": lambda t: dict(bias=t(OUTPUTS)),
    "norm": lambda t: dict(normalizer="layer_norm"),
    "affine norm, base, bias": lambda t: dict(normalizer="layer_norm", norm_weight=1 + 0.1 * t(INPUTS), norm_bias=0.1 * t(INPUTS), base="gelu",
                                              base_weight=t(OUTPUTS, INPUTS), bias=t(OUTPUTS)),
    "tanh": lambda t: dict(normalizer="tanh"),
    "sigmoid, bias": lambda t: dict(normalizer="sigmoid", bias=t(OUTPUTS)),
}
_ACTIVATIONS = {"silu": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu}


def composed(x, c, basis, normalizer="none", norm_weight=None, norm_bias=None, base=None, base_weight=None, bias=None):
    u = {"none": lambda: x, "tanh": x.tanh, "sigmoid": x.sigmoid,
         "layer_norm": lambda: torch.nn.functional.layer_norm(x, x.shape[-1:], norm_weight, norm_bias)}[normalizer]()
    y = dt.kan_layer(u, c, **basis)
    if base:
        y = y + _ACTIVATIONS[base](x) @ base_weight.T
    return y if bias is None else y + bias


@pytest.mark.parametrize("kind", LAYERS)
def test_what_stands_around_a_basis_is_that_of_torch(kind, rng):
    x, c, basis = given("gaussian", rng)
    more = LAYERS[kind](lambda *shape: torch.tensor(rng.normal(size=shape)).requires_grad_())
    leaves = [x.requires_grad_(), c.requires_grad_(), *(one for one in more.values() if isinstance(one, torch.Tensor) and one.is_leaf)]
    ours, theirs = dt.kan_layer(x, c, **basis, **more), composed(x, c, basis, **more)
    torch.testing.assert_close(ours, theirs)
    g = torch.tensor(rng.normal(size=ours.shape))
    for one, other in zip(torch.autograd.grad(ours, leaves, g), torch.autograd.grad(theirs, leaves, g)):
        torch.testing.assert_close(one, other)


def network(rng):
    return [dict(coefficients=torch.tensor(rng.normal(size=(count, i, o)) / 4).requires_grad_(), **more) for count, i, o, more in (
        (7, 3, 5, dict(basis="uniform_bspline", order=3, parameters=[torch.tensor([-1.0, 1.0], dtype=torch.float64)], base="silu",
                       base_weight=torch.tensor(rng.normal(size=(5, 3))))),
        (4, 5, 6, dict(basis="chebyshev", normalizer="tanh")),
        (4, 6, 2, dict(basis="fourier", bias=torch.tensor(rng.normal(size=2)))))]


def one_by_one(x, layers):
    for layer in layers:
        x = dt.kan_layer(x, **layer)
    return x


def test_a_network_is_its_layers(rng):
    x, layers = torch.tensor(rng.uniform(-1, 1, (2, 17, 3))).requires_grad_(), network(rng)
    ours, theirs = dt.kan_network(x, layers), one_by_one(x, layers)
    assert ours.shape == (2, 17, 2)
    torch.testing.assert_close(ours, theirs)
    leaves = [x, *(layer["coefficients"] for layer in layers)]
    for one, other in zip(torch.autograd.grad(ours.sin().sum(), leaves), torch.autograd.grad(theirs.sin().sum(), leaves)):
        torch.testing.assert_close(one, other)


def test_derivatives_along_directions_are_those_of_autograd(rng):
    x, layers = torch.tensor(rng.uniform(-0.9, 0.9, (6, 3))), network(rng)
    directions = [torch.tensor(rng.normal(size=3)) for _ in range(2)]
    y, first, second = dt.kan_network_along(x, directions, layers)
    torch.testing.assert_close(y, dt.kan_network(x, layers))
    for direction, one, two in zip(directions, first, second):
        def slope(at, direction=direction):
            return torch.func.jvp(lambda at: one_by_one(at, layers), (at,), (direction.expand(at.shape),))[1]

        torch.testing.assert_close(one, slope(x))
        torch.testing.assert_close(two, torch.func.jvp(slope, (x,), (direction.expand(x.shape),))[1])


def test_losses_of_second_derivatives_have_gradients(rng):
    """Of so many splines that only those that differ from 0 are multiplied, forward, in both derivatives and in what trains."""
    c = [torch.tensor(rng.normal(size=shape)).requires_grad_() for shape in ((9, 2, 4), (9, 4, 1))]
    domain = torch.tensor([-1.5, 1.5], dtype=torch.float64)
    x = torch.tensor(rng.uniform(-0.9, 0.9, (20, 2)))
    layers = [dict(coefficients=one, basis="uniform_bspline", order=3, parameters=[domain], normalizer="tanh") for one in c]

    def loss(y, first, second):
        return (y * first[0] + first[1] * second[0] + second[1].square()).sum()

    def splines(at):
        """By truncated powers of the distance from the middle."""
        v = ((at + 1.5) / 0.5 + 1)[..., None] - torch.arange(9)
        return (2 - v.abs()).clamp(min=0) ** 3 / 6 - (1 - v.abs()).clamp(min=0) ** 3 * (4 / 6)

    def network(at):
        for one in c:
            at = torch.einsum("nik,kio->no", splines(at.tanh()), one)
        return at

    def slope(along):
        return lambda at: torch.func.jvp(network, (at,), (along.expand(at.shape),))[1]

    axes = torch.eye(2, dtype=torch.float64)
    ours = loss(*dt.kan_network_along(x, list(axes), layers))
    theirs = loss(network(x), [slope(one)(x) for one in axes], [torch.func.jvp(slope(one), (x,), (one.expand(x.shape),))[1] for one in axes])
    torch.testing.assert_close(ours, theirs)
    for one, other in zip(torch.autograd.grad(ours, c), torch.autograd.grad(theirs, c)):
        torch.testing.assert_close(one, other)


def test_bits_do_not_depend_on_threads(rng):
    x, c, basis = given("bspline", rng, torch.float32, rows=3000, inputs=40)
    def step():
        leaves = [x.detach().requires_grad_(), c.detach().requires_grad_()]
        y = dt.kan_layer(*leaves, **basis)
        return [y, *torch.autograd.grad(y.square().sum(), leaves)]

    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(step())
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for more in results[1:] for a, b in zip(results[0], more))


def test_no_rows_are_no_rows(rng):
    x, c, basis = given("chebyshev", rng, rows=0)
    y = dt.kan_layer(x.requires_grad_(), c.requires_grad_(), **basis)
    y.sum().backward()
    assert y.shape == (0, OUTPUTS) and torch.equal(c.grad, torch.zeros_like(c))


@pytest.mark.parametrize("change, message", [
    (dict(normalizer="tanhh"), "the normalizer is 'tanhh'; it is one of none, tanh, sigmoid, layer_norm"),
    (dict(bias=torch.zeros(5)), r"the bias has the shape \[5\]; it is \[4\]"),
    (dict(coefficients=torch.zeros(8, 2, 4)), r"the coefficients have the shape \[8, 2, 4\]; it is \[functions, 3, out\]"),
    (dict(coefficients=torch.zeros(8, 3, 4, dtype=torch.float64)), "an array is float64, but x is float32"),
    (dict(basis="bsplin"), r"for attribute \'basis\' \[bspline, uniform_bspline"),
    (dict(order=None), "basis bspline needs an order"),
    (dict(order=8), "basis bspline of order 8 has at least 9 functions, but the coefficients are of 8"),
    (dict(parameters=[torch.zeros(11)]), r"the knots of bspline must have shape \[12\] or \[12, 3\], but is 'tensor<11xf32>'"),
    (dict(order=3.0), "order is 3.0; it is a whole number"),
    (dict(order=33), "the order of bspline must be from 1 to 32, but is 33"),
    (dict(parameters=torch.zeros(12)), "parameters is a Tensor; it is a list of the basis' arrays"),
    (dict(eps=-1), "eps is -1; it is a number above 0"),
    (dict(parameters=[]), r"basis bspline has 1 parameters \(knots\), but has 0 here"),
])
def test_what_does_not_fit_is_an_error_that_says_what_would(change, message):
    arguments = dict(coefficients=torch.zeros(8, 3, 4), basis="bspline", order=3, parameters=[torch.linspace(-1, 1, 12)])
    with pytest.raises(drawloom.Error, match=message):
        dt.kan_layer(torch.zeros(5, 3), **{**arguments, **change})


def test_a_layer_of_a_network_that_lacks_something_is_named():
    with pytest.raises(drawloom.CallError, match="layer 1 has the arguments basis; it has coefficients and basis"):
        dt.kan_network(torch.zeros(5, 3), [dict(coefficients=torch.zeros(2, 3, 3), basis="chebyshev"), dict(basis="chebyshev")])
