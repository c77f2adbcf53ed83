# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the framework suite: training steps called from Python, Drawloom through drawloom.torch and drawloom.jax.
framework_overhead.py measures what a call costs when there is hardly anything to compute."""

import numpy as np

from drawloom_bench.programs import kan as programs
from drawloom_bench.suites import kan as kan_suite
from drawloom_bench.suites.case import STEP_RTOL, TRAIN_RTOL, Case, jax_of, jax_run, normal, torch_of, torch_run
from drawloom_bench.suites.kan import coefficients, parameters_of

FORM = "abs_sum"  # That of the rivals' formulas.


def rational_case():
    rows, channels = 8192, 768
    values = rows * channels

    def make(options):
        import torch

        import drawloom.jax
        import drawloom.torch
        from drawloom_bench.rivals import kan_jax, kan_torch

        rng = np.random.default_rng(0)
        arrays = [normal(rng, rows, channels), normal(rng, rows, channels), *coefficients(rng)]
        (x, dy, a, b), (jx, jdy, ja, jb) = torch_of(arrays), jax_of(arrays)
        return {
            "drawloom": torch_run(lambda x, a, b: drawloom.torch.rational(x, a, b, form=FORM), (x, a, b), dy),
            "compile": torch_run(torch.compile(kan_torch.grouped), (x, a, b), dy),
            "eager": torch_run(kan_torch.spread, (x, a, b), dy),
            "jax": jax_run(kan_jax.grouped, (jx, ja, jb), jdy),
            "drawloom in jax": jax_run(lambda x, a, b: drawloom.jax.rational(x, a, b, form=FORM), (jx, ja, jb), jdy),
        }

    return Case("Rational, forward and backward", 81 * values, 16 * values, make, "4 x the best", TRAIN_RTOL)


def mlp_case(activation, goal):
    rows, widths, rate = kan_suite.ROWS, kan_suite.NARROW, 1e-3
    mlp = programs.Mlp(rows, widths, activation)
    products = 2 * rows * sum(n * m for n, m in zip(widths, widths[1:]))
    hidden = rows * sum(widths[1:-1]) if activation == "rational" else 0
    operations = 3 * products - 2 * rows * widths[0] * widths[1] + 81 * hidden

    def split(parameters):
        """(weights, biases, coefficients) of a flat list in the programs' order."""
        weights, biases, tables = [], [], []
        parameters = list(parameters)
        while parameters:
            weights.append(parameters.pop(0))
            biases.append(parameters.pop(0))
            if activation == "rational" and parameters:
                tables += [parameters.pop(0), parameters.pop(0)]
        return weights, biases, tables

    def make(options):
        import drawloom.torch
        from drawloom_bench.rivals import kan_jax, kan_torch

        rng = np.random.default_rng(0)
        x, y = normal(rng, rows, widths[0]), normal(rng, rows, widths[-1])
        parameters = parameters_of(mlp, rng)
        tx, ty, *tp = torch_of([x, y, *parameters])
        jx, jy, *jp = jax_of([x, y, *parameters])
        forward, jforward = kan_torch.network(activation, None), kan_jax.forward_of(activation, None)

        # The rivals' weights are [in, out].
        is_weight = {id(weight) for weight in split(tp)[0]}
        leaves = [(p.t() if id(p) in is_weight else p).contiguous().clone().requires_grad_() for p in tp]
        weights, biases, tables = split(leaves)
        optimizer = drawloom.torch.optim.AdamW(leaves, lr=rate, betas=(programs.ADAM["beta1"], programs.ADAM["beta2"]),
                                               eps=programs.ADAM["epsilon"], weight_decay=0.0)
        transposed = {id(weight) for weight in weights}

        def ours():
            value = kan_torch.mean_squares(drawloom.torch.fused_mlp(tx, weights, biases, activation=activation,
                                                                    activation_params=tables, form=FORM), ty)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            return [value, *(leaf.t() if id(leaf) in transposed else leaf for leaf in leaves)]

        return {
            "drawloom": ours,
            "compile": kan_torch.step(forward, kan_torch.mean_squares, tx, ty, tp, rate, True),
            "eager": kan_torch.step(forward, kan_torch.mean_squares, tx, ty, tp, rate, False),
            "jax": kan_jax.step(jforward, kan_jax.mean_squares, jx, jy, jp, rate),
        }

    return Case(f"FusedMLP step, {activation}", operations, 4 * rows * (widths[0] + widths[-1]), make, goal, STEP_RTOL)


CASES = [rational_case(), mlp_case("relu", "1.4 x the best"), mlp_case("rational", "2.2 x the best")]
