# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands around a recurrence whose numbers of sequences and tokens are open: elementwise ops, products, losses and their gradients
are compiled once, with the bits of a program for just these numbers."""

import ml_dtypes  # noqa: F401, bfloat16 for NumPy
import numpy as np
import pytest

import drawloom

# Around chunks of 16 and 32 and tiles of 64 rows, primes, none, and several blocks.
EXTENTS = ((2, 33), (1, 1), (0, 5), (2, 0), (1, 15), (2, 16), (1, 17), (3, 31), (1, 127), (5, 97), (1, 1031), (7, 300))

SCAN = """
  %o, %final = linrec.scan %s, %k, %v decay(%g) : (ROW, ROW, ROW, DECAY) -> (ROW, STATE)"""
OPERANDS = "%q: ROW, %k: ROW, %v: ROW, %g: DECAY"
TYPES = "ROW, ROW, ROW, DECAY"
SIZES = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : ROW
  %t = tensor.dim %q, %c1 : ROW"""

PROGRAMS = {
    # An activation in front, a loss behind.
    "loss": f"""
func.func private @model({OPERANDS}, %y: ROW) -> tensor<f32> {{
  %s = kan.silu %q : ROW{SCAN}
  %l = loss.mse %o, %y : ROW -> tensor<f32>
  return %l : tensor<f32>
}}
func.func @main({OPERANDS}, %y: ROW) -> (tensor<f32>, ROW, ROW, DECAY) {{
  %l, %dq, %dv, %dg = ad.value_and_grad @model(%q, %k, %v, %g, %y) wrt [0, 2, 3] : ({TYPES}, ROW) -> (tensor<f32>, ROW, ROW, DECAY)
  return %l, %dq, %dv, %dg : tensor<f32>, ROW, ROW, DECAY
}}""",
    # Queries by heads apart and together, projected by weights, whose gradients are sums over all tokens.
    "products": f"""
#x = affine_map<(b, t, i, j) -> (b, t, j)>
#w = affine_map<(b, t, i, j) -> (i, j)>
#y = affine_map<(b, t, i, j) -> (b, t, i)>
func.func private @model(%x: WIDE, %w: tensor<32x32xELEMENT>, %k: ROW, %v: ROW, %g: DECAY, %u: tensor<32x32xELEMENT>) -> WIDE {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : WIDE
  %t = tensor.dim %x, %c1 : WIDE
  %zero = arith.constant 0.0 : ELEMENT
  %e = EMPTYWIDE
  %f = linalg.fill ins(%zero : ELEMENT) outs(%e : WIDE) -> WIDE
  %p = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %w : WIDE, tensor<32x32xELEMENT>) outs(%f : WIDE) -> WIDE
  %s = tensor.expand_shape %p [[0], [1], [2, 3]] output_shape [SIZES, 4, 8] : WIDE into ROW{SCAN}
  %a = math.tanh %o : ROW
  %h = tensor.collapse_shape %a [[0], [1], [2, 3]] : ROW into WIDE
  %r = linalg.contract indexing_maps = [#x, #w, #y] ins(%h, %u : WIDE, tensor<32x32xELEMENT>) outs(%f : WIDE) -> WIDE
  return %r : WIDE
}}
func.func @main(%x: WIDE, %w: tensor<32x32xELEMENT>, %k: ROW, %v: ROW, %g: DECAY, %u: tensor<32x32xELEMENT>, %d: WIDE)
    -> (WIDE, WIDE, tensor<32x32xELEMENT>, tensor<32x32xELEMENT>) {{
  %r:4 = ad.vjp @model(%x, %w, %k, %v, %g, %u) cotangents(%d) wrt [0, 1, 5] : (WIDE, tensor<32x32xELEMENT>, ROW, ROW, DECAY, tensor<32x32xELEMENT>)
      -> (WIDE, WIDE, tensor<32x32xELEMENT>, tensor<32x32xELEMENT>)
  return %r#0, %r#1, %r#2, %r#3 : WIDE, WIDE, tensor<32x32xELEMENT>, tensor<32x32xELEMENT>
}}""",
    # What has sequences alone beside what has tokens too.
    "states": f"""
func.func @main({OPERANDS}) -> (ROW, STATE) {{
  %s = math.tanh %q : ROW{SCAN}
  %a = arith.mulf %o, %s : ROW
  %z = kan.silu %final : STATE
  return %a, %z : ROW, STATE
}}""",
    # Two recurrences, and a loss of labels by rows of one dimension.
    "labels": f"""
func.func private @model({OPERANDS}, %labels: LABELS) -> tensor<f32> {{{SIZES}
  %s = kan.silu %q : ROW{SCAN}
  %lb = tensor.dim %labels, %c0 : LABELS
  %lt = tensor.dim %labels, %c1 : LABELS
  %same_b = arith.cmpi eq, %lb, %b : index
  %same_t = arith.cmpi eq, %lt, %t : index
  cf.assert %same_b, "labels of all sequences"
  cf.assert %same_t, "labels of all tokens"
  %o2, %final2 = linrec.scan %o, %k, %v : (ROW, ROW, ROW) -> (ROW, STATE)
  %flat = tensor.collapse_shape %o2 [[0, 1], [2, 3]] : ROW into tensor<?x32xELEMENT>
  %y = tensor.collapse_shape %labels [[0, 1]] : LABELS into tensor<?xi32>
  %l = loss.softmax_cross_entropy %flat, %y : tensor<?x32xELEMENT>, tensor<?xi32> -> tensor<f32>
  return %l : tensor<f32>
}}
func.func @main({OPERANDS}, %labels: LABELS) -> (tensor<f32>, ROW, ROW) {{
  %l, %dq, %dk = ad.value_and_grad @model(%q, %k, %v, %g, %labels) wrt [0, 1] : ({TYPES}, LABELS) -> (tensor<f32>, ROW, ROW)
  return %l, %dq, %dk : tensor<f32>, ROW, ROW
}}""",
}


def text(name, element, extents):
    b, t = extents
    open_ = [f"%{one}" for one, extent in zip("bt", extents) if extent == "?"]
    wide = f"tensor<{b}x{t}x32xELEMENT>"
    program = PROGRAMS[name]
    for word, meaning in (("EMPTYWIDE", f"tensor.empty({', '.join(open_)}) : {wide}"),
                          ("SIZES", ", ".join("%" + n if e == "?" else str(e) for n, e in zip("bt", extents))),
                          ("ROW", f"tensor<{b}x{t}x4x8xELEMENT>"), ("WIDE", wide), ("LABELS", f"tensor<{b}x{t}xi32>"), ("DECAY", f"tensor<{b}x{t}x4xf32>"),
                          ("STATE", f"tensor<{b}x4x8x8xf32>"), ("ELEMENT", element)):
        program = program.replace(word, meaning)
    return program


def arguments_of(function, extents, rng):
    arrays = []
    for dtype, shape in (type[:2] for type in function.arguments):
        shape = [extents[dim] if extent < 0 else extent for dim, extent in enumerate(shape)]
        if dtype == "int32":
            arrays.append(rng.integers(0, 32, shape).astype(np.int32))
        else:
            x = rng.uniform(-1, 1, shape) / 2
            arrays.append((-np.abs(x) if len(shape) == 3 and shape[2] == 4 else x).astype(dtype))
    return arrays


def bits(arrays):
    arrays = arrays if isinstance(arrays, (tuple, list)) else [arrays]
    return [(np.asarray(one).shape, np.asarray(one).tobytes()) for one in arrays]


@pytest.mark.parametrize("name,element,open_", [(name, "f32", "??") for name in PROGRAMS] + [
    ("loss", "f32", "2?"), ("products", "f32", "?7"), ("loss", "bf16", "??"), ("products", "bf16", "??")])
def test_one_program_has_the_bits_of_one_for_each_extent(rng, name, element, open_):
    dims = tuple("?" if one == "?" else int(one) for one in open_)
    source = text(name, element, dims)
    before = drawloom.cache.statistics().compiled
    module = drawloom.compile(source)
    cases = [tuple(own if own != "?" else one for own, one in zip(dims, extents)) for extents in EXTENTS]
    given = [arguments_of(module.main, extents, rng) for extents in cases]
    found = [module.main(*one) for one in given]
    assert drawloom.cache.statistics().compiled - before == 1
    assert all(np.isfinite(np.asarray(x).astype(np.float64)).all() for x in found[0])
    for arguments, results, extents in zip(given, found, cases):
        exact = drawloom.compile(source)._compile("main", [one.shape for one in arguments]).call(arguments, None, 1)
        if np.ndim(results[0]) == 0:
            # A loss is a sum over rows whose cut follows from what is fused with it, and a program for known numbers computes some of
            # that in the recurrence's blocks. Its terms are not negative: each is off by no more than the number of rounded additions.
            rows = extents[0] * extents[1]
            assert abs(float(results[0]) - float(exact[0])) <= 2.0**-24 * (rows + 64) * abs(float(exact[0])), extents
            results, exact = results[1:], exact[1:]
        assert bits(results) == bits(exact), extents
