# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawloom for JAX: functions, models of linear recurrences (drawloom.jax.linrec) and layers on graphs (drawloom.jax.rgnn), that are
compiled, and take part in jit, grad and jvp to any order (linear recurrences: in the first, in reverse), vmap, checkpoint, shard_map and
sharded computations. They run on the CPU and on NVIDIA's GPUs."""

try:
    import jax as _jax  # noqa: F401
except ImportError as error:
    raise ImportError("drawloom.jax needs JAX: pip install jax") from error

from . import linrec, rgnn  # noqa: E402
from ._jit import Explanation, Part, explain, jit  # noqa: E402
from ._op import op  # noqa: E402
from .functional import (  # noqa: E402
    frequency_encode,
    fused_mlp,
    fused_mlp_along,
    kan_layer,
    kan_network,
    kan_network_along,
    kat_mlp,
    linear_recurrence,
    nonlinear_scan,
    rational,
    structured_linear,
)

__all__ = ["Explanation", "Part", "explain", "frequency_encode", "fused_mlp", "fused_mlp_along", "jit", "kan_layer", "kan_network", "kan_network_along",
           "kat_mlp", "linear_recurrence", "linrec", "nonlinear_scan", "op", "rational", "rgnn", "structured_linear"]
