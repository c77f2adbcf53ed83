# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Short convolutions take any numbers of sequences and tokens from one program, with the bits of one for just these."""

import numpy as np
import pytest
import torch

import drawloom
import drawloom.torch.linrec
from recurrences.test_open_recurrences import bits

EXTENTS = ((1, 1), (2, 3), (0, 5), (3, 0), (1, 15), (1, 16), (1, 17), (5, 7), (1, 31), (2, 33), (4, 64), (1, 257), (2, 128), (1, 256), (37, 1),
           (1, 1009), (11, 13), (1, 2), (300, 3), (70, 250))
LENGTHS = ((1,), (5, 0, 3), (32,), (33, 1), (0,), (31, 32, 33), (2,) * 17, (100, 7), (0, 0, 0, 9), (257,), (16, 15, 17), (1, 2, 3, 4), (700, 400))


def program(batch, tokens, width=4, activation="silu", more=("bias", "initial"), entries=None, channels=24, element="f32"):
    """The convolution and its gradient, "?" for any numbers; `entries` of starts where sequences are packed."""
    sequences = batch if entries is None else entries if entries == "?" else entries - 1
    row, state = f"tensor<{batch}x{tokens}x{channels}x{element}>", f"tensor<{sequences}x{width - 1}x{channels}x{element}>"
    of = {"bias": f"tensor<{channels}x{element}>", "initial": state}
    operands = {"x": row, "weight": f"tensor<{channels}x{width}x{element}>", **{name: of[name] for name in more}}
    types, wrt = ", ".join(operands.values()), list(range(len(operands)))
    parameters, given = ", ".join(f"%{n}: {t}" for n, t in operands.items()), ", ".join(f"%{n}" for n in operands)
    clauses = "".join(f" {name}(%{name})" for name in more)
    if entries is not None:
        parameters, given, clauses = f"{parameters}, %s: tensor<{entries}xi32>", f"{given}, %s", f"{clauses} starts(%s)"
    inputs = types if entries is None else f"{types}, tensor<{entries}xi32>"
    return f"""
func.func @forward({parameters}) -> ({row}, {state}) {{
  %y, %final = linrec.short_conv {activation} %x, %weight{clauses} : ({inputs}) -> ({row}, {state})
  return %y, %final : {row}, {state}
}}
func.func @gradient({parameters}, %dy: {row}, %df: {state}) -> ({types}) {{
  %r:{len(operands) + 2} = ad.vjp @forward({given}) cotangents(%dy, %df) wrt {wrt} : ({inputs}) -> ({row}, {state}, {types})
  return {", ".join(f"%r#{i + 2}" for i in wrt)} : {types}
}}
"""


def arguments_of(function, rng, sequences, tokens, lengths=None):
    arrays = []
    for dtype, shape in function.arguments:
        if dtype == "int32":
            arrays.append(np.cumsum([0, *lengths]).astype(np.int32))
            continue
        sizes = [extent if extent >= 0 else tokens if dim == 1 else sequences for dim, extent in enumerate(shape)]
        arrays.append(rng.uniform(-1, 1, sizes).astype(dtype))
    return arrays


@pytest.mark.parametrize("options", [{}, {"width": 2, "activation": "none", "more": ()}, {"width": 3, "more": ("bias",)}, {"more": ("initial",), "channels": 200},
                                     {"element": "f64", "width": 8}, {"channels": 1, "activation": "none"}], ids=str)
def test_one_program_has_the_bits_of_one_for_each_shape(rng, options):
    before = drawloom.cache.statistics().compiled
    module = drawloom.compile(program("?", "?", **options))
    exact = {extents: drawloom.compile(program(*extents, **options)) for extents in EXTENTS[1::4]}
    for extents in EXTENTS:
        for name in ("forward", "gradient"):
            given = arguments_of(getattr(module, name), rng, *extents)
            found = getattr(module, name)(*given)
            if extents in exact:
                assert bits(found) == bits(getattr(exact[extents], name)(*given)), (extents, name)
    assert drawloom.cache.statistics().compiled - before == 2 + len(exact)


@pytest.mark.parametrize("options", [{}, {"width": 2, "activation": "none", "more": ()}], ids=str)
def test_one_program_has_the_bits_of_one_for_each_packing(rng, options):
    before = drawloom.cache.statistics().compiled
    module = drawloom.compile(program(1, "?", entries="?", **options))
    exact = {lengths: drawloom.compile(program(1, sum(lengths), entries=len(lengths) + 1, **options)) for lengths in LENGTHS[1::4]}
    for lengths in LENGTHS:
        for name in ("forward", "gradient"):
            given = arguments_of(getattr(module, name), rng, len(lengths), sum(lengths), lengths)
            found = getattr(module, name)(*given)
            if lengths in exact:
                assert bits(found) == bits(getattr(exact[lengths], name)(*given)), (lengths, name)
    assert drawloom.cache.statistics().compiled - before == 2 + len(exact)


def test_a_packed_sequence_has_the_bits_that_it_has_alone(rng):
    packed, alone = drawloom.compile(program(1, "?", entries="?")), drawloom.compile(program("?", "?"))
    lengths = (31, 0, 40, 2)
    x, weight, bias, initial, starts = arguments_of(packed.forward, rng, len(lengths), sum(lengths), lengths)
    y, final = packed.forward(x, weight, bias, initial, starts)
    for i, length in enumerate(lengths):
        first = sum(lengths[:i])
        own = alone.forward(x[:, first:first + length].copy(), weight, bias, initial[i:i + 1].copy())
        assert bits(own) == bits((y[:, first:first + length], final[i:i + 1]))


def test_many_rows_are_summed_in_few_parts(rng):
    """More rows than sixty-four blocks of the smallest size hold."""
    module = drawloom.compile(program("?", "?", channels=3))
    rows = 64 * 256 + 5
    given = arguments_of(module.gradient, rng, 1, rows)
    exact = drawloom.compile(program(1, rows, channels=3))
    assert bits(module.gradient(*given)) == bits(exact.gradient(*given))


@pytest.mark.parametrize("packed", [False, True])
def test_torch_takes_any_shape_by_two_programs(packed):
    generator = torch.Generator().manual_seed(3)
    before = drawloom.cache.statistics().compiled
    weight = torch.rand(24, 4, generator=generator, requires_grad=True)
    for lengths in ((7,), (3, 9), (40, 1, 2), (5, 5, 5, 5)):
        tokens = sum(lengths)
        x = torch.rand(1, tokens, 24, generator=generator, requires_grad=True)
        starts = torch.tensor([0, *lengths]).cumsum(0) if packed else None
        y, _ = drawloom.torch.linrec.short_convolution(x, weight, cu_seqlens=starts)
        y.square().sum().backward()
        assert x.grad.shape == x.shape
    assert drawloom.cache.statistics().compiled - before <= 2 * 2, "the first shape and all others, forward and backward"
