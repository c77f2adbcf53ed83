# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions from and to f16 on instruction sets with and without instructions for them: NumPy's, bit by bit."""

import numpy as np
import pytest

import drawloom

ISAS = ["baseline", "native"]
ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def convert(x, to, isa, op):
    element = {np.dtype(t): name for t, name in ((np.float16, "f16"), (np.float32, "f32"), (np.float64, "f64"))}
    narrow, wide = (f"tensor<{x.size}x{element[np.dtype(t)]}>" for t in (x.dtype, to))
    return drawloom.compile(f"func.func @f(%x: {narrow}) -> {wide} {{\n  %y = arith.{op} %x : {narrow} to {wide}\n  return %y : {wide}\n}}",
                            isa=isa)(x)


def assert_same(found, expected):
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), nan)
    bits = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(found[~nan].view(bits), expected[~nan].view(bits))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("wide", [np.float32, np.float64])
def test_every_half_widens_as_in_numpy(isa, wide):
    assert_same(convert(ALL, wide, isa, "extf"), ALL.astype(wide))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("wide", [np.float32, np.float64])
def test_numbers_between_halves_round_as_in_numpy(isa, wide):
    """Each half, the middle of it and the next, and the numbers next to that: ties, subnormal numbers and what becomes infinite."""
    finite = np.sort(ALL[np.isfinite(ALL)].astype(wide))
    middles = (finite[1:] + finite[:-1]) / 2
    edges = np.array([65519.996, 65520, 65536, 1e30, np.inf, np.nan, 2.0**-26, 1e-40, np.finfo(wide).max, np.finfo(wide).tiny], wide)
    with np.errstate(under="ignore", over="ignore"):
        x = np.concatenate([finite, middles, *(np.nextafter(middles, wide(to)) for to in (-np.inf, np.inf)), edges, -edges])
        assert_same(convert(x, np.float16, isa, "truncf"), x.astype(np.float16))
