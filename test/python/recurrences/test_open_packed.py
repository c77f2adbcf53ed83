# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed sequences take any numbers of sequences and tokens from one program, with the bits of one for just these."""

import functools

import numpy as np
import pytest
import torch

import drawloom
import drawloom.torch.linrec
from recurrences.test_open_recurrences import HEADS, KEYS, VALUES, bits

LENGTHS = ((1,), (5, 0, 3), (32,), (33, 1), (0,), (), (31, 32, 33), (64, 1, 64), (2,) * 17, (100, 7), (0, 0, 0, 9), (257,), (16, 15, 17), (3, 3, 3),
           (65,), (0, 127, 0), (48, 48), (1, 1, 1, 1), (96, 4), (11, 13, 17, 19))


def program(kind, tokens, entries, element="f32"):
    """The recurrence and its gradient, "?" for any numbers; `entries` of starts."""
    sequences = entries if entries == "?" else entries - 1
    row, key = f"tensor<1x{tokens}x{HEADS}x{VALUES}x{element}>", f"tensor<1x{tokens}x{HEADS}x{KEYS}x{element}>"
    state, each = f"tensor<{sequences}x{HEADS}x{KEYS}x{VALUES}xf32>", f"tensor<1x{tokens}x{HEADS}xf32>"
    more = {"plain": {}, "decay": {"decay": each}, "delta": {"decay": each, "beta": each},
            "states": {"decay": each, "initial": state}, "keys": {"decay": f"tensor<1x{tokens}x{HEADS}x{KEYS}xf32>"}}[kind]
    operands = {"q": key, "k": key, "v": row, **more}
    parameters = ", ".join(f"%{n}: {t}" for n, t in operands.items())
    starts, types = f"tensor<{entries}xi32>", ", ".join(operands.values())
    clauses = "".join(f" {n}(%{n})" for n in more)
    given, wrt = ", ".join(f"%{n}" for n in operands), list(range(len(operands)))
    return f"""
func.func @forward({parameters}, %s: {starts}) -> ({row}, {state}) {{
  %o, %final = linrec.scan %q, %k, %v{clauses} starts(%s) : ({types}, {starts}) -> ({row}, {state})
  return %o, %final : {row}, {state}
}}
func.func @gradient({parameters}, %s: {starts}, %do: {row}, %df: {state}) -> ({types}) {{
  %r:{len(operands) + 2} = ad.vjp @forward({given}, %s) cotangents(%do, %df) wrt {wrt} : ({types}, {starts}) -> ({row}, {state}, {types})
  return {", ".join(f"%r#{i + 2}" for i in wrt)} : {types}
}}
"""


def channels(rates, tokens, entries):
    """linrec.ew_scan, which has 96 channels, and its gradient."""
    sequences = entries if entries == "?" else entries - 1
    row, few, state = f"tensor<1x{tokens}x96xf32>", f"tensor<1x{tokens}x4xf32>", f"tensor<{sequences}x96{'x4' if rates else ''}xf32>"
    of_rates = {"rates": "tensor<96x4xf32>", "write": few, "read": few} if rates else {}
    operands = {"x": row, "decay": row, **of_rates, "initial": state}
    starts, types = f"tensor<{entries}xi32>", ", ".join(operands.values())
    parameters, given, wrt = ", ".join(f"%{n}: {t}" for n, t in operands.items()), ", ".join(f"%{n}" for n in operands), list(range(len(operands)))
    read = [n for n in ("decay", "rates", "write", "read", "initial") if n in operands]
    inputs = ", ".join([row, *(operands[n] for n in read), starts])
    return f"""
func.func @forward({parameters}, %s: {starts}) -> ({row}, {state}) {{
  %o, %final = linrec.ew_scan %x{"".join(f" {n}(%{n})" for n in read)} starts(%s) : ({inputs}) -> ({row}, {state})
  return %o, %final : {row}, {state}
}}
func.func @gradient({parameters}, %s: {starts}, %do: {row}, %df: {state}) -> ({types}) {{
  %r:{len(operands) + 2} = ad.vjp @forward({given}, %s) cotangents(%do, %df) wrt {wrt} : ({types}, {starts}) -> ({row}, {state}, {types})
  return {", ".join(f"%r#{i + 2}" for i in wrt)} : {types}
}}
"""


def arguments_of(function, lengths, rng, decay=3):
    """`decay` is the argument that is no more than 0; what comes behind it is no less."""
    arrays = []
    for i, (dtype, shape) in enumerate(function.arguments):
        if dtype == "int32":
            arrays.append(np.cumsum([0, *lengths]).astype(np.int32))
            continue
        sizes = [extent if extent >= 0 else sum(lengths) if dim == 1 else len(lengths) for dim, extent in enumerate(shape)]
        x = rng.uniform(-1, 1, sizes) / 4
        arrays.append((-np.abs(x) if i == decay else np.abs(x) if i > decay else x).astype(dtype))
    return arrays


@pytest.mark.parametrize("made", [*(functools.partial(program, kind) for kind in ("plain", "decay", "delta", "states", "keys")),
                                  functools.partial(channels, False), functools.partial(channels, True)],
                         ids=["plain", "decay", "delta", "states", "keys", "channels", "rates"])
def test_one_program_has_the_bits_of_one_for_each_packing(rng, made):
    before = drawloom.cache.statistics().compiled
    module = drawloom.compile(made("?", "?"))
    exact = {lengths: drawloom.compile(made(sum(lengths), len(lengths) + 1)) for lengths in ((5, 0, 3), (31, 32, 33), (33, 1))}
    for lengths in LENGTHS:
        for name in ("forward", "gradient"):
            given = arguments_of(getattr(module, name), lengths, rng, decay=1 if made.func is channels else 3)
            found = getattr(module, name)(*given)
            assert all(np.isfinite(one.astype(np.float64)).all() for one in found)
            if lengths in exact:
                assert bits(found) == bits(getattr(exact[lengths], name)(*given)), (lengths, name)
    # Each function once.
    assert drawloom.cache.statistics().compiled - before == 2 + len(exact)


def test_a_packed_sequence_has_the_bits_that_it_has_alone(rng):
    module = drawloom.compile(program("delta", "?", "?"))
    lengths = (31, 0, 40, 7)
    given = arguments_of(module.forward, lengths, rng)
    o, final = module.forward(*given)
    for i, length in enumerate(lengths):
        first = sum(lengths[:i])
        alone = [one[:, first:first + length].copy() for one in given[:-1]] + [np.array([0, length], np.int32)]
        assert bits(module.forward(*alone)) == bits((o[:, first:first + length], final[i:i + 1]))


def test_starts_are_one_more_than_states(rng):
    module = drawloom.compile(program("states", "?", "?"))
    given = arguments_of(module.forward, (3, 4), rng)
    with pytest.raises(drawloom.CallError, match="argument 5 of @forward .* extent 4 in dimension 0, which has to be that of dimension 0 of argument 4 plus 1, 3"):
        module.forward(*given[:-1], np.array([0, 3, 7, 7], np.int32))
    module = drawloom.compile(program("plain", "?", "?"))
    with pytest.raises(drawloom.CallError, match="argument 3 of @forward is given with extent 0 in dimension 0, where it has at least 1"):
        module.forward(*given[:3], np.zeros(0, np.int32))


def test_torch_packs_any_sequences_by_two_programs(rng):
    torch.manual_seed(0)
    before = drawloom.cache.statistics().compiled
    for n, lengths in enumerate(((3, 4), (5, 1, 9), (40,), (2, 2, 2, 2))):
        T = sum(lengths)
        q, k, v = (torch.randn(1, T, 3, 8, requires_grad=True) for _ in range(3))
        g = -torch.rand(1, T, 3)
        starts = torch.tensor([0, *np.cumsum(lengths)], dtype=torch.int32)
        o, final = drawloom.torch.linrec.linear_recurrence(q, k, v, decay=g, starts=starts)
        o.sum().backward()
        assert final.shape[0] == len(lengths)
        parts = [drawloom.torch.linrec.linear_recurrence(*(x[:, a:b].detach() for x in (q, k, v)), decay=g[:, a:b])[0]
                 for a, b in zip(starts[:-1].tolist(), starts[1:].tolist())] if n == 1 else []
        for a, b, part in zip(starts[:-1].tolist(), starts[1:].tolist(), parts):
            assert torch.equal(o[:, a:b], part)
        if n == 0:
            first = drawloom.cache.statistics().compiled - before
        if n == 2:
            again = drawloom.cache.statistics().compiled
    assert first == 2
    assert drawloom.cache.statistics().compiled == again
