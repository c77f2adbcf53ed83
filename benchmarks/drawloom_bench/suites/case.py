# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the cases of suites are, and the calls of torch and JAX that they time."""

import numpy as np

# Norm-relative differences that two right answers in float32 may have. Outputs and whole steps stay within 2e-7 to
# 1e-5 of float64 (docs of dialects/Check). Gradients of 2^17 rows of a ReLU network: single units at 0 flip with the
# rounding of their sums, which is worth 1e-5 to either side, and another summation order as much again.
FORWARD_RTOL, TRAIN_RTOL, STEP_RTOL = 1e-5, 1e-4, 1e-5


class Case:
    """`make` builds the contenders: name -> callable without arguments that returns arrays.

    Operations and bytes are those of the usual form of the mathematics (2 for each
    product, 21 and 81 for a rational value forward and in training), not of what is
    executed; each tensor is moved once.
    """

    def __init__(self, name, operations, data, make, goal, rtol):
        self.name, self.operations, self.bytes = name, operations, data
        self.make, self.goal, self.rtol = make, goal, rtol


def normal(rng, *shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def torch_of(arrays):
    import torch

    return [torch.from_numpy(a) for a in arrays]


def jax_of(arrays):
    import jax

    return [jax.device_put(a) for a in arrays]


def torch_call(function, leaves=(), cotangent=None):
    """What function() gives, and behind it the gradients of leaves where there is a cotangent."""
    import torch

    def run():
        with torch.set_grad_enabled(cotangent is not None):
            y = function()
            if cotangent is None:
                return list(y) if isinstance(y, tuple) else [y]
            return [y, *torch.autograd.grad(y, leaves, cotangent)]

    return run


def torch_run(function, inputs, cotangent=None, moving=None):
    """As torch_call; the first `moving` inputs, all where nothing is said, have gradients."""
    if cotangent is None:
        return torch_call(lambda: function(*inputs))
    count = len(inputs) if moving is None else moving
    leaves = [t.detach().clone().requires_grad_() for t in inputs[:count]]
    given = [*leaves, *inputs[count:]]
    return torch_call(lambda: function(*given), leaves, cotangent)


def jax_call(function, *arguments):
    """A compiled call that ends when its results are there."""
    import jax

    compiled = jax.jit(function)
    return lambda: jax.block_until_ready(compiled(*arguments))


def jax_run(function, inputs, cotangent=None, moving=None):
    """As torch_run."""
    import jax

    if cotangent is None:
        return jax_call(lambda *inputs: [function(*inputs)], *inputs)
    count = len(inputs) if moving is None else moving

    def both(cotangent, *inputs):
        y, pull = jax.vjp(lambda *leaves: function(*leaves, *inputs[count:]), *inputs[:count])
        return [y, *pull(cotangent)]

    return jax_call(both, cotangent, *inputs)
