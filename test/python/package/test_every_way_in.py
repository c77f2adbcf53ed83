# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same op has the same bits through torch, JAX, a module, the C interface with and without the compiler, and drawloom-run."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import drawloom
from drawloom import ops
from drawloom.ops import structured
from drawloom.structured import dense, dumps
from package import c_interface
from support.runner import BUILD, ROOT, run

jax = pytest.importorskip("jax")

import drawloom.jax as dj  # noqa: E402
import drawloom.torch as dt  # noqa: E402

MLP = (("layers", 3), ("biases", 3), ("activation", "silu"), ("output_activation", "tanh"), ("input_activation", "none"),
       ("form", "abs_terms"))
ADAPTED = dense("w") + 2.0 * (dense("a") @ dense("b"))


def chain(function):
    return lambda x, *rest: function(x, list(rest[:3]), list(rest[3:]), activation="silu", output_activation="tanh")


def adapted(function):
    return lambda x, w, a, b, bias: function(x, ADAPTED, {"w": w, "a": a, "b": b}, bias)


# The op's family and attributes, the shapes of its arguments, and the op as torch and JAX have it. More rows than one block has.
OPS = {
    "rational": ("rational", (("form", "abs_terms"),), [(333, 16), (1, 6), (4, 4)], dt.rational, dj.rational),
    "fused_mlp": ("mlp", MLP, [(333, 16), (32, 16), (32, 32), (8, 32), (32,), (32,), (8,)], chain(dt.fused_mlp),
                  chain(dj.fused_mlp)),
    "frequency_encode": ("frequency_encode", (("octaves", 6),), [(333, 3)], lambda x: dt.frequency_encode(x, 6),
                         lambda x: dj.frequency_encode(x, 6)),
    "structured_linear": ("structured", structured.spec(f"[{dumps(ADAPTED)}]", "1", "auto").attributes,
                          [(333, 16), (16, 8), (16, 3), (3, 8), (8,)], adapted(dt.structured_linear), adapted(dj.structured_linear)),
}


@pytest.fixture(params=OPS)
def case(request, rng):
    family, attributes, shapes, of_torch, of_jax = OPS[request.param]
    arrays = [(rng.standard_normal(shape) / max(1, len(shape) * shape[-1])**0.5).astype(np.float32) for shape in shapes]
    return ops.Spec(family, attributes), arrays, of_torch, of_jax


def bits(results):
    return [np.asarray(result).view(np.uint32) for result in results]


def ways(text, arrays, folder):
    """(name, results) of @main by everything that takes MLIR text."""
    module = drawloom.compile(text)
    for threads in (1, 3):
        results = module.main(*arrays, threads=threads)
        yield f"module, {threads} threads", results if isinstance(results, tuple) else (results,)
    library = c_interface.open_library(BUILD / "lib/libdrawloom.so")
    yield "C", c_interface.call(library, c_interface.compiled(library, text), "main", arrays, threads=2)
    module.save(folder / "main.drawloom")
    np.savez(folder / "arguments.npz", *arrays)
    subprocess.run([sys.executable, ROOT / "test/python/package/c_interface.py", BUILD / "lib/libdrawloom_runtime.so", folder / "main.drawloom",
                    folder / "arguments.npz", folder / "results.npz", "2"], check=True)
    with np.load(folder / "results.npz") as results:
        yield "C without the compiler", [results[name] for name in results.files]
    yield "drawloom-run", run(text, "main", arrays, threads=2)


def compare(first, others):
    for name, results in others:
        assert len(results) == len(first), name
        for i, (one, other) in enumerate(zip(bits(first), bits(results))):
            np.testing.assert_array_equal(other.reshape(one.shape), one, f"{name}, result {i}")


def test_results_have_the_same_bits(case, tmp_path):
    spec, arrays, of_torch, of_jax = case
    text = ops.text(spec, [ops.Array("float32", array.shape) for array in arrays])
    first = [of_torch(*map(torch.from_numpy, arrays)).numpy()]
    assert np.any(first[0]) and np.all(np.isfinite(first[0]))
    compare(first, [*ways(text, arrays, tmp_path), ("jax", [of_jax(*arrays)]), ("jax.jit", [jax.jit(of_jax)(*arrays)])])


def test_gradients_have_the_same_bits(case, tmp_path, rng):
    spec, arrays, of_torch, of_jax = case
    leaves = [torch.from_numpy(array).requires_grad_() for array in arrays]
    y = of_torch(*leaves)
    cotangent = rng.standard_normal(y.shape).astype(np.float32)
    first = [one.numpy() for one in torch.autograd.grad(y, leaves, torch.from_numpy(cotangent))]
    assert all(np.any(one) and np.all(np.isfinite(one)) for one in first)
    given = [*arrays, cotangent]
    text = ops.text(spec.vjp(range(len(arrays)), (0,)), [ops.Array("float32", array.shape) for array in given])

    def pull(*given):
        return jax.vjp(of_jax, *given[:-1])[1](given[-1])

    compare(first, [*ways(text, given, tmp_path), ("jax", pull(*map(jax.numpy.asarray, given))), ("jax.jit", jax.jit(pull)(*given))])
