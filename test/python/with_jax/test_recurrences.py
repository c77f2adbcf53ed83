# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax.linear_recurrence: the program that PyTorch runs (recurrences/test_torch_recurrences.py), as a part of JAX."""

import jax
import numpy as np
import pytest
import torch

import drawloom
import drawloom.jax
from drawloom.torch import linrec
from recurrences.test_linear_recurrences import COMPILED, ratio

B, T, H, K, V = 2, 21, 2, 8, 12


def inputs():
    rng = np.random.default_rng(0)

    def draw(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    k = draw(B, T, H, K)
    return {"q": draw(B, T, H, K), "k": k / np.linalg.norm(k, axis=-1, keepdims=True), "v": draw(B, T, H, V),
            "decay": -np.abs(draw(B, T, H)), "beta": 1 / (1 + np.exp(-draw(B, T, H))), "initial": draw(B, H, K, V)}


def ours(q, k, v, **others):
    return drawloom.jax.linear_recurrence(q, k, v, **others)


def test_results_and_gradients_have_the_bits_of_torch():
    arrays = inputs()
    leaves = {name: torch.from_numpy(array.astype(np.float32)).requires_grad_() for name, array in arrays.items()}
    o, final = linrec.linear_recurrence(leaves["q"], leaves["k"], leaves["v"], **{name: leaves[name] for name in list(leaves)[3:]})
    cotangents = torch.randn_like(o), torch.randn_like(final)
    gradients = torch.autograd.grad((o, final), list(leaves.values()), cotangents)
    found, pull = jax.vjp(lambda arrays: ours(**arrays), {name: array.astype(np.float32) for name, array in arrays.items()})
    (found_gradients,) = pull(tuple(one.numpy() for one in cotangents))
    for a, b in zip([o, final, *gradients], [*found, *(found_gradients[name] for name in leaves)]):
        np.testing.assert_array_equal(a.detach().numpy(), np.asarray(b))


def test_jit_and_vmap_give_the_same():
    arrays = {name: array.astype(np.float32) for name, array in inputs().items()}
    o, final = ours(**arrays)
    again = jax.jit(lambda arrays: ours(**arrays))(arrays)
    both = jax.vmap(lambda q: ours(**{**arrays, "q": q})[0])(np.stack([arrays["q"], 2 * arrays["q"]]))
    np.testing.assert_array_equal(o, again[0])
    np.testing.assert_array_equal(final, again[1])
    np.testing.assert_array_equal(o, both[0])


def test_packed_sequences_are_separate():
    arrays = {name: array.astype(np.float32)[:1] for name, array in inputs().items() if name != "initial"}
    starts = np.array([0, 9, 9, T], np.int32)
    o, final = ours(**arrays, starts=starts, chunk=16)
    assert final.shape == (3, H, K, V) and not np.asarray(final[1]).any()
    part = {name: array[:, 9:] for name, array in arrays.items()}
    alone = torch.from_numpy(np.asarray(ours(**part, chunk=16)[0]))
    assert ratio(torch.from_numpy(np.asarray(o[:, 9:])), alone.double()) <= COMPILED


def test_error_says_what_fits():
    arrays = {name: array.astype(np.float32) for name, array in inputs().items()}
    with pytest.raises(drawloom.CallError, match="decay has the shape"):
        ours(**{**arrays, "decay": arrays["decay"][:, :3]})
