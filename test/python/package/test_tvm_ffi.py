# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as a library of TVM's foreign function interface, called by apache-tvm-ffi."""

import subprocess

import numpy as np
import pytest

from support.runner import BUILD, ROOT

tvm_ffi = pytest.importorskip("tvm_ffi")

PROGRAM = """
func.func @add(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = arith.addf %x, %b : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func @both(%x: tensor<2x3xf64>, %n: i32, %t: i1) -> (tensor<2x3xf64>, i32) {
  %y = math.exp %x : tensor<2x3xf64>
  %c = arith.constant 7 : i32
  %d = arith.select %t, %n, %c : i32
  return %y, %d : tensor<2x3xf64>, i32
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if "DRAWLOOM_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("a library with sanitizers cannot be loaded by Python")
    folder = tmp_path_factory.mktemp("tvm-ffi")
    (folder / "p.mlir").write_text(PROGRAM)
    subprocess.run([BUILD / "bin" / "drawloom-translate", "--mlir-to-tvm-ffi", "--isa=baseline,native",
                    folder / "p.mlir", "-o", folder / "p.c"], check=True)
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", folder / "p.c",
                    f"-I{ROOT}/include", f"-L{BUILD}/lib", "-ldrawloom_runtime", f"-Wl,-rpath,{BUILD}/lib", "-o",
                    folder / "p.so"], check=True)
    return tvm_ffi.load_module(folder / "p.so")


def test_numpy_arrays_are_read_and_written_in_place(library):
    x, z = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    library.add(x, 1.5, z)
    np.testing.assert_array_equal(z, x + 1.5)


def test_torch_tensors_are_read_and_written_in_place(library):
    torch = pytest.importorskip("torch")
    x, z, n = torch.rand(2, 3, dtype=torch.float64), torch.zeros(2, 3, dtype=torch.float64), torch.zeros((), dtype=torch.int32)
    library.both(x, 5, True, z, n)
    torch.testing.assert_close(z, x.exp(), rtol=1e-15, atol=0)
    assert n.item() == 5


def test_numbers_may_come_as_tensors(library):
    x, z, n = np.zeros((2, 3)), np.empty((2, 3)), np.zeros((), np.int32)
    library.both(x, np.array(3, np.int32), np.array(False), z, n)
    assert n == 7 and (z == 1).all()


def test_results_do_not_depend_on_threads(library):
    x, first, second = np.random.default_rng(0).random((2, 3)), np.empty((2, 3)), np.empty((2, 3))
    n = np.zeros((), np.int32)
    library.both(x, 3, True, first, n)
    library.drawloom_set_threads(3)
    library.both(x, 3, True, second, n)
    library.drawloom_set_threads(1)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("change, error, message", [
    (lambda x, z: (x, z), TypeError, "@add takes 2 arguments and 1 tensors for its results, but 2 are given"),
    (lambda x, z: (x, "a", z), TypeError, "argument 1 of @add is no tensor, and no number that fits"),
    (lambda x, z: (x, 1.0, 2.0), TypeError, "result 0 of @add is no tensor"),
    (lambda x, z: (x, 1.0, x), ValueError, "share memory"),
    (lambda x, z: (np.zeros(5, np.float32), 1.0, z), ValueError, r"takes shape \(4\), but the tensor has \(5\)"),
    (lambda x, z: (np.zeros(4), 1.0, z), ValueError, "takes elements of f32, but the tensor has f64"),
    (lambda x, z: (np.zeros(8, np.float32)[::2], 1.0, z), ValueError, "not dense and row-major"),
])
def test_what_does_not_fit_raises(library, change, error, message):
    x, z = np.zeros(4, np.float32), np.full(4, 7, np.float32)
    with pytest.raises(error, match=message):
        library.add(*change(x, z))
    assert (z == 7).all()


def test_numbers_that_do_not_fit_raise(library):
    x, z, n = np.zeros((2, 3)), np.empty((2, 3)), np.zeros((), np.int32)
    for wrong in (2**31, 0.5):
        with pytest.raises(TypeError, match="argument 1 of @both"):
            library.both(x, wrong, True, z, n)
    with pytest.raises(ValueError, match="from 1 to 1024"):
        library.drawloom_set_threads(0)
