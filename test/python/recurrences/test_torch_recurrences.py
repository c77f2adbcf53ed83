# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.linrec against models token by token (references.py), and as a part of PyTorch."""

import pytest
import torch
import torch.nn.functional as F

import drawloom
from drawloom.torch import linrec
from recurrences import references as reference
from recurrences.test_linear_recurrences import COMPILED, ratio

B, T, H, K, V = 2, 35, 2, 16, 24


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def tensors():
    """q, k, v of unit keys, and a state."""
    return draw(B, T, H, K), F.normalize(draw(B, T, H, K), dim=-1), draw(B, T, H, V), draw(B, H, K, V)


def decays(*shape):
    return F.logsigmoid(draw(B, T, *shape))


def shares(*shape):
    return torch.sigmoid(draw(B, T, *shape))


def retention(q, k, v, s):
    gamma = 1 - torch.exp2(-5 - torch.arange(H, dtype=torch.float64))
    return reference.retention(q, k, v, gamma, s, K**-0.5)


def mamba2(x, dt, A, b, c, d, s):
    return reference.mamba2(x, dt, (-A).log(), b, c, d, s)


def state(function, *inputs, **options):
    """The function with an initial state, which is the last input unless it is among the others by position."""
    if function in (linrec.chunk_linear_attn, linrec.chunk_retention):
        *inputs, initial = inputs
        return function(*inputs, initial_state=initial, output_final_state=True, **options)
    return function(*inputs, output_final_state=True, **options)


# What each function of the module is, and the model; both of the same inputs.
MODELS = {
    "linear_attn": (lambda q, k, v, s: state(linrec.chunk_linear_attn, q, k, v, s, normalize=False),
                    lambda q, k, v, s: reference.linear_attention(q, k, v, s, K**-0.5), tensors),
    "retention": (lambda *x: state(linrec.chunk_retention, *x), retention, tensors),
    "lightning": (lambda q, k, v, s: state(linrec.chunk_lightning_attn, q, k, v, 3, 12, 1.0, s),
                  lambda q, k, v, s: reference.lightning_attention(q, k, v, (8 / H) * (1 - 3 / 12) * torch.arange(H).double(), s),
                  tensors),
    "simple_gla": (lambda q, k, v, s, g: state(linrec.chunk_simple_gla, q, k, v, g, None, None, s),
                   lambda q, k, v, s, g: reference.simple_gla(q, k, v, g, s, K**-0.5), lambda: (*tensors(), decays(H))),
    "gla": (lambda q, k, v, s, g: state(linrec.chunk_gla, q, k, v, g, 0.5, s),
            lambda q, k, v, s, g: reference.gated_linear_attention(q, k, v, g, s, 0.5), lambda: (*tensors(), decays(H, K))),
    "hgrn2": (lambda q, f, v, s: state(linrec.chunk_hgrn2, q, F.logsigmoid(f), v, 1.0, s),
              lambda q, f, v, s: reference.hgrn2(q, f, v, torch.zeros(H, K), s), tensors),
    "rwkv6": (lambda q, k, v, s, w, u: state(linrec.chunk_rwkv6, q, k, v, -w.exp(), u, 1.0, s),
              lambda q, k, v, s, w, u: reference.rwkv6(q, k, v, w, u, s), lambda: (*tensors(), draw(B, T, H, K), draw(H, K))),
    "delta_rule": (lambda q, k, v, s, b: state(linrec.chunk_delta_rule, q, k, v, b, None, s),
                   lambda q, k, v, s, b: reference.delta_rule(q, k, v, b, s, K**-0.5), lambda: (*tensors(), shares(H))),
    "gated_delta_rule": (lambda q, k, v, s, g, b: state(linrec.chunk_gated_delta_rule, q, k, v, g, b, None, s),
                         lambda q, k, v, s, g, b: reference.gated_delta_rule(q, k, v, g.exp(), b, s, K**-0.5),
                         lambda: (*tensors(), decays(H), shares(H))),
    "kda": (lambda q, k, v, s, g, b: state(linrec.chunk_kda, q, k, v, g, b, None, s),
            lambda q, k, v, s, g, b: reference.kimi_delta_attention(q, k, v, g.exp(), b, s, K**-0.5),
            lambda: (*tensors(), decays(H, K), shares(H))),
    "comba": (lambda q, k, v, s, g, b: state(linrec.chunk_comba, q, k, v, 0.5 * k, g, b, None, s),
              lambda q, k, v, s, g, b: reference.comba(q, k, v, g.exp(), b, torch.full((H,), 0.5), torch.zeros(H), s, K**-0.5),
              lambda: (*tensors(), decays(H), shares(H))),
    "iplr": (lambda q, k, v, s, w: state(linrec.chunk_iplr_delta_rule, q, k, v, -k, w * k, None, s),
             lambda q, k, v, s, w: reference.identity_plus_low_rank(q, k, v, -k, w * k, s, K**-0.5),
             lambda: (*tensors(), shares(H, K))),
    "dplr": (lambda q, k, v, s, w, g: state(linrec.chunk_dplr_delta_rule, q, k, v, -k, w * k, g, None, s),
             lambda q, k, v, s, w, g: reference.diagonal_plus_low_rank(q, k, v, g.exp(), -k, w * k, s, K**-0.5),
             lambda: (*tensors(), shares(H, K), decays(H, K))),
    "rwkv7": (lambda q, k, v, s, w, g: state(linrec.chunk_rwkv7, q, g, k, v, -k, w * k, 1.0, s),
              lambda q, k, v, s, w, g: reference.diagonal_plus_low_rank(q, k, v, g.exp(), -k, w * k, s, 1.0),
              lambda: (*tensors(), shares(H, K), decays(H, K))),
    "mamba2": (lambda x, dt, A, b, c, d, s: (lambda y, s: (y, s.mT))(*linrec.chunk_mamba2(
                   x, dt, A, b, c, D=d, initial_states=s.mT, return_final_states=True)),
               mamba2, lambda: (draw(B, T, H, V), shares(H), -draw(H).exp(), draw(B, T, 1, K), draw(B, T, 1, K), draw(H),
                                draw(B, H, K, V))),
}


def everything(function, inputs, cotangents=None):
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    results = function(*leaves)
    if cotangents is None:
        cotangents = [torch.randn(r.shape, dtype=torch.float64) for r in results]
    gradients = torch.autograd.grad(results, leaves, [c.to(r.dtype) for c, r in zip(cotangents, results)])
    return [*results, *gradients], cotangents


@pytest.mark.parametrize("name", MODELS)
def test_function_is_the_model(name):
    ours, model, inputs = MODELS[name]
    inputs = inputs()
    expected, cotangents = everything(model, inputs)
    found, _ = everything(ours, [x.float() for x in inputs], cotangents)
    errors = [ratio(a.detach(), b.detach()) for a, b in zip(found, expected)]
    assert max(errors) <= COMPILED, errors


def test_linear_attention_is_divided_by_its_weights():
    q, k, v, _ = (x.abs() for x in tensors())
    expected = reference.linear_attention(q, k, v, torch.zeros(B, H, K, V).double(), 1.0)[0] / (q * k.cumsum(1)).sum(-1, keepdim=True)
    assert ratio(linrec.chunk_linear_attn(q.float(), k.float(), v.float())[0], expected) <= COMPILED


def test_slots_are_two_recurrences():
    q, k, v, _ = tensors()
    g, slots = decays(H, 8), (draw(B, H, K, 8), draw(B, H, 8, V))
    o, keys, values = reference.gated_slot_attention(q, k, v, g.exp(), slots[0].mT, slots[1], K**-0.5)
    found, (found_keys, found_values) = linrec.chunk_gsa(*(x.float() for x in (q, k, v, 1 - g.exp(), g)), None,
                                                         [x.float() for x in slots], True)
    assert max(ratio(found, o), ratio(found_keys, keys.mT), ratio(found_values, values)) <= COMPILED


def test_slots_without_gates_are_averages():
    q, k, v, _ = tensors()
    s = draw(B, T, H, 8)
    weights = s.exp()
    keys, values = ((weights[..., None] * x[..., None, :]).cumsum(1) / weights.cumsum(1)[..., None] for x in (k, v))
    shares = torch.softmax(torch.einsum("bthk,bthmk->bthm", q, keys) * K**-0.5, -1)
    expected = torch.einsum("bthm,bthmv->bthv", shares, values)
    assert ratio(linrec.chunk_gsa(*(x.float() for x in (q, k, v, s)))[0], expected) <= COMPILED
    with pytest.raises(drawloom.CallError, match="averages over all tokens"):
        linrec.chunk_gsa(*(x.float()[:1] for x in (q, k, v, s)), cu_seqlens=torch.tensor([0, 5, T]))


def test_normalization_and_sigmoids_happen_before():
    q, k, v, s = (x.float() for x in tensors())
    g, b = decays(H).float(), draw(B, T, H).float()
    found = linrec.chunk_gated_delta_rule(5 * q, 3 * k, v, g, b, use_qk_l2norm_in_kernel=True, use_beta_sigmoid_in_kernel=True,
                                          allow_neg_eigval=True)[0]
    expected = linrec.chunk_gated_delta_rule(F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, g, 2 * b.sigmoid())[0]
    assert ratio(found, expected.double()) <= 1e-5


def test_states_go_with_values_first():
    q, k, v, s = (x.float() for x in tensors())
    g = decays(H, K).float()
    o, final = linrec.chunk_gla(q, k, v, g, initial_state=s, output_final_state=True)
    turned, turned_final = linrec.chunk_gla(q, k, v, g, initial_state=s.mT, output_final_state=True, state_v_first=True)
    assert torch.equal(o, turned) and torch.equal(final, turned_final.mT)


def test_steps_go_on_from_a_state():
    q, k, v, s = (x.float() for x in tensors())
    g = decays(H, K).float()
    whole, final = linrec.chunk_gla(q, k, v, g, output_final_state=True)
    outputs, state = [], None
    for t in range(T):
        o, state = linrec.fused_recurrent_gla(*(x[:, t:t + 1] for x in (q, k, v, g)), initial_state=state, output_final_state=True)
        outputs.append(o)
    assert ratio(torch.cat(outputs, 1), whole.double()) <= COMPILED and ratio(state, final.double()) <= COMPILED


def small():
    q, k, v = (torch.randn(1, 5, 2, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    g = (-torch.rand(1, 5, 2, 4, dtype=torch.float64)).requires_grad_()
    return q, k, v, g


def test_gradients_are_those_of_differences():
    beta = torch.rand(1, 5, 2, dtype=torch.float64, requires_grad=True)
    initial = torch.randn(1, 2, 4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda q, k, v, g, beta, initial: linrec.linear_recurrence(q, k, v, decay=g, beta=beta, initial=initial),
        (*small(), beta, initial))


def test_op_keeps_the_rules_of_torch():
    torch.library.opcheck(torch.ops.drawloom.linear_recurrence.default, small())


def test_compiled_models_hold_the_op():
    inputs = [x.detach().float().requires_grad_() for x in small()]
    compiled = torch.compile(lambda *x: linrec.chunk_gla(*x)[0].square().sum(), fullgraph=True)
    ours, compiled = (torch.autograd.grad(f(*inputs), inputs) for f in (lambda *x: linrec.chunk_gla(*x)[0].square().sum(), compiled))
    for a, b in zip(ours, compiled):
        torch.testing.assert_close(a, b)


def test_vmap_is_a_call_for_each():
    q, k, v, g = (x.detach().float() for x in small())
    both = torch.stack([q, 2 * q])
    found = torch.func.vmap(lambda q: linrec.chunk_gla(q, k, v, g)[0])(both)
    assert torch.equal(found, torch.stack([linrec.chunk_gla(x, k, v, g)[0] for x in both]))


def test_vmap_takes_operands_behind_absent_ones():
    q, beta, initial = torch.randn(3, 1, 5, 2, 4), torch.rand(3, 1, 5, 2), torch.randn(3, 1, 2, 4, 4)
    for name, batch in (("beta", beta), ("initial", initial)):
        found = torch.func.vmap(lambda q, one: linrec.linear_recurrence(q, q, q, **{name: one})[0])(q, batch)
        assert torch.equal(found, torch.stack([linrec.linear_recurrence(x, x, x, **{name: one})[0] for x, one in zip(q, batch)]))


def test_autocast_keeps_decays_and_states():
    q, k, v, g = (x.detach().float() for x in small())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        o, final = linrec.chunk_gla(q, k, v, g, output_final_state=True)
    expected, state = linrec.chunk_gla(q.bfloat16(), k.bfloat16(), v.bfloat16(), g, output_final_state=True)
    assert o.dtype == torch.bfloat16 and final.dtype == torch.float32
    assert torch.equal(o, expected) and torch.equal(final, state)


def call(**changes):
    q, k, v, g = (x.detach().float() for x in small())
    arguments = {"q": q, "k": k, "v": v, "decay": g, **changes}
    return linrec.linear_recurrence(arguments.pop("q"), arguments.pop("k"), arguments.pop("v"), **arguments)


@pytest.mark.parametrize("changes, words", [
    (dict(q=torch.zeros(5, 2, 4)), "[batch, tokens, heads, size]"),
    (dict(k=torch.zeros(1, 5, 2, 3)), "q has 4 channels and k 3"),
    (dict(q=torch.zeros(1, 5, 3, 4)), "3 heads, which do not divide the 2 of v"),
    (dict(q=torch.zeros(1, 4, 2, 4)), "batch and tokens are the same"),
    (dict(k=torch.zeros(1, 5, 2, 4, dtype=torch.float64)), "k is float64, but q is float32"),
    (dict(v=torch.zeros(1, 5, 2, 0)), "at least one head and one channel"),
    (dict(decay=torch.zeros(1, 5, 3)), "decay has the shape [1, 5, 3]"),
    (dict(decay=torch.zeros(1, 5, 2, 4, dtype=torch.int32)), "decay is int32"),
    (dict(initial=torch.zeros(1, 2, 4, 5)), "initial has the shape [1, 2, 4, 5]; it is [1, 2, 4, 4]"),
    (dict(initial=torch.zeros(1, 2, 4, 4, dtype=torch.bfloat16)), "initial is bfloat16; for q of float32 it is float32"),
    (dict(beta=torch.zeros(1, 5, 2), erase=torch.zeros(1, 5, 2, 4)), "one of them, not both"),
    (dict(lowrank=torch.zeros(1, 5, 2, 4)), "there is no erase"),
    (dict(bonus=torch.zeros(2, 4), beta=torch.zeros(1, 5, 2)), "a bonus goes with neither"),
    (dict(decay_side="row"), "it is 'key' or 'value'"),
    (dict(chunk=20), "a multiple of 16"),
    (dict(value_blocks=3), "value_blocks is 3; it divides the size of values, 4"),
    (dict(steps_per_token=0), "steps_per_token is 0; it is at least 1"),
    (dict(steps_per_token=2), "v has 2 steps for each token of q"),
    (dict(q=torch.zeros(1, 1, 2, 4), steps_per_token=5, decay=torch.zeros(2)), "a decay of heads does not go with steps_per_token"),
    (dict(q=torch.zeros(1, 1, 2, 4), decay=None, steps_per_token=5, bonus=torch.zeros(2, 4)), "a bonus does not go with steps_per_token"),
    (dict(checkpoint_interval=0), "checkpoint_interval is 0; it is at least 1"),
    (dict(decay_bound=0.5), "decay_bound is 0.5"),
    (dict(erase_before_decay=True), "there is neither"),
    (dict(starts=torch.tensor([0, 3, 2, 5])), "decrease: entry 2 is 2 after 3"),
    (dict(starts=torch.tensor([0, 4])), "go from 0 to 4; they go from 0 to the number of tokens, 5"),
    (dict(starts=torch.tensor([0.0, 5.0])), "starts is float32 [2]; it is int32 or int64"),
    (dict(starts=torch.tensor(5)), "starts is int64 []; it is int32 or int64, [sequences + 1]"),
    (dict(starts=torch.zeros(0, dtype=torch.int32)), "starts is int32 [0]; it is int32 or int64, [sequences + 1]"),
    (dict(starts=[0, 5]), "starts is list; it is a tensor of int32 or int64"),
])
def test_error_says_what_fits(changes, words):
    with pytest.raises(drawloom.Error) as error:
        call(**changes)
    assert words in str(error.value)


def test_second_derivatives_are_refused():
    inputs = small()
    (first,) = torch.autograd.grad(linrec.chunk_gla(*inputs)[0].sum(), inputs[0], create_graph=True)
    with pytest.raises(drawloom.Error, match="differentiated once"):
        first.sum().backward()


@pytest.mark.parametrize("gate", [0.0, -0.02, -20.0, float("-inf")])
def test_long_sequences_stay_finite(gate):
    q, k, v = (torch.randn(1, 65536, 1, 16, requires_grad=True) for _ in range(3))
    g = torch.full((1, 65536, 1, 16), gate, requires_grad=True)
    results = linrec.chunk_gla(q, k, v, g, output_final_state=True)
    gradients = torch.autograd.grad([r.square().mean() for r in results], (q, k, v, g))
    assert all(x.isfinite().all() for x in (*results, *gradients))
