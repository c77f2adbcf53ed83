# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported Triton kernels: they compute what the program says, and Triton compiles them.

Values come from ttir_interpreter.py, which reads the text that Triton prints
after parsing a kernel; the reference is Drawloom's interpreter in float64.
"""

import json

import numpy as np
import pytest

from runner import ROOT, ToolError, assert_close, optimize, run, tool
from test_block_programs import CASES
from test_kan_compiled import value_and_gradients
from triton_kernels import compile_kernel, statistics
from ttir_interpreter import Kernel, Memory, TtirError, round_to, run_function

pytest.importorskip("triton")

TOLERANCE = 2e-5
# Half types round where the interpreter does not.
TOLERANCES = {"f32": TOLERANCE, "f64": 1e-12, "bf16": 1e-2, "f16": 2e-3}


def export(module, folder, *options):
    path = folder / "program.mlir"
    path.write_text(module)
    return json.loads(tool("drawloom-translate", "--mlir-to-ttir-json", path, *options))["functions"]


@pytest.mark.parametrize("name", CASES)
def test_block_program(tmp_path, name):
    case = CASES[name]()
    function, = export(case.module, tmp_path, "--compile-from=blocks")
    results = run_function(function, case.arguments, tmp_path)
    assert_close(results, case.run(target="interpreter"), TOLERANCE)


def stored(element, array):
    """As drawloom-run reads it: bfloat16 is its bits."""
    if element == "bf16":
        return (np.asarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return array


def compare(tmp_path, module, kinds, arrays, tolerance, entry="run"):
    """A graph-level program, exported, against the interpreter. `kinds`: element types of the arguments."""
    arrays = [round_to(kind, array) for kind, array in zip(kinds, arrays)]
    function, = [f for f in export(module, tmp_path) if f["name"] == entry]
    results = run_function(function, arrays, tmp_path)
    expected = run(optimize(module, "--differentiate"), entry, [stored(*pair) for pair in zip(kinds, arrays)],
                   target="interpreter")
    assert_close(results, expected, tolerance)


def compare_op(tmp_path, rng, op, signature, shapes, result, element):
    def kind(shape):
        return f"tensor<{''.join(f'{e}x' for e in shape)}{element}>"

    module = value_and_gradients(op, signature, [kind(shape) for shape in shapes], kind(result))
    arrays = [rng.uniform(-1, 1, shape) for shape in [*shapes, result]]
    compare(tmp_path, module, [element] * len(arrays), arrays, TOLERANCES[element])


@pytest.mark.parametrize("op", ["relu {}", "gelu {}", 'gelu {} {{approximate = "tanh"}}', "softplus {} {{beta = 3.0}}",
                                "sine {} {{omega = 5.0}}", "snake {} {{alpha = 2.0}}"])
def test_activation(tmp_path, rng, op):
    compare_op(tmp_path, rng, "kan." + op, "{0}", [(5, 24)], (5, 24), "f32")


@pytest.mark.parametrize("element, rows, form", [("f32", 9, "abs_terms"), ("f32", 256, "abs_sum"), ("f64", 9, "abs_sum_eps"),
                                                 ("bf16", 256, "abs_terms"), ("f16", 9, "abs_sum")])
def test_rational(tmp_path, rng, element, rows, form):
    compare_op(tmp_path, rng, f"kan.rational {{}} form({form})", "{0}, {1}, {2}", [(rows, 48), (1, 6), (2, 4)], (rows, 48),
               element)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_frequency_encode(tmp_path, rng, element):
    compare_op(tmp_path, rng, "kan.frequency_encode {} {{octaves = 3}}", "{0} -> {y}", [(7, 2)], (7, 12), element)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_softmax(tmp_path, rng, element):
    compare_op(tmp_path, rng, "loss.softmax {}", "{0}", [(6, 10)], (6, 10), element)


def test_cross_entropy(tmp_path, rng):
    module = value_and_gradients("loss.softmax_cross_entropy {}", "{0}, {1} -> {y}", ["tensor<9x10xf32>", "tensor<9xi32>"],
                                 "tensor<f32>", [0])
    compare(tmp_path, module, ["f32", "i32", "f32"],
            [rng.uniform(-1, 1, (9, 10)), rng.integers(0, 10, 9), rng.uniform(-1, 1)], TOLERANCE)


@pytest.mark.parametrize("params, state", [("f32", "f32"), ("bf16", "f32")])
def test_adamw(tmp_path, rng, params, state):
    """300 rows: whole blocks and a remainder, which is stored into the same result."""
    p, s = f"tensor<300x40x{params}>", f"tensor<300x40x{state}>"
    module = f"""
func.func @run(%p: {p}, %g: {p}, %m: {s}, %v: {s}, %lr: f32, %t: i64) -> ({p}, {s}, {s}) {{
  %0:3 = opt.adamw params(%p) grads(%g) first(%m) second(%v) lr(%lr : f32) step(%t : i64) weight_decay [0.01] : {p} moments {s}
  return %0#0, %0#1, %0#2 : {p}, {s}, {s}
}}"""
    arrays = [rng.uniform(-1, 1, (300, 40)) for _ in range(3)] + [rng.uniform(0, 1, (300, 40)), np.float32(0.01), np.int64(4)]
    compare(tmp_path, module, [params, params, state, state, "f32", "i64"], arrays, TOLERANCES[params])


def test_image_training_step(tmp_path, rng):
    """The demo's whole step: encoding, network, loss, gradients, optimizer."""
    rows = 448
    module = (ROOT / "examples" / "image" / "network.mlir").read_text()
    for a, b in [("!w1 = tensor<?x", "!w1 = tensor<48x"), ("tensor<?x?x2xf32>", "tensor<1x1x2xf32>"),
                 ("tensor<?x?xf32>", f"tensor<{rows}x48xf32>"), ("tensor<?x", f"tensor<{rows}x"),
                 ("tensor.empty(%rows)", "tensor.empty()")]:
        module = module.replace(a, b)
    path = tmp_path / "network.mlir"
    path.write_text(module)
    linked = [path]
    for name in ["encoding_frequency", "activation_rational"]:
        linked.append(tmp_path / f"{name}.mlir")
        text = (ROOT / "examples" / "image" / f"{name}.mlir").read_text()
        linked[-1].write_text(text.replace("?x?x2", "1x1x2").replace("tensor<?x?xf32>", f"tensor<{rows}x48xf32>")
                              .replace("?x", f"{rows}x"))
    blocks = tool("drawloom-run", *linked, "--entry=step", "--compile-to=blocks")
    function, = export(blocks, tmp_path, "--compile-from=blocks")
    shapes = [(1, 1, 2), (48, 64), (64,), (8, 6), (8, 4), (64, 64), (64,), (8, 6), (8, 4), (64, 3), (3,)]
    arrays = [rng.uniform(-1, 1, (rows, 2)), rng.uniform(-1, 1, (rows, 3)), np.float32(0.01), np.int64(4)]
    for scale, low in [(0.3, -1), (0.1, -1), (0.1, 0)]:
        arrays += [scale * rng.uniform(low, 1, shape) for shape in shapes]
    arrays = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in arrays]
    results = run_function(function, arrays, tmp_path)
    expected = run(blocks, "step", arrays, target="interpreter", options=["--compile-from=blocks"])
    assert_close(results, expected, TOLERANCE)


# Triton compiles what is exported.

@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("architecture", [80, 90, 100])
@pytest.mark.parametrize("name", ["group-rational", "rgcn-no-edges", "block-sparse", "csr", "lora"])
def test_triton_compiles_block_program(tmp_path, cache, name, architecture):
    # tf32: products of whole f32 are unrolled into tens of thousands of instructions.
    function, = export(CASES[name]().module, tmp_path, "--compile-from=blocks", "--ttir-dot-precision=tf32")
    # Of the second stages, which differ in shapes only, one.
    for kernel in function["kernels"][:2]:
        compiled = compile_kernel(kernel, architecture, tmp_path)
        assert f".entry {kernel['name']}(" in compiled.asm["ptx"]
        assert compiled.metadata.num_warps == kernel["num_warps"]
        assert compiled.asm["cubin"]


@pytest.mark.parametrize("name", ["mlp-forward", "mlp-backward"])
def test_triton_compiles_large_block_program(tmp_path, cache, name):
    function, = export(CASES[name]().module, tmp_path, "--compile-from=blocks", "--ttir-dot-precision=tf32")
    for kernel in function["kernels"]:
        assert compile_kernel(kernel, 90, tmp_path).asm["cubin"]


def test_statistics_of_a_kernel(tmp_path, cache):
    function, = export(CASES["csr"]().module, tmp_path, "--compile-from=blocks")
    numbers = statistics(compile_kernel(function["kernels"][0], 80, tmp_path), tmp_path)
    assert 8 <= numbers["registers"] <= 255
    assert numbers["stack"] == 0
    assert numbers["instructions"] == sum(numbers["opcodes"].values()) and numbers["opcodes"]["EXIT"] >= 1


# The interpreter of the tests finds what it is for.

COPY = """module {
  tt.func public @copy(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) {
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %3 = tt.load %2 : tensor<4x!tt.ptr<f32>>
    %4 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %5 = tt.addptr %4, %0 : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    tt.store %5, %3 : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}"""


def memory(size):
    return Memory(np.arange(size, dtype=np.float32), "f32")


def test_interpreter_reports_addresses_outside():
    with pytest.raises(TtirError, match="outside of the buffer"):
        Kernel(COPY).run([memory(3), memory(4)], 1)


def test_interpreter_reports_programs_that_store_to_one_place():
    with pytest.raises(TtirError, match="two programs store"):
        Kernel(COPY).run([memory(4), memory(4)], 2)


def test_interpreter_reports_missing_barriers():
    both = memory(4)
    with pytest.raises(TtirError, match="no barrier"):
        Kernel(COPY).run([both, both], 1)
