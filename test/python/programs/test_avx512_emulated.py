# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AVX-512 code, executed by an emulator, against the interpreter."""

import numpy as np

from programs import avx512_emulator
from support.runner import assert_close, run


def check(tmp_path, module, arrays, results, tolerance):
    expected = run(module, "f", arrays, target="interpreter")
    assert_close(avx512_emulator.run_avx512(tmp_path, module, "f", arrays, results), expected, tolerance)


def floats(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def test_dense_layer_and_its_gradients(tmp_path, rng):
    module = """
func.func private @layer(%x: tensor<70x40xf32>, %w: tensor<40x64xf32>, %b: tensor<64xf32>) -> tensor<70x64xf32> {
  %e = tensor.empty() : tensor<70x64xf32>
  %c = linalg.broadcast ins(%b : tensor<64xf32>) outs(%e : tensor<70x64xf32>) dimensions = [0]
  %z = linalg.matmul ins(%x, %w : tensor<70x40xf32>, tensor<40x64xf32>) outs(%c : tensor<70x64xf32>) -> tensor<70x64xf32>
  %y = kan.silu %z : tensor<70x64xf32>
  return %y : tensor<70x64xf32>
}
func.func @f(%x: tensor<70x40xf32>, %w: tensor<40x64xf32>, %b: tensor<64xf32>, %g: tensor<70x64xf32>)
    -> (tensor<70x64xf32>, tensor<70x40xf32>, tensor<40x64xf32>, tensor<64xf32>) {
  %y, %d:3 = ad.vjp @layer(%x, %w, %b) cotangents(%g) wrt [0, 1, 2]
    : (tensor<70x40xf32>, tensor<40x64xf32>, tensor<64xf32>)
   -> (tensor<70x64xf32>, tensor<70x40xf32>, tensor<40x64xf32>, tensor<64xf32>)
  return %y, %d#0, %d#1, %d#2 : tensor<70x64xf32>, tensor<70x40xf32>, tensor<40x64xf32>, tensor<64xf32>
}
"""
    arrays = [floats(rng, 70, 40), floats(rng, 40, 64), floats(rng, 64), floats(rng, 70, 64)]
    results = [np.zeros(s, np.float32) for s in [(70, 64), (70, 40), (40, 64), (64,)]]
    check(tmp_path, module, arrays, results, 2e-6)


def test_rational_and_its_gradients(tmp_path, rng):
    types = "tensor<33x48xf32>, tensor<2x6xf32>, tensor<2x4xf32>"
    module = f"""
func.func private @rational(%x: tensor<33x48xf32>, %a: tensor<2x6xf32>, %b: tensor<2x4xf32>) -> tensor<33x48xf32> {{
  %y = kan.rational %x, %a, %b form(abs_sum) : {types}
  return %y : tensor<33x48xf32>
}}
func.func @f(%x: tensor<33x48xf32>, %a: tensor<2x6xf32>, %b: tensor<2x4xf32>, %g: tensor<33x48xf32>)
    -> (tensor<33x48xf32>, {types}) {{
  %y, %d:3 = ad.vjp @rational(%x, %a, %b) cotangents(%g) wrt [0, 1, 2] : ({types}) -> (tensor<33x48xf32>, {types})
  return %y, %d#0, %d#1, %d#2 : tensor<33x48xf32>, {types}
}}
"""
    arrays = [floats(rng, 33, 48), floats(rng, 2, 6), floats(rng, 2, 4), floats(rng, 33, 48)]
    results = [np.zeros(s, np.float32) for s in [(33, 48), (33, 48), (2, 6), (2, 4)]]
    check(tmp_path, module, arrays, results, 5e-6)


def test_softmax_of_odd_width(tmp_path, rng):
    module = """
func.func @f(%x: tensor<19x37xf32>) -> tensor<19x37xf32> {
  %y = loss.softmax %x : tensor<19x37xf32>
  return %y : tensor<19x37xf32>
}
"""
    check(tmp_path, module, [10 * floats(rng, 19, 37)], [np.zeros((19, 37), np.float32)], 2e-6)


def test_bfloat16_conversions(tmp_path, rng):
    module = """
func.func @f(%x: tensor<21x24xbf16>) -> tensor<21x24xbf16> {
  %y = kan.tanh %x : tensor<21x24xbf16>
  return %y : tensor<21x24xbf16>
}
"""
    values = floats(rng, 21, 24)
    bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    (result,) = avx512_emulator.run_avx512(tmp_path, module, "f", [bits], [np.zeros((21, 24), np.uint16)])
    exact = (bits.astype(np.uint32) << 16).view(np.float32)
    assert_close([(result.astype(np.uint32) << 16).view(np.float32)], [np.tanh(exact.astype(np.float64))], 4e-3)
