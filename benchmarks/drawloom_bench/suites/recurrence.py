# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the recurrence suite: linear recurrences, forward and with all gradients, through drawloom.torch.linrec."""

import numpy as np

from drawloom_bench.suites.case import FORWARD_RTOL, TRAIN_RTOL, Case, jax_of, jax_run, normal, torch_of, torch_run

SIZES = 2, 2048, 4, 64, 128


def inputs(kind, sizes=SIZES):
    """q, k, v, log-decays (beta) and the cotangent of o. Decays are those of a layer that was just made: log sigmoid / 16."""
    B, T, H, K, V = sizes
    rng = np.random.default_rng(0)
    q, k, v, d = normal(rng, B, T, H, K), normal(rng, B, T, H, K), normal(rng, B, T, H, V), normal(rng, B, T, H, V)
    x = normal(rng, *((B, T, H, K) if kind.startswith("gla") else (B, T, H)))
    g = (-np.logaddexp(0, -x) / 16).astype(np.float32)
    if kind != "gated_delta":
        return [q, k, v, g], d
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    beta = (1 / (1 + np.exp(-normal(rng, B, T, H)))).astype(np.float32)
    return [q, k, v, g, beta], d


def case(kind, train, goal, sizes=SIZES, causal=False):
    """`causal` counts of the scores in chunks of 64 only the parts of 16 tokens that are not above the diagonal; otherwise these are
    full squares, as the rivals compute them."""
    B, T, H, K, V = sizes
    products = 4 * K * V + (64 + 16 if causal else 2 * 64) * (K + V)
    if kind == "gated_delta":
        products += 2 * K * V + 2 * 64 * (K + V) // 2 + 2 * 64 * K
    operations = B * T * H * products * (3 if train else 1)
    data = 4 * B * T * H * (3 * K + 2 * V) * (2 if train else 1)

    def make(options):
        import torch

        from drawloom.torch import linrec
        from drawloom_bench.rivals import recurrence_jax as in_jax
        from drawloom_bench.rivals import recurrence_torch as in_torch

        torch._dynamo.config.recompile_limit = 64
        arrays, dy = inputs(kind, sizes)
        *tensors, ty = torch_of([*arrays, dy])
        *jaxes, jy = jax_of([*arrays, dy])
        bound = -1.0 if kind == "gla_mild" else None
        ours = {"gla": lambda q, k, v, g: linrec.chunk_gla(q, k, v, g)[0],
                "gla_mild": lambda q, k, v, g: linrec.linear_recurrence(q, k, v, decay=g, decay_bound=bound)[0],
                "scalar": lambda q, k, v, g: linrec.chunk_simple_gla(q, k, v, g)[0],
                "gated_delta": lambda q, k, v, g, beta: linrec.chunk_gated_delta_rule(q, k, v, g, beta)[0]}[kind]
        form = {"gla": "gla_exact", "gla_mild": "gla_one_level"}.get(kind, kind)

        def of_torch(function):
            return torch_run(function, tensors, ty if train else None)

        def of_jax(function):
            return jax_run(function, jaxes, jy if train else None)

        theirs = getattr(in_torch, form)
        contenders = {"drawloom": of_torch(ours), "eager": of_torch(theirs), "compile": of_torch(torch.compile(theirs)),
                      "jax": of_jax(getattr(in_jax, form))}
        if kind == "gla" and not train:
            contenders["jax, token by token"] = of_jax(in_jax.gla_tokens)
        return contenders

    name = {"gla": "GLA, exact", "gla_mild": "GLA, mild decays", "scalar": "scalar decay", "gated_delta": "gated delta rule"}[kind]
    if sizes != SIZES:
        name += f", {H} heads of {K} x {V}"
    return Case(f"{name}, {'train' if train else 'forward'}", operations, data, make, goal, TRAIN_RTOL if train else FORWARD_RTOL)


CASES = [case("gla", False, "1.4 x the best"), case("gla", True, "3.3 x the best"),
         case("gla_mild", False, "2 x the best"), case("gla_mild", True, "2 x the best"),
         case("scalar", False, "2 x the best"), case("scalar", True, "2 x the best"),
         case("gated_delta", False, "2.4 x the best"), case("gated_delta", True, "2.5 x the best"),
         case("gla", False, "65 % of the roof", (2, 2048, 8, 64, 64), True),
         case("gla_mild", False, "65 % of the roof", (2, 2048, 8, 64, 64), True)]
