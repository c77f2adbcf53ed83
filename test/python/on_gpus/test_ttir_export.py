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

from kan_layers.test_compiled import value_and_gradients
from on_gpus.triton_kernels import compile_kernel, statistics
from on_gpus.ttir_interpreter import Kernel, Memory, TtirError, round_to, run_function
from programs.test_block_programs import CASES
from support.runner import ROOT, assert_close, optimize, run, tool

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
    results = run_function(function, [loaded(argument) for argument in case.arguments], tmp_path)
    halves = any(np.asarray(argument).dtype == np.uint16 for argument in case.arguments)
    assert_close(results, case.run(target="interpreter"), TOLERANCES["bf16"] if halves else TOLERANCE)


def loaded(array):
    """The opposite of `stored`: what bits of bfloat16 mean."""
    array = np.asarray(array)
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


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


def test_grid_encode(tmp_path, rng):
    """Tables are read at computed places, and their gradients are added up there."""
    compare_op(tmp_path, rng, "kan.grid_encode {} {{base_resolution = 2, growth = 2.3}}", "{0}, {1} -> {y}",
               [(9, 2), (2, 64, 2)], (9, 4), "f32")


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


def one_block(arguments, result, body):
    """@run: `body` computes %y, of type `result`, from the arguments in one block."""
    shape = result[len("tensor<"):].rsplit("x", 1)[0].split("x")
    zeros, sizes, ones = (", ".join(v) for v in (["0"] * len(shape), shape, ["1"] * len(shape)))
    return f"""
func.func @run({arguments}) -> {result} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %empty = tensor.empty() : {result}
  %out = scf.forall (%i) in (1) shared_outs(%o = %empty) -> ({result}) {{
    {body}
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %y into %o[{zeros}] [{sizes}] [{ones}] : {result} into {result}
    }}
  }}
  return %out : {result}
}}"""


def check_block(tmp_path, module, arrays, tolerance=TOLERANCE):
    function, = export(module, tmp_path, "--compile-from=blocks")
    results = run_function(function, arrays, tmp_path)
    expected = run(module, "run", arrays, target="interpreter", options=["--compile-from=blocks"])
    assert_close(results, expected, tolerance)


@pytest.mark.parametrize("kind", ["add", "mul", "max"])
@pytest.mark.parametrize("direction", ["", "exclusive", "reverse", "exclusive reverse"])
def test_scan_of_odd_extent(tmp_path, rng, kind, direction):
    # The least number is not finite, which the comparison does not take: with `max`, add one row that is dropped.
    t = "tensor<5x3xf32>"
    module = one_block(f"%x: {t}", t, f"""%z = tensor.empty() : {t}
    %s = block.scan {kind} {direction} %x along 0 outs(%z) : {t} -> {t}
    %e = tensor.empty() : {t}
    %y = linalg.generic {{indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
        iterator_types = ["parallel", "parallel"]}} ins(%s : {t}) outs(%e : {t}) {{
    ^bb0(%a: f32, %old: f32):
      %low = arith.constant -8.0 : f32
      %m = arith.maximumf %a, %low : f32
      linalg.yield %m : f32
    }} -> {t}""")
    check_block(tmp_path, module, [rng.uniform(-1, 1, (5, 3)).astype(np.float32)])


@pytest.mark.parametrize("form", ["lower", "upper unit", "lower transpose", "upper transpose"])
def test_solve_triangular_of_odd_extent(tmp_path, rng, form):
    module = one_block("%a: tensor<5x5xf32>, %b: tensor<5x3xf32>", "tensor<5x3xf32>",
                       f"%y = block.solve_triangular {form} %a outs(%b) : tensor<5x5xf32> -> tensor<5x3xf32>")
    check_block(tmp_path, module, [(rng.uniform(-1, 1, (5, 5)) + 3 * np.eye(5)).astype(np.float32),
                                   rng.uniform(-1, 1, (5, 3)).astype(np.float32)])


# A tile that is no part of memory: twice x.
TWICE = """%te = tensor.empty() : tensor<5x3xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
        iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x3xf32>) outs(%te : tensor<5x3xf32>) {
    ^bb0(%a: f32, %old: f32):
      %d = arith.addf %a, %a : f32
      linalg.yield %d : f32
    } -> tensor<5x3xf32>
    """
BODIES = {
    "slice": ("2x3", """%at = arith.addi %c1, %c2 : index
    %y = tensor.extract_slice %t[%at, 0] [2, 3] [1, 1] : tensor<5x3xf32> to tensor<2x3xf32>"""),
    "row": ("3", "%y = tensor.extract_slice %t[%c2, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>"),
    "column-of-every-second": ("2", "%y = tensor.extract_slice %t[1, 1] [2, 1] [2, 1] : tensor<5x3xf32> to tensor<2xf32>"),
    "steps-beside-a-single-element": ("2x1", """%u = tensor.expand_shape %t [[0], [1, 2]] output_shape [5, 3, 1] : tensor<5x3xf32> into tensor<5x3x1xf32>
    %y = tensor.extract_slice %u[2, 0, 0] [1, 2, 1] [1, 2, 1] : tensor<5x3x1xf32> to tensor<2x1xf32>"""),
    "insert": ("5x3", """%s = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<5x3xf32> to tensor<2x2xf32>
    %y = tensor.insert_slice %s into %t[%c2, %c1] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<5x3xf32>"""),
    "insert-row": ("5x3", """%s = tensor.extract_slice %x[0, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
    %y = tensor.insert_slice %s into %t[%c2, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>"""),
    "collapse": ("15", "%y = tensor.collapse_shape %t [[0, 1]] : tensor<5x3xf32> into tensor<15xf32>"),
    "expand": ("3x5", """%f = tensor.collapse_shape %t [[0, 1]] : tensor<5x3xf32> into tensor<15xf32>
    %y = tensor.expand_shape %f [[0, 1]] output_shape [3, 5] : tensor<15xf32> into tensor<3x5xf32>"""),
    "element": ("3", """%e = tensor.extract %t[%c2, %c1] : tensor<5x3xf32>
    %r = tensor.empty() : tensor<3xf32>
    %y = linalg.fill ins(%e : f32) outs(%r : tensor<3xf32>) -> tensor<3xf32>"""),
    "gather": ("4x3", """%rows = arith.constant dense<2> : tensor<4xi32>
    %r = tensor.empty() : tensor<4x3xf32>
    %y = block.gather %t[%rows] outs(%r) : tensor<5x3xf32>[tensor<4xi32>] -> tensor<4x3xf32>"""),
    "table": ("5x3", """%r = tensor.empty() : tensor<5x3xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
        outs(%r : tensor<5x3xf32>) {
    ^bb0(%old: f32):
      %p = linalg.index 0 : index
      %j = linalg.index 1 : index
      %four = arith.constant 4 : index
      %k = arith.subi %four, %p : index
      %e = tensor.extract %t[%k, %j] : tensor<5x3xf32>
      linalg.yield %e : f32
    } -> tensor<5x3xf32>"""),
    "while": ("5x3", """%n:2 = scf.while (%k = %c0, %s = %t) : (index, tensor<5x3xf32>) -> (index, tensor<5x3xf32>) {
      %more = arith.cmpi slt, %k, %c5 : index
      scf.condition(%more) %k, %s : index, tensor<5x3xf32>
    } do {
    ^bb0(%k: index, %s: tensor<5x3xf32>):
      %next = arith.addi %k, %c2 : index
      %sum = arith.addf %s, %t : tensor<5x3xf32>
      scf.yield %next, %sum : index, tensor<5x3xf32>
    }
    %y = arith.addf %n#1, %t : tensor<5x3xf32>"""),
    "transposed-product": ("3x3", """%z = arith.constant dense<1.0> : tensor<3x3xf32>
    %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%t, %x : tensor<5x3xf32>, tensor<5x3xf32>) outs(%z : tensor<3x3xf32>) -> tensor<3x3xf32>"""),
    "matrix-and-vector": ("5", """%v = tensor.extract_slice %x[1, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
    %z = arith.constant dense<0.5> : tensor<5xf32>
    %y = linalg.matvec ins(%t, %v : tensor<5x3xf32>, tensor<3xf32>) outs(%z : tensor<5xf32>) -> tensor<5xf32>"""),
    "exp-of-padding-in-a-product": ("5x5", """%e = math.exp %t : tensor<5x3xf32>
    %z = arith.constant dense<0.0> : tensor<5x5xf32>
    %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%e, %e : tensor<5x3xf32>, tensor<5x3xf32>) outs(%z : tensor<5x5xf32>) -> tensor<5x5xf32>"""),
    "largest-and-product": ("3", """%z = arith.constant dense<0xFF800000> : tensor<3xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
        iterator_types = ["reduction", "parallel"]} ins(%t : tensor<5x3xf32>) outs(%z : tensor<3xf32>) {
    ^bb0(%a: f32, %old: f32):
      %m = arith.maximumf %a, %old : f32
      linalg.yield %m : f32
    } -> tensor<3xf32>"""),
}


@pytest.mark.parametrize("name", BODIES)
def test_tiles_of_odd_extents(tmp_path, rng, name):
    shape, body = BODIES[name]
    module = one_block("%x: tensor<5x3xf32>", f"tensor<{shape}xf32>", TWICE + body)
    check_block(tmp_path, module, [rng.uniform(-1, 1, (5, 3)).astype(np.float32)])


# What is changed part by part, and read as it was before.
CHANGES = {
    "rows-that-are-added": """%rows = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
        outs(%numbers : tensor<5xi32>) {
    ^bb0(%old: i32):
      %r = linalg.index 0 : index
      %half = arith.divui %r, %c2 : index
      %n = arith.index_cast %half : index to i32
      linalg.yield %n : i32
    } -> tensor<5xi32>
    %y = block.scatter accumulate %t into %x[%rows] : tensor<5x3xf32> into tensor<5x3xf32>[tensor<5xi32>]""",
    "an-element": """%e = tensor.extract %t[%c1, %c2] : tensor<5x3xf32>
    %y = tensor.insert %e into %t[%c2, %c1] : tensor<5x3xf32>""",
    "what-was-there": """%s = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<5x3xf32> to tensor<2x2xf32>
    %z = tensor.insert_slice %s into %t[%c2, %c1] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<5x3xf32>
    %y = arith.addf %z, %t : tensor<5x3xf32>""",
    "rows-of-a-loop": """%y = scf.for %k = %c0 to %c5 step %c1 iter_args(%done = %t) -> (tensor<5x3xf32>) {
      %first = tensor.extract_slice %done[0, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
      %row = tensor.extract_slice %x[%k, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
      %sum = arith.addf %first, %row : tensor<3xf32>
      %next = tensor.insert_slice %sum into %done[%k, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
      scf.yield %next : tensor<5x3xf32>
    }""",
}


@pytest.mark.parametrize("name", CHANGES)
def test_tiles_that_change(tmp_path, rng, name):
    module = one_block("%x: tensor<5x3xf32>, %numbers: tensor<5xi32>", "tensor<5x3xf32>", TWICE + CHANGES[name])
    check_block(tmp_path, module, [rng.uniform(-1, 1, (5, 3)).astype(np.float32), np.zeros(5, np.int32)])


def test_results_have_memory_of_their_own(tmp_path, rng):
    """An argument returned twice, and bits, which memory holds in bytes."""
    module = """
func.func @run(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xi1>) {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %m = arith.cmpf ogt, %x, %z : tensor<6xf32>
  return %x, %x, %m : tensor<6xf32>, tensor<6xf32>, tensor<6xi1>
}"""
    check_block(tmp_path, module, [rng.uniform(-1, 1, 6).astype(np.float32)], 0)


def test_what_is_updated_is_copied_first(tmp_path, rng):
    """Half of what one loop made is made again, and both states are read."""
    module = """
func.func @run(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4x8xf32>) {
    %r = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %s = arith.addf %r, %r : tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  %z = scf.forall (%i) in (2) shared_outs(%o = %y) -> (tensor<4x8xf32>) {
    %r = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %s = arith.mulf %r, %r : tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  %w:2 = scf.forall (%i) in (4) shared_outs(%o = %e, %p = %e) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %a = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %b = tensor.extract_slice %z[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %s = arith.subf %a, %b : tensor<8xf32>
    %t = arith.addf %a, %b : tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
      tensor.parallel_insert_slice %t into %p[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %w#0, %w#1 : tensor<4x8xf32>, tensor<4x8xf32>
}"""
    check_block(tmp_path, module, [rng.uniform(-1, 1, (4, 8)).astype(np.float32)])


def test_calls_are_inlined(tmp_path, rng):
    """With constants of their own, which are buffers of the caller."""
    module = """
func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = arith.addf %x, %c : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @run(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @add(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = arith.mulf %y, %y : tensor<2xf32>
  return %z : tensor<2xf32>
}"""
    functions = export(module, tmp_path, "--compile-from=blocks")
    function, = [f for f in functions if f["name"] == "run"]
    x = rng.uniform(-1, 1, 2).astype(np.float32)
    assert_close(run_function(function, [x], tmp_path), [(x + np.float32([1, 2])) ** 2], TOLERANCE)


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
    products = [kernel for kernel in function["kernels"] if "scf.for" in kernel["ttir"] or "tt.dot" in kernel["ttir"]]
    for kernel in products[:1]:
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
