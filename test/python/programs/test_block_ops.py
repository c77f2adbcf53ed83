# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each op of the block dialect against NumPy: interpreted, decomposed and interpreted, compiled."""

import numpy as np
import pytest

from support.runner import ToolError, assert_close, optimize, run


def every_way(module, entry, arrays, expected, cpu_tolerance=1e-5):
    """Interpreted as the op, interpreted as the loop it decomposes into, and compiled."""
    assert_close(run(module, entry, arrays, target="interpreter"), expected, 1e-12)
    assert_close(run(optimize(module, "--decompose-graph"), entry, arrays, target="interpreter"), expected, 1e-12)
    assert_close(run(module, entry, arrays), expected, cpu_tolerance)


GATHER = """
func.func @gather(%x: tensor<{n}x{row}f32>, %rows: tensor<{r}x{i}>) -> tensor<{r}x{row}f32> {{
  %init = tensor.empty() : tensor<{r}x{row}f32>
  %y = block.gather %x[%rows] outs(%init) : tensor<{n}x{row}f32>[tensor<{r}x{i}>] -> tensor<{r}x{row}f32>
  return %y : tensor<{r}x{row}f32>
}}"""


@pytest.mark.parametrize("row", [(), (1,), (24,), (64,), (3, 5)])
@pytest.mark.parametrize("index", ["i32", "i64"])
def test_gather_reads_rows_and_pads_with_zeros(rng, row, index):
    x = rng.standard_normal((11, *row)).astype(np.float32)
    rows = np.array([3, -1, 10, 0, 3, -7], dtype=index.replace("i", "int"))
    expected = np.where((rows >= 0).reshape(-1, *[1] * len(row)), x[np.maximum(rows, 0)], 0)
    module = GATHER.format(n=11, r=6, i=index, row="".join(f"{e}x" for e in row))
    every_way(module, "gather", [x, rows], [expected], 0)


def test_gather_of_an_empty_table_yields_zeros():
    module = GATHER.format(n=0, r=3, i="i32", row="8x")
    every_way(module, "gather", [np.zeros((0, 8), np.float32), np.full(3, -1, np.int32)], [np.zeros((3, 8))], 0)


def test_gather_of_no_rows_is_empty(rng):
    module = GATHER.format(n=4, r=0, i="i32", row="8x")
    x = rng.standard_normal((4, 8)).astype(np.float32)
    every_way(module, "gather", [x, np.zeros(0, np.int32)], [np.zeros((0, 8))], 0)


@pytest.mark.parametrize("index", ["i32", "i64"])
def test_gather_pads_with_zeros_past_the_table(rng, index):
    x = rng.standard_normal((4, 8)).astype(np.float32)
    rows = np.array([0, 4, 3, np.iinfo(index.replace("i", "int")).max], dtype=index.replace("i", "int"))
    expected = np.where((rows < 4)[:, None], x[np.minimum(rows, 3)], 0)
    for target in ("cpu", "emulator", "interpreter"):
        (result,) = run(GATHER.format(n=4, r=4, i=index, row="8x"), "gather", [x, rows], target=target)
        np.testing.assert_array_equal(result, expected)


SCATTER = """
func.func @scatter(%t: tensor<{r}x8xf32>, %rows: tensor<{r}xi32>, %y: tensor<9x8xf32>) -> tensor<9x8xf32> {{
  %z = block.scatter {how} %t into %y[%rows] : tensor<{r}x8xf32> into tensor<9x8xf32>[tensor<{r}xi32>]
  return %z : tensor<9x8xf32>
}}"""


def test_scatter_stores_rows_and_drops_absent_ones(rng):
    t, y = (rng.standard_normal((n, 8)).astype(np.float32) for n in (4, 9))
    rows = np.array([8, -1, 0, 5], np.int32)
    expected = y.copy()
    expected[[8, 0, 5]] = t[[0, 2, 3]]
    every_way(SCATTER.format(r=4, how=""), "scatter", [t, rows, y], [expected], 0)


def test_scatter_accumulate_adds_rows_of_equal_index(rng):
    t, y = (rng.standard_normal((n, 8)).astype(np.float32) for n in (5, 9))
    rows = np.array([2, 2, -1, 0, 2], np.int32)
    expected = y.astype(np.float64)
    np.add.at(expected, rows[rows >= 0], t[rows >= 0].astype(np.float64))
    every_way(SCATTER.format(r=5, how="accumulate"), "scatter", [t, rows, y], [expected])


def test_interpreter_refuses_to_store_a_row_twice():
    arrays = [np.zeros((2, 8), np.float32), np.array([3, 3], np.int32), np.zeros((9, 8), np.float32)]
    with pytest.raises(ToolError, match="scatters twice to row 3"):
        run(SCATTER.format(r=2, how=""), "scatter", arrays, target="interpreter")


@pytest.mark.parametrize("how", ["", "accumulate"])
def test_scatter_drops_rows_past_the_table(rng, how):
    t, y = (rng.standard_normal((n, 8)).astype(np.float32) for n in (2, 9))
    expected = y.copy()
    expected[3] = t[0] + (y[3] if how else 0)
    for target in ("cpu", "emulator", "interpreter"):
        (result,) = run(SCATTER.format(r=2, how=how), "scatter", [t, np.array([3, 9], np.int32), y], target=target)
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def numpy_scan(x, kind, along, exclusive, reverse):
    ufunc, neutral = {"add": (np.add, 0), "mul": (np.multiply, 1), "max": (np.maximum, -np.inf)}[kind]
    x = np.moveaxis(x.astype(np.float64), along, 0)
    x = x[::-1] if reverse else x
    y = ufunc.accumulate(x, axis=0)
    if exclusive:
        y = np.concatenate([np.full_like(y[:1], neutral), y[:-1]])
    return np.moveaxis(y[::-1] if reverse else y, 0, along)


def scan_module(kind, shape, along, exclusive, reverse, element="f32", result=None):
    t, r = (f"tensor<{''.join(f'{e}x' for e in shape)}{e}>" for e in (element, result or element))
    words = " ".join(w for w, on in (("exclusive", exclusive), ("reverse", reverse)) if on)
    return f"""
func.func @scan(%x: {t}) -> {r} {{
  %init = tensor.empty() : {r}
  %y = block.scan {kind} {words} %x along {along} outs(%init) : {t} -> {r}
  return %y : {r}
}}"""


@pytest.mark.parametrize("kind", ["add", "mul", "max"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_kinds_and_directions(rng, kind, exclusive, reverse):
    x = rng.uniform(0.5, 1.5, (12, 24)).astype(np.float32) * rng.choice([-1, 1], (12, 24)).astype(np.float32)
    expected = numpy_scan(x, kind, 0, exclusive, reverse)
    module = scan_module(kind, x.shape, 0, exclusive, reverse)
    assert_equal_with_infinities = [e[np.isfinite(e)] for e in (expected,)]
    for way in (lambda: run(module, "scan", [x], target="interpreter"),
                lambda: run(optimize(module, "--decompose-graph"), "scan", [x], target="interpreter"),
                lambda: run(module, "scan", [x])):
        [y] = way()
        assert np.array_equal(np.isfinite(y), np.isfinite(expected))
        assert_close([y[np.isfinite(expected)]], assert_equal_with_infinities, 1e-5)


@pytest.mark.parametrize("shape,along", [((5,), 0), ((4, 7, 3), 1), ((4, 7, 3), 2), ((1, 8), 0), ((3, 0), 0), ((0, 3), 0)])
def test_scan_along_any_dimension(rng, shape, along):
    x = rng.standard_normal(shape).astype(np.float32)
    every_way(scan_module("add", shape, along, False, False), "scan", [x], [numpy_scan(x, "add", along, False, False)])


def test_scan_of_integers(rng):
    x = rng.integers(0, 9, 10).astype(np.int32)
    every_way(scan_module("add", (10,), 0, True, False, "i32"), "scan", [x], [np.cumsum(x) - x], 0)


def test_scan_sums_narrow_floats_in_the_wider_type():
    # In float16 the sum would stop growing at 2048.
    x = np.ones(3000, np.float16)
    every_way(scan_module("add", (3000,), 0, False, False, "f16", "f32"), "scan", [x], [np.arange(1.0, 3001)], 0)


@pytest.mark.parametrize("triangle", ["lower", "upper"])
@pytest.mark.parametrize("transpose", ["", "transpose"])
@pytest.mark.parametrize("unit", ["", "unit"])
def test_solve_triangular_forms(rng, triangle, transpose, unit):
    n, m = 12, 24
    # The other triangle, and with `unit` the diagonal, must not be read.
    a = rng.standard_normal((n, n)).astype(np.float32) * 0.3
    a[np.diag_indices(n)] = rng.uniform(1, 2, n)
    b = rng.standard_normal((n, m)).astype(np.float32)
    read = np.tril(a) if triangle == "lower" else np.triu(a)
    read = read.astype(np.float64)
    if unit:
        read[np.diag_indices(n)] = 1
        a[np.diag_indices(n)] = np.nan
    module = f"""
func.func @solve(%a: tensor<{n}x{n}xf32>, %b: tensor<{n}x{m}xf32>) -> tensor<{n}x{m}xf32> {{
  %x = block.solve_triangular {triangle} {transpose} {unit} %a outs(%b) : tensor<{n}x{n}xf32> -> tensor<{n}x{m}xf32>
  return %x : tensor<{n}x{m}xf32>
}}"""
    every_way(module, "solve", [a, b], [np.linalg.solve(read.T if transpose else read, b.astype(np.float64))])
