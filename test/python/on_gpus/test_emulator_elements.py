# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulator compares addresses with the elements that accesses say they are of."""

import ctypes
import re

import numpy as np
import pytest

from support.emulated_driver import ARENA, LAUNCH_FAILED, CudaError, Driver, install, needs_driver
from support.runner import tool

pytestmark = needs_driver

# Thread t of 32 copies element t of rows of 8, of which 3 rows and 6 columns are the view; others read its first
# element instead. What is stored lies in rows of 8 of shared memory, from byte 64 on.
KERNEL = ARENA + """llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %c6 = llvm.mlir.constant(6 : i32) : i32
  %c7 = llvm.mlir.constant(7 : i32) : i32
  %c8 = llvm.mlir.constant(8 : i32) : i32
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %row = llvm.lshr %t, %c3 : i32
  %column = llvm.and %t, %c7 : i32
  %r = llvm.icmp "slt" %row, %c3 : i32
  %c = llvm.icmp "slt" %column, %c6 : i32
  %in = llvm.and %r, %c : i1
  %start = llvm.mul %row, %c8 : i32
  %n = llvm.add %start, %column : i32
  %p = llvm.getelementptr %x[%n] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %q = llvm.select %in, %p, %x : i1, !llvm.ptr<1>
  %v = llvm.load %q {drawloom.element = {at = array<i64: 0, 0>, buffer = array<i64: 0, 96>, moves = array<i64: 0, 0, 0>,
    sizes = array<i64: 3, 6>, strides = array<i64: 32, 4>,
    threads = array<i64: 1, 1, 1, 2, 1, 4, 0, 1, 0, 2>}} : !llvm.ptr<1> -> f32
  %w = llvm.select %in, %v, %zero : i1, f32
  %a = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
  %b = llvm.getelementptr %a[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %d = llvm.getelementptr %b[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %w, %d {drawloom.element = {at = array<i64: 0, 0>, buffer = array<i64: 64, 128>, moves = array<i64: 0, 0, 0>,
    sizes = array<i64: 4, 8>, strides = array<i64: 32, 4>,
    threads = array<i64: 1, 1, 1, 2, 1, 4, 0, 1, 0, 2>}} : f32, !llvm.ptr<3>
  %e = llvm.load %d : !llvm.ptr<3> -> f32
  %f = llvm.getelementptr %y[%n] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %e, %f : f32, !llvm.ptr<1>
  llvm.return
}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run(text) gives what the emulator reports, None where it reports nothing, and the copy."""
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", str(tmp_path))
    monkeypatch.setenv("DRAWLOOM_EMULATOR_LOG", str(tmp_path / "log"))
    driver = Driver()
    x = np.arange(32, dtype=np.float32) + 1

    def run(text):
        pointers = [driver.upload(x), driver.upload(np.zeros_like(x))]
        function = driver.function(driver.load(install(tmp_path, text.encode(), text)), "k")
        driver.launch(function, [ctypes.c_uint64(p) for p in pointers], 32, shared=256)
        try:
            driver.CtxSynchronize()
        except CudaError as error:
            assert error.code == LAUNCH_FAILED
            driver.reset()
            return (tmp_path / "log").read_text(), None
        return None, driver.download(pointers[1], x).reshape(4, 8)

    return run


def test_right_elements_are_not_reported(run):
    report, copy = run(KERNEL)
    assert report is None
    expected = np.arange(32, dtype=np.float32).reshape(4, 8) + 1
    expected[3:], expected[:, 6:] = 0, 0
    np.testing.assert_array_equal(copy, expected)


@pytest.mark.parametrize("before, after, said", [
    # In bounds, and no race.
    ("%p = llvm.getelementptr %x[%n]", "%o = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n"
     "  %p = llvm.getelementptr %o[%n]", r"accesses byte 16 of a buffer, but element \(0, 0\) is at byte 0"),
    # The last row of the view alone ends the allocation: this one is of the row in front.
    ("%in = llvm.and %r, %c : i1", "%in = llvm.or %r, %r : i1", r"element \(0, 6\) of a view of extents \(3, 6\)"),
    # A mask that is too narrow.
    ("%c6 = llvm.mlir.constant(6 : i32)", "%c6 = llvm.mlir.constant(5 : i32)",
     r"accesses byte 0 of a buffer, but element \(0, 5\) is at byte 20"),
    # Into the bytes behind the buffer, which are the launch's all the same.
    ("buffer = array<i64: 64, 128>", "buffer = array<i64: 64, 124>", r"byte 124 of a buffer of 124 bytes"),
    ("%b = llvm.getelementptr %a[64]", "%b = llvm.getelementptr %a[68]", r"byte 4 of a buffer, but element \(0, 0\) is at byte 0"),
    ("%start = llvm.mul %row, %c8", "%start = llvm.mul %row, %c7", r"element \(1, 0\) is at byte 32"),
])
def test_another_element_is_reported(run, before, after, said):
    assert before in KERNEL
    report, _ = run(KERNEL.replace(before, after))
    assert re.search(said, report), report


def test_numbers_that_lack_are_an_error(run):
    with pytest.raises(CudaError):
        run(KERNEL.replace("at = array<i64: 0, 0>, buffer = array<i64: 0, 96>,", "buffer = array<i64: 0, 96>,"))


PRODUCT = """
func.func @product(%x: tensor<32x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<32x32xbf16>, tensor<32x32xbf16>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
"""


def test_transposed_matrices_are_reported(tmp_path, monkeypatch):
    """Lanes read the right addresses, and each gets numbers that another one should have."""
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", str(tmp_path))
    monkeypatch.setenv("DRAWLOOM_EMULATOR_LOG", str(tmp_path / "log"))
    text = tool("drawloom-run", "-", "--random", "--target=emulator", "--compile-to=llvm", text=PRODUCT)
    name = re.search(r"@(product_\d+)\(", text)[1]
    shared, threads = (int(re.search(p, text)[1]) for p in (r"shared_bytes = (\d+)", r"reqntid = array<i32: (\d+)>"))
    driver = Driver()
    pointers = [driver.upload(np.zeros((32, 32), np.uint16)) for _ in range(2)]
    pointers.append(driver.upload(np.zeros((32, 32), np.float32)))
    reports = []
    for changed in (text, text.replace("mma_layout<col>, num", "mma_layout<row>, num", 1)):
        function = driver.function(driver.load(install(tmp_path, changed.encode(), changed)), name)
        driver.launch(function, [ctypes.c_uint64(p) for p in pointers], threads, shared=shared)
        try:
            driver.CtxSynchronize()
            reports.append(None)
        except CudaError:
            driver.reset()
            reports.append((tmp_path / "log").read_text())
    assert reports[0] is None
    assert "of a buffer, but element" in reports[1]
