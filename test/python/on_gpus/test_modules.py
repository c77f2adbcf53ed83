# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.compile(..., target="cuda") on the emulated driver: NumPy arrays, and arrays of the device by DLPack."""

import ctypes
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import drawloom
from on_gpus import device_arrays
from on_gpus.device_arrays import Array, Tensor
from support.emulated_driver import LIBRARY, Driver, needs_driver
from support.runner import ROOT, tool

pytestmark = needs_driver

TEXT = """
func.func @scale(%a: f32, %x: tensor<40x8xf32>, %w: tensor<8x16xf32>) -> (tensor<40x16xf32>, tensor<40x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<40x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<40x8xf32>, tensor<8x16xf32>) outs(%zero : tensor<40x16xf32>) -> tensor<40x16xf32>
  %s = tensor.splat %a : tensor<40x8xf32>
  %z = arith.mulf %s, %x : tensor<40x8xf32>
  return %y, %z : tensor<40x16xf32>, tensor<40x8xf32>
}
func.func @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @rank0(%x: tensor<f32>) -> tensor<f32> {
  %y = arith.addf %x, %x : tensor<f32>
  return %y : tensor<f32>
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program as a file, and where its kernels are for the driver."""
    folder = tmp_path_factory.mktemp("gpu")
    source = folder / "program.mlir"
    source.write_text(TEXT)
    tool("drawloom-translate", source, "--mlir-to-bundle", "--bundle-modules", "--arch=sm_80,sm_90a", f"--bundle-dir={folder}/b")
    tool("drawloom-translate", source, "--mlir-to-artifact", "--target=cpu,cuda", "--isa=baseline", "--arch=sm_80,sm_90a", "-o",
         folder / "program.drawloom")
    return source


@pytest.fixture
def driver(program, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_LIBCUDA", str(LIBRARY))
    folder = program.parent
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", f"{folder}/b/sm_80:{folder}/b/sm_90a")
    monkeypatch.setenv("DRAWLOOM_EMULATOR_LOG", str(folder / "log"))
    device_arrays.Library.driver, device_arrays.Library.stream, Tensor.current = Driver(), 1, None
    yield device_arrays.Library.driver


@pytest.fixture
def module(program, driver):
    return drawloom.compile(program, target="cuda", cache=False)


@pytest.fixture
def values(rng):
    return rng.standard_normal((40, 8), dtype=np.float32), rng.standard_normal((8, 16), dtype=np.float32)


def check(results, x, w, a=3):
    np.testing.assert_allclose(results[0], x @ w, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(results[1], np.float32(a) * x)


def test_arrays_of_numpy_are_copied_there_and_back(module, values):
    x, w = values
    results = module.scale(3, x, w)
    assert all(isinstance(result, np.ndarray) for result in results)
    check(results, x, w)
    out = np.empty((40, 16), np.float32), np.empty((40, 8), np.float32)
    assert module.scale(3, x.T.copy().T, w, out=out)[0] is out[0]
    check(out, x, w)


@pytest.mark.parametrize("kind", [Array, Tensor])
def test_arrays_of_the_device_are_used_in_place(module, driver, values, kind):
    x, w = (kind.of(driver, value) for value in values)
    results = module.scale(3, x, w)
    assert [type(result) for result in results] == [kind, kind]
    assert [result.shape for result in results] == [(40, 16), (40, 8)]
    check([result.numpy() for result in results], *values)
    np.testing.assert_array_equal(x.numpy(), values[0])
    if kind is Array:
        assert x.streams == w.streams == [1], "the legacy default stream"
        del x, w
        gc.collect()
        assert not device_arrays.handed_out


def test_call_is_on_the_stream_that_is_named(module, driver, values, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_EMULATED_DEFER", "1")
    stream, other = driver.stream().value, driver.stream().value
    x = Array.of(driver, np.arange(8, dtype=np.float32))
    device_arrays.Library.stream = other
    y = module.double(x, stream=stream)
    assert x.streams == [stream]
    # The result's library was at another stream: it waits for the call's.
    np.testing.assert_array_equal(y.numpy(ctypes.c_void_p(other)), 2 * np.arange(8))


def test_call_is_on_the_current_stream_of_a_library_that_names_it(module, driver, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_EMULATED_DEFER", "1")
    stream, other = driver.stream(), driver.stream()
    host = np.arange(8, dtype=np.float32)
    x = Tensor(driver, driver.alloc(host.nbytes), host.shape)
    # Not there yet when the function is called.
    driver.MemcpyHtoDAsync_v2(x.pointer, host.ctypes.data_as(ctypes.c_void_p), host.nbytes, stream)
    Tensor.current = stream.value
    y = module.double(x)
    np.testing.assert_array_equal(y.numpy(stream), 2 * host)
    # On another stream: behind what is on the current one, and in front of what follows there.
    driver.MemcpyHtoDAsync_v2(x.pointer, (host + 1).ctypes.data_as(ctypes.c_void_p), host.nbytes, stream)
    y = module.double(x, stream=other.value)
    np.testing.assert_array_equal(y.numpy(stream), 2 * host + 2)


@pytest.mark.parametrize("kind", [Array, Tensor])
def test_results_go_to_arrays_that_are_given(module, driver, values, kind):
    x, w = (kind.of(driver, value) for value in values)
    out = [kind.of(driver, np.zeros(shape, np.float32)) for shape in ((40, 16), (40, 8))]
    assert module.scale(2, x, w, out=out)[1] is out[1]
    check([array.numpy() for array in out], *values, a=2)


def test_memory_of_results_is_used_again(module, driver):
    x = Array.of(driver, np.ones(8, np.float32))
    first = module.double(x)
    address = first.pointer
    assert module.double(x).pointer != address
    del first
    gc.collect()
    assert address in {module.double(x).pointer for _ in range(2)}


def test_array_without_a_library_has_dlpack(module, driver, monkeypatch):
    with monkeypatch.context() as context:
        context.delattr(device_arrays, "from_dlpack")
        y = module.double(Array.of(driver, np.ones(8, np.float32)))
    assert (y.shape, y.dtype, y.__dlpack_device__()) == ((8,), "float32", (2, 0))
    # It is an argument like any other.
    z = device_arrays.from_dlpack(module.double(y))
    np.testing.assert_array_equal(z.numpy(), np.full(8, 4, np.float32))
    with pytest.raises(BufferError, match="no copies"):
        y.__dlpack__(copy=True)


def test_loaded_file_runs_where_it_is_told(program, driver, values):
    path = program.parent / "program.drawloom"
    check(drawloom.load(path).scale(3, *values), *values)
    on_gpu = drawloom.load(path, target="cuda")
    check(on_gpu.scale(3, *values), *values)
    x, w = (Array.of(driver, value) for value in values)
    check([result.numpy() for result in on_gpu.scale(3, x, w)], *values)
    with pytest.raises(drawloom.TargetError, match="no code for target 'emulator'; it has code for 'cpu', 'cuda'"):
        drawloom.load(path, target="emulator")


def test_compiled_module_is_saved_with_its_code(module, driver, values, tmp_path):
    module.save(tmp_path / "gpu.drawloom")
    check(drawloom.load(tmp_path / "gpu.drawloom").scale(3, *values), *values)


@pytest.mark.parametrize("kind", [Array, Tensor])
def test_what_does_not_fit_is_refused(module, driver, values, kind):
    x, w = (kind.of(driver, value) for value in values)
    for arguments, why in (
            ((3, values[0], w), "argument 1 of @scale is in the host's memory, but the program runs on CUDA device 0"),
            ((3, x, values[1]), "argument 2 of @scale is in the host's memory"),
            ((x, x, w), "argument 0 of @scale is on CUDA device 0, but it is a number"),
            ((3, x, x), r"argument 2 of @scale takes shape \(8, 16\), but the tensor has \(40, 8\)")):
        with pytest.raises(drawloom.CallError, match=why):
            module.scale(*arguments)
    with pytest.raises(drawloom.CallError, match="result 0 of @scale is in the host's memory"):
        module.scale(3, x, w, out=[np.zeros((40, 16), np.float32), np.zeros((40, 8), np.float32)])
    with pytest.raises(drawloom.CallError, match="share memory"):
        module.double(y := kind.of(driver, np.ones(8, np.float32)), out=y)
    x.device = 1
    with pytest.raises(drawloom.CallError, match="argument 1 of @scale is on CUDA device 1, but the program runs on CUDA device 0"):
        module.scale(3, x, w)
    x.device, x.strides = 0, (1, 40)
    with pytest.raises(drawloom.CallError, match="is not dense and row-major"):
        module.scale(3, x, w)


def test_number_is_no_tensor_of_the_device(module, driver):
    y = module.rank0(Array.of(driver, np.array(3, np.float32)))
    assert y.shape == () and y.numpy() == 6
    assert module.rank0(3.0) == 6, "on the host, it is"


@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_modules_of_the_host_say_that_they_are(program, driver, target):
    module = drawloom.compile(program, target=target, cache=False)
    with pytest.raises(drawloom.CallError, match="not in this machine's main memory"):
        module.double(Array.of(driver, np.ones(8, np.float32)))
    np.testing.assert_array_equal(module.double(np.ones(8, np.float32)), 2)


WITHOUT_A_DRIVER = """
import sys
import drawloom
for isa in (None, "sm_80"):
    try:
        drawloom.compile(sys.argv[1], target="cuda", cache=False, isa=isa)
    except drawloom.TargetError as error:
        print(error)
try:
    drawloom.load(sys.argv[2], target="cuda")
except drawloom.TargetError as error:
    print(error)
"""


def test_machine_without_a_driver_says_so(program):
    # A process of its own: what another test has loaded stays loaded.
    done = subprocess.run([sys.executable, "-c", WITHOUT_A_DRIVER, program, program.parent / "program.drawloom"],
                          env={**os.environ, "DRAWLOOM_LIBCUDA": "/there/is/no/libcuda.so.1",
                               "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, check=True)
    compiled, compiled_for, loaded = done.stdout.splitlines()
    for error in (compiled, compiled_for):
        assert error.startswith("this machine cannot run target 'cuda': there is no CUDA driver: ")
        # Nothing that has the same lack is recommended.
        assert "native" not in error
    assert "there is no CUDA driver" in loaded


def test_device_that_has_no_code_is_named(program, driver, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_EMULATED_CAPABILITY", "75")
    with pytest.raises(drawloom.TargetError, match="capability 7.5; it is for sm_90a, sm_80"):
        drawloom.load(program.parent / "program.drawloom", target="cuda")


def test_failure_of_the_device_is_a_device_error(program, driver, monkeypatch):
    # Loaded anew: what another one keeps would do.
    module = drawloom.load(program.parent / "program.drawloom", target="cuda")
    monkeypatch.setenv("DRAWLOOM_EMULATED_FAULT", "out-of-memory")
    with pytest.raises(drawloom.DeviceError, match="OUT_OF_MEMORY"):
        module.double(np.ones(8, np.float32))


def test_values_leave_the_device_for_arrays_of_either_side(driver, tmp_path, monkeypatch, rng):
    source, blocks = ROOT / "test/unit/runtime/Inputs/gpu-offload.mlir", tmp_path / "blocks.mlir"
    blocks.write_text(tool("drawloom-run", source, "--target=cuda", "--isa=sm_80", "--memory=5000000", f"--spill={tmp_path}", "--compile-to=blocks",
                           "--memory-rates=operations=1e8,memory=1e8"))
    for options in (["--mlir-to-bundle", "--bundle-modules", f"--bundle-dir={tmp_path}/b"],
                    ["--mlir-to-artifact", "--target=cuda", "-o", tmp_path / "f.drawloom"]):
        tool("drawloom-translate", "--compile-from=blocks", blocks, "--arch=sm_80", *options)
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", f"{tmp_path}/b/sm_80")
    monkeypatch.setenv("DRAWLOOM_EMULATED_DEFER", "1")
    (tmp_path / "store").mkdir()
    x = rng.standard_normal((384, 704), dtype=np.float32)
    module = drawloom.load(tmp_path / "f.drawloom", spill=tmp_path / "store")
    assert module.chain.specialize().stored > 0
    # GpuOffloadTest.cpp has what the numbers are; here they come by each way in, late or at once.
    results = module.chain(x)
    for ours, theirs in zip(module.chain(Array.of(driver, x)), results, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)
    monkeypatch.setenv("DRAWLOOM_EMULATED_DEFER", "0")
    for ours, theirs in zip(module.chain(x), results, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert np.isfinite(results[0]).all()
    with pytest.raises(drawloom.StorageError, match="has no store for them"):
        drawloom.load(tmp_path / "f.drawloom").chain(x)
