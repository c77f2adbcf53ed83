# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax.linrec.short_convolution against jax.numpy in float64, and against the bits that PyTorch gets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax.test_util import check_grads

import drawloom
from drawloom.jax.linrec import short_convolution
from drawloom.torch import linrec


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


CASES = {
    "all": dict(T=19, bias=True, residual=True, initial=True, activation="silu"),
    "alone": dict(T=5, W=2),
    "heads": dict(T=9, channels=(2, 3), W=7, bias=True, activation="swish"),
    "short": dict(B=3, T=2, W=5, initial=True, residual=True),
    "none": dict(T=0, initial=True, bias=True),
    "packed": dict(B=1, T=23, starts=(0, 1, 1, 9, 23), bias=True, initial=True, activation="silu"),
    "packed without states": dict(B=1, T=12, starts=(0, 7, 12), residual=True),
}


def arrays(B=2, T=19, channels=(6,), W=4, bias=False, residual=False, initial=False, starts=None, activation=None):
    """Operands in float64 by the names that they have, and the rest of the arguments."""
    rng, size, sequences = np.random.default_rng(0), int(np.prod(channels)), B if starts is None else len(starts) - 1
    shapes = {"x": (B, T, *channels), "weight": (size, W), "bias": bias and (size,), "residual": residual and (B, T, *channels),
              "initial_state": initial and (sequences, size, W)}
    return ({name: rng.standard_normal(shape) for name, shape in shapes.items() if shape},
            {"activation": activation, **({} if starts is None else {"cu_seqlens": np.array(starts, np.int32)})})


def reference(x, weight, bias=None, residual=None, initial_state=None, activation=None, cu_seqlens=None):
    """A sequence at a time, tap by tap."""
    (channels, width), rows = weight.shape, x.reshape(*x.shape[:2], weight.shape[0])
    if cu_seqlens is None:
        parts = [rows[i] for i in range(len(rows))]
    else:
        parts = [rows[0, a:b] for a, b in zip(cu_seqlens, cu_seqlens[1:])]
    outputs, finals = [], []
    for n, part in enumerate(parts):
        before = jnp.zeros((width, channels)) if initial_state is None else initial_state[n].T
        full = jnp.concatenate((before, part))
        outputs.append(sum(full[1 + j:1 + j + len(part)] * weight[:, j] for j in range(width)))
        finals.append(full[len(full) - width:].T)
    y = jnp.concatenate(outputs) + (0 if bias is None else bias)
    y = (jax.nn.silu(y) if activation else y).reshape(x.shape)
    return y if residual is None else y + residual, jnp.stack(finals)


@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_the_formula(name):
    operands, rest = arrays(**CASES[name])
    want, pull = jax.vjp(lambda given: reference(**given, **rest), operands)
    cotangents = tuple(np.random.default_rng(1).standard_normal(one.shape) for one in want)
    (gradients,) = pull(cotangents)

    @jax.jit
    def both(given, cotangents):
        found, pull = jax.vjp(lambda given: short_convolution(**given, **rest, output_final_state=True), given)
        return found, pull(cotangents)[0]

    found, found_gradients = both(operands, cotangents)
    np.testing.assert_array_equal(found[1], want[1])
    for one, right in ((found[0], want[0]), *((found_gradients[key], gradients[key]) for key in operands)):
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, right, rtol=0, atol=1e-13 * np.abs(right).max(initial=1.0))


def test_gradients_are_those_of_differences():
    operands, rest = arrays(B=2, T=5, channels=(2,), W=3, bias=True, residual=True, initial=True, activation="silu")
    check_grads(lambda *given: short_convolution(**dict(zip(operands, given)), **rest, output_final_state=True),
                tuple(operands.values()), order=1, modes=["rev"])


@pytest.mark.parametrize("name", ["all", "packed", "packed without states"])
@pytest.mark.parametrize("element", ["float32", "bfloat16"])
def test_results_and_gradients_have_the_bits_of_torch(name, element):
    operands, rest = arrays(**CASES[name])
    leaves = {key: torch.from_numpy(one).to(getattr(torch, element)).requires_grad_() for key, one in operands.items()}
    rest = {**rest, "output_final_state": True}
    starts = {key: torch.from_numpy(one) for key, one in rest.items() if key == "cu_seqlens"}
    results = linrec.short_convolution(**leaves, **{**rest, **starts})
    cotangents = [torch.randn(one.shape).to(one.dtype) for one in results]
    # Of the outputs: behind final states XLA and torch add two gradients up, each in its own type.
    gradients = torch.autograd.grad(results[0], list(leaves.values()), cotangents[0], allow_unused=True)

    def as_jax(one):
        return jnp.asarray(one.detach().float().numpy(), element)

    found, pull = jax.vjp(lambda given: short_convolution(**given, **rest)[0], {key: as_jax(one) for key, one in leaves.items()})
    (found_gradients,) = pull(as_jax(cotangents[0]))
    _, final = short_convolution(**{key: as_jax(one) for key, one in leaves.items()}, **rest)
    for ours, theirs in ((found, results[0]), (final, results[1]), *((found_gradients[key], one) for key, one in zip(leaves, gradients))):
        assert ours.dtype == element
        np.testing.assert_array_equal(np.asarray(ours, np.float32), theirs.detach().float().numpy())


def test_vmap_is_a_call_for_each():
    operands, _ = arrays(initial=True)
    more = np.stack([operands["initial_state"], 2 * operands["initial_state"]])
    found = jax.vmap(lambda state: short_convolution(operands["x"], operands["weight"], initial_state=state)[0])(more)
    for one, state in zip(found, more):
        np.testing.assert_array_equal(one, short_convolution(operands["x"], operands["weight"], initial_state=state)[0])


def test_states_hand_a_sequence_on():
    x, weight = np.random.default_rng(2).standard_normal((2, 30, 8)), np.random.default_rng(3).standard_normal((8, 4))
    whole, last = short_convolution(x, weight, activation="silu", output_final_state=True)
    parts, state = [], None
    for part in np.split(x, (1, 3, 13), 1):
        y, state = short_convolution(part, weight, initial_state=state, activation="silu", output_final_state=True)
        parts.append(y)
    np.testing.assert_array_equal(np.concatenate(parts, 1), whole)
    np.testing.assert_array_equal(state, last)


@pytest.mark.parametrize("error, message, arguments", [
    (drawloom.CallError, "weight has the shape [3, 4]; it is [8, W], W from 2 to 8", {"weight": np.zeros((3, 4))}),
    (drawloom.CallError, "they are [batch, tokens, channels] and [channels, W]", {"weight": np.zeros(8)}),
    (drawloom.CallError, "bias has the shape [4]; it is [8]", {"bias": np.zeros(4)}),
    (drawloom.CallError, "residual has the shape [8]; it is [2, 5, 8]", {"residual": np.zeros(8)}),
    (drawloom.CallError, "initial_state has the shape [2, 8, 3]; it is [2, 8, 4]", {"initial_state": np.zeros((2, 8, 3))}),
    (drawloom.CallError, "activation is 'gelu'; it is None, 'silu' or 'swish'", {"activation": "gelu"}),
    (drawloom.CallError, "all sequences are packed into one batch entry, but there are 2", {"cu_seqlens": np.array([0, 5])}),
    (drawloom.CallError, "go from 0 to 4; they go from 0 to the number of tokens, 5", {"cu_seqlens": np.array([0, 4])}),
    (drawloom.CallError, "cu_seqlens is int16 [2]; it is int32 or int64", {"cu_seqlens": np.array([0, 5], np.int16)}),
    (drawloom.CallError, "cu_seqlens is int64 []; it is int32 or int64", {"cu_seqlens": np.array(5)}),
    (drawloom.CallTypeError, "weight is int64; it is float32, float64, bfloat16 or float16", {"weight": np.zeros((8, 4), np.int64)}),
    (drawloom.CallTypeError, "initial_state is int64; it is", {"initial_state": np.zeros((2, 8, 4), np.int64)}),
    (drawloom.CallTypeError, "weight is no array", {"weight": None}),
])
def test_errors_say_what_is_wanted(error, message, arguments):
    with pytest.raises(error) as raised:
        short_convolution(**{"x": np.zeros((2, 5, 8)), "weight": np.zeros((8, 4)), **arguments})
    assert message in str(raised.value)
