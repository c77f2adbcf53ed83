# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`linrec.short_conv` and its gradient against torch's conv1d in float64: interpreted, compiled and on an emulated GPU, and as
drawloom.torch.linrec.short_convolution."""

import dataclasses
import functools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import drawloom
from drawloom import CallError, CallTypeError
from drawloom.torch.linrec import short_convolution
from recurrences.test_linear_recurrences import TORCH, from_stored, mlir_type, ratio, stored
from support.runner import run

# Sums of eight products at most, rounded in each type; sums over tokens of weights and biases are in f32.
TOLERANCES = {"interpreter": 1e-13, "f64": 1e-13, "f32": 1e-6, "f16": 2**-11, "bf16": 2**-8, "emulator": 1e-6}


@dataclasses.dataclass(frozen=True)
class Case:
    B: int = 2
    T: int = 37
    channels: tuple = (24,)
    W: int = 4
    bias: bool = True
    initial: bool = True
    silu: bool = True
    starts: tuple = ()

    @property
    def sequences(self):
        return len(self.starts) - 1 if self.starts else self.B

    def shapes(self):
        shapes = {"x": (self.B, self.T, *self.channels), "weight": (*self.channels, self.W)}
        if self.bias:
            shapes["bias"] = self.channels
        if self.initial:
            shapes["initial"] = (self.sequences, self.W - 1, *self.channels)
        return shapes


# Some are longer than a block of rows, or have channels that no number of vectors divides, or sequences shorter than the window.
CASES = {
    "all": Case(),
    "alone": Case(bias=False, initial=False, silu=False, W=2),
    "heads": Case(T=32, channels=(3, 16), initial=False),
    "long": Case(B=1, T=530, channels=(144,), W=3),
    "long blocks": Case(B=2, T=256, channels=(5,), W=8, silu=False),
    "short": Case(B=3, T=2, channels=(7,), W=5),
    "one token": Case(B=1, T=1, channels=(1,), W=4),
    "packed": Case(B=1, T=90, starts=(0, 0, 3, 3, 4, 61, 90, 90)),
    "packed blocks": Case(B=1, T=288, channels=(2, 40), W=6, starts=(0, 250, 288), silu=False, bias=False),
    "packed once": Case(B=1, T=20, starts=(0, 20), initial=False),
}


def program(case, element):
    types = {name: mlir_type(shape, element) for name, shape in case.shapes().items()}
    count = len(types)
    if case.starts:
        types["starts"] = f"tensor<{len(case.starts)}xi32>"
    y, final = types["x"], mlir_type((case.sequences, case.W - 1, *case.channels), element)
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
    clauses = " ".join(f"{name}(%{name})" for name in types if name not in ("x", "weight"))
    gives, gradients = f"{y}, {final}", ", ".join(list(types.values())[:count])
    return f"""
func.func @forward({arguments}) -> ({gives}) {{
  %y, %final = linrec.short_conv {"silu" if case.silu else "none"} %x, %weight {clauses} : ({", ".join(types.values())}) -> ({gives})
  return %y, %final : {gives}
}}
func.func @backward({arguments}, %d_y: {y}, %d_final: {final}) -> ({gradients}) {{
  %r:{2 + count} = ad.vjp @forward({", ".join(f"%{name}" for name in types)}) cotangents(%d_y, %d_final) wrt {list(range(count))}
      : ({", ".join(types.values())}) -> ({gives}, {gradients})
  return {", ".join(f"%r#{2 + i}" for i in range(count))} : {gradients}
}}
"""


def convolution(case, x, weight, bias=None, initial=None):
    """With torch's conv1d, a sequence at a time: outputs, and the last tokens of each."""
    x, weight = x.flatten(2), weight.flatten(0, -2)
    bounds = case.starts or tuple(range(0, (case.B + 1) * case.T, case.T)) if case.T else (0,) * (case.B + 1)
    rows, outputs, finals = x.flatten(0, 1), [], []
    for n, (first, end) in enumerate(zip(bounds, bounds[1:])):
        before = rows.new_zeros(case.W - 1, rows.shape[1]) if initial is None else initial[n].flatten(1)
        full = torch.cat((before, rows[first:end]))
        finals.append(full[len(full) - case.W + 1:])
        if end > first:
            outputs.append(F.conv1d(full.T[None], weight.unsqueeze(1), None if bias is None else bias.flatten(), groups=len(weight))[0].T)
    y = torch.cat(outputs) if outputs else rows
    return (F.silu(y) if case.silu else y).reshape(case.B, case.T, *case.channels), torch.stack(finals).unflatten(2, case.channels)


@functools.lru_cache(maxsize=None)
def expected(name):
    """Operands, cotangents, results and gradients in float64."""
    case, rng = CASES[name], np.random.default_rng(0)

    def random(shape):
        return torch.from_numpy(rng.standard_normal(shape))

    operands = [random(shape).requires_grad_() for shape in case.shapes().values()]
    results = convolution(case, **dict(zip(case.shapes(), operands)))
    cotangents = [random(tuple(one.shape)) for one in results]
    gradients = torch.autograd.grad(results, operands, cotangents)
    return [one.detach() for one in operands], cotangents, [one.detach() for one in results], gradients


@functools.lru_cache(maxsize=None)
def compiled(case, element):
    return drawloom.compile(program(case, element))


def call(case, how, entry, tensors, threads=1):
    """The results of @forward or @backward."""
    element = {"interpreter": "f64", "emulator": "f32"}.get(how, how)
    count = len(case.shapes())
    arguments = [one.to(TORCH[element]).contiguous() for one in tensors]
    if case.starts:
        arguments.insert(count, torch.tensor(case.starts, dtype=torch.int32))
    if how in ("interpreter", "emulator"):
        found = run(program(case, element), entry, [stored(one) for one in arguments], target=how)
        return [from_stored(one).double() for one in found]
    return list(getattr(compiled(case, element), entry)(*arguments, threads=threads))


def rounded(name, how):
    """What a type makes of operands and cotangents, and the results of that in float64."""
    operands, cotangents, results, gradients = expected(name)
    if how in ("interpreter", "f64"):
        return operands, cotangents, results, gradients
    kind = TORCH["f32" if how == "emulator" else how]
    operands = [one.to(kind).double().requires_grad_() for one in operands]
    cotangents = [one.to(kind).double() for one in cotangents]
    results = convolution(CASES[name], **dict(zip(CASES[name].shapes(), operands)))
    gradients = torch.autograd.grad(results, operands, cotangents)
    return [one.detach() for one in operands], cotangents, [one.detach() for one in results], gradients


@pytest.mark.parametrize("how", TOLERANCES)
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_conv1d(name, how):
    case = CASES[name]
    operands, cotangents, results, gradients = rounded(name, how)
    found = call(case, how, "forward", operands) + call(case, how, "backward", [*operands, *cotangents])
    names = ["y", "final", *case.shapes()]
    errors = {what: ratio(one.double(), right) for what, one, right in zip(names, found, [*results, *gradients])}
    assert len(found) == len(names) and max(errors.values()) <= TOLERANCES[how], errors
    # Tokens are handed on as they are.
    assert torch.equal(found[1].double(), results[1])


@pytest.mark.parametrize("name", ["long", "packed"])
def test_bits_do_not_depend_on_the_number_of_threads(name):
    operands, cotangents, _, _ = expected(name)
    for entry, arguments in (("forward", operands), ("backward", [*operands, *cotangents])):
        one = call(CASES[name], "f32", entry, arguments, threads=1)
        for threads in (2, 3):
            assert all(map(torch.equal, one, call(CASES[name], "f32", entry, arguments, threads=threads)))


def test_a_packed_sequence_has_the_bits_that_it_has_alone():
    case = CASES["packed"]
    operands, cotangents, _, _ = expected("packed")
    (y, final), (dx, _, _, d_initial) = (call(case, "f32", entry, arguments) for entry, arguments in (
        ("forward", operands), ("backward", [*operands, *cotangents])))
    x, weight, bias, initial = operands
    for n, (first, end) in enumerate(zip(case.starts, case.starts[1:])):
        alone = dataclasses.replace(case, T=end - first, starts=())
        own = [x[:, first:end], weight, bias, initial[n:n + 1]]
        ends = [cotangents[0][:, first:end], cotangents[1][n:n + 1]]
        results = call(alone, "f32", "forward", own) + call(alone, "f32", "backward", [*own, *ends])
        for packed, one in zip((y[:, first:end], final[n:n + 1], dx[:, first:end], d_initial[n:n + 1]),
                               (results[0], results[1], results[2], results[5])):
            assert torch.equal(packed, one)


def test_no_tokens_keep_the_state():
    for case in (Case(T=0), Case(B=1, T=0, starts=(0, 0, 0))):
        rng = torch.Generator().manual_seed(0)
        operands = [torch.randn(shape, generator=rng) for shape in case.shapes().values()]
        final = torch.randn(operands[3].shape, generator=rng)
        y, last = call(case, "f32", "forward", operands)
        dx, dw, db, d_initial = call(case, "f32", "backward", [*operands, y, final])
        assert y.shape == dx.shape == operands[0].shape and torch.equal(last, operands[3]) and torch.equal(d_initial, final)
        assert not dw.any() and not db.any()


def test_what_is_nan_in_one_packed_sequence_stays_there():
    case = CASES["packed"]
    x, weight, bias, initial = (one.clone() for one in expected("packed")[0])
    x[:, 4:61] = float("nan")
    y, final = call(case, "f32", "forward", [x, weight, bias, initial])
    assert y[:, 4:61].isnan().all() and not torch.cat((y[:, :4], y[:, 61:]), 1).isnan().any()
    assert final[4].isnan().all() and not final[[0, 1, 2, 3, 5, 6]].isnan().any()


@pytest.mark.parametrize("how", ["f32", "emulator"])
@pytest.mark.parametrize("starts", [(5, 0, 3, 3, 1000, 61, -7, 90), (0,) * 8, (90,) * 8])
def test_starts_that_lie_touch_nothing_else(starts, how):
    """The emulator stops at what is read or written outside of a tensor."""
    wrong = dataclasses.replace(CASES["packed"], starts=starts)
    operands, cotangents, _, _ = expected("packed")
    found = call(wrong, how, "forward", operands) + call(wrong, how, "backward", [*operands, *cotangents])
    assert all(one.isfinite().all() for one in found)


# --- drawloom.torch.linrec.short_convolution -------------------------------------------------------------------------


def states(case, initial):
    """As flash-linear-attention has them: [N, D, W], of which the first column is of a token that nothing reads."""
    return torch.cat((torch.full_like(initial[:, :1], 3.0), initial), 1).mT


@pytest.mark.parametrize("name", ["all", "alone", "long", "short", "packed"])
def test_the_function_has_states_of_w_tokens(name):
    case = CASES[name]
    operands, (d_y, d_final), _, _ = expected(name)
    given = {key: one.clone().requires_grad_() for key, one in zip(case.shapes(), operands)}
    residual = torch.randn(d_y.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    starts = torch.tensor(case.starts) if case.starts else None

    def ours():
        initial = states(case, given["initial"]) if case.initial else None
        y, final = short_convolution(given["x"], given["weight"], given.get("bias"), residual, initial, True,
                                     "swish" if case.silu else None, cu_seqlens=starts)
        return y, final[..., 1:].mT

    def theirs():
        y, final = convolution(case, **given)
        return y + residual, final

    inputs = [*given.values(), residual]
    results, rights = ours(), theirs()
    for one, right in zip((*results, *torch.autograd.grad(results, inputs, (d_y, d_final))),
                          (*rights, *torch.autograd.grad(rights, inputs, (d_y, d_final)))):
        assert ratio(one.detach(), right.detach()) <= 1e-13


def test_states_hand_a_sequence_on():
    x, weight = torch.randn(2, 30, 8), torch.randn(8, 4)
    whole, last = short_convolution(x, weight, activation="silu", output_final_state=True)
    parts, state = [], None
    for part in x.split((1, 2, 10, 17), 1):
        y, state = short_convolution(part, weight, initial_state=state, activation="silu", output_final_state=True)
        parts.append(y)
    assert torch.equal(torch.cat(parts, 1), whole) and torch.equal(state, last) and torch.equal(last, x[:, -4:].mT)


def test_half_types_with_a_residual_are_rounded_once():
    x, residual = torch.randn(1, 20, 8).bfloat16(), torch.randn(1, 20, 8).bfloat16()
    weight = torch.randn(8, 4)
    y, _ = short_convolution(x, weight, residual=residual)
    wide, _ = short_convolution(x.float(), weight)
    assert torch.equal(y, (wide + residual.float()).bfloat16())


def test_it_takes_part_in_torch_compile_and_vmap():
    x, weight = torch.randn(3, 2, 20, 8), torch.randn(8, 4)
    whole = torch.func.vmap(lambda one: short_convolution(one, weight, activation="silu")[0])(x)
    assert torch.equal(whole, torch.stack([short_convolution(one, weight, activation="silu")[0] for one in x]))
    grad = torch.func.grad(lambda w: short_convolution(x[0], w)[0].square().sum())(weight)
    found = torch.compile(lambda w: short_convolution(x[0], w)[0].square().sum(), backend="aot_eager")
    weight.requires_grad_()
    found(weight).backward()
    assert torch.allclose(weight.grad, grad)


def test_vmap_takes_a_batch_of_any_operand():
    """Operands that are absent stand between those that have one."""
    x, weight, bias, initial = torch.randn(3, 2, 20, 8), torch.randn(3, 8, 4), torch.randn(3, 8), torch.randn(3, 2, 8, 4)

    def function(x, weight=weight[0], bias=None, initial=None):
        return short_convolution(x, weight, bias, None, initial, True, "silu")

    for given in ({"initial": initial}, {"bias": bias}, {"weight": weight}, {"weight": weight, "bias": bias, "initial": initial}):
        names = list(given)
        for first, dim in ((x, 0), (x[0], None)):
            found = torch.func.vmap(lambda one, *others: function(one, **dict(zip(names, others))), (dim, *[0] * len(names)))(
                first, *given.values())
            each = [function(first if dim is None else first[i], **{name: one[i] for name, one in given.items()}) for i in range(3)]
            for whole, parts in zip(found, zip(*each)):
                assert torch.equal(whole, torch.stack(parts))

    def loss(weight, x, initial):
        return short_convolution(x, weight, None, None, initial)[0].square().sum()

    found = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(weight[0], x, initial)
    assert torch.equal(found, torch.stack([torch.func.grad(loss)(weight[0], x[i], initial[i]) for i in range(3)]))


def test_what_says_how_a_gpu_computes_has_no_effect():
    x, weight = torch.randn(1, 5, 8), torch.randn(8, 4)
    starts = torch.tensor([0, 2, 5])
    found = short_convolution(x, weight, None, None, None, True, "silu", "cuda", starts, starts, torch.zeros(1, 2))
    assert all(map(torch.equal, found, short_convolution(x, weight, output_final_state=True, activation="silu", cu_seqlens=starts)))
    with pytest.raises(TypeError, match="seq_idx"):
        short_convolution(x, weight, seq_idx=torch.zeros(1, 5))


FLOATS = "it is a tensor of float32, float64, bfloat16 or float16"
PACKED = "it is int32 or int64, [sequences + 1]"


@pytest.mark.parametrize("error, message, arguments", [
    (CallError, "weight has the shape [3, 4]; it is [8, W], W from 2 to 8", {"weight": torch.zeros(3, 4)}),
    (CallError, "weight has the shape [8, 9]; it is [8, W], W from 2 to 8", {"weight": torch.zeros(8, 9)}),
    (CallError, "they are [batch, tokens, channels] and [channels, W]", {"weight": torch.zeros(8)}),
    (CallError, "bias has the shape [4]; it is [8]", {"bias": torch.zeros(4)}),
    (CallError, "initial_state has the shape [2, 8, 3]; it is [2, 8, 4]", {"initial_state": torch.zeros(2, 8, 3)}),
    (CallError, "activation is 'gelu'; it is None, 'silu' or 'swish'", {"activation": "gelu"}),
    (CallError, "with starts, all sequences are packed into one batch entry, but there are 2", {"cu_seqlens": torch.tensor([0, 5])}),
    (CallError, "go from 0 to 4; they go from 0 to the number of tokens, 5", {"cu_seqlens": torch.tensor([0, 4])}),
    (CallError, "decrease: entry 2 is 2 after 3", {"cu_seqlens": torch.tensor([0, 3, 2, 5])}),
    (CallError, "cp_context splits sequences over GPUs", {"cp_context": object()}),
    (CallTypeError, f"weight is int64; {FLOATS}", {"weight": torch.zeros(8, 4, dtype=torch.int64)}),
    (CallTypeError, f"weight is int64; {FLOATS}", {"weight": torch.zeros(8, 4, dtype=torch.int64), "x": torch.zeros(2, 5, 8).double()}),
    (CallTypeError, f"weight is None; {FLOATS}", {"weight": None}),
    (CallTypeError, f"x is None; {FLOATS}", {"x": None}),
    (CallTypeError, f"x is int64; {FLOATS}", {"x": torch.zeros(2, 5, 8, dtype=torch.int64), "residual": torch.zeros(2, 5, 8)}),
    (CallTypeError, f"x is complex64; {FLOATS}", {"x": torch.zeros(2, 5, 8) * 1j, "residual": torch.zeros(2, 5, 8)}),
    (CallTypeError, f"bias is int32; {FLOATS}", {"bias": torch.zeros(8, dtype=torch.int32)}),
    (CallTypeError, f"residual is bool; {FLOATS}", {"residual": torch.zeros(2, 5, 8, dtype=torch.bool)}),
    (CallTypeError, f"initial_state is int64; {FLOATS}", {"initial_state": torch.zeros(2, 8, 4, dtype=torch.int64)}),
    (CallError, "residual has the shape [8]; it is [2, 5, 8]", {"residual": torch.zeros(8)}),
    (CallError, "residual has the shape [3, 2, 5, 8]; it is [2, 5, 8]", {"residual": torch.zeros(3, 2, 5, 8)}),
    (CallError, f"cu_seqlens is int64 []; {PACKED}", {"cu_seqlens": torch.tensor(5)}),
    (CallError, f"cu_seqlens is int64 [1, 2]; {PACKED}", {"cu_seqlens": torch.tensor([[0, 5]])}),
    (CallError, f"cu_seqlens is int16 [2]; {PACKED}", {"cu_seqlens": torch.tensor([0, 5], dtype=torch.int16)}),
    (CallError, f"cu_seqlens is float32 [2]; {PACKED}", {"cu_seqlens": torch.tensor([0.0, 5.0])}),
    (CallError, f"cu_seqlens is int32 [0]; {PACKED}",
     {"cu_seqlens": torch.zeros(0, dtype=torch.int32), "initial_state": torch.zeros(1, 8, 4)}),
    (CallTypeError, "cu_seqlens is list; it is a tensor of int32 or int64, [sequences + 1]", {"cu_seqlens": [0, 5]}),
])
def test_errors_say_what_is_wanted(error, message, arguments):
    with pytest.raises(error) as raised:
        short_convolution(**{"x": torch.zeros(2, 5, 8), "weight": torch.zeros(8, 4), **arguments})
    assert message in str(raised.value)


def test_second_derivatives_are_refused():
    x, weight = torch.randn(1, 5, 2, requires_grad=True), torch.randn(2, 3)
    (gradient,) = torch.autograd.grad(short_convolution(x, weight)[0].square().sum(), x, create_graph=True)
    with pytest.raises(drawloom.Error, match="short convolutions are differentiated once"):
        torch.autograd.grad(gradient.sum(), x)
