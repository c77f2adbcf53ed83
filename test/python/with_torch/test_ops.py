# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch's functions against plain torch in float64: values, derivatives of any order, transforms, layouts, errors."""

import numpy as np
import pytest
import torch

import drawloom
from drawloom import _drawloom, ops
from drawloom.torch import _dispatch, frequency_encode, fused_mlp, fused_mlp_along, kat_mlp, rational
from support.runner import run

FORMS = ("abs_terms", "abs_sum", "abs_sum_eps", "unsafe")
ACTIVATIONS = {
    "relu": torch.relu,
    "leaky_relu": torch.nn.functional.leaky_relu,
    "elu": torch.nn.functional.elu,
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": torch.nn.functional.softplus,
    "sine": torch.sin,
    "snake": lambda x: x + torch.sin(x)**2,
    "square": torch.square,
    "none": lambda x: x,
}


def plain_rational(x, a, b, form="abs_terms"):
    a = a.repeat_interleave(x.shape[-1] // a.shape[0], 0)
    b = b.repeat_interleave(x.shape[-1] // b.shape[0], 0)
    p = sum(a[:, i] * x**i for i in range(a.shape[1]))
    if form == "abs_terms":
        q = 1 + sum(b[:, j].abs() * x.abs()**(j + 1) for j in range(b.shape[1]))
    elif form == "abs_sum":
        q = 1 + sum(b[:, j] * x**(j + 1) for j in range(b.shape[1])).abs()
    elif form == "abs_sum_eps":
        q = 0.1 + sum(b[:, j] * x**j for j in range(b.shape[1])).abs()
    else:
        q = 1 + sum(b[:, j] * x**(j + 1) for j in range(b.shape[1]))
    return p / q


def plain_mlp(x, weights, biases, activation, output):
    for i, weight in enumerate(weights):
        x = torch.nn.functional.linear(x, weight, biases[i] if biases else None)
        x = ACTIVATIONS[activation if i + 1 < len(weights) else output](x)
    return x


@pytest.fixture
def tensor():
    generator = torch.Generator().manual_seed(7)

    def make(*shape, scale=1.0, dtype=torch.float64, grad=True):
        return (scale * torch.randn(*shape, generator=generator, dtype=torch.float64)).to(dtype).requires_grad_(grad)

    return make


def coefficients(tensor, form, numerators=1, denominators=4, dtype=torch.float64):
    b = tensor(denominators, 4, scale=0.2, dtype=dtype)
    if form == "unsafe":  # No pole: positive at even powers alone.
        b = (b.detach().abs() * torch.tensor([0, 1, 0, 1], dtype=dtype)).requires_grad_()
    return tensor(numerators, 6, dtype=dtype), b


@pytest.mark.parametrize("form", FORMS)
def test_rational_has_derivatives_of_two_orders(tensor, form):
    x, (a, b) = tensor(2, 3, 8), coefficients(tensor, form)

    def f(x, a, b):
        return rational(x, a, b, form=form)

    torch.testing.assert_close(f(x, a, b), plain_rational(x, a, b, form), rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradcheck(f, (x, a, b)) and torch.autograd.gradgradcheck(f, (x, a, b))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_fused_mlp_is_the_chain_of_layers(tensor, activation):
    weights = [tensor(*shape, scale=0.5) for shape in ((6, 3), (5, 6), (2, 5))]
    biases = [tensor(weight.shape[0]) for weight in weights]
    x = tensor(4, 3)
    y = fused_mlp(x, weights, biases, activation=activation, output_activation="tanh")
    torch.testing.assert_close(y, plain_mlp(x, weights, biases, activation, "tanh"), rtol=1e-10, atol=1e-10)
    z = fused_mlp(x, weights, activation=activation)
    torch.testing.assert_close(z, plain_mlp(x, weights, None, activation, "none"), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("activation, widths", [("tanh", (3, 8, 8, 2)), ("silu", (3, 6, 1)), ("rational", (3, 8, 2))])
def test_fused_mlp_has_derivatives_of_two_orders(tensor, activation, widths):
    weights = [tensor(m, n, scale=0.5) for n, m in zip(widths, widths[1:])]
    biases = [tensor(weight.shape[0]) for weight in weights]
    tables = coefficients(tensor, "abs_terms") if activation == "rational" else ()
    x, count = tensor(3, 3), len(weights)

    def f(x, *rest):
        return fused_mlp(x, rest[:count], rest[count:2 * count], activation=activation, activation_params=rest[2 * count:])

    inputs = (x, *weights, *biases, *tables)
    assert torch.autograd.gradcheck(f, inputs) and torch.autograd.gradgradcheck(f, inputs)


def test_a_third_derivative_is_right(tensor):
    weights, x = [tensor(6, 1, scale=0.7), tensor(1, 6, scale=0.7)], tensor(5, 1)

    def third(f):
        y = f(x)
        for _ in range(3):
            y, = torch.autograd.grad(y.sum(), x, create_graph=True)
        return torch.autograd.grad(y.square().sum(), [x, *weights])

    for ours, plain in zip(third(lambda x: fused_mlp(x, weights, activation="tanh")),
                           third(lambda x: plain_mlp(x, weights, None, "tanh", "none"))):
        torch.testing.assert_close(ours, plain, rtol=1e-9, atol=1e-10)


def test_derivatives_along_directions(tensor):
    weights = [tensor(*shape, scale=0.7) for shape in ((6, 2), (6, 6), (1, 6))]
    biases, x = [tensor(weight.shape[0]) for weight in weights], tensor(2, 5, 2)
    directions = [torch.tensor([1.0, 0.0], dtype=torch.float64), torch.tensor([0.5, -1.0], dtype=torch.float64)]
    y, firsts, seconds = fused_mlp_along(x, directions, weights, biases, activation="sine")
    plain = plain_mlp(x, weights, biases, "sine", "none")
    torch.testing.assert_close(y, plain, rtol=1e-10, atol=1e-10)
    slope, = torch.autograd.grad(plain.sum(), x, create_graph=True)
    total = plain.square().sum()
    for direction, first, second in zip(directions, firsts, seconds):
        expected = (slope * direction).sum(-1, keepdim=True)
        twice = (torch.autograd.grad(expected.sum(), x, create_graph=True)[0] * direction).sum(-1, keepdim=True)
        torch.testing.assert_close(first, expected, rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(second, twice, rtol=1e-9, atol=1e-10)
        total = total + twice.square().sum()
    ours = y.square().sum() + sum(second.square().sum() for second in seconds)
    for one, other in zip(torch.autograd.grad(ours, [*weights, *biases]), torch.autograd.grad(total, [*weights, *biases])):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-9)


def test_kat_mlp_is_two_rationals_and_two_layers(tensor):
    one, two = coefficients(tensor, "abs_terms"), coefficients(tensor, "abs_terms")
    w1, b1, w2, b2, x = tensor(16, 8), tensor(16), tensor(8, 16), tensor(8), tensor(2, 5, 8)
    expected = torch.nn.functional.linear(plain_rational(
        torch.nn.functional.linear(plain_rational(x, *one), w1, b1), *two), w2, b2)
    torch.testing.assert_close(kat_mlp(x, one, w1, b1, two, w2, b2), expected, rtol=1e-10, atol=1e-10)


def test_frequency_encode_is_sines_and_cosines(tensor):
    x = tensor(4, 2)
    angles = x[..., None] * torch.pi * 2.0**torch.arange(3)
    expected = torch.stack([torch.sin(angles), torch.cos(angles)], -1).flatten(-3)
    torch.testing.assert_close(frequency_encode(x, 3), expected, rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradgradcheck(lambda x: frequency_encode(x, 3), (x,))


@pytest.mark.parametrize("sample", ["rational", "fused_mlp", "frequency_encode", "vjp"])
def test_ops_follow_torchs_rules(tensor, sample):
    x, (a, b) = tensor(3, 8), coefficients(tensor, "abs_terms")
    arguments = {
        "rational": (x, a, b),
        "fused_mlp": (x, [tensor(8, 8), tensor(2, 8)], [tensor(8), tensor(2)], [a, b], "rational"),
        "frequency_encode": (x, 2),
        "vjp": ([x, a, b, tensor(3, 8)], str(ops.Spec("rational", (("form", "abs_terms"),)).vjp((0, 1), (0,)))),
    }[sample]
    torch.library.opcheck(getattr(torch.ops.drawloom, sample).default, arguments)


def test_transforms_of_torch_func(tensor):
    x, (a, b) = tensor(3, 4, 8, grad=False), coefficients(tensor, "abs_terms")
    a, b = a.detach(), b.detach()
    func = torch.func
    tables = torch.stack([a, 2 * a, 3 * a])
    for transform in (
            lambda f: func.vmap(f, (0, None, None))(x, a, b),
            lambda f: func.vmap(f, (1, None, None), 1)(x, a, b),
            lambda f: func.vmap(f, (0, 0, None))(x, tables, b),
            lambda f: func.vmap(f, (None, 0, None))(x, tables, b),
            lambda f: func.grad(lambda a: f(x, a, b).square().sum())(a),
            lambda f: func.vjp(lambda a, b: f(x, a, b), a, b)[1](x),
            lambda f: func.jacrev(lambda b: f(x[0], a, b))(b),
            lambda f: func.jacrev(func.jacrev(lambda b: f(x[0], a, b).sum()))(b),
            lambda f: func.vmap(func.grad(lambda x, a: f(x, a, b).sum(), argnums=1), (0, None))(x, a)):
        ours, plain = transform(rational), transform(plain_rational)
        torch.testing.assert_close(ours, plain, rtol=1e-9, atol=1e-10)


def test_per_sample_gradients_of_a_chain(tensor):
    weights, x = [tensor(6, 3, grad=False), tensor(2, 6, grad=False)], tensor(5, 3, grad=False)

    def gradients(f):
        return torch.func.vmap(torch.func.grad(lambda w, x: f(x, [w, weights[1]]).sum()), (None, 0))(weights[0], x)

    torch.testing.assert_close(gradients(lambda x, w: fused_mlp(x, w, activation="tanh")),
                               gradients(lambda x, w: plain_mlp(x, w, None, "tanh", "none")), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype, tolerance", [(torch.bfloat16, 2.0**-7), (torch.float16, 2.0**-10)])
def test_half_precision_is_computed_in_float32(tensor, dtype, tolerance):
    # The result is rounded once; tables may be float32 or of x's type.
    x, (a, b) = tensor(64, 8, dtype=dtype), coefficients(tensor, "abs_terms", dtype=dtype)
    expected = plain_rational(x.double(), a.double(), b.double())
    for tables in ((a, b), (a.float(), b.float())):
        y = rational(x, *tables)
        assert y.dtype == dtype
        torch.testing.assert_close(y.double(), expected, rtol=tolerance, atol=1e-6)
        y.sum().backward()
        assert x.grad.dtype == dtype and a.grad.dtype == dtype


def test_tensors_of_any_layout_and_size(tensor):
    a, b = coefficients(tensor, "abs_terms")
    wide = tensor(6, 16, grad=False)
    for x in (wide[:, ::2], wide[:4, :8].t().contiguous().t(), wide[0, :8], wide[:1, :8].expand(5, 8), wide.new_empty(0, 8),
              wide.new_empty(2, 0, 8), wide[:, :8].unflatten(0, (2, 3)).transpose(0, 1)):
        torch.testing.assert_close(rational(x, a, b), plain_rational(x, a, b), rtol=1e-12, atol=1e-12)
        y = x.detach().clone().requires_grad_()
        rational(y, a, b).sum().backward()
        assert y.grad.shape == x.shape


def test_results_have_the_bits_of_every_way_in(tensor):
    x, a, b = (t.detach() for t in (tensor(40, 8, dtype=torch.float32), *coefficients(tensor, "abs_terms", dtype=torch.float32)))
    g = torch.ones_like(x)
    spec = ops.Spec("rational", (("form", "abs_terms"),)).vjp((0, 1, 2), (0,))
    arrays = [t.numpy() for t in (x, a, b, g)]
    text = ops.text(spec, [ops.Array("float32", array.shape) for array in arrays])
    leaves = [t.clone().requires_grad_() for t in (x, a, b)]
    ours = torch.autograd.grad(rational(*leaves).sum(), leaves)
    module = drawloom.compile(text)
    for threads in (1, 3):
        for one, other in zip(ours, module.main(*arrays, threads=threads)):
            np.testing.assert_array_equal(one.numpy(), other)
    for one, other in zip(ours, run(text, "main", arrays)):
        np.testing.assert_array_equal(one.numpy(), other)


@pytest.mark.parametrize("call, error, words", [
    (lambda x, a, b: rational(x, a, b, form="sum"), ValueError, "the form is 'sum'; it is one of abs_terms"),
    (lambda x, a, b: rational(x, a[0], b), ValueError, "a has the shape [6]; it is [groups, coefficients]"),
    (lambda x, a, b: rational(x, a, b[:3]), ValueError, "3 groups, which do not divide the 8 channels"),
    (lambda x, a, b: rational(x, a.float(), b), TypeError, "a is float32, but x is float64"),
    (lambda x, a, b: rational(x.long(), a, b), TypeError, "x is int64; it is float32"),
    (lambda x, a, b: rational(None, a, b), TypeError, "rational: x is None; it is a tensor"),
    (lambda x, a, b: rational(x, a.requires_grad_(), None), TypeError, "rational: b is None; it is a tensor"),
    (lambda x, a, b: fused_mlp(None, [x, x], [x]), TypeError, "fused_mlp: x is None; it is a tensor"),
    (lambda x, a, b: rational(x.sum(), a, b), ValueError, "is a scalar"),
    (lambda x, a, b: fused_mlp(x, []), ValueError, "there are no weights"),
    (lambda x, a, b: fused_mlp(x, [a]), ValueError, "weights[0] is [1, 6], [out, in], but x has 8 channels"),
    (lambda x, a, b: fused_mlp(x, [x, b]), ValueError, "weights[1] is [4, 4], [out, in], but layer 0 has 3 channels"),
    (lambda x, a, b: fused_mlp(x, [x], [x[0]]), ValueError, "biases[0] has the shape [8], but layer 0 has 3 channels"),
    (lambda x, a, b: fused_mlp(x, [x], [x[0], x[0]]), ValueError, "1 weights, but 2 biases"),
    (lambda x, a, b: fused_mlp(x, [x], activation="rleu"), ValueError, "did you mean 'relu'?"),
    (lambda x, a, b: fused_mlp(x, [x, x.t()], activation="rational"), ValueError, "1 rational activations take 1 pairs"),
    (lambda x, a, b: frequency_encode(x, 0), ValueError, "octaves is 0; it is 1 to 64"),
    (lambda x, a, b: kat_mlp(x, (a, b), x, None, (a, b), x, x), ValueError, "one bias is None and the other is not"),
    (lambda x, a, b: torch.ops.drawloom.vjp([x], "no spec"), ValueError, "does not name a Drawloom op"),
])
def test_what_does_not_fit_is_refused(tensor, call, error, words):
    x, (a, b) = tensor(3, 8, grad=False), coefficients(tensor, "abs_terms")
    with pytest.raises(error) as caught:
        call(x, a.detach(), b.detach())
    assert words in str(caught.value)


@pytest.mark.parametrize("gradients", [False, True])
def test_tensors_without_memory_have_results_without_memory(tensor, gradients):
    x, a, b = (t.detach().to("meta").requires_grad_(gradients) for t in (tensor(2, 3, 8), *coefficients(tensor, "abs_terms")))
    y = rational(x, a, b)
    assert (y.device.type, y.shape, y.dtype, y.requires_grad) == ("meta", x.shape, torch.float64, gradients)
    if gradients:
        y.sum().backward()
        assert (b.grad.device.type, b.grad.shape) == ("meta", b.shape)
    z = fused_mlp(x, [torch.empty(5, 8, device="meta", dtype=torch.float64)])
    assert (z.device.type, z.shape) == ("meta", (2, 3, 5))
    with pytest.raises(ValueError, match="which do not divide the 7 channels"):
        rational(x[..., :7], a, b)


def test_programs_are_found_by_the_types_of_attributes():
    """Text that looks like a number or None is another attribute."""
    asked, spec = [], _dispatch.intern(ops.Spec("frequency_encode", (("octaves", 1),)))

    def spec_of(x, attribute):
        asked.append(attribute)
        return spec

    def unexpected(*arguments):
        raise AssertionError

    kernel = _drawloom.Kernel(spec_of, _dispatch._resolve, unexpected, unexpected, torch.Tensor, torch.nn.Parameter, _dispatch._modes,
                              _dispatch._transforms, _dispatch.forward_ad, _dispatch._grad_enabled, _dispatch._threads,
                              torch._C.TensorBase.requires_grad)
    attributes = [None, "None", 1.0, "1.0", 1, "1", True, "True", "", "\n"]
    for _ in range(2):
        for attribute in attributes:
            kernel(torch.zeros(2, 3), attribute)
    assert list(map(repr, asked)) == list(map(repr, attributes))
