# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose numbers of rows are open, on GPUs: compiled once for the emulator and for the CUDA runtime over the emulated driver."""

import ml_dtypes
import numpy as np
import pytest

import drawloom
from on_gpus import device_arrays
from on_gpus.device_arrays import Array, Tensor
from programs.test_open_extents import OPEN_MLP, arguments_for, bits
from support.emulated_driver import LIBRARY, Driver, needs_driver
from support.runner import tool

MLP = OPEN_MLP.replace("LOSS", "f32")
# Around each size of tile, primes, and more rows than there are blocks for.
ROWS = (0, 1, 7, 8, 9, 63, 64, 65, 127, 255, 256, 257, 509, 40009)

BIAS = """
func.func @layer(%x: tensor<?x6xf32>, %w: tensor<6x5xf32>, %b: tensor<5xf32>) -> tensor<?x5xf32> {
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x6xf32>
  %e = tensor.empty(%rows) : tensor<?x5xf32>
  %s = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<?x5xf32>) dimensions = [0]
  %z = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x5xf32>) outs(%s : tensor<?x5xf32>) -> tensor<?x5xf32>
  %y = kan.gelu %z : tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func private @loss(%x: tensor<?x6xf32>, %w: tensor<6x5xf32>, %b: tensor<5xf32>, %t: tensor<?x5xf32>) -> tensor<f32> {
  %y = call @layer(%x, %w, %b) : (tensor<?x6xf32>, tensor<6x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>
  %l = loss.mse %y, %t : tensor<?x5xf32> -> tensor<f32>
  return %l : tensor<f32>
}
"""
STEP = BIAS + """
func.func @step(%x: tensor<?x6xf32>, %w: tensor<6x5xf32>, %b: tensor<5xf32>, %t: tensor<?x5xf32>, %v: tensor<6x5xf32>, %lr: f32)
    -> (tensor<f32>, tensor<6x5xf32>, tensor<5xf32>, tensor<6x5xf32>) {
  %l, %dw, %db = ad.value_and_grad @loss(%x, %w, %b, %t) wrt [1, 2]
    : (tensor<?x6xf32>, tensor<6x5xf32>, tensor<5xf32>, tensor<?x5xf32>) -> (tensor<f32>, tensor<6x5xf32>, tensor<5xf32>)
  %half = arith.constant dense<0.5> : tensor<6x5xf32>
  %old = arith.mulf %v, %half : tensor<6x5xf32>
  %m = arith.addf %old, %dw : tensor<6x5xf32>
  %rate = tensor.splat %lr : tensor<6x5xf32>
  %change = arith.mulf %rate, %m : tensor<6x5xf32>
  %next = arith.subf %w, %change : tensor<6x5xf32>
  return %l, %next, %db, %m : tensor<f32>, tensor<6x5xf32>, tensor<5xf32>, tensor<6x5xf32>
}
"""
ELEMENTWISE = """
func.func @f(%x: tensor<?x33xf32>, %y: tensor<?x33xf32>) -> (tensor<?x33xf32>, tensor<?x33xf32>) {
  %s = arith.addf %x, %y : tensor<?x33xf32>
  %p = kan.silu %s : tensor<?x33xf32>
  return %p, %x : tensor<?x33xf32>, tensor<?x33xf32>
}
"""
RATIONAL = """
func.func private @sum(%x: tensor<?x8xf32>, %a: tensor<2x4xf32>, %b: tensor<2x3xf32>) -> tensor<f32> {
  %y = kan.rational %x, %a, %b form(abs_terms) : tensor<?x8xf32>, tensor<2x4xf32>, tensor<2x3xf32>
  %l = loss.mse %y, %x : tensor<?x8xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradient(%x: tensor<?x8xf32>, %a: tensor<2x4xf32>, %b: tensor<2x3xf32>) -> (tensor<f32>, tensor<?x8xf32>, tensor<2x4xf32>, tensor<2x3xf32>) {
  %l, %dx, %da, %db = ad.value_and_grad @sum(%x, %a, %b) wrt [0, 1, 2]
    : (tensor<?x8xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<?x8xf32>, tensor<2x4xf32>, tensor<2x3xf32>)
  return %l, %dx, %da, %db : tensor<f32>, tensor<?x8xf32>, tensor<2x4xf32>, tensor<2x3xf32>
}
"""
PLAIN_ROWS = """
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %s = arith.mulf %x, %y : tensor<?xf32>
  %l = loss.mse %s, %y : tensor<?xf32> -> tensor<f32>
  return %s, %l : tensor<?xf32>, tensor<f32>
}
"""
PROGRAMS = {
    "bias": (BIAS, "layer", lambda n: ((n, 6), (6, 5), (5,))),
    "optimizer": (STEP, "step", lambda n: ((n, 6), (6, 5), (5,), (n, 5), (6, 5), ())),
    "elementwise": (ELEMENTWISE, "f", lambda n: ((n, 33), (n, 33))),
    "rational": (RATIONAL, "gradient", lambda n: ((n, 8), (2, 4), (2, 3))),
    "numbers": (PLAIN_ROWS, "f", lambda n: ((n,), (n,))),
}


def made_up(rng, shapes):
    return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


def check_bits(text, name, rows, arguments):
    """One program for all has the bits of one for each."""
    any_rows, exact = (drawloom.compile(text, target="emulator") for _ in range(2))
    for n in rows:
        given = arguments(n)
        expected = exact._compile(name, [np.shape(one) for one in given]).call(given, None, 1)
        assert bits(getattr(any_rows, name)(*given)) == bits(expected), n
    assert getattr(any_rows, name)._any, "it was compiled for some rows alone"
    return any_rows


@pytest.mark.parametrize("element,dtype", [("f32", np.float32), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_training_steps_have_the_bits_of_programs_for_each_number_of_rows(rng, element, dtype):
    check_bits(MLP.replace("ELEMENT", element), "train", ROWS if element == "f32" else (0, 1, 65, 509),
               lambda n: arguments_for(rng, n, dtype))


@pytest.mark.parametrize("program", PROGRAMS)
def test_other_programs_have_the_same_bits(rng, program):
    text, name, shapes = PROGRAMS[program]
    module = check_bits(text, name, (0, 1, 7, 64, 100, 1031), lambda n: made_up(rng, shapes(n)))
    cpu = drawloom.compile(text)
    for n in (0, 1, 77):
        given = made_up(rng, shapes(n))
        for ours, theirs in zip(*(one if isinstance(one, tuple) else (one,) for one in (getattr(module, name)(*given), getattr(cpu, name)(*given)))):
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-6)


def test_all_numbers_of_rows_are_one_compilation(rng):
    module = drawloom.compile(MLP.replace("ELEMENT", "f32"), target="emulator", cache=False)
    before = drawloom.cache.statistics().compiled
    for n in (5, 0, 64, 71, 200):
        module.train(*arguments_for(rng, n, np.float32))
    assert drawloom.cache.statistics().compiled == before + 1


def test_extents_that_do_not_agree_are_refused_before_anything_runs(rng):
    module = drawloom.compile(MLP.replace("ELEMENT", "f32"), target="emulator")
    x, t, w, v = arguments_for(rng, 4, np.float32)
    module.train(x, t, w, v)
    with pytest.raises(drawloom.CallError, match=r"argument 1 of @train takes float32\[\?, 5\], where \? is 4, but is float32\[3, 5\]"):
        module.train(x, t[:3], w, v)
    with pytest.raises(drawloom.CallError, match=r"result 0 of @forward takes float32\[4, 5\], but is float32\[3, 5\]"):
        module.forward(x, w, v, out=np.empty((3, 5), np.float32))


def test_what_cannot_stay_open_is_compiled_for_each_number(rng, tmp_path):
    """Rows along the last dimension: steps through memory would be open as well."""
    module = drawloom.compile("""
func.func @f(%x: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %y = arith.addf %x, %x : tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}""", target="emulator")
    for n in (1, 5):
        x = rng.uniform(-1, 1, (3, n)).astype(np.float32)
        assert np.array_equal(module.f(x), 2 * x)
    assert not module.f._any
    with pytest.raises(drawloom.Error, match="which may be open in the first dimension alone"):
        module.save(tmp_path / "f.drawloom")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """One file for CPUs and GPUs, and where its kernels are for the driver."""
    folder = tmp_path_factory.mktemp("open")
    (folder / "mlp.mlir").write_text(MLP.replace("ELEMENT", "f32"))
    tool("drawloom-translate", folder / "mlp.mlir", "--mlir-to-bundle", "--bundle-modules", "--arch=sm_80", f"--bundle-dir={folder}/b")
    tool("drawloom-translate", folder / "mlp.mlir", "--mlir-to-artifact", "--target=cpu,cuda", "--isa=baseline", "--arch=sm_80", "-o",
         folder / "mlp.drawloom")
    return folder


@pytest.fixture
def driver(saved, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_LIBCUDA", str(LIBRARY))
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", f"{saved}/b/sm_80")
    monkeypatch.setenv("DRAWLOOM_EMULATOR_LOG", str(saved / "log"))
    device_arrays.Library.driver, device_arrays.Library.stream, Tensor.current = Driver(), 1, None
    yield device_arrays.Library.driver


@needs_driver
def test_a_file_for_any_rows_runs_on_both(rng, saved, driver):
    cpu, gpu = (drawloom.load(saved / "mlp.drawloom", target=target) for target in ("cpu", "cuda"))
    for n in (3, 0, 64, 200, 17):
        given = arguments_for(rng, n, np.float32)
        for ours, theirs in zip(gpu.train(*given), cpu.train(*given)):
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-6)


@needs_driver
def test_arrays_of_the_device_say_how_many_rows_there_are(rng, saved, driver):
    gpu = drawloom.load(saved / "mlp.drawloom", target="cuda")
    for n in (3, 130, 64):
        given = arguments_for(rng, n, np.float32)
        expected = gpu.train(*given)
        results = gpu.train(*(Array.of(driver, one) for one in given))
        assert [one.shape for one in results] == [np.shape(one) for one in expected]
        assert [one.numpy().tobytes() for one in results] == bits(expected)


@needs_driver
def test_the_runtime_and_the_emulator_have_the_same_bits(rng, saved, driver):
    gpu, emulated = drawloom.load(saved / "mlp.drawloom", target="cuda"), drawloom.compile(saved / "mlp.mlir", target="emulator")
    given = arguments_for(rng, 77, np.float32)
    assert bits(gpu.forward(given[0], *given[2:])) == bits(emulated.forward(given[0], *given[2:]))


@needs_driver
def test_arrays_of_the_device_that_do_not_agree_are_refused(rng, saved, driver):
    gpu = drawloom.load(saved / "mlp.drawloom", target="cuda")
    x, t, w, v = (Array.of(driver, one) for one in arguments_for(rng, 4, np.float32))
    t = Array.of(driver, np.zeros((3, 5), np.float32))
    with pytest.raises(drawloom.CallError, match="argument 1 of @train is given with extent 3 in dimension 0, which has to be that of dimension 0 of "
                                                 "argument 0, 4"):
        gpu.train(x, t, w, v)
