# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that a GPU has no instructions for, in units of the last place, and C's special values of the power."""

import numpy as np
import pytest

from runner import run

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


# One unit above what is found; docs/numerics.md.
@pytest.mark.parametrize("name,exact,x,most", [
    ("acosh", np.arccosh, 1 + magnitudes(1e-6, 1e30, [1]), 4),
    ("asinh", np.arcsinh, magnitudes(1e-8, 1e30), 4),
    ("atan", np.arctan, magnitudes(1e-8, 1e8), 3),
    ("atanh", np.arctanh, magnitudes(1e-8, 0.9999), 4),
    ("cosh", np.cosh, magnitudes(1e-8, 89), 4),
    ("exp2", np.exp2, magnitudes(1e-6, 125), 2),
    ("log10", np.log10, magnitudes(1e-30, 1e30, [1]), 3),
    ("log10", np.log10, 1 + magnitudes(1e-6, 0.9), 3),
    ("sinh", np.sinh, magnitudes(1e-8, 89), 4),
    ("tan", np.tan, magnitudes(1e-8, 1e6), 4),
])
def test_a_function_stays_within_its_bound(name, exact, x, most):
    assert units(evaluate(name, x), exact(x.astype(np.float64))).max() <= most


def test_a_power_stays_within_its_bound():
    x, result = magnitudes(1e-20, 1e20, [1]), magnitudes(1e-37, 1e37, [1])
    y = (np.log(result.astype(np.float64)) / np.log(x.astype(np.float64))).astype(np.float32)
    assert units(evaluate("powf", x, y), x.astype(np.float64) ** y).max() <= 2


def test_the_angle_of_a_point_stays_within_its_bound():
    y, x = magnitudes(1e-6, 1e6), np.roll(magnitudes(1e-5, 1e7), 7)
    assert units(evaluate("atan2", y, x), np.arctan2(y.astype(np.float64), x.astype(np.float64))).max() <= 4


def same(found, expected):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, expected, rtol=2.0**-21, atol=0)
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
