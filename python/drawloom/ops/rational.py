# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Group-rational activations, y = P(x) / Q(x). See drawloom.torch.rational for the mathematics."""

import math

from .._errors import CallError, CallTypeError
from . import register

FORMS = ("abs_terms", "abs_sum", "abs_sum_eps", "unsafe")

# Coefficients (a_0 .. a_5), (b_1 .. b_4) whose function is close to a fixed activation's, for the form abs_terms; the least
# maxima of errors were looked for on [-6, 6]: silu within 9e-5, gelu within 3.1e-3 there.
INITS = {
    "identity": ((0.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
    "silu": ((8.972e-5, 0.5, 0.249723, 0.0520435, 0.00531923, 0.000221436), (0.0, 0.104087, 0.0, 0.000442873)),
    "gelu": ((-0.0030833, 0.5, 0.417517, 0.122933, 0.014934, 0.000616387), (0.0, 0.245866, 0.0, 0.00123277)),
}


def check_form(form, what):
    if form not in FORMS:
        raise CallError(f"{what}: the form is '{form}'; it is one of {', '.join(FORMS)}")


def check(form, dtype, channels, a_shape, a_dtype, b_shape, b_dtype, what="rational"):
    """Raises CallError where tables do not fit x of so many channels; says what would."""
    check_form(form, what)
    for name, shape, table in (("a", a_shape, a_dtype), ("b", b_shape, b_dtype)):
        if len(shape) != 2 or 0 in shape:
            raise CallError(f"{what}: {name} has the shape {list(shape)}; it is [groups, coefficients]")
        if channels % shape[0]:
            raise CallError(f"{what}: {name} has {shape[0]} groups, which do not divide the {channels} channels of x")
        if table != dtype and not (table == "float32" and dtype in ("float16", "bfloat16")):
            more = " or float32" if dtype in ("float16", "bfloat16") else ""
            raise CallTypeError(f"{what}: {name} is {table}, but x is {dtype}: coefficients are {dtype}{more}")
    if a_shape[0] % b_shape[0] and b_shape[0] % a_shape[0]:
        raise CallError(f"{what}: a has {a_shape[0]} groups and b {b_shape[0]}; one number must divide the other")


def line(result, x, a, b, types, form):
    """The op's text: %result = kan.rational ..."""
    return f"  {result} = kan.rational {x}, {a}, {b} form({form}) : {', '.join(one.text for one in types)}"


def _results(attributes, arguments):
    return [arguments[0]]


def _body(attributes, arguments, results, names):
    return [line("%y", *names, arguments, attributes["form"])], ["%y"]


def _check(attributes, arguments):
    x, a, b = arguments
    check(attributes["form"], x.dtype, x.shape[-1], a.shape, a.dtype, b.shape, b.dtype)


register("rational", _check, _results, _body, pointwise=True)


def _target(name):
    import numpy

    targets = {
        "identity": lambda x: x,
        "silu": lambda x: x / (1 + numpy.exp(-x)),
        "gelu": lambda x: x * 0.5 * (1 + numpy.vectorize(math.erf)(x / numpy.sqrt(2))),
        "relu": lambda x: numpy.maximum(x, 0),
        "tanh": numpy.tanh,
        "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    }
    if name not in targets:
        raise CallError(f"there are no initial coefficients for '{name}'; there are for {', '.join(targets)}")
    return targets[name]


def initial(name, degrees, form):
    """Coefficients (a_0 .. a_m), (b_1 .. b_n), with b_0 first for abs_sum_eps, that make the activation close to a fixed one
    on [-6, 6]: "identity", "silu", "gelu", "relu", "tanh", "sigmoid". Denominators have even powers with b_j >= 0 alone, so
    that they mean the same in every form."""
    import numpy

    check_form(form, "rational")
    m, n = degrees
    if m < 1 or n < 1:
        raise CallError(f"degrees are {degrees}; the numerator's and the denominator's are 1 or more")
    target = _target(name)
    if name in INITS and m >= 5 and n >= 4:
        a, b = (numpy.array(table) for table in INITS[name])
    else:
        # P(x) - f(x) (b_2 x^2 + b_4 x^4 + ..) = f(x), least squares; once more with weights 1/Q, so that the error of P/Q is
        # what is least.
        x = numpy.linspace(-6, 6, 1201)
        f, weight = target(x), numpy.ones_like(x)
        powers = list(range(2, n + 1, 2))
        for _ in range(8):
            columns = numpy.stack([x**i for i in range(m + 1)] + [-f * x**j for j in powers], 1)
            found = numpy.linalg.lstsq(columns * weight[:, None], f * weight, rcond=None)[0]
            a, b = found[:m + 1], numpy.zeros(n)
            b[[j - 1 for j in powers]] = numpy.maximum(found[m + 1:], 0)
            weight = 1 / (1 + sum(b[j - 1] * x**j for j in powers))
        # Once b is fixed, a is a problem of its own.
        columns = numpy.stack([x**i for i in range(m + 1)], 1) * weight[:, None]
        a = numpy.linalg.lstsq(columns, f, rcond=None)[0]
    a, b = numpy.pad(a, (0, m + 1 - len(a))), numpy.pad(b, (0, n - len(b)))
    return a, numpy.concatenate([[1 - 0.1], b]) if form == "abs_sum_eps" else b


def gain(name, degrees, form):
    """1 / E[F(z)^2] for a standard normal z and the activation of `initial`: what weights behind it are drawn with."""
    import numpy

    a, b = initial(name, degrees, form)
    # Beyond 6 the density is below 1e-8.
    z = numpy.linspace(-6, 6, 2401)
    density = numpy.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    shift = form == "abs_sum_eps"
    denominator = (0.1 if shift else 1) + sum(value * z**(j + (not shift)) for j, value in enumerate(b))
    f = sum(value * z**i for i, value in enumerate(a)) / denominator
    return 1 / float((f * f * density).sum())
