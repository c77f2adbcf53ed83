# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several steps of the opt dialect's optimizers against torch.optim, in float64."""

import numpy as np
import pytest
import torch

from support.runner import assert_close, optimize, run

SHAPES = [(3, 4), (5,), ()]
STEPS = 4


def types():
    return [f"tensor<{''.join(f'{e}x' for e in shape)}f64>" for shape in SHAPES]


def step_program(op, state, with_step):
    """@step(params, grads, state..., lr, t) -> params, state..."""
    n = len(SHAPES)
    groups = ["p", "g", *state]
    arguments = [f"%{group}{i}: {t}" for group in groups for i, t in enumerate(types())]
    results = types() * (1 + len(state))
    names = {group: ", ".join(f"%{group}{i}" for i in range(n)) for group in groups}
    clauses = " ".join(f"{keyword}({names[group]})" for group, keyword in state.items())
    step = " step(%t : i64)" if with_step else ""
    return f"""
func.func @step({', '.join(arguments)}, %lr: f64, %t: i64) -> ({', '.join(results)}) {{
  %r:{len(results)} = opt.{op[0]} params({names['p']}) grads({names['g']}) {clauses}
      lr(%lr : f64){step} {op[1]} : {', '.join(types())}
  return {', '.join(f'%r#{i}' for i in range(len(results)))} : {', '.join(results)}
}}
"""


def check(op, state, optimizer, scales=(1, 1, 1), decays=None, with_step=True):
    generator = np.random.default_rng(0)
    params = [torch.tensor(generator.normal(size=shape)).requires_grad_() for shape in SHAPES]
    decays = decays or [None] * len(SHAPES)
    options = [{"params": [p], "lr": 0.1 * s, **({} if d is None else {"weight_decay": d})}
               for p, s, d in zip(params, scales, decays)]
    reference = optimizer(options)
    module = step_program(op, state, with_step)
    passes = [], ["--decompose-graph"]
    values = [[p.detach().numpy().copy() for p in params] + [np.zeros(shape) for _ in state for shape in SHAPES]
              for _ in passes]
    modules = [optimize(module, *p) for p in passes]
    for t in range(1, STEPS + 1):
        gradients = [generator.normal(size=shape) for shape in SHAPES]
        for p, g in zip(params, gradients):
            p.grad = torch.tensor(g)
        reference.step()
        for i, text in enumerate(modules):
            arrays = [*values[i][:3], *gradients, *values[i][3:], np.float64(0.1), np.int64(t)]
            values[i] = run(text, "step", arrays, target="interpreter")
            assert_close(values[i][:3], [p.detach().numpy() for p in params], 1e-10)


MOMENTS = {"m": "first", "v": "second"}


@pytest.mark.parametrize("attributes, options", [
    ("", {}),
    ("{beta1 = 0.8, beta2 = 0.95, epsilon = 1.0e-3}", dict(betas=(0.8, 0.95), eps=1e-3)),
])
def test_adamw(attributes, options):
    check(("adamw", attributes), MOMENTS, lambda groups: torch.optim.AdamW(groups, **options))


def test_adamw_with_rates_and_decays_of_their_own():
    check(("adamw", "weight_decay [0.0, 0.1, 0.2] lr_scale [1.0, 0.5, 2.0]"), MOMENTS, torch.optim.AdamW,
          scales=(1, 0.5, 2), decays=(0.0, 0.1, 0.2))


def test_adam_is_adamw_without_decay():
    check(("adamw", "weight_decay [0.0]"), MOMENTS, torch.optim.Adam)


@pytest.mark.parametrize("attributes, options", [
    ("{momentum = 0.9}", dict(momentum=0.9)),
    ("{momentum = 0.9, nesterov}", dict(momentum=0.9, nesterov=True)),
    ("weight_decay [0.05] {momentum = 0.5}", dict(momentum=0.5, weight_decay=0.05)),
])
def test_sgd(attributes, options):
    check(("sgd", attributes), {"m": "buffers"}, lambda groups: torch.optim.SGD(groups, **options), with_step=False)


def test_sgd_with_dampening():
    check(("sgd", "{momentum = 0.9, dampening = 0.3}"), {"m": "buffers"},
          lambda groups: torch.optim.SGD(groups, momentum=0.9, dampening=0.3))


def test_sgd_without_momentum():
    check(("sgd", "lr_scale [1.0, 2.0, 0.5]"), {}, torch.optim.SGD, scales=(1, 2, 0.5), with_step=False)
