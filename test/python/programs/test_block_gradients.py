# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of the block ops, differentiated by the compiler, against central differences in float64."""

import numpy as np
import pytest

from support.runner import ToolError, assert_close, optimize, run


class Function:
    """`body` computes %y from float64 arguments (name -> shape) and from constant row numbers."""

    def __init__(self, arguments, result, body):
        self.arguments, self.result, self.body = arguments, result, body

    @staticmethod
    def type(shape):
        return "tensor<" + "".join(f"{e}x" for e in shape) + "f64>"

    def module(self):
        names = list(self.arguments)
        types = [self.type(s) for s in self.arguments.values()]
        result = self.type(self.result)
        listed = ", ".join(f"%{n}: {t}" for n, t in zip(names, types))
        passed = ", ".join(f"%{n}" for n in names)
        wrt = ", ".join(map(str, range(len(names))))
        gradients = ", ".join(f"%d{n}" for n in names)
        return f"""
func.func @f({listed}) -> {result} {{
  %rows = arith.constant dense<[2, -1, 0, 2]> : tensor<4xi32>
  %unique = arith.constant dense<[2, -1, 0, 4]> : tensor<4xi32>
{self.body}
  return %y : {result}
}}
func.func @vjp({listed}, %g: {result}) -> ({", ".join(types)}) {{
  %y, {gradients} = ad.vjp @f({passed}) cotangents(%g) wrt [{wrt}]
      : ({", ".join(types)}) -> ({", ".join([result, *types])})
  return {gradients} : {", ".join(types)}
}}"""


GATHER = Function({"x": (5, 3)}, (4, 3), """
  %init = tensor.empty() : tensor<4x3xf64>
  %y = block.gather %x[%rows] outs(%init) : tensor<5x3xf64>[tensor<4xi32>] -> tensor<4x3xf64>""")
SCATTER = Function({"t": (4, 3), "x": (5, 3)}, (5, 3), """
  %y = block.scatter %t into %x[%unique] : tensor<4x3xf64> into tensor<5x3xf64>[tensor<4xi32>]""")
ACCUMULATE = Function({"t": (4, 3), "x": (5, 3)}, (5, 3), """
  %y = block.scatter accumulate %t into %x[%rows] : tensor<4x3xf64> into tensor<5x3xf64>[tensor<4xi32>]""")


def scan(words):
    return Function({"x": (6, 4)}, (6, 4), f"""
  %init = tensor.empty() : tensor<6x4xf64>
  %y = block.scan {words} %x along 0 outs(%init) : tensor<6x4xf64> -> tensor<6x4xf64>""")


def solve(words):
    return Function({"a": (5, 5), "b": (5, 3)}, (5, 3), f"""
  %y = block.solve_triangular {words} %a outs(%b) : tensor<5x5xf64> -> tensor<5x3xf64>""")


FUNCTIONS = {
    "gather": GATHER,
    "scatter": SCATTER,
    "scatter-accumulate": ACCUMULATE,
    **{f"scan {w}": scan(w) for w in ("add", "add exclusive", "add reverse", "add exclusive reverse")},
    **{f"solve {w}": solve(w) for w in ("lower", "lower unit", "lower transpose", "upper", "upper transpose unit")},
}


def central_differences(evaluate, arrays, cotangent, step=1e-5):
    out = []
    for array in arrays:
        gradient = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            kept = array[at]
            array[at] = kept + step
            above = np.sum(evaluate(arrays) * cotangent)
            array[at] = kept - step
            below = np.sum(evaluate(arrays) * cotangent)
            array[at] = kept
            gradient[at] = (above - below) / (2 * step)
        out.append(gradient)
    return out


def numpy_value(name, arrays):
    """The functions above in NumPy, so that central differences need no run of the tool for each element."""
    op, *words = name.split()
    if op == "gather":
        return np.where(np.array([2, -1, 0, 2])[:, None] < 0, 0, arrays[0][[2, 0, 0, 2]])
    if op == "scatter":
        y = arrays[1].copy()
        y[[2, 0, 4]] = arrays[0][[0, 2, 3]]
        return y
    if op == "scatter-accumulate":
        y = arrays[1].copy()
        np.add.at(y, [2, 0, 2], arrays[0][[0, 2, 3]])
        return y
    if op == "scan":
        x = arrays[0][::-1] if "reverse" in words else arrays[0]
        y = np.cumsum(x, axis=0) - (x if "exclusive" in words else 0)
        return y[::-1] if "reverse" in words else y
    a = np.tril(arrays[0]) if "lower" in words else np.triu(arrays[0])
    if "unit" in words:
        a[np.diag_indices(len(a))] = 1
    return np.linalg.solve(a.T if "transpose" in words else a, arrays[1])


def arguments_of(rng, function):
    arrays = [rng.standard_normal(s) for s in function.arguments.values()]
    for array in arrays:
        if array.shape == (5, 5):
            array[np.diag_indices(5)] = rng.uniform(1, 2, 5)
    return arrays


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_central_differences(rng, name):
    function = FUNCTIONS[name]
    arrays = arguments_of(rng, function)
    cotangent = rng.standard_normal(function.result)
    assert_close(run(function.module(), "f", arrays, target="interpreter"), [numpy_value(name, arrays)], 1e-12)
    expected = central_differences(lambda a: numpy_value(name, a), arrays, cotangent)
    module = optimize(function.module(), "--differentiate")
    assert_close(run(module, "vjp", [*arrays, cotangent], target="interpreter"), expected, 1e-8)


def test_second_derivative_of_a_triangular_solve(rng):
    """d/da <u, da(g)> for da, the gradient of <g, solve(a, b)> with respect to a."""
    function = solve("lower")
    t5, t3 = "tensor<5x5xf64>", "tensor<5x3xf64>"
    module = function.module() + f"""
func.func @first(%a: {t5}, %b: {t3}, %g: {t3}) -> {t5} {{
  %y, %da = ad.vjp @f(%a, %b) cotangents(%g) wrt [0] : ({t5}, {t3}) -> ({t3}, {t5})
  return %da : {t5}
}}
func.func @second(%a: {t5}, %b: {t3}, %g: {t3}, %u: {t5}) -> {t5} {{
  %da, %dda = ad.vjp @first(%a, %b, %g) cotangents(%u) wrt [0] : ({t5}, {t3}, {t3}) -> ({t5}, {t5})
  return %dda : {t5}
}}"""
    a, b = arguments_of(rng, function)
    g, u = rng.standard_normal((5, 3)), rng.standard_normal((5, 5))

    def first(arrays):
        low = np.tril(arrays[0])
        x = np.linalg.solve(low, b)
        return np.tril(-np.linalg.solve(low.T, g) @ x.T)

    expected = central_differences(first, [a], u)
    module = optimize(module, "--differentiate")
    assert_close(run(module, "second", [a, b, g, u], target="interpreter"), expected, 1e-7)


@pytest.mark.parametrize("kind,what", [("mul", "product"), ("max", "maximum")])
def test_scans_without_a_gradient_say_so(kind, what):
    with pytest.raises(ToolError, match=f"has no gradient for a running {what}; write it as an scf.for"):
        optimize(scan(kind).module(), "--differentiate")
