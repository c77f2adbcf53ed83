# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the cells suite: recurrent cells whose channels do not mix, along the tokens, called from PyTorch. Rivals go through the same
formulas: a compiled cell for each token, a compiled piece of 16 tokens, jax.lax.scan with 1 and 8 tokens in a step of its loop, and, where
the cell is affine, jax.lax.associative_scan.

Operations are a cell's additions, products and functions, each one."""

import numpy as np

from drawloom_bench.suites.case import TRAIN_RTOL, Case, jax_of, jax_run, normal, torch_of, torch_run


def gru(lib, states, inputs, parameters):
    (h,), (z, r, c), (uz, ur, uc) = states, inputs, parameters
    z, r = lib.sigmoid(z + uz * h), lib.sigmoid(r + ur * h)
    h = h + z * (lib.tanh(c + uc * (r * h)) - h)
    return (h,), h


def lstm(lib, states, inputs, parameters):
    (h, c), (f, g, o), (uf, ug, uo, pf, po) = states, inputs, parameters
    f, g = lib.sigmoid(f + uf * h + pf * c), lib.tanh(g + ug * h)
    c = g + f * (c - g)
    h = lib.sigmoid(o + uo * h + po * c) * lib.tanh(c)
    return (h, c), h


def min_gru(lib, states, inputs, parameters):
    (h,), (z, c) = states, inputs
    h = h + lib.sigmoid(z) * (c - h)
    return (h,), h


# By name: formulas, states, inputs, parameters, operations.
CELLS = {"gru": (gru, 1, 3, 3, 12), "lstm": (lstm, 2, 3, 5, 18), "min_gru": (min_gru, 1, 2, 0, 4)}
PIECE = 16


def torch_rivals(step, states, channels):
    import torch

    def token(state, inputs, parameters):
        return step(torch, state, inputs, parameters)

    def piece(state, inputs, parameters):
        outputs = []
        for t in range(inputs[0].shape[1]):
            state, y = step(torch, state, [x[:, t] for x in inputs], parameters)
            outputs.append(y)
        return state, torch.stack(outputs, 1)

    def first(x):
        return tuple(torch.zeros(x.shape[0], channels) for _ in range(states))

    def by_token(function):
        def run(inputs, parameters):
            state, outputs = first(inputs[0]), []
            for x in zip(*(one.unbind(1) for one in inputs)):
                state, y = function(state, x, parameters)
                outputs.append(y)
            return torch.stack(outputs, 1)

        return run

    def by_piece(function):
        def run(inputs, parameters):
            state, outputs = first(inputs[0]), []
            for x in zip(*(one.split(PIECE, 1) for one in inputs)):
                state, y = function(state, x, parameters)
                outputs.append(y)
            return torch.cat(outputs, 1)

        return run

    return {"compile cell": by_token(torch.compile(token)), f"compile {PIECE} tokens": by_piece(torch.compile(piece))}


class JaxFunctions:
    """torch's names."""

    def __init__(self):
        import jax
        import jax.numpy as jnp

        self.sigmoid, self.tanh = jax.nn.sigmoid, jnp.tanh


def jax_rivals(name, step, states, channels):
    import jax
    import jax.numpy as jnp

    functions = JaxFunctions()

    def by_scan(unroll):
        def run(inputs, parameters):
            first = tuple(jnp.zeros((inputs[0].shape[0], channels)) for _ in range(states))
            _, y = jax.lax.scan(lambda state, x: step(functions, state, x, parameters), first, tuple(one.swapaxes(0, 1) for one in inputs),
                                unroll=unroll)
            return y.swapaxes(0, 1)

        return run

    found = {"jax scan": by_scan(1), "jax scan by 8": by_scan(8)}
    if name == "min_gru":
        def associative(inputs, parameters):
            z = functions.sigmoid(inputs[0])
            return jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (1 - z, z * inputs[1]), axis=1)[1]

        found["jax associative_scan"] = associative
    return found


def case_of(name, batch, tokens, channels, train, goal):
    step, states, inputs, parameters, operations = CELLS[name]

    def make(options):
        import drawloom.torch
        from drawloom import cells

        rng = np.random.default_rng(0)
        xs = [normal(rng, batch, tokens, channels) for _ in range(inputs)]
        ws = [np.float32(rng.uniform(-0.7, 0.7, channels)) for _ in range(parameters)]
        dy = normal(rng, batch, tokens, channels)

        torches, jaxes = ([of([*xs, *ws]), *of([dy])] for of in (torch_of, jax_of))

        def called(run, function, arrays, dy):
            return run(lambda *given: function(given[:inputs], given[inputs:]), arrays, dy if train else None)

        cell = getattr(cells, name)
        functions = {"drawloom": lambda x, w: drawloom.torch.nonlinear_scan(cell, x, w).outputs[0], **torch_rivals(step, states, channels)}
        return {**{rival: called(torch_run, function, *torches) for rival, function in functions.items()},
                **{rival: called(jax_run, function, *jaxes) for rival, function in jax_rivals(name, step, states, channels).items()}}

    elements = batch * tokens * channels
    return Case(f"{name} {batch} x {tokens} x {channels}{', train' if train else ''}", operations * elements * (3 if train else 1),
                4 * elements * (inputs + 1) * (2 if train else 1), make, goal, TRAIN_RTOL)


SIZES = [("gru", 1, 4096, 512), ("gru", 8, 512, 512), ("lstm", 1, 4096, 512), ("min_gru", 1, 4096, 512)]
CASES = [case_of(*size, train, "3") for size in SIZES for train in (False, True)]
