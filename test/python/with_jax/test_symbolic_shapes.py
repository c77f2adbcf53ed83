# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.export with symbolic dimensions: one program for any extents, with the bits of those for known ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import drawloom
import drawloom.jax as dj
from drawloom.jax import linrec

CHECKS = [export.DisabledSafetyCheck.custom_call("drawloom_call_1")]


def exported(function, symbols, *shapes):
    """The function for arguments of these shapes, in which names of `symbols` stand for dimensions."""
    extents = dict(zip(symbols.split(","), export.symbolic_shape(symbols)))
    arguments = [jax.ShapeDtypeStruct([extents.get(one, one) for one in shape], jnp.float32) for shape in shapes]
    return export.export(jax.jit(function), disabled_checks=CHECKS)(*arguments)


def random_arrays(shapes, **extents):
    rng = np.random.default_rng(sum(extents.values()))
    return [jnp.asarray(rng.standard_normal([extents.get(one, one) for one in shape]), jnp.float32) for shape in shapes]


def assert_same(program, function, arrays):
    for got, expected in zip(jax.tree.leaves(program.call(*arrays)), jax.tree.leaves(function(*arrays)), strict=True):
        np.testing.assert_array_equal(got, expected)


def values(x, *weights):
    return dj.fused_mlp(x, weights)


def mean_square(x, *weights):
    return jnp.mean(values(x, *weights) ** 2)


@pytest.mark.parametrize("function", [values, mean_square, jax.grad(mean_square, (0, 1, 2))], ids=["values", "loss", "gradients"])
def test_rows_are_numbers_of_the_call(function):
    shapes = ("b", 16), (32, 16), (8, 32)
    program = exported(function, "b", *shapes)
    for b in (1, 7, 64, 129):
        assert_same(program, function, random_arrays(shapes, b=b))


def test_rows_have_any_number_of_dimensions():
    shapes = ("b", "t", 16), (32, 16), (8, 32)
    program = exported(values, "b,t", *shapes)
    for b, t in ((1, 1), (3, 5), (2, 50)):
        assert_same(program, values, random_arrays(shapes, b=b, t=t))


def recurrence(q, k, v, decay):
    return dj.linear_recurrence(q, k, v, decay=-jnp.abs(decay))


def its_gradients(*arrays):
    return jax.grad(lambda *arrays: sum(jnp.sum(one) for one in jax.tree.leaves(recurrence(*arrays))), (0, 1, 2, 3))(*arrays)


@pytest.mark.parametrize("function", [recurrence, its_gradients])
def test_sequences_and_tokens_are_numbers_of_the_call(function):
    shapes = *[("b", "t", 2, 16)] * 3, ("b", "t", 2)
    program = exported(function, "b,t", *shapes)
    for b, t in ((1, 1), (2, 64), (3, 100)):
        assert_same(program, function, random_arrays(shapes, b=b, t=t))


def test_convolutions_take_any_sequences_and_tokens():
    shapes = ("b", "t", 6), (6, 4)
    program = exported(linrec.short_convolution, "b,t", *shapes)
    for b, t in ((1, 1), (2, 9), (3, 64)):
        assert_same(program, linrec.short_convolution, random_arrays(shapes, b=b, t=t))


def test_packed_sequences_are_numbers_of_the_call():
    def packed(q, k, v, starts):
        return dj.linear_recurrence(q, k, v, starts=starts.astype(jnp.int32))

    shapes = *[(1, "t", 2, 16)] * 3, ("n",)
    program = exported(packed, "t,n", *shapes)
    for starts in ([0, 30], [0, 10, 12, 12, 30], [0, 1, 65]):
        arrays = random_arrays(shapes[:3], t=starts[-1]) + [jnp.asarray(starts, jnp.float32)]
        assert_same(program, packed, arrays)


def test_nothing_is_compiled_for_other_extents():
    shapes = ("b", 12), (20, 12), (4, 20)
    program = exported(mean_square, "b", *shapes)
    before = drawloom.cache.statistics()
    for b in (1, 2, 3, 300):
        program.call(*random_arrays(shapes, b=b))
    assert drawloom.cache.statistics() == before


def test_width_that_is_a_symbol_is_an_error():
    with pytest.raises(drawloom.CallError, match=r"dimension 1 of argument 0 is c; it has to be a number: jax\.export takes symbols"):
        exported(lambda x: dj.rational(x, jnp.ones((1, 6)), jnp.ones((1, 4))), "b,c", ("b", "c"))
