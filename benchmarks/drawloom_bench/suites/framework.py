# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the framework suite: training steps called from Python, Drawloom through drawloom.torch and drawloom.jax.
overhead measures what a call costs when there is hardly anything to compute."""

import numpy as np

from drawloom_bench.programs.kan import ADAM
from drawloom_bench.suites import kan
from drawloom_bench.suites.case import TRAIN_RTOL, Case, jax_of, jax_run, normal, torch_of, torch_run

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
        arrays = [normal(rng, rows, channels), normal(rng, rows, channels), *kan.coefficients(rng)]
        (x, dy, a, b), (jx, jdy, ja, jb) = torch_of(arrays), jax_of(arrays)
        return {
            "drawloom": torch_run(lambda x, a, b: drawloom.torch.rational(x, a, b, form=FORM), (x, a, b), dy),
            "compile": torch_run(torch.compile(kan_torch.grouped), (x, a, b), dy),
            "eager": torch_run(kan_torch.spread, (x, a, b), dy),
            "jax": jax_run(kan_jax.grouped, (jx, ja, jb), jdy),
            "drawloom in jax": jax_run(lambda x, a, b: drawloom.jax.rational(x, a, b, form=FORM), (jx, ja, jb), jdy),
        }

    return Case("Rational, forward and backward", 81 * values, 16 * values, make, "4 x the best", TRAIN_RTOL)


def fused_mlp(activation, goal):
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

    def step(x, y, parameters, rate):
        import drawloom.torch
        from drawloom_bench.rivals import kan_torch

        # The rivals' weights are [in, out].
        is_weight = {id(weight) for weight in split(parameters)[0]}
        leaves = [(p.t() if id(p) in is_weight else p).contiguous().clone().requires_grad_() for p in parameters]
        weights, biases, tables = split(leaves)
        optimizer = drawloom.torch.optim.AdamW(leaves, lr=rate, betas=(ADAM["beta1"], ADAM["beta2"]), eps=ADAM["epsilon"], weight_decay=0.0)
        transposed = {id(weight) for weight in weights}

        def run():
            value = kan_torch.mean_squares(drawloom.torch.fused_mlp(x, weights, biases, activation=activation,
                                                                    activation_params=tables, form=FORM), y)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            return [value, *(leaf.t() if id(leaf) in transposed else leaf for leaf in leaves)]

        return run

    return kan.mlp_case(f"FusedMLP step, {activation}", "step", kan.ROWS, kan.NARROW, activation, goal, ours=step)


CASES = [rational_case(), fused_mlp("relu", "1.4 x the best"), fused_mlp("rational", "2.2 x the best")]
