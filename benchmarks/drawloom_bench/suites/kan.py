# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the kan suite: Drawloom's program, its rivals, the work that the mathematics needs."""

import functools
import importlib

import numpy as np

from drawloom_bench import embedded
from drawloom_bench.programs import kan as programs
from drawloom_bench.rivals import kan_formulas
from drawloom_bench.suites.case import FORWARD_RTOL, STEP_RTOL, TRAIN_RTOL, Case, jax_call, jax_of, jax_run, normal, torch_of, torch_run

# The rivals multiply by a rounded pi: 2^11 pi x in float32 is off by 2^-24 of 6434, so is the sine's argument.
PHASE_RTOL = 4e-4


def coefficients(rng, groups=8):
    return normal(rng, groups, 6, scale=0.5), normal(rng, groups, 4, scale=0.5)


def parameters_of(mlp, rng):
    values = []
    for shape in mlp.shapes:
        if shape == (8, 6):
            values.append(np.tile(np.float32([0.04, 0.6, 0.4, 0.05, -0.01, 0.001]), (8, 1)) + normal(rng, 8, 6, scale=1e-3))
        elif shape == (8, 4):
            values.append(normal(rng, 8, 4, scale=0.05))
        elif len(shape) == 2:
            values.append(normal(rng, *shape, scale=(2.0 / shape[0]) ** 0.5))
        else:
            values.append(normal(rng, *shape, scale=0.1))
    return values


def rational_case(train):
    rows, channels = 8192, 768
    values = rows * channels

    def make(options):
        import torch

        from drawloom_bench.rivals import kan_jax, kan_torch

        rng = np.random.default_rng(0)
        x, dy = normal(rng, rows, channels), normal(rng, rows, channels)
        a, b = coefficients(rng)
        entry = "train" if train else "forward"
        module = embedded.Module(programs.only(programs.rational(rows, channels), entry), options.isa)
        (tx, tdy, ta, tb), (jx, jdy, ja, jb) = torch_of([x, dy, a, b]), jax_of([x, dy, a, b])
        if not train:
            return {
                "drawloom": module.forward.bind([x, a, b], options.threads),
                "eager": torch_run(kan_torch.spread, (tx, ta, tb)),
                "compile": torch_run(torch.compile(kan_torch.grouped), (tx, ta, tb)),
                "jax": jax_run(kan_jax.grouped, (jx, ja, jb)),
            }
        import jax.numpy as jnp

        closed = torch.compile(functools.partial(kan_formulas.rational_closed_form, torch))
        jax_closed = functools.partial(kan_formulas.rational_closed_form, jnp)
        return {
            "drawloom": module.train.bind([x, dy, a, b], options.threads),
            "eager": torch_run(kan_torch.spread, (tx, ta, tb), tdy),
            "compile": torch_run(torch.compile(kan_torch.grouped), (tx, ta, tb), tdy),
            "compile, closed form": torch_run(closed, (tx, tdy, ta, tb)),
            "jax": jax_run(kan_jax.grouped, (jx, ja, jb), jdy),
            "jax, closed form": jax_call(jax_closed, jx, jdy, ja, jb),
        }

    if train:
        return Case("rational train", 81 * values, 16 * values, make, "4 x the best", TRAIN_RTOL)
    return Case("rational forward", 21 * values, 8 * values, make, "1.0 x jax, 1.7 x compile", FORWARD_RTOL)


def mlp_case(name, task, rows, widths, activation, goal, encode=None, loss="mse", rate=1e-3, ours=None):
    """task: forward, train (from a given dy), gradients (of a loss), step (with Adam). `ours` makes another step of Drawloom, of x, y, the
    parameters and the rate."""
    mlp = programs.Mlp(rows, widths, activation, encode and encode["mlir"], loss)
    products = 2 * rows * sum(n * m for n, m in zip(widths, widths[1:]))
    hidden = rows * sum(widths[1:-1]) if activation == "rational" else 0
    if task == "forward":
        operations = products + 21 * hidden
    else:
        # The gradient of the input is part of train only.
        first = 0 if task == "train" else 2 * rows * widths[0] * widths[1]
        operations = 3 * products - first + 81 * hidden
    data = 4 * rows * ((2 if encode else widths[0]) + widths[-1])

    def make(options):
        import torch

        from drawloom_bench.rivals import kan_jax, kan_torch

        rng = np.random.default_rng(0)
        x = rng.random((rows, 2), dtype=np.float32) if encode else normal(rng, rows, widths[0])
        parameters = parameters_of(mlp, rng)
        y = rng.integers(0, widths[-1], rows).astype(np.int32) if loss != "mse" else normal(rng, rows, widths[-1])
        module = None if ours else embedded.Module(programs.only(mlp.text(), task), options.isa)
        forward = kan_torch.network(activation, encode and encode["torch"]())
        jforward = kan_jax.forward_of(activation, encode and encode["jax"]())
        tx, ty, *tp = torch_of([x, y, *parameters])
        jx, jy, *jp = jax_of([x, y, *parameters])
        if task == "forward":
            return {
                "drawloom": module.forward.bind([x, *parameters], options.threads),
                "eager": torch_run(forward, (tx, *tp)),
                "eager, 1024 rows at a time": torch_run(lambda x, *p: torch.cat([forward(part, *p) for part in x.split(1024)]), (tx, *tp)),
                "compile": torch_run(torch.compile(forward), (tx, *tp)),
                "jax": jax_run(jforward, (jx, *jp)),
            }
        if task == "train":
            return {
                "drawloom": module.train.bind([x, y, *parameters], options.threads),
                "eager": torch_run(forward, (tx, *tp), ty),
                "compile": torch_run(torch.compile(forward), (tx, *tp), ty),
                "jax": jax_run(jforward, (jx, *jp), jy),
            }
        losses = (kan_torch.mean_squares, kan_jax.mean_squares) if loss == "mse" else \
            (lambda y, t: torch.nn.functional.cross_entropy(y, t.long()), kan_jax.cross_entropy)
        if task == "gradients":
            return {
                "drawloom": module.gradients.bind([x, y, *parameters], options.threads),
                "eager": kan_torch.loss_gradients(forward, losses[0], tx, ty, tp, False),
                "compile": kan_torch.loss_gradients(forward, losses[0], tx, ty, tp, True),
                "jax": kan_jax.loss_gradients(jforward, losses[1], jx, jy, jp),
            }
        if not ours:
            zeros = [np.zeros_like(p) for p in parameters] * 2
            run = module.step.bind([x, y, np.float32(rate), np.int64(1), *parameters, *zeros], options.threads)
        return {
            # The loss and the parameters; every run of a module is the first step.
            "drawloom": ours(tx, ty, tp, rate) if ours else lambda: run()[: 1 + len(parameters)],
            "eager": kan_torch.step(forward, losses[0], tx, ty, tp, rate, False),
            "compile": kan_torch.step(forward, losses[0], tx, ty, tp, rate, True),
            "jax": kan_jax.step(jforward, losses[1], jx, jy, jp, rate),
        }

    rtol = PHASE_RTOL if encode else {"forward": FORWARD_RTOL, "step": STEP_RTOL}.get(task, TRAIN_RTOL)
    return Case(name, operations, data, make, goal, rtol)


def frequency(rows, octaves):
    def form(framework):
        return lambda: importlib.import_module(f"drawloom_bench.rivals.kan_{framework}").frequency_encode(octaves)

    kind, wide = programs.f32(rows, 2), programs.f32(rows, 4 * octaves)
    return {"mlir": (kind, f"\n  %x0 = kan.frequency_encode %x {{octaves = {octaves}}} : {kind} -> {wide}"),
            "torch": form("torch"), "jax": form("jax")}


NARROW, ROWS = (32, 64, 64, 64, 64, 16), 1 << 17
CASES = [
    rational_case(train=False),
    rational_case(train=True),
    mlp_case("mlp forward", "forward", ROWS, NARROW, "relu", "1.45 x the best"),
    mlp_case("mlp train", "train", ROWS, NARROW, "relu", "1.6 x the best"),
    mlp_case("mlp step", "step", ROWS, NARROW, "relu", "1.6 x the best"),
    mlp_case("rational mlp forward", "forward", ROWS, NARROW, "rational", "1.4 x the best"),
    mlp_case("rational mlp train", "train", ROWS, NARROW, "rational", "2.3 x the best"),
    mlp_case("rational mlp step", "step", ROWS, NARROW, "rational", "2.3 x the best"),
    mlp_case("image step, frequencies", "step", 1 << 16, (48, 64, 64, 64, 64, 3), "rational", "2.6 x the best",
             encode=frequency(1 << 16, 12)),
    mlp_case("mlp step, width 128", "step", 1 << 14, (128,) * 4, "relu", "1.3 x the best"),
    mlp_case("mlp step, width 256", "step", 1 << 13, (256,) * 4, "relu", "1.3 x the best"),
    mlp_case("mlp step, width 512", "step", 1 << 12, (512,) * 4, "relu", "1.3 x the best"),
    mlp_case("softmax cross-entropy, gradients", "gradients", ROWS, NARROW, "relu", "1.5 x the best", loss="cross_entropy"),
]
