# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What flash-linear-attention's callers rely on beside results: operands of different types, one rounding of 16 bits, errors in the
caller's words, and a refusal by name of what has no form."""

import importlib
import warnings

import pytest
import torch

import drawloom
from drawloom.torch import linrec
from drawloom.torch.linrec import patch_fla
from recurrences.test_fla_patch import make
from recurrences.test_linear_recurrences import ratio

with warnings.catch_warnings():
    # On a machine without a GPU it says so.
    warnings.simplefilter("ignore")
    pytest.importorskip("fla.models", reason="flash-linear-attention is not installed")


@pytest.fixture(autouse=True, scope="module")
def patched():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with patch_fla(verbose=False) as patch:
            yield patch


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


def theirs(path, name):
    return getattr(importlib.import_module(path), name)


def assert_rounded_once(result, expected):
    """Each number is off by half a unit of its type's last place, and by what float32 loses in sums of larger terms."""
    error, half = (result.double() - expected.double()).abs(), torch.finfo(result.dtype).eps / 2
    assert (error <= half * expected.double().abs() + 1e-5 * float(expected.abs().max())).all()


# --- operands of different types -------------------------------------------------------------------------------------

def unit(*shape):
    x = torch.randn(shape)
    return x / x.norm(dim=-1, keepdim=True)


B, T, H, K = 1, 5, 2, 16
GATES = {
    "chunk_gla": lambda: {"g": -torch.rand(B, T, H, K)}, "fused_recurrent_gla": lambda: {"gk": -torch.rand(B, T, H, K)},
    "chunk_gated_delta_rule": lambda: {"g": -torch.rand(B, T, H), "beta": torch.rand(B, T, H)},
    "fused_recurrent_gated_delta_rule": lambda: {"g": -torch.rand(B, T, H), "beta": torch.rand(B, T, H).half()},
    "chunk_kda": lambda: {"g": -torch.rand(B, T, H, K), "beta": torch.rand(B, T, H)},
    "chunk_gsa": lambda: {"s": torch.randn(B, T, H, 8), "g": -torch.rand(B, T, H, 8)},
}
# As theirs: those that make o like v do so here.
LIKE_V = {"chunk_gla", "fused_recurrent_gated_delta_rule"}


@pytest.mark.parametrize("types", [(torch.bfloat16, torch.float32, torch.bfloat16), (torch.float32, torch.float32, torch.float16),
                                   (torch.float16, torch.bfloat16, torch.float32)], ids=["rodimus", "wide keys", "all"])
@pytest.mark.parametrize("name", GATES)
def test_operands_of_different_types_are_computed_in_the_widest(name, types):
    q, k, v = (unit(B, T, H, K).to(dtype).requires_grad_() for dtype in types)
    gates = GATES[name]()
    o, state = getattr(linrec, name)(q, k, v, output_final_state=True, **gates)
    wide = [x.detach().float().requires_grad_() for x in (q, k, v)]
    expected, expected_state = getattr(linrec, name)(*wide, output_final_state=True, **{key: x.float() for key, x in gates.items()})
    assert o.dtype == (v if name in LIKE_V else q).dtype
    if name == "chunk_gsa":
        # As theirs, scores have the type of q before the softmax, and shares behind it: three roundings of 2^-8 at most.
        assert ratio(o, expected.double()) < 3 * 2.0**-8
    else:
        assert_rounded_once(o, expected)
        assert ratio(state, expected_state.double()) < 1e-6
    for one, other in zip(torch.autograd.grad(o.float().sum(), (q, k, v)), torch.autograd.grad(expected.sum(), wide)):
        assert ratio(one, other.double()) < 4 * 2.0**-8


def test_float64_widens_the_rest():
    q, k, v = (unit(B, T, H, K) for _ in range(3))
    o, state = linrec.chunk_gla(q.double(), k, v, -torch.rand(B, T, H, K), output_final_state=True, initial_state=torch.zeros(B, H, K, K))
    assert (o.dtype, state.dtype) == (torch.float32, torch.float64)


def test_rodimus_of_16_bits_generates():
    model = make("Rodimus", residual_in_fp32=False).bfloat16().eval()
    words = torch.randint(3, 61, (1, 4))
    more = model.generate(words, max_new_tokens=3, do_sample=False, pad_token_id=0)
    assert more.shape == (1, 7)


# --- 16 bits are computed in float32 and rounded once ----------------------------------------------------------------

def uniform(*shape):
    return (16 * torch.rand(shape) - 8).bfloat16()


FORMS = {
    "fused_addcmul_rwkv7": ("fla.ops.rwkv7.fused_addcmul", lambda: [
        uniform(2, 13, 64), uniform(2, 13, 64), *(uniform(64) for _ in range(6))]),
    "fused_k_rwkv7": ("fla.ops.rwkv7.fused_k_update", lambda: [uniform(2, 13, 64), uniform(2, 13, 64), uniform(64)]),
    "gate_output_correction": ("fla.ops.rwkv7.gate_output_correction", lambda: [
        uniform(2, 13, 64), uniform(2, 13, 4, 16), uniform(2, 13, 4, 16), uniform(4, 16), uniform(2, 13, 4, 16), uniform(2, 13, 64)]),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_16_bits_round_once(name):
    path, inputs = FORMS[name]
    inputs = [x.requires_grad_() for x in inputs()]
    wide = [x.detach().double().requires_grad_() for x in inputs]
    function = theirs(path, name)
    results, expected = (list(one) if isinstance(one, tuple) else [one] for one in (function(*inputs), function(*wide)))
    for one, other in zip(results, expected):
        assert one.dtype == torch.bfloat16
        assert_rounded_once(one, other)
    cotangents = [torch.randn_like(one) for one in results]
    gradients = torch.autograd.grad(results, inputs, cotangents)
    for one, other in zip(gradients, torch.autograd.grad(expected, wide, [one.double() for one in cotangents])):
        assert_rounded_once(one, other)


def test_gate_of_a_decode_step_may_be_left_out():
    path, inputs = FORMS["fused_addcmul_rwkv7"]
    *results, last = theirs(path, "fused_addcmul_rwkv7")(*inputs()[:-1])
    assert len(results) == 5 and last is None


def test_gdn_gate_is_theirs():
    gate = importlib.import_module("fla.ops.gated_delta_rule.gate")
    inputs = [torch.randn(2, 5, 4).bfloat16().requires_grad_(), torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)]
    ours, plain = ([y, *torch.autograd.grad(y.sum(), inputs)] for y in (gate.fused_gdn_gate(*inputs), gate.naive_gdn_gate(*inputs)))
    torch.testing.assert_close(ours, plain)
    assert gate.fused_gdn_gate(*inputs, output_dtype=torch.bfloat16).dtype == torch.bfloat16


@pytest.mark.parametrize("before", [(2, 8), (2, 1, 8)])
def test_channel_mixing_is_theirs(before):
    module = importlib.import_module("fla.ops.rwkv7.channel_mixing")
    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 5, 8), before, (1, 1, 8), (8, 16), (16, 8))]
    (y, last), (expected, expected_last) = module.channel_mixing_rwkv7(*inputs), module.channel_mixing_rwkv7_torch(*inputs)
    torch.testing.assert_close((y, last), (expected, expected_last))
    for one, other in zip(torch.autograd.grad(y.square().sum(), inputs), torch.autograd.grad(expected.square().sum(), inputs)):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("starts", [None, [0, 3, 3, 10]])
def test_sums_and_means_of_chunks_keep_to_their_sequence(reverse, starts):
    utils = importlib.import_module("fla.ops.utils")
    x, spans = torch.randn(1, 10, 3, 2), [(0, 10)] if starts is None else list(zip(starts, starts[1:]))
    packed = None if starts is None else torch.tensor(starts)
    chunks = [x[:, at:min(at + 4, end)] for begin, end in spans for at in range(begin, end, 4)]
    sums = torch.cat([chunk.flip(1).cumsum(1).flip(1) if reverse else chunk.cumsum(1) for chunk in chunks], 1)
    torch.testing.assert_close(utils.chunk_local_cumsum(x, 4, reverse=reverse, scale=2.0, cu_seqlens=packed), 2 * sums)
    torch.testing.assert_close(utils.chunk_local_cumsum(x[..., 0], 4, reverse=reverse, cu_seqlens=packed), sums[..., 0])
    torch.testing.assert_close(utils.mean_pooling(x, 4, packed), torch.stack([chunk.mean(1) for chunk in chunks], 1))
    with pytest.raises(ValueError, match="chunk_size is 3; it is a power of two"):
        utils.chunk_local_cumsum(x, 3)


# --- errors in the caller's words ------------------------------------------------------------------------------------

def rows(*last):
    return torch.randn(1, 4, 2, *last)


@pytest.mark.parametrize("call, words", [
    (lambda: linrec.chunk_gsa(rows(16), rows(16), rows(16), torch.randn(1, 4, 3, 8), rows(8)), "chunk_gsa: q has 2 heads, which do not divide the 3 of s"),
    (lambda: linrec.chunk_gsa(rows(16), rows(16), rows(16), rows(8), rows(7)), "chunk_gsa: g has the shape [1, 4, 2, 7]; it is [1, 4, 2, 8]"),
    (lambda: linrec.chunk_gla(rows(16), rows(16).int(), rows(16), rows(16)), "chunk_gla: k is int32; it is float32, float64, bfloat16 or float16"),
    (lambda: linrec.chunk_gla(rows(16), rows(16), rows(16), rows(3)), "chunk_gla: g has the shape [1, 4, 2, 3]"),
    (lambda: linrec.fused_recurrent_gla(rows(16), rows(16), rows(16), rows(3)), "fused_recurrent_gla: gk or gv has the shape [1, 4, 2, 3]"),
    (lambda: linrec.chunk_rwkv6(rows(16), rows(15), rows(16), rows(16), torch.zeros(2, 16)), "chunk_rwkv6: r has 16 channels and k 15"),
    (lambda: linrec.chunk_rwkv7(rows(16), rows(15), *[rows(16)] * 4), "chunk_rwkv7: w has the shape [1, 4, 2, 15]"),
    (lambda: linrec.chunk_rwkv7(*[rows(16)] * 5, rows(15)), "chunk_rwkv7: b has the shape [1, 4, 2, 15]"),
    (lambda: linrec.fused_mul_recurrent_rwkv7(*[rows(16)] * 5, rows(1)), "fused_mul_recurrent_rwkv7: a has the shape [1, 4, 2, 1]"),
    (lambda: linrec.chunk_gdn2(*[rows(16)] * 5, rows(15)), "chunk_gdn2: w has the shape [1, 4, 2, 15]; it is [1, 4, 2, 16]"),
    (lambda: linrec.chunk_comba(*[rows(16)] * 4, rows(), torch.ones(1, 4, 3)), "chunk_comba: beta has the shape [1, 4, 3]; it is [1, 4, 2]"),
    (lambda: linrec.chunk_hgrn2(rows(16), rows(15), rows(16)), "chunk_hgrn2: q has 16 channels and g 15"),
    (lambda: linrec.fused_recurrent_gated_delta_rule(*[rows(16)] * 3, g=rows(), gk=rows()),
     "fused_recurrent_gated_delta_rule: gk has the shape [1, 4, 2]; it is [1, 4, 2, 16]"),
    (lambda: linrec.fused_recurrent_gated_delta_rule(*[rows(16)] * 3, gk=rows()),
     "fused_recurrent_gated_delta_rule: gk has the shape [1, 4, 2]; it is [1, 4, 2, 16]"),
    (lambda: linrec.chunk_gla(*[rows(16)] * 4, cu_seqlens=torch.tensor([0, 3])), "chunk_gla: cu_seqlens go from 0 to 3; they go from 0 to"),
    (lambda: linrec.chunk_gla(*[rows(16)] * 4, cu_seqlens=[0, 4]), "chunk_gla: cu_seqlens is list; it is a tensor"),
    (lambda: linrec.chunk_gla(*[rows(16)] * 4, initial_state=torch.zeros(1, 2, 3, 16)), "chunk_gla: initial_state has the shape [1, 2, 3, 16]"),
    (lambda: theirs("fla.ops.kda", "chunk_kda")(*[rows(16)] * 4, rows(), chunk_size=16), "chunk_kda: chunk_size is 16; it is 32 or 64"),
    (lambda: linrec.chunk_gdn2(*[rows(16)] * 6, chunk_size=32), "chunk_gdn2: chunk_size is 32; it is 64"),
    (lambda: linrec.chunk_delta_rule(*[rows(16)] * 3, rows(), chunk_size=128), "chunk_delta_rule: chunk_size is 128; it is 16 or 32 or 64"),
    (lambda: linrec.chunk_simple_gla(*[rows(16)] * 3, rows(), chunk_size=48), "chunk_simple_gla: chunk_size is 48; it is a power of two"),
])
def test_errors_name_the_callers_function_and_parameters(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("path, name, arguments", [
    ("fla.ops.utils.cumsum", "chunk_global_cumsum", lambda: (torch.randn(1, 8, 2),)),
    ("fla.ops.utils.softmax", "softmax_fwd", lambda: (torch.randn(2, 8),)),
    ("fla.ops.utils.solve_tril", "solve_tril", lambda: (torch.randn(1, 64, 1, 64),)),
    ("fla.ops.rwkv7.channel_mixing", "rwkv_mix_fwd", lambda: (torch.randn(1, 8, 2), torch.randn(1, 2), torch.randn(2))),
])
def test_what_is_in_no_table_is_refused_by_its_name(path, name, arguments):
    with pytest.raises(drawloom.CallError, match=f"{path}.{name} has no form for the CPU"):
        theirs(path, name)(*arguments())


def test_undoing_gives_triton_its_launcher_back(patched):
    jit = importlib.import_module("triton.runtime.jit")
    launcher = jit.KernelInterface.__getitem__
    patched.undo()
    try:
        assert jit.KernelInterface.__getitem__ is not launcher and jit.KernelInterface.__getitem__.__module__ == "triton.runtime.jit"
    finally:
        patch_fla(verbose=False)
