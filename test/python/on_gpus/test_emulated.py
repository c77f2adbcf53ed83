# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the NVIDIA target, run thread by thread by the emulator, which also reports races and stray accesses.

Block programs against NumPy, ops and their gradients against the interpreter, with the tolerances that the CPU has.
"""

import numpy as np
import pytest

from kan_layers import test_compiled as kan
from programs import test_block_ops as block_ops
from programs import test_block_programs as programs
from support.runner import assert_close, optimize, run

TYPES = ["f32", "bf16", "f16"]
# Orders in which threads go on, each for a run of its own.
SEEDS = 20


def emulate(module, entry, arrays, options=()):
    return run(module, entry, arrays, target="emulator", options=options)


def compare(tmp_path, text, *options):
    kan.compare(tmp_path, text, "--target=emulator", *options)


@pytest.fixture(scope="module", params=programs.CASES)
def case(request):
    return programs.CASES[request.param]()


def test_block_program_agrees_with_numpy_and_has_the_same_bits_in_any_order_of_threads(case, monkeypatch):
    # Threads in the order of their numbers first.
    results = case.run(target="emulator")
    assert_close(results, case.expected, case.tolerance)
    # Then at random: a first run, and more of them that must have its bits.
    monkeypatch.setenv("DRAWLOOM_EMULATOR_SEED", "1")
    others = case.run(target="emulator", options=[f"--check-bits={SEEDS - 1}"])
    for result, other in zip(results, others, strict=True):
        assert result.tobytes() == other.tobytes()


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("op", kan.ACTIVATIONS)
def test_activation_and_gradient(tmp_path, op, element):
    kind = f"tensor<5x24x{element}>"
    compare(tmp_path, kan.value_and_gradients("kan." + op, "{0}", [kind], kind))


@pytest.mark.parametrize("shape", ["1", "0x4", "3x1x7", "70x100"])
def test_activation_of_odd_shape(tmp_path, shape):
    kind = f"tensor<{shape}xf32>"
    compare(tmp_path, kan.value_and_gradients("kan.silu {}", "{0}", [kind], kind))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("form", ["abs_terms", "abs_sum", "abs_sum_eps"])
def test_rational_and_gradients(tmp_path, form, element):
    x, a, b = f"tensor<9x48x{element}>", f"tensor<1x6x{element}>", f"tensor<2x4x{element}>"
    compare(tmp_path, kan.value_and_gradients(f"kan.rational {{}} form({form})", "{0}, {1}, {2}", [x, a, b], x))


@pytest.mark.parametrize("rows, channels, groups", [(1, 24, (8, 1)), (0, 8, (1, 1)), (7, 6, (6, 2)), (130, 64, (1, 8))])
def test_rational_of_odd_shape(tmp_path, rows, channels, groups):
    x, a, b = f"tensor<{rows}x{channels}xf32>", f"tensor<{groups[0]}x6xf32>", f"tensor<{groups[1]}x4xf32>"
    compare(tmp_path, kan.value_and_gradients("kan.rational {}", "{0}, {1}, {2}", [x, a, b], x))


def network(rows, width, element, bias):
    """@run: the loss of x -> relu(x W1 + b1) W2, computed in `element`, and the gradients of x and all parameters in f32."""
    shapes = {"x": (rows, width), "y": (rows, 8), "w1": (width, width), "w2": (width, 8), **({"b": (width,)} if bias else {})}
    given, inner = ({n: "tensor<" + "".join(f"{e}x" for e in shape) + kind + ">" for n, shape in shapes.items()}
                    for kind in ("f32", element))
    casts = "\n".join(f"  %{n}_narrow = arith.truncf %{n} : {given[n]} to {inner[n]}" for n in shapes)
    value = {n: f"%{n}" if element == "f32" else f"%{n}_narrow" for n in shapes}
    x, y = inner["x"], inner["y"]
    start = (f"linalg.broadcast ins({value['b']} : {inner['b']}) outs(%e : {x}) dimensions = [0]" if bias else
             f"linalg.fill ins(%zero : {element}) outs(%e : {x}) -> {x}")
    arguments, types = ", ".join(f"%{n}: {t}" for n, t in given.items()), ", ".join(given.values())
    wrt = [i for i, n in enumerate(shapes) if n != "y"]
    results = ", ".join(["tensor<f32>", *(t for n, t in given.items() if n != "y")])
    return f"""
func.func private @loss({arguments}) -> tensor<f32> {{
{casts if element != "f32" else ""}
  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty() : {x}
  %c = {start}
  %z = linalg.matmul ins({value["x"]}, {value["w1"]} : {x}, {inner["w1"]}) outs(%c : {x}) -> {x}
  %h = kan.relu %z : {x}
  %e2 = tensor.empty() : {y}
  %c2 = linalg.fill ins(%zero : {element}) outs(%e2 : {y}) -> {y}
  %p = linalg.matmul ins(%h, {value["w2"]} : {x}, {inner["w2"]}) outs(%c2 : {y}) -> {y}
  %l = loss.mse %p, {value["y"]} : {y} -> tensor<f32>
  return %l : tensor<f32>
}}
func.func @run({arguments}) -> ({results}) {{
  %r:{1 + len(wrt)} = ad.value_and_grad @loss({", ".join("%" + n for n in shapes)}) wrt {wrt} : ({types}) -> ({results})
  return {", ".join(f"%r#{i}" for i in range(1 + len(wrt)))} : {results}
}}
""", list(shapes.values())


# Of the largest number: f32 as in the block programs. Narrow types are rounded in the same places as on the CPU, but sums in f32
# have another order, so that a rounding may go the other way: one unit in the last place.
NETWORK_TOLERANCES = {"f32": programs.CPU_TOLERANCE, "bf16": 2.0**-7, "f16": 2.0**-10}


def check_network(rng, rows, width, element, bias):
    text, shapes = network(rows, width, element, bias)
    text = optimize(text, "--differentiate")
    arrays = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    expected = run(text, "run", arrays, target="interpreter" if element == "f32" else "cpu")
    assert_close(emulate(text, "run", arrays), expected, NETWORK_TOLERANCES[element])


@pytest.mark.parametrize("width", [16, 24, 48, 64, 80, 100, 128])
@pytest.mark.parametrize("element", TYPES)
def test_network_and_gradients(rng, element, width):
    """With a bias in every other case; 70 rows are one block and a part of another."""
    bias = (TYPES.index(element) + width // 8) % 2 == 0
    check_network(rng, 70, width, element, bias)


@pytest.mark.parametrize("rows", [1, 63, 64, 130])
@pytest.mark.parametrize("bias", [False, True])
def test_network_of_odd_rows(rng, rows, bias):
    check_network(rng, rows, 32, "bf16", bias)


def test_frequency_encode(tmp_path):
    compare(tmp_path, kan.value_and_gradients("kan.frequency_encode {} {{octaves = 3}}", "{0} -> {y}", ["tensor<7x2xf32>"],
                                              "tensor<7x12xf32>"))


@pytest.mark.parametrize("op", ["mse {}", "huber {} {{delta = 0.3}}"])
@pytest.mark.parametrize("element", TYPES)
def test_loss(tmp_path, element, op):
    kind = f"tensor<37x5x{element}>"
    compare(tmp_path, kan.value_and_gradients("loss." + op, "{0} -> {y}", [kind, kind], "tensor<f32>"))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("rows, classes", [(1, 1), (9, 10)])
def test_cross_entropy(tmp_path, rows, classes, element):
    compare(tmp_path, kan.value_and_gradients("loss.softmax_cross_entropy {}", "{0}, {1} -> {y}",
                                              [f"tensor<{rows}x{classes}x{element}>", f"tensor<{rows}xi32>"], "tensor<f32>",
                                              [0]), f"--random-integers=0:{classes}")


@pytest.mark.parametrize("element", TYPES)
def test_softmax(tmp_path, element):
    kind = f"tensor<6x10x{element}>"
    compare(tmp_path, kan.value_and_gradients("loss.softmax {}", "{0}", [kind], kind))


@pytest.mark.parametrize("params, state", [("f32", "f32"), ("bf16", "f32"), ("f16", "f16")])
def test_adamw(tmp_path, params, state):
    p, s = f"tensor<5x7x{params}>", f"tensor<5x7x{state}>"
    compare(tmp_path, f"""
func.func @run(%p: {p}, %g: {p}, %m: {s}, %root: {s}, %lr: f32) -> ({p}, {s}, {s}) {{
  %v = arith.mulf %root, %root : {s}
  %t = arith.constant 3 : i64
  %0:3 = opt.adamw params(%p) grads(%g) first(%m) second(%v) lr(%lr : f32) step(%t : i64) : {p} moments {s}
  return %0#0, %0#1, %0#2 : {p}, {s}, {s}
}}""")


@pytest.mark.parametrize("row", [(), (1,), (24,), (64,), (3, 5)])
@pytest.mark.parametrize("index", ["i32", "i64"])
def test_gather_reads_rows_and_pads_with_zeros(rng, row, index):
    x = rng.standard_normal((11, *row)).astype(np.float32)
    rows = np.array([3, -1, 10, 0, 3, -7], dtype=index.replace("i", "int"))
    expected = np.where((rows >= 0).reshape(-1, *[1] * len(row)), x[np.maximum(rows, 0)], 0)
    module = block_ops.GATHER.format(n=11, r=6, i=index, row="".join(f"{e}x" for e in row))
    assert_close(emulate(module, "gather", [x, rows]), [expected], 0)


def test_scatter_stores_rows_and_drops_absent_ones(rng):
    t, y = (rng.standard_normal((n, 8)).astype(np.float32) for n in (4, 9))
    rows = np.array([8, -1, 0, 5], np.int32)
    expected = y.copy()
    expected[[8, 0, 5]] = t[[0, 2, 3]]
    assert_close(emulate(block_ops.SCATTER.format(r=4, how=""), "scatter", [t, rows, y]), [expected], 0)


@pytest.mark.parametrize("kind", ["add", "mul", "max"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(rng, kind, exclusive, reverse):
    x = rng.uniform(0.5, 1.5, (12, 24)).astype(np.float32)
    expected = block_ops.numpy_scan(x, kind, 0, exclusive, reverse)
    [y] = emulate(block_ops.scan_module(kind, x.shape, 0, exclusive, reverse), "scan", [x])
    assert np.array_equal(np.isfinite(y), np.isfinite(expected))
    assert_close([y[np.isfinite(expected)]], [expected[np.isfinite(expected)]], 1e-5)


@pytest.mark.parametrize("shape,along", [((5,), 0), ((64,), 0), ((32, 100), 0), ((16, 64), 0), ((4, 7, 3), 1), ((4, 7, 3), 2), ((3, 0), 0)])
def test_scan_along_any_dimension(rng, shape, along):
    x = rng.standard_normal(shape).astype(np.float32)
    assert_close(emulate(block_ops.scan_module("add", shape, along, False, False), "scan", [x]),
                 [block_ops.numpy_scan(x, "add", along, False, False)], 1e-5)


@pytest.mark.parametrize("triangle", ["lower", "upper"])
@pytest.mark.parametrize("transpose", ["", "transpose"])
@pytest.mark.parametrize("unit", ["", "unit"])
# Of so many columns for 128 threads, each in one, two, four or eight lanes.
@pytest.mark.parametrize("n, m", [(12, 128), (12, 24), (32, 64), (16, 20), (32, 8)])
def test_solve_triangular(rng, triangle, transpose, unit, n, m):
    # The other triangle, and with `unit` the diagonal, must not be read.
    a = rng.standard_normal((n, n)).astype(np.float32) * 0.3
    a[np.diag_indices(n)] = rng.uniform(1, 2, n)
    b = rng.standard_normal((2, n, m)).astype(np.float32)
    read = (np.tril(a) if triangle == "lower" else np.triu(a)).astype(np.float64)
    a[read == 0] = np.nan
    if unit:
        read[np.diag_indices(n)] = 1
        a[np.diag_indices(n)] = np.nan
    expected = np.linalg.solve(read.T if transpose else read, b.astype(np.float64))
    assert_close(emulate(solving(f"{triangle} {transpose} {unit}", n, m), "solve", [a, b]), [expected], 1e-5)


def solving(how, n, m):
    """A system by each of two blocks: outside of blocks, such an op becomes loops over rows."""
    return f"""
func.func @solve(%a: tensor<{n}x{n}xf32>, %b: tensor<2x{n}x{m}xf32>) -> tensor<2x{n}x{m}xf32> {{
  %e = tensor.empty() : tensor<2x{n}x{m}xf32>
  %y = scf.forall (%i) in (2) shared_outs(%o = %e) -> (tensor<2x{n}x{m}xf32>) {{
    %right = tensor.extract_slice %b[%i, 0, 0] [1, {n}, {m}] [1, 1, 1] : tensor<2x{n}x{m}xf32> to tensor<{n}x{m}xf32>
    %x = block.solve_triangular {how} %a outs(%right) : tensor<{n}x{n}xf32> -> tensor<{n}x{m}xf32>
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %x into %o[%i, 0, 0] [1, {n}, {m}] [1, 1, 1] : tensor<{n}x{m}xf32> into tensor<2x{n}x{m}xf32>
    }}
  }}
  return %y : tensor<2x{n}x{m}xf32>
}}"""


@pytest.mark.parametrize("m", [8, 128])
@pytest.mark.parametrize("how, first", [("lower unit", True), ("lower transpose unit", False)])
def test_rows_that_are_solved_do_not_change(rng, how, first, m):
    """An infinite right-hand side makes rows behind it what they are, and none before it; and -0 stays."""
    n = 16
    a = rng.standard_normal((n, n)).astype(np.float32) * 0.3
    b = np.full((2, n, m), -0.0, np.float32)
    b[:, 7] = np.inf
    [x] = emulate(solving(how, n, m), "solve", [a, b])
    before, behind = (slice(0, 7), slice(8, n)) if first else (slice(8, n), slice(0, 7))
    assert (x[:, 7] == np.inf).all() and not np.isfinite(x[:, behind]).any()
    edge = 0 if first else n - 1
    assert (x[:, before] == 0).all() and np.signbit(x[:, edge]).all()


def test_loops_that_do_not_run_read_nothing(rng):
    """The rows that an iteration would read are past the end of the matrix."""
    module = """func.func @f(%a: tensor<64x16xf32>, %b: tensor<64x16xf32>, %n: tensor<2xi32>) -> tensor<64x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64x16xf32>
  %y = scf.forall (%block) in (4) shared_outs(%o = %e) -> (tensor<64x16xf32>) {
    %zero = arith.constant 0.0 : f32
    %row = affine.apply affine_map<(i) -> (i * 16)>(%block)
    %start32 = tensor.extract %n[%c0] : tensor<2xi32>
    %count32 = tensor.extract %n[%c1] : tensor<2xi32>
    %start = arith.index_cast %start32 : i32 to index
    %count = arith.index_cast %count32 : i32 to index
    %te = tensor.empty() : tensor<16x16xf32>
    %none = linalg.fill ins(%zero : f32) outs(%te : tensor<16x16xf32>) -> tensor<16x16xf32>
    %at = tensor.extract_slice %a[%row, 0] [16, 16] [1, 1] : tensor<64x16xf32> to tensor<16x16xf32>
    %sum = scf.for %i = %c0 to %count step %c1 iter_args(%s = %none) -> (tensor<16x16xf32>) {
      %bt = tensor.extract_slice %b[%start, 0] [16, 16] [1, 1] : tensor<64x16xf32> to tensor<16x16xf32>
      %next = linalg.matmul ins(%at, %bt : tensor<16x16xf32>, tensor<16x16xf32>) outs(%s : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %next : tensor<16x16xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%row, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<64x16xf32>
    }
  }
  return %y : tensor<64x16xf32>
}"""
    a, b = (rng.standard_normal((64, 16)).astype(np.float32) for _ in range(2))
    assert_close(emulate(module, "f", [a, b, np.array([1000000, 0], np.int32)]), [np.zeros((64, 16))], 0)
    assert_close(emulate(module, "f", [a, b, np.array([32, 2], np.int32)]), [2 * a.astype(np.float64) @ b[32:48]], 1e-5)


INF, NAN = np.inf, np.nan
SMALLEST = np.float32(2.0**-126)
VALUES = np.array([0, -0.0, 1e-40, -1e-40, 2.0**-149, SMALLEST, 1.5, -2.5, 3e38, INF, -INF, NAN] * 3, np.float32)
HALF, ZERO = np.float32(0.5), np.float32(0)
ARITHMETIC = {
    "arith.mulf %x, %half": lambda x: x * HALF,
    "arith.mulf %x, %zero": lambda x: x * ZERO,
    "arith.addf %x, %x": lambda x: x + x,
    "arith.subf %x, %x": lambda x: x - x,
    "arith.maximumf %x, %zero": lambda x: np.maximum(x, ZERO),
    "kan.relu %x": lambda x: np.maximum(x, ZERO),
    "math.sqrt %x": np.sqrt,
    "math.absf %x": np.abs,
}
# A denormal argument of a logarithm counts as the smallest normal number.
FUNCTIONS = {
    "arith.divf %half, %x": lambda x: HALF / x,
    "arith.divf %x, %x": lambda x: x / x,
    "arith.divf %x, %large": lambda x: x / np.float32(3e38),
    "math.exp %x": np.exp,
    "math.tanh %x": np.tanh,
    "math.log %x": lambda x: np.log(np.where((x > 0) & (x < SMALLEST), SMALLEST, x)),
}


def elementwise(bodies):
    """What each op makes of VALUES."""
    t = f"tensor<{VALUES.size}xf32>"
    ops = "\n".join(f"  %y{i} = {body} : {t}" for i, body in enumerate(bodies))
    return emulate(f"""func.func @f(%x: {t}) -> ({", ".join([t] * len(bodies))}) {{
  %half = arith.constant dense<0.5> : {t}
  %zero = arith.constant dense<0.0> : {t}
  %large = arith.constant dense<3.0e38> : {t}
{ops}
  return {", ".join(f"%y{i}" for i in range(len(bodies)))} : {", ".join([t] * len(bodies))}
}}""", "f", [VALUES])


@pytest.mark.parametrize("body", ARITHMETIC)
def test_arithmetic_is_exact_on_special_values(body):
    with np.errstate(all="ignore"):
        expected = ARITHMETIC[body](VALUES)
    [result] = elementwise([body])
    np.testing.assert_array_equal(result, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("body", FUNCTIONS)
def test_functions_carry_special_values(body):
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[body](VALUES)
    # Two units in the last place of f32; of quotients also where these are denormal, 2^-149 each.
    denormal = 2.0**-148 if "divf" in body else 0
    np.testing.assert_allclose(elementwise([body])[0], expected, rtol=2.0**-22, atol=denormal)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_products_carry_special_values(element):
    """Rows 0 to 2 hold a NaN, an infinity, and both infinities; each spoils its own row only."""
    a = np.ones((8, 24), np.float32)
    a[0, 3], a[1, 5], a[2, 7], a[2, 9] = NAN, INF, INF, -INF
    b = np.ones((24, 40), np.float32)
    b[:, 17] = 0
    convert = "" if element == "f32" else """
  %la = arith.truncf %a : tensor<8x24xf32> to tensor<8x24xbf16>
  %lb = arith.truncf %b : tensor<24x40xf32> to tensor<24x40xbf16>"""
    la, lb = ("%a", "%b") if element == "f32" else ("%la", "%lb")
    text = f"""func.func @f(%a: tensor<8x24xf32>, %b: tensor<24x40xf32>) -> tensor<8x40xf32> {{
  %zero = arith.constant 0.0 : f32{convert}
  %empty = tensor.empty() : tensor<8x40xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x40xf32>) -> tensor<8x40xf32>
  %c = linalg.matmul ins({la}, {lb} : tensor<8x24x{element}>, tensor<24x40x{element}>)
      outs(%start : tensor<8x40xf32>) -> tensor<8x40xf32>
  return %c : tensor<8x40xf32>
}}"""
    [c] = emulate(text, "f", [a, b])
    with np.errstate(all="ignore"):
        expected = a.astype(np.float64) @ b
    np.testing.assert_array_equal(c, expected.astype(np.float32))


def round_to_tf32(array):
    """To 11 significant bits, ties away from zero."""
    return ((array.view(np.uint32) + 0x1000) & 0xFFFFE000).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("left, right", [("m, k", "k, n"), ("k, m", "k, n"), ("m, k", "n, k")])
@pytest.mark.parametrize("m, k, n", [(64, 32, 64), (40, 20, 24), (130, 16, 8)])
def test_tf32_rounds_operands_of_products(rng, left, right, m, k, n):
    """Only where the module allows it; products of what is rounded are exact, and sums as good as those of f32."""
    sizes = {"m": m, "k": k, "n": n}
    shapes = [[sizes[d] for d in dims.split(", ")] for dims in (left, right)]
    a, b = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes)
    types = ["tensor<" + "x".join(map(str, shape)) + "xf32>" for shape in (*shapes, (m, n))]
    text = f"""module ATTRIBUTES {{
func.func @f(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {types[2]}
  %start = linalg.fill ins(%zero : f32) outs(%empty : {types[2]}) -> {types[2]}
  %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> ({left})>, affine_map<(m, n, k) -> ({right})>,
      affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : {types[0]}, {types[1]}) outs(%start : {types[2]}) -> {types[2]}
  return %c : {types[2]}
}}
}}"""

    def product(a, b):
        a, b = (x.astype(np.float64) for x in (a, b))
        return np.einsum(f"{left.replace(', ', '')},{right.replace(', ', '')}->mn", a, b)

    [rounded] = emulate(text.replace("ATTRIBUTES", "attributes {drawloom.tf32}"), "f", [a, b])
    [exact] = emulate(text.replace("ATTRIBUTES", ""), "f", [a, b])
    # k additions in f32, in any order, are off by at most k 2^-24 of the sum of magnitudes (products are fused or exact).
    bound = k * 2.0**-24 * product(abs(a), abs(b))
    assert (np.abs(rounded - product(round_to_tf32(a), round_to_tf32(b))) <= bound).all()
    assert (np.abs(exact - product(a, b)) <= bound).all()
    assert (np.abs(rounded - exact) > 8 * bound).any()
