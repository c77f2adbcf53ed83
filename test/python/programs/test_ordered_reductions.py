# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums have one order: nothing below the graph level may leave it open, and gradients have the same bits each time."""

import re

import numpy as np
import pytest

from support.runner import ROOT, run, tool

# What adds in the order of arrival, in MLIR and in LLVM IR.
UNORDERED = re.compile(r"\batomic\w*|\bgeneric_atomic_rmw\b|\bcmpxchg\b|\bomp\.\w+|\bscf\.(?:parallel|reduce)\b")
# Flags that let a later pass choose another order. The lanes of one register may be added as the processor does it
# best: the same instructions run for a row whoever runs them.
REORDERED = re.compile(r"\breassoc\b|fastmath<[^>]*\bfast\b|\bf\w+ fast\b")
LANES = re.compile(r"vector\.reduce\.f(?:add|mul)")


def unordered(text):
    """The lines of a program that leave the order of a sum open."""
    return [line.strip() for line in text.splitlines()
            if UNORDERED.search(line) or (REORDERED.search(line) and not LANES.search(line))]


ROWS, PARAMETERS = 4096, [
    ("t", (12, 32768, 2)), ("w1", (24, 64)), ("b1", (64,)), ("p1", (8, 6)), ("q1", (8, 4)), ("w2", (64, 64)),
    ("b2", (64,)), ("p2", (8, 6)), ("q2", (8, 4)), ("w3", (64, 3)), ("b3", (3,))]


def tensor(shape):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + "f32>"


def demo():
    """The demo's network, and a function for its loss with the gradients of all parameters."""
    source = ROOT / "examples" / "image"
    text = "\n".join((source / name).read_text() for name in ("network.mlir", "encoding_grid.mlir",
                                                              "activation_rational.mlir"))
    # One file has each function once.
    text = re.sub(r"^func\.func private @\w+\([^%{]*$", "", text, flags=re.MULTILINE)
    types = ["!xy", "!rgb"] + ["!" + n if n in ("t", "w1", "w2", "w3", "b3") else "!" + n[0] for n, _ in PARAMETERS]
    names = ["xy", "rgb", *(n for n, _ in PARAMETERS)]
    results = ", ".join(["tensor<f32>", *types[2:]])
    gradients = ", ".join("%d" + n for n in names[2:])
    text += f"""
func.func @gradients({", ".join(f"%{n}: {t}" for n, t in zip(names, types))}) -> ({results}) {{
  %loss, {gradients} = ad.value_and_grad @loss({", ".join("%" + n for n in names)}) wrt {list(range(2, 13))}
    : ({", ".join(types)}) -> ({results})
  return %loss, {gradients} : {results}
}}
"""
    return text, [(ROWS, 2), (ROWS, 3), *(shape for _, shape in PARAMETERS)]


def narrow_network():
    """Three layers of 32 columns, their loss and the gradients of all weights."""
    x, w = tensor((ROWS, 32)), tensor((32, 32))
    layers = "".join(f"""
  %z{i} = linalg.matmul ins(%h{i}, %w{i} : {x}, {w}) outs(%zero : {x}) -> {x}
  %h{i + 1} = kan.silu %z{i} : {x}""" for i in range(3))
    return f"""
func.func private @loss(%h0: {x}, %y: {x}, %w0: {w}, %w1: {w}, %w2: {w}) -> tensor<f32> {{
  %zero = arith.constant dense<0.0> : {x}{layers}
  %l = loss.mse %h3, %y : {x} -> tensor<f32>
  return %l : tensor<f32>
}}
func.func @gradients(%x: {x}, %y: {x}, %w0: {w}, %w1: {w}, %w2: {w}) -> (tensor<f32>, {x}, {w}, {w}, {w}) {{
  %l, %d:4 = ad.value_and_grad @loss(%x, %y, %w0, %w1, %w2) wrt [0, 2, 3, 4]
    : ({x}, {x}, {w}, {w}, {w}) -> (tensor<f32>, {x}, {w}, {w}, {w})
  return %l, %d#0, %d#1, %d#2, %d#3 : tensor<f32>, {x}, {w}, {w}, {w}
}}
""", [(ROWS, 32), (ROWS, 32), (32, 32), (32, 32), (32, 32)]


PROGRAMS = {"demo": demo, "narrow": narrow_network}


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_phase_leaves_the_order_of_a_sum_open(tmp_path, name, isa):
    text, shapes = PROGRAMS[name]()
    source = tmp_path / "program.mlir"
    source.write_text(text)
    tool("drawloom-run", source, "--entry=gradients", "--random", f"--isa={isa}", "--compile-to=llvm",
         f"--dump-phases-to={tmp_path}",
         *(f"--shape={i}:{'x'.join(map(str, shape))}" for i, shape in enumerate(shapes)))
    for phase in ("3-blocks", "4-vectors", "5-buffers", "6-kernels", "7-llvm"):
        lowered = (tmp_path / f"{phase}.mlir").read_text()
        assert len(lowered) > 1000
        assert unordered(lowered) == [], phase
    ir = tool("drawloom-translate", "--drawloom-to-llvmir", "--compile-from=llvm", f"--isa={isa}",
              tmp_path / "7-llvm.mlir")
    assert "define" in ir and unordered(ir) == []


@pytest.mark.parametrize("line", [
    "%0 = memref.atomic_rmw addf %v, %m[%i] : (f32, memref<4xf32>) -> f32",
    "%0 = memref.generic_atomic_rmw %m[%i] : memref<4xf32> {",
    "%0 = llvm.atomicrmw fadd %p, %v monotonic : !llvm.ptr, f32",
    "%0 = atomicrmw fadd ptr %p, float %v monotonic, align 4",
    "%0 = scf.parallel (%i) = (%a) to (%b) step (%c) init (%z) -> f32 {",
    "omp.parallel {",
    "%0 = arith.addf %a, %b fastmath<reassoc> : f32",
    "%0 = arith.addf %a, %b fastmath<fast> : vector<8xf32>",
    "%0 = llvm.fadd %a, %b {fastmathFlags = #llvm.fastmath<contract, reassoc>} : f32",
    "%0 = fadd reassoc float %a, %b",
    "%0 = fadd fast <8 x float> %a, %b",
])
def test_what_leaves_it_open_is_recognized(line):
    assert unordered(line) == [line]


@pytest.mark.parametrize("line", [
    "%0 = arith.addf %a, %b fastmath<contract> : f32",
    "%0 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float %a, <8 x float> %b)",
])
def test_what_does_not_is_allowed(line):
    assert unordered(line) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_have_the_same_bits_in_100_runs_on_1_2_and_3_threads(rng, name):
    text, shapes = PROGRAMS[name]()
    arrays = [rng.uniform(0, 1, shape).astype(np.float32) for shape in shapes]
    results = run(text, "gradients", arrays, options=["--check-bits=100"])
    assert all(np.isfinite(result).all() and np.any(result) for result in results)
