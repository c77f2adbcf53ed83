# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that a GPU has no instructions for, in units of the last place, and C's special values of the power."""

import numpy as np
import pytest

from support.runner import run

COUNT = 2048
SPECIAL = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, np.inf, -np.inf, np.nan, 2.0**24 + 2, 2.5, -2.5, 1e30, -7], np.float32)


def magnitudes(least, greatest, signs=(-1, 1)):
    random = np.random.default_rng(7)
    return (np.exp(random.uniform(np.log(least), np.log(greatest), COUNT)) * random.choice(signs, COUNT)).astype(np.float32)


def evaluate(name, *arguments):
    type = f"tensor<{arguments[0].size}xf32>"
    names = [f"%x{i}" for i in range(len(arguments))]
    text = f"""func.func @f({', '.join(f'{name}: {type}' for name in names)}) -> {type} {{
  %y = math.{name} {', '.join(names)} : {type}
  return %y : {type}
}}"""
    return run(text, "f", list(arguments), target="emulator")[0]


def units(found, exact):
    rounded = np.abs(exact.astype(np.float32))
    return np.abs(found - exact) / (np.nextafter(rounded, np.float32(np.inf)).astype(np.float64) - rounded)


# Bounds by what the expansions are made of (codegen/MathFunctions.cpp), in u = 2^-24 of the number: k u are at most k units in
# the last place. One rounding 1; ex2 of the emulator 1, the exponential 2; log 3 and log1p 6 (1.5 and 3 units); a quotient 4
# (2 units); the polynomials of sine and cosine 4. Where a function is applied to a sum or a quotient, its condition is at most 1.
#   acosh  t 1, t + 2 1, product 3, root 2.5, sum 3.5, log1p 6                                                      10
#   asinh  x^2 1, root 2, 1 + root 3, quotient 8, which is half of the sum at most: 5, log1p 6                      11
#   atan   quotient 4 to 6, polynomial 2, sum 1; with a multiple of pi / 4 the quotient counts for a third of it     7
#   atanh  1 - |x| 1, quotient 4, log1p 6                                                                           11
#   cosh   h^2 / 2 5, its inverse 9, half of the sum each at most, sum 1                                             8
#   exp2   2 units by the PTX manual                                                                                 2
#   log10  log 3, constant 1, product 1                                                                              5
#   sinh   (5 + 9 e^-2) / (1 - e^-2) from 1 on, sum 1                                                                9
#   tan    sine 4, cosine 4, quotient 4                                                                             12
@pytest.mark.parametrize("name,exact,x,most", [
    ("acosh", np.arccosh, 1 + magnitudes(1e-6, 1e30, [1]), 10),
    ("asinh", np.arcsinh, magnitudes(1e-8, 1e30), 11),
    ("atan", np.arctan, magnitudes(1e-8, 1e8), 7),
    ("atanh", np.arctanh, magnitudes(1e-8, 0.9999), 11),
    ("cosh", np.cosh, magnitudes(1e-8, 89), 8),
    ("exp2", np.exp2, magnitudes(1e-6, 125), 2),
    ("log10", np.log10, magnitudes(1e-30, 1e30, [1]), 5),
    ("log10", np.log10, 1 + magnitudes(1e-6, 0.9), 5),
    ("sinh", np.sinh, magnitudes(1e-8, 89), 9),
    ("tan", np.tan, magnitudes(1e-8, 1e6), 12),
])
def test_a_function_stays_within_its_bound(name, exact, x, most):
    assert units(evaluate(name, x), exact(x.astype(np.float64))).max() <= most


# The logarithm to 2^-33 of itself and an exponent up to 128 move the power by 0.2 u, the fraction's rounding by as much; ex2 1,
# the last rounding 1.
def test_a_power_stays_within_its_bound():
    x, result = magnitudes(1e-20, 1e20, [1]), magnitudes(1e-37, 1e37, [1])
    y = (np.log(result.astype(np.float64)) / np.log(x.astype(np.float64))).astype(np.float32)
    assert units(evaluate("powf", x, y), x.astype(np.float64) ** y).max() <= 3


# A quotient 4, its arc tangent 7, pi and the sum 2.
def test_the_angle_of_a_point_stays_within_its_bound():
    y, x = magnitudes(1e-6, 1e6), np.roll(magnitudes(1e-5, 1e7), 7)
    assert units(evaluate("atan2", y, x), np.arctan2(y.astype(np.float64), x.astype(np.float64))).max() <= 13


def same(found, expected):
    """The largest of the bounds above, of a number."""
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, expected, rtol=13 * 2.0**-24, atol=0)
    signed = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[signed]), np.signbit(expected[signed]))


def test_a_power_has_the_special_values_of_c():
    x, y = (of.ravel().copy() for of in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        same(evaluate("powf", x, y), np.power(x, y))


@pytest.mark.parametrize("name,exact", [("acosh", np.arccosh), ("asinh", np.arcsinh), ("atan", np.arctan), ("atanh", np.arctanh), ("cosh", np.cosh),
                                        ("exp2", np.exp2), ("log10", np.log10), ("sinh", np.sinh), ("tan", np.tan)])
def test_a_function_has_its_limits(name, exact):
    x = SPECIAL[np.abs(SPECIAL) < 2.0**51] if name == "tan" else SPECIAL
    with np.errstate(all="ignore"):
        same(evaluate(name, x), exact(x.astype(np.float64)).astype(np.float32))
