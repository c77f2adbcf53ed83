# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NaN, infinities and denormal numbers, as docs/numerics.md describes them, against NumPy."""

import numpy as np
import pytest

from support.runner import run

ISAS = ["baseline", "avx2", "native"]
SMALLEST = np.float32(2.0**-126)
INF, NAN = np.inf, np.nan
VALUES = np.array([0, -0.0, 1e-40, -1e-40, 2.0**-149, SMALLEST, 1.5, -2.5, 3e38, INF, -INF, NAN] * 3, np.float32)


def elementwise(body, isa):
    n = VALUES.size
    text = f"""func.func @f(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %half = arith.constant dense<0.5> : tensor<{n}xf32>
  %zero = arith.constant dense<0.0> : tensor<{n}xf32>
  %y = {body} : tensor<{n}xf32>
  return %y : tensor<{n}xf32>
}}"""
    return run(text, "f", [VALUES], options=[f"--isa={isa}"])[0]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("body,reference", [
    ("arith.mulf %x, %half", lambda x: x * np.float32(0.5)),
    ("arith.mulf %x, %zero", lambda x: x * np.float32(0)),
    ("arith.addf %x, %x", lambda x: x + x),
    ("arith.subf %x, %x", lambda x: x - x),
    ("arith.divf %half, %x", lambda x: np.float32(0.5) / x),
    ("arith.maximumf %x, %zero", lambda x: np.maximum(x, np.float32(0))),
    ("math.sqrt %x", np.sqrt),
    ("math.absf %x", np.abs),
])
def test_arithmetic_is_exact(isa, body, reference):
    with np.errstate(all="ignore"):
        expected = reference(VALUES)
    np.testing.assert_array_equal(elementwise(body, isa), expected)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name,reference", [
    ("exp", lambda x: np.exp(x)),
    ("tanh", lambda x: np.tanh(x)),
    # A denormal argument counts as the smallest normal number.
    ("log", lambda x: np.log(np.where((x > 0) & (x < SMALLEST), SMALLEST, x))),
])
def test_functions_carry_special_values(isa, name, reference):
    with np.errstate(all="ignore"):
        expected = reference(VALUES)
    # Two units in the last place of f32.
    np.testing.assert_allclose(elementwise(f"math.{name} %x", isa), expected, rtol=2.0**-22, atol=0)


def test_exp_has_no_denormal_results():
    x = np.array([-87.0, -88.0, -95.0, -103.0], np.float32)
    text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = math.exp %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}"
    y = run(text, "f", [x])[0]
    assert y[0] > 0
    np.testing.assert_array_equal(y[1:], 0)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name,reference,beyond", [("sin", np.sin, 0), ("cos", np.cos, 1)])
def test_sines_are_right_up_to_two_to_the_51(isa, name, reference, beyond):
    x = np.array([2.0**51, -2.0**51, 1e15, 2.0**50 + 2.0**28, 2.0**30, 1e5, 2.0**52, -1e22, 3e38, 7.0], np.float32)
    text = f"func.func @f(%x: tensor<10xf32>) -> tensor<10xf32> {{\n  %y = math.{name} %x : tensor<10xf32>\n  return %y : tensor<10xf32>\n}}"
    y = run(text, "f", [x], options=[f"--isa={isa}"])[0]
    large = np.abs(x) > 2.0**51
    expected = np.where(large, beyond, reference(x.astype(np.float64)))
    # Two units in the last place for the polynomial (2^-22), and as many for the rounding of the reduced argument and the sum.
    bound = 2.0**-21 * np.abs(expected)
    if isa == "baseline":
        # Without a fused multiply-add the product of the turns with pi/2, which is as large as x, is rounded in f64.
        bound += np.where(large, 0, 2.0**-53 * np.abs(x.astype(np.float64)))
    assert (np.abs(y - expected) <= bound).all(), (x, y, expected)


@pytest.mark.parametrize("isa", ISAS)
def test_products_carry_special_values(isa):
    """Rows 0 to 3 hold a NaN, an infinity, both infinities, and only denormal numbers."""
    a = np.ones((8, 24), np.float32)
    a[0, 3], a[1, 5], a[2, 7], a[2, 9] = NAN, INF, INF, -INF
    a[3] = 1e-42
    b = np.ones((24, 40), np.float32)
    b[:, 17] = 0
    text = """func.func @f(%a: tensor<8x24xf32>, %b: tensor<24x40xf32>) -> tensor<8x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x40xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x40xf32>) -> tensor<8x40xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x24xf32>, tensor<24x40xf32>) outs(%start : tensor<8x40xf32>) -> tensor<8x40xf32>
  return %c : tensor<8x40xf32>
}"""
    c = run(text, "f", [a, b], options=[f"--isa={isa}"])[0]
    with np.errstate(all="ignore"):
        expected = a.astype(np.float64) @ b
    # Sums of equal denormal numbers are exact: so are all rows.
    np.testing.assert_array_equal(c, expected.astype(np.float32))
    assert np.isnan(c[1, 17]) and c[3, 0] > 0


@pytest.mark.parametrize("name", ["expm1", "log1p", "tanh", "sinh", "asinh", "atanh", "sin", "tan", "erf"])
@pytest.mark.parametrize("element,dtype", [("f32", np.float32), ("f64", np.float64)])
def test_functions_keep_the_digits_of_small_numbers(name, element, dtype):
    """These are about x near 0, so that what is added to 1 on the way would be lost."""
    x = np.concatenate([[0.0], np.logspace(-12, -1, 23)]).astype(dtype)
    x = np.concatenate([x, -x])
    text = f"""func.func @f(%x: tensor<{x.size}x{element}>) -> tensor<{x.size}x{element}> {{
  %y = math.{name} %x : tensor<{x.size}x{element}>
  return %y : tensor<{x.size}x{element}>
}}"""
    expected = [2 / np.sqrt(np.pi) * (v - v**3 / 3 + v**5 / 10 - v**7 / 42) if name == "erf" else
                getattr(np, {"asinh": "arcsinh", "atanh": "arctanh"}.get(name, name))(np.float64(v)) for v in x]
    # Four units in the last place; the series of erf is exact to 1e-10 of x up to 0.1.
    np.testing.assert_allclose(run(text, "f", [x])[0], expected, rtol=max(4 * np.finfo(dtype).eps, 1e-10 if name == "erf" else 0))
