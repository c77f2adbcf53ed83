# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Group-rational activations, y = P(x) / Q(x). See drawloom.torch.rational for the mathematics."""

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


def check(form, dtype, channels, a_shape, a_dtype, b_shape, b_dtype, what="rational"):
    """Raises CallError where tables do not fit x of so many channels; says what would."""
    if form not in FORMS:
        raise CallError(f"{what}: the form is '{form}'; it is one of {', '.join(FORMS)}")
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


register("rational", _check, _results, _body)
