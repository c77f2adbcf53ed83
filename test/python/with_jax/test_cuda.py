# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax on GPUs: computations are lowered for them without one, and the handler that XLA's GPU client calls is called as it does,
on the emulated driver."""

import ctypes
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from drawloom import _drawloom, ops
from drawloom.jax import fused_mlp
from drawloom.ops import Array, Spec
from support import emulated_kernels
from support.emulated_driver import LIBRARY, Driver, needs_driver
from with_jax.xla_frames import EXECUTE, INITIALIZE, INSTANTIATE, Client

SPEC = Spec("mlp", (("layers", 2), ("biases", 0), ("activation", "silu"), ("output_activation", "none"), ("input_activation", "none"),
                    ("form", "abs_terms")))
SHAPES = [(24, 8), (16, 8), (4, 16)]


def mlp(x, a, b):
    h = x @ a.T
    return (h / (1 + np.exp(-h))) @ b.T


def bound(x, a, b):
    """How far two ways of computing the network in float64 may be apart: each sum of n products rounds n times, silu's slope is below 1.1, its own
    formula rounds some 8 times, and the second layer sums what the first one has rounded."""
    terms = (1.1 * (np.abs(x) @ np.abs(a).T)) @ np.abs(b).T
    return 2 * 2.0**-53 * (a.shape[1] + a.shape[0] + 8) * terms.max()


def test_a_computation_is_lowered_for_gpus_on_a_machine_without():
    x, a, b = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in SHAPES)
    gradient = jax.jit(jax.grad(lambda x, a, b: fused_mlp(x, [a, b], activation="silu").sum()))
    text = gradient.trace(x, a, b).lower(lowering_platforms=("cuda",)).as_text()
    calls = re.findall(r"custom_call @drawloom_call_1.*", text)
    assert calls and all('target = "cuda"' in call and 'isa = "native"' in call for call in calls), text


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setenv("DRAWLOOM_LIBCUDA", str(LIBRARY))
    monkeypatch.setenv("DRAWLOOM_EMULATED_DEVICES", "2")
    monkeypatch.setenv("DRAWLOOM_EMULATED_MODULES", "")
    monkeypatch.setenv("DRAWLOOM_EMULATOR_LOG", "/dev/null")
    monkeypatch.setenv("DRAWLOOM_CACHE", "")
    return Driver()


@pytest.fixture
def handler():
    take = ctypes.pythonapi.PyCapsule_GetPointer
    take.restype, take.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return take(_drawloom.xla_handler, None)


def attributes(key, shapes, spec=SPEC, dtype="float64", folder=None):
    source = ops.text(spec, [Array(dtype, shape) for shape in shapes])
    assert folder is None or emulated_kernels.install([("mlp.mlir", source.encode())], str(folder))
    return {"key": key, "source": source, "name": "mlp.mlir", "target": "cuda", "isa": "native", "shares": 1}


def on_device(driver, arrays):
    return [(driver.upload(one), one.shape, one.dtype.name) for one in arrays]


@needs_driver
def test_a_call_runs_on_the_second_device():
    """In a process of its own: the driver counts its devices once."""
    test = f"{__file__}::test_a_call_runs_on_the_stream_and_with_the_memory_of_xla[1]"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", test], capture_output=True, text=True,
                          env={**os.environ, "DRAWLOOM_TEST_SECOND_DEVICE": "1"})
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@needs_driver
@pytest.mark.parametrize("device", [1] if "DRAWLOOM_TEST_SECOND_DEVICE" in os.environ else [0])
def test_a_call_runs_on_the_stream_and_with_the_memory_of_xla(driver, handler, rng, tmp_path, monkeypatch, device):
    arrays = [rng.standard_normal(shape) for shape in SHAPES]
    known = attributes(f"stream {device}", SHAPES, folder=tmp_path / "k")
    context = ctypes.c_void_p()
    driver.DevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.CtxPushCurrent_v2(context)
    try:
        stream = driver.stream()
        client = Client(driver, device, stream.value)
        given = on_device(driver, arrays)
        result = np.zeros((24, 4))
        out = driver.upload(result), result.shape, "float64"
    finally:
        driver.CtxPopCurrent_v2(ctypes.byref(context))
    assert client.call(handler, INSTANTIATE, known) is None
    assert client.call(handler, INITIALIZE, known) is None
    monkeypatch.setenv("DRAWLOOM_EMULATED_DEFER", "1")
    assert client.call(handler, EXECUTE, known, given, [out]) is None
    # Nothing has happened: the work is on XLA's stream.
    assert driver.library.cuStreamQuery(stream) == 600
    driver.StreamSynchronize(stream)
    np.testing.assert_allclose(driver.download(out[0], result), mlp(*arrays), rtol=0, atol=bound(*arrays))
    assert not client.memory


@needs_driver
def test_a_program_that_no_gpu_runs_is_xlas_error(driver, handler, tmp_path):
    known = {**attributes("refused", SHAPES), "source": "func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {\n"
             "  %y = math.erf %x : tensor<4xf64>\n  return %y : tensor<4xf64>\n}"}
    said = Client(driver).call(handler, INITIALIZE, known)
    assert "drawloom: mlp.mlir:2:" in said and "has no code on a GPU" in said


@needs_driver
def test_a_device_that_is_not_there_is_xlas_error(driver, handler):
    said = Client(driver, device=5).call(handler, INITIALIZE, attributes("device 5", SHAPES))
    assert "there is no CUDA device 5; the driver finds" in said


@needs_driver
def test_without_a_driver_the_error_says_so(driver, handler, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_LIBCUDA", "/there/is/no/libcuda.so.1")
    assert "there is no CUDA driver" in Client(driver).call(handler, INITIALIZE, attributes("no driver", SHAPES))


@needs_driver
def test_gradients_take_scratch_memory_of_xla_and_say_where_there_is_none(driver, handler, rng, tmp_path):
    shapes = [(2048, 8), (16, 8), (4, 16)]
    spec = SPEC.vjp((0, 1, 2), (0,))
    known = attributes("scratch", [*shapes, (2048, 4)], spec, folder=tmp_path / "k")
    arrays = [rng.standard_normal(shape) for shape in [*shapes, (2048, 4)]]
    client, results = Client(driver), [np.zeros(shape) for shape in shapes]
    given, out = on_device(driver, arrays), on_device(driver, results)
    assert client.call(handler, EXECUTE, known, given, out) is None
    driver.CtxSynchronize()
    x, a, b, g = map(jnp.asarray, arrays)
    with jax.enable_x64(True):
        wanted = jax.vjp(lambda x, a, b: jax.nn.silu(x @ a.T) @ b.T, *map(jnp.asarray, arrays[:3]))[1](jnp.asarray(arrays[3]))
    for (data, *_), like, other in zip(out, results, wanted):
        # Each is a sum over rows, or of a layer's terms, of products of cotangents with what `bound` is of.
        np.testing.assert_allclose(driver.download(data, like), other, rtol=0, atol=len(arrays[0]) * np.abs(arrays[3]).max() * bound(*arrays[:3]))
    assert client.asked and not client.memory
    client.limit = 0
    said = client.call(handler, EXECUTE, known, given, out)
    assert "cannot be had" in said and "RESOURCE_EXHAUSTED: Out of memory" in said
