# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that leave extents open and refer to each other: each can be called, for any extents."""

import numpy as np

import drawloom

LOSS_AND_GRADIENT = """
func.func @loss(%x: tensor<?x2xf32>) -> tensor<f32> {
  %y = kan.square %x : tensor<?x2xf32>
  %l = loss.mse %x, %y : tensor<?x2xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradient(%x: tensor<?x2xf32>) -> (tensor<f32>, tensor<?x2xf32>) {
  %l, %d = ad.value_and_grad @loss(%x) wrt [0] : (tensor<?x2xf32>) -> (tensor<f32>, tensor<?x2xf32>)
  return %l, %d : tensor<f32>, tensor<?x2xf32>
}
func.func @twice(%x: tensor<?x2xf32>) -> tensor<f32> {
  %a = call @loss(%x) : (tensor<?x2xf32>) -> tensor<f32>
  %b = arith.addf %a, %a : tensor<f32>
  return %b : tensor<f32>
}
"""


def test_each_function_is_called_for_its_own_shapes(rng):
    module = drawloom.compile(LOSS_AND_GRADIENT)
    for rows in (3, 1, 5):
        x = rng.uniform(-1, 1, (rows, 2)).astype(np.float32)
        loss = np.mean((x - x * x).astype(np.float64) ** 2)
        slope = 2 * (x - x * x) * (1 - 2 * x) / x.size
        assert abs(module.loss(x) - loss) < 1e-6
        assert abs(module.twice(x) - 2 * loss) < 2e-6
        value, gradient = module.gradient(x)
        assert abs(value - loss) < 1e-6 and np.abs(gradient - slope).max() < 1e-6
