# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`linrec.gate`, `linrec.step` and `linrec.ew_scan` against formulas in NumPy, and their gradients (`ad.vjp`) against the derivatives of
these by complex steps, which round no more than the formulas do."""

import dataclasses
import typing

import numpy as np
import pytest

from support.runner import run

# RMS(error) / RMS(expected). Sums have some ten terms; f32 as in test_linear_recurrences.py.
TOLERANCES = {"interpreter": 1e-12, "f64": 1e-13, "f32": 1e-5, "emulator": 1e-5}
STEP = 1e-100


@dataclasses.dataclass
class Case:
    op: str  # with its operands and attributes
    operands: dict[str, np.ndarray]  # by their names in `op`, in the order of its operands
    formula: typing.Callable  # of the operands: a tuple of results


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def draw(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


def gate(kind, formula, attributes="", dimensions=4, scale=False, bias=None):
    shape = (2, 5, 3, 4)[:dimensions]
    operands = {"x": draw(*shape)}
    clauses = ""
    if scale:
        operands["scale"] = draw(3)
        clauses += " scale(%scale)"
    if bias:
        operands["bias"] = draw(*bias)
        clauses += " bias(%bias)"

    def value(x, scale=None, bias=None):
        z = x if bias is None else x + (bias[:, None] if bias.ndim < x.ndim - 2 else bias)
        a = 1 if scale is None else np.exp(scale).reshape(3, *[1] * (x.ndim - 3))
        return (formula(z, a),)
    return Case(f"linrec.gate {kind} %x{clauses}{attributes}", operands, value)


def step(q, k, v, state, decay=0, rates=None, beta=None, erase=None, lowrank=None, bonus=None, values=False, before=False, scale=None):
    """One token of S[B, H, K, V], in the letters of linrec.scan."""
    heads = v.shape[1]
    q, k = (np.repeat(x, heads // x.shape[1], axis=1) for x in (q, k))
    outer = k[..., :, None] * v[..., None, :]
    if rates is not None:
        factor = np.exp(rates * decay[..., None, :])
    elif values:
        factor = np.exp(decay[..., None, :])
    else:
        decay = np.asarray(decay)
        factor = np.exp(decay[..., None] if decay.ndim == 3 else decay[..., None, None])
    if beta is not None:
        erase, outer = beta[..., None] * k, beta[..., None, None] * outer
    decayed = factor * state
    after = decayed + outer
    if erase is not None:
        read = np.einsum("bhk,bhkv->bhv", erase, state if before else decayed)
        after = after + (-k if lowrank is None else lowrank)[..., :, None] * read[..., None, :]
    seen = after if bonus is None else state + bonus[..., None] * outer
    return np.einsum("bhk,bhkv->bhv", q, seen) * (q.shape[-1]**-0.5 if scale is None else scale), after


def token(attributes="", q_heads=2, values=False, before=False, scale=None, **others):
    operands = {"q": draw(3, q_heads, 4), "k": draw(3, 2, 4) / 2, "v": draw(3, 2, 5), **others, "state": draw(3, 2, 4, 5)}
    clauses = "".join(f" {name}(%{name})" for name in [*others, "state"])
    return Case(f"linrec.step %q, %k, %v{clauses}{attributes}", operands,
                lambda **x: step(values=values, before=before, scale=scale, **x))


def channels(x, decay, rates=None, write=None, read=None, initial=None, starts=None):
    """linrec.ew_scan."""
    given = [one for one in (x, decay, rates, write, read, initial) if one is not None]
    outputs, last = np.zeros(x.shape, dtype=np.result_type(*given)), []
    sequences = [(b, 0, x.shape[1]) for b in range(x.shape[0])] if starts is None else [(0, *pair) for pair in zip(starts, starts[1:])]
    for n, (b, begin, end) in enumerate(sequences):
        h = initial[n]
        for t in range(begin, end):
            if rates is None:
                h = np.exp(decay[b, t]) * h + x[b, t]
                outputs[b, t] = h
            else:
                h = np.exp(rates * decay[b, t, :, None]) * h + x[b, t, :, None] * write[b, t]
                outputs[b, t] = h @ read[b, t]
        last.append(h)
    return outputs, np.stack(last)


def negative(*shape):
    return -np.exp(draw(*shape))


CASES = {
    "gate log_sigmoid": gate("log_sigmoid", lambda z, a: -np.log1p(np.exp(-z)) / 16, " {temperature = 16.0 : f64}"),
    "gate softplus": gate("softplus", lambda z, a: -a * np.log1p(np.exp(z)), scale=True, bias=(3,), dimensions=3),
    "gate softplus of keys": gate("softplus", lambda z, a: -a * np.log1p(np.exp(z)), scale=True, bias=(3, 4)),
    "gate bounded": gate("bounded", lambda z, a: -5 * sigmoid(a * z), " {limit = 5.0 : f64}", scale=True, bias=(3,)),
    "gate floored": gate("floored", lambda z, a: np.log(0.25 + 0.75 * sigmoid(z)), " {floor = 0.25 : f64}"),
    "gate floored at zero": gate("floored", lambda z, a: np.log(sigmoid(z)), " {floor = 0.0 : f64}"),
    "step of linear attention": token(q_heads=1),
    "step of retention": token(decay=negative(2)),
    "step of gated linear attention": token(decay=negative(3, 2, 4)),
    "step of RWKV-6": token(" {scale = 1.0 : f64}", scale=1.0, decay=negative(3, 2, 4), bonus=draw(2, 4)),
    "step of the gated delta rule": token(decay=negative(3, 2), beta=sigmoid(draw(3, 2))),
    "step of diagonal plus low rank": token(" {erase_before_decay}", before=True, decay=negative(3, 2, 4), erase=draw(3, 2, 4) / 2,
                                            lowrank=draw(3, 2, 4) / 2),
    "step with decays of values": token(" {decay_along_values}", values=True, decay=negative(3, 2, 5)),
    "step with rates": token(" {decay_along_values}", decay=sigmoid(draw(3, 2, 5)), rates=negative(2, 4, 5)),
    "channels": Case("linrec.ew_scan %x decay(%decay) initial(%initial)",
                     {"x": draw(2, 7, 6), "decay": negative(2, 7, 6), "initial": draw(2, 6)}, channels),
    "channels with rates": Case(
        "linrec.ew_scan %x decay(%decay) rates(%rates) write(%write) read(%read) initial(%initial)",
        {"x": draw(2, 7, 6), "decay": sigmoid(draw(2, 7, 6)), "rates": negative(6, 3), "write": draw(2, 7, 3), "read": draw(2, 7, 3) + 1,
         "initial": draw(2, 6, 3)}, channels),
    "packed channels": Case("linrec.ew_scan %x decay(%decay) initial(%initial) starts(%starts)",
                            {"x": draw(1, 9, 6), "decay": negative(1, 9, 6), "initial": draw(3, 6),
                             "starts": np.array([0, 4, 4, 9], dtype=np.int32)}, channels)}


def program(case, results, element):
    def kind(x):
        return f"tensor<{''.join(f'{extent}x' for extent in x.shape)}{'i32' if x.dtype == np.int32 else element}>"
    types = {name: kind(x) for name, x in case.operands.items()}
    outs = [kind(r) for r in results]
    arguments = ", ".join(f"%{name}: {t}" for name, t in types.items())
    names, listed = ", ".join(f"%{name}" for name in types), ", ".join(types.values())
    wrt = [i for i, x in enumerate(case.operands.values()) if x.dtype != np.int32]
    found = [*outs, *(list(types.values())[i] for i in wrt)]
    cotangents = ", ".join(f"%c{i}: {t}" for i, t in enumerate(outs))
    return f"""
func.func private @value({arguments}) -> ({', '.join(outs)}) {{
  %r:{len(outs)} = {case.op} : ({listed}) -> ({', '.join(outs)})
  return {', '.join(f'%r#{i}' for i in range(len(outs)))} : {', '.join(outs)}
}}
func.func @gradient({arguments}, {cotangents}) -> ({', '.join(found)}) {{
  %r:{len(found)} = ad.vjp @value({names}) cotangents({', '.join(f'%c{i}' for i in range(len(outs)))}) wrt {wrt}
      : ({listed}) -> ({', '.join(found)})
  return {', '.join(f'%r#{i}' for i in range(len(found)))} : {', '.join(found)}
}}
"""


def derivative(case, name, cotangents):
    """Of the results' products with the cotangents, for each element of an operand."""
    slope = np.zeros(case.operands[name].shape)
    for at in np.ndindex(slope.shape):
        moved = case.operands[name].astype(complex)
        moved[at] += 1j * STEP
        results = case.formula(**{**case.operands, name: moved})
        slope[at] = sum((c * r.imag).sum() for c, r in zip(cotangents, results)) / STEP
    return slope


def numbers_of(case, element):
    """The case with numbers that the type has."""
    if element == "f64":
        return case
    return dataclasses.replace(case, operands={name: x if x.dtype == np.int32 else x.astype(np.float32).astype(np.float64)
                                               for name, x in case.operands.items()})


@pytest.mark.parametrize("how", TOLERANCES)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, how):
    element = "f64" if how in ("interpreter", "f64") else "f32"
    case = numbers_of(CASES[name], element)
    results = case.formula(**case.operands)
    cotangents = [np.round(8 * draw(*r.shape)) / 8 for r in results]
    expected = [*results, *(derivative(case, x, cotangents) for x, t in case.operands.items() if t.dtype != np.int32)]
    real = np.float64 if element == "f64" else np.float32
    arrays = [x if x.dtype == np.int32 else x.astype(real) for x in [*case.operands.values(), *cotangents]]
    found = run(program(case, results, element), "gradient", arrays, target=how if how in ("interpreter", "emulator") else "cpu")
    assert len(found) == len(expected)
    for i, (a, b) in enumerate(zip(found, expected)):
        error = np.sqrt(np.mean((a.astype(np.float64) - b)**2)) / np.sqrt(np.mean(b**2))
        assert error <= TOLERANCES[how], (i, error)
