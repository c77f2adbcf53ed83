# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the emulator notices when good kernels are broken one place at a time."""

import ctypes
import re

import numpy as np
import pytest
import torch

from on_gpus.kernels import gemm, reduction, scan
from on_gpus.mutations import judge, mutations
from support.emulated_driver import LAUNCH_FAILED, CudaError, Driver, install, needs_driver
from support.runner import tool

pytestmark = needs_driver


@pytest.fixture(scope="module")
def driver():
    return Driver()


@pytest.fixture
def runner(driver, tmp_path, monkeypatch):
    """runner(name, shared bytes, cases) is what judge() wants; a case is the
    grid, the arrays, an array like the result, and the numbers."""
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", str(tmp_path))
    monkeypatch.setenv("DRAWLOOM_EMULATOR_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("DRAWLOOM_EMULATOR_MOST_ACCESSES", "100000")
    monkeypatch.setenv("DRAWLOOM_EMULATOR_THREADS", "1")

    def once(function, shared, grid, inputs, output, numbers):
        (tmp_path / "log").write_text("")
        pointers = [driver.upload(array) for array in [*inputs, np.zeros_like(output)]]
        arguments = [*map(ctypes.c_uint64, pointers),
                     *(n if isinstance(n, ctypes.c_uint64) else ctypes.c_int32(n) for n in numbers)]
        driver.launch(function, arguments, 128, grid, shared)
        report = None
        try:
            driver.CtxSynchronize()
        except CudaError as error:
            assert error.code == LAUNCH_FAILED
            driver.reset()
            report = (tmp_path / "log").read_text()
        result = driver.download(pointers[-1], output)
        for pointer in pointers:
            driver.MemFree_v2(pointer)
        return report, result

    def runner(name, shared, cases):
        def run(text):
            module = driver.load(install(tmp_path, text.encode(), text))
            function = driver.function(module, name)
            reports, results = zip(*(once(function, shared, *case) for case in cases), strict=True)
            driver.ModuleUnload(module)
            return next((r for r in reports if r is not None), None), results

        return run

    return runner


def as_bf16(array):
    return torch.from_numpy(array).bfloat16().view(torch.int16).numpy()


def gemm_runner(runner, rng):
    # Rows end in either half of what is copied, and of what is written.
    cases, expected = [], []
    for m in (100, 74):
        a = rng.integers(-4, 5, (m, 96)).astype(np.float32)
        b = rng.integers(-4, 5, (16, 96)).astype(np.float32)
        cases.append(((2, 1, 1), [as_bf16(a), as_bf16(b)], np.zeros((m, 16), np.float32), [m]))
        expected.append(a @ b.T)
    return runner("gemm", 2 * 80 * 64, cases), expected


def scan_runner(runner, rng):
    x = rng.integers(1, 100, 128).astype(np.int32)
    return runner("scan", 512, [((1, 1, 1), [x], x, [])]), [np.cumsum(x)]


def reduction_runner(runner, rng):
    cases, expected = [], []
    for greatest in (5, 40, 70, 99):
        x = rng.integers(1, 100, 100).astype(np.float32)
        x[greatest] = 1000
        cases.append(((1, 1, 1), [x], np.zeros(2, np.float32), [100]))
        expected.append(np.array([x.sum(), x.max()]))
    return runner("reduction", 512, cases), expected


KERNELS = {
    "gemm": (gemm, gemm_runner),
    "scan": (scan, scan_runner),
    "reduction": (reduction, reduction_runner),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_good_kernels_are_right_under_every_schedule(name, seed, runner, rng, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_EMULATOR_SEED", str(seed))
    text, make = KERNELS[name]
    run, expected = make(runner, rng)
    report, results = run(text())
    assert report is None
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, right)


# What the emulator must report by itself: results may be right by chance.
SYNCHRONISATION = ("barrier", "warp barrier", "wait", "wait for one less")


@pytest.mark.parametrize("name", KERNELS)
def test_every_change_is_noticed(name, runner, rng):
    text, make = KERNELS[name]
    run, _ = make(runner, rng)
    score = judge(text(), run)
    print(f"\n{name}\n{score}")
    for kind in SYNCHRONISATION:
        assert score.reported[kind] == score.total([kind]), str(score)
    assert not score.unnoticed, str(score)


# Of ours: a product by mma whose rows end within a tile, another whose left operand is in registers already, and a sum
# over rows, lanes and warps. Rows of padding are not zero before the sum, so that adding one shows.
EMITTED = """
func.func @network(%x: tensor<62x16xbf16>, %v: tensor<16x16xbf16>, %w: tensor<16x16xbf16>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<62x16xf32>
  %s = tensor.empty() : tensor<16xf32>
  %zero = arith.constant 0.0 : f32
  %sums = linalg.fill ins(%zero : f32) outs(%s : tensor<16xf32>) -> tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<62x16xf32>) -> tensor<62x16xf32>
  %y = linalg.matmul ins(%x, %v : tensor<62x16xbf16>, tensor<16x16xbf16>) outs(%f : tensor<62x16xf32>) -> tensor<62x16xf32>
  %one = arith.constant dense<1.0> : tensor<62x16xf32>
  %p = arith.addf %y, %one : tensor<62x16xf32>
  %h = arith.truncf %p : tensor<62x16xf32> to tensor<62x16xbf16>
  %z = linalg.matmul ins(%h, %w : tensor<62x16xbf16>, tensor<16x16xbf16>) outs(%f : tensor<62x16xf32>) -> tensor<62x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                       iterator_types = ["reduction", "parallel"]} ins(%z : tensor<62x16xf32>) outs(%sums : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
"""


def test_changes_of_a_kernel_of_ours_are_noticed(runner, rng):
    # Tiles as a program of blocks would have them: all of it is one block.
    text = tool("drawloom-run", "-", "--random", "--target=emulator", "--compile-from=blocks", "--compile-to=llvm", text=EMITTED)
    x, v, w = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((62, 16), (16, 16), (16, 16)))
    (shared,) = map(int, re.findall(r"drawloom.shared_bytes = (\d+)", text))
    case = ((1, 1, 1), [as_bf16(a) for a in (x, v, w)], np.zeros(16, np.float32), [ctypes.c_uint64(0), ctypes.c_uint64(0)])
    run = runner("network_0", shared, [case])
    report, results = run(text)
    assert report is None
    np.testing.assert_array_equal(results[0], ((x @ v + 1) @ w).sum(0))
    score = judge(text, run)
    print(f"\n{score}")
    assert score.reported["barrier"] == score.total(["barrier"]) > 0, str(score)
    # Three changes make no difference: zeros are stored into padding that holds zeros, once more or 16 bytes further on.
    assert len(score.unnoticed) <= 3 and score.total() >= 30, str(score)


def test_each_mutation_changes_one_line():
    text = gemm()
    count = 0
    for mutation in mutations(text):
        before, after = text.split("\n"), mutation.text.split("\n")
        assert [i + 1 for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [mutation.line]
        count += 1
    assert count > 40
