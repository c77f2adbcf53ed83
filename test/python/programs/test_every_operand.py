# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/numerics.md promises where upstream leaves an op undefined: integer division, shifts, conversions, indices and
slices out of range, on the CPU (numbers and vectors), emulated kernels and in the interpreter."""

import numpy as np
import pytest

from support.runner import run

WAYS = [("interpreter", []), ("cpu", ["--isa=baseline"]), ("cpu", ["--isa=avx2"]), ("cpu", []), ("emulator", [])]
NAMES = ["interpreter", "baseline", "avx2", "native", "emulator"]
each_way = pytest.mark.parametrize("target,options", WAYS, ids=NAMES)
INTEGERS = {"i8": np.int8, "i32": np.int32, "i64": np.int64}


def every_pair(dtype):
    """Corners against corners, more than one vector of them and a remainder."""
    ends = np.iinfo(dtype)
    corners = np.array([ends.min, ends.min + 1, -9, -2, -1, 0, 1, 2, 7, 8, ends.bits - 1, ends.bits, ends.max], dtype)
    a, b = np.meshgrid(corners, corners)
    return a.ravel(), b.ravel()


def exact(op, a, b, dtype):
    """The definition, on Python's integers."""
    bits = np.iinfo(dtype).bits
    unsigned = op.endswith("ui")
    x, y = (int(v) % 2**bits if unsigned else int(v) for v in (a, b))
    if op.startswith("sh"):
        amount = int(b) % 2**bits
        if op == "shrsi":
            return x >> min(amount, bits - 1)
        return 0 if amount >= bits else x << amount if op == "shli" else (int(a) % 2**bits) >> amount
    quotient = -1 if y == 0 else x // y if "floor" in op else -(-x // y) if "ceil" in op else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return (x if y == 0 else x - quotient * y) if op.startswith("rem") else quotient


def wrap(value, dtype):
    bits = np.iinfo(dtype).bits
    return (int(value) + 2**(bits - 1)) % 2**bits - 2**(bits - 1)


OPS = ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui", "shli", "shrui", "shrsi"]


@each_way
@pytest.mark.parametrize("element", INTEGERS)
def test_integer_ops_have_a_result_for_every_pair(target, options, element):
    dtype = INTEGERS[element]
    a, b = every_pair(dtype)
    t = f"tensor<{a.size}x{element}>"
    lines = [f"  %{op} = arith.{op} %a, %b : {t}" for op in OPS]
    text = (f"func.func @f(%a: {t}, %b: {t}) -> ({', '.join([t] * len(OPS))}) {{\n" + "\n".join(lines)
            + f"\n  return {', '.join('%' + op for op in OPS)} : {', '.join([t] * len(OPS))}\n}}")
    results = run(text, "f", [a, b], target=target, float64=False, options=options)
    for op, result in zip(OPS, results):
        expected = np.array([wrap(exact(op, x, y, dtype), dtype) for x, y in zip(a, b)], dtype)
        np.testing.assert_array_equal(result, expected, op)


@each_way
@pytest.mark.parametrize("op,a,b,expected", [
    ("divsi", 7, 0, -1), ("divsi", -2**31, -1, -2**31), ("remsi", 7, 0, 7), ("remsi", -2**31, -1, 0), ("shli", 1, 32, 0),
    ("shrsi", -8, 99, -1),
])
def test_numbers_as_vectors(target, options, op, a, b, expected):
    text = f"func.func @f(%a: i32, %b: i32) -> i32 {{\n  %r = arith.{op} %a, %b : i32\n  return %r : i32\n}}"
    if target == "emulator":
        pytest.skip("numbers alone need no kernel")
    (result,) = run(text, "f", [np.int32(a), np.int32(b)], target=target, float64=False, options=options)
    assert result == expected


@each_way
@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("to", INTEGERS)
def test_conversions_end_at_the_types_ends(target, options, element, to):
    dtype = INTEGERS[to]
    ends = np.iinfo(dtype)
    values = np.array([0, -0.5, 1.75, -1.75, 100, -100, 127, 128, -128, -129, 255, 256, 65504, -65504, 2.0**31, -2.0**31, 2.0**32,
                       2.0**63, -2.0**63, 2.0**64, 1e30, -1e30, np.inf, -np.inf, np.nan, 3, -3], np.float32)
    if element == "f16":
        with np.errstate(over="ignore"):
            values = values.astype(np.float16).astype(np.float32)
    if element == "bf16":  # 1e30 is none.
        values = (values.view(np.uint32) & 0xffff0000).view(np.float32)
    n = values.size
    narrow = f"  %x = arith.{'truncf' if element in ('f16', 'bf16') else 'extf'} %v : tensor<{n}xf32> to tensor<{n}x{element}>\n"
    x, narrow = ("%v", "") if element == "f32" else ("%x", narrow)
    text = f"""func.func @f(%v: tensor<{n}xf32>) -> (tensor<{n}x{to}>, tensor<{n}x{to}>) {{
{narrow}  %s = arith.fptosi {x} : tensor<{n}x{element}> to tensor<{n}x{to}>
  %u = arith.fptoui {x} : tensor<{n}x{element}> to tensor<{n}x{to}>
  return %s, %u : tensor<{n}x{to}>, tensor<{n}x{to}>
}}"""

    def nearest(value, low, high):
        if np.isnan(value):
            return 0
        return low if value <= low else high if value >= high else int(value)

    signed, unsigned = run(text, "f", [values], target=target, float64=False, options=options)
    np.testing.assert_array_equal(signed, np.array([nearest(v, int(ends.min), int(ends.max)) for v in values], dtype))
    np.testing.assert_array_equal(unsigned, np.array([wrap(nearest(v, 0, 2**ends.bits - 1), dtype) for v in values], dtype))


INDICES = np.array([0, 3, 4, -1, 10**6, -10**9, 2**62, 1], np.int64)


@each_way
def test_extract_reads_an_element_of_the_tensor(rng, target, options):
    text = """#id = affine_map<(i) -> (i)>
func.func @f(%x: tensor<4xf32>, %at: tensor<8xi64>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<8xi64>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: i64, %o: f32):
    %k = arith.index_cast %i : i64 to index
    %v = tensor.extract %x[%k] : tensor<4xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}"""
    x = rng.standard_normal(4).astype(np.float32)
    (result,) = run(text, "f", [x, INDICES], target=target, float64=False, options=options)
    np.testing.assert_array_equal(result, x[np.clip(INDICES, 0, 3)])


@each_way
@pytest.mark.parametrize("at", INDICES)
def test_slices_and_elements_stay_inside(rng, target, options, at):
    text = """func.func @f(%x: tensor<9x5xf32>, %p: tensor<3x5xf32>, %i: i64) -> (tensor<3x5xf32>, tensor<9x5xf32>, tensor<9x5xf32>) {
  %at = arith.index_cast %i : i64 to index
  %s = tensor.extract_slice %x[%at, 0] [3, 5] [1, 1] : tensor<9x5xf32> to tensor<3x5xf32>
  %n = arith.negf %s : tensor<3x5xf32>
  %y = tensor.insert_slice %p into %x[%at, 0] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<9x5xf32>
  %v = tensor.extract %p[%at, %at] : tensor<3x5xf32>
  %z = tensor.insert %v into %x[%at, %at] : tensor<9x5xf32>
  return %n, %y, %z : tensor<3x5xf32>, tensor<9x5xf32>, tensor<9x5xf32>
}"""
    x, p = rng.standard_normal((9, 5)).astype(np.float32), rng.standard_normal((3, 5)).astype(np.float32)
    n, y, z = run(text, "f", [x, p, at], target=target, float64=False, options=options)
    start = int(np.clip(at, 0, 6))
    np.testing.assert_array_equal(n, -x[start:start + 3])
    expected = x.copy()
    expected[start:start + 3] = p
    np.testing.assert_array_equal(y, expected)
    expected = x.copy()
    expected[np.clip(at, 0, 8), np.clip(at, 0, 4)] = p[np.clip(at, 0, 2), np.clip(at, 0, 4)]
    np.testing.assert_array_equal(z, expected)
