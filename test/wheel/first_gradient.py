# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a new user does first, with NumPy alone: a loss, its gradient, and the same by differences."""

import numpy as np

import drawloom

module = drawloom.compile("""
func.func @loss(%x: tensor<?x8xf64>, %t: tensor<?x8xf64>) -> tensor<f64> {
  %y = kan.silu %x : tensor<?x8xf64>
  %l = loss.mse %y, %t : tensor<?x8xf64> -> tensor<f64>
  return %l : tensor<f64>
}
""")
x, t = np.random.default_rng(0).standard_normal((2, 100, 8))
_, gradient = drawloom.grad(module, "loss")(x, t)
direction = np.random.default_rng(1).standard_normal(x.shape)
step = 1e-6
difference = (module.loss(x + step * direction, t) - module.loss(x - step * direction, t)) / (2 * step)
assert abs(np.vdot(gradient, direction) - difference) < 1e-8, (np.vdot(gradient, direction), difference)
print(f"drawloom {drawloom.__version__}: the gradient agrees with differences")
