# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.linrec.patch_fla: flash-linear-attention's own layers and models on the CPU."""

import contextlib
import copy
import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
import types
import warnings

import pytest
import torch
import torch.nn.functional as F

import drawloom
from drawloom.torch import _fla
from drawloom.torch._fla import _forms, _table
from drawloom.torch.linrec import patch_fla
from recurrences.test_fla_references import Double
from recurrences.test_linear_recurrences import ratio

with warnings.catch_warnings():
    # On a machine without a GPU it says so.
    warnings.simplefilter("ignore")
    pytest.importorskip("fla.models", reason="flash-linear-attention is not installed")

BATCH, TOKENS, WORDS = 2, 66, 61
# A loss is a mean of 132 logarithms of softmax in f32, each some u = 6e-8 of a number near it off for what is rounded last; what was
# rounded before, in two layers, has either sign and a mean of a tenth of that. 16 u.
LOSS = 1e-6
# Gradients go back through two recurrences, each with some 25 u of error by its own tests, and are sums over 132 tokens of terms of
# either sign, which are some ten times what is left of them. 340 u.
GRADIENT = 2e-5


@pytest.fixture(autouse=True, scope="module")
def patched():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with patch_fla(verbose=False) as patch:
        yield patch
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)
    # Layers warn of what they find missing and of their own use.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def unpatched(patched):
    """As it is before patch_fla, and again as this file has it."""
    patched.undo()
    yield
    patch_fla(verbose=False)


# --- models with their references for the recurrences ----------------------------------------------------------------


def naive(path, name):
    return getattr(importlib.import_module(f"fla.ops.{path}"), name)


def heads_first(function, *inputs, **options):
    o, state = function(*(x.transpose(1, 2) if x.dim() > 2 else x for x in inputs), **options)
    return o.transpose(1, 2), state


def gla(q, k, v, g=None, gk=None, **_):
    return naive("gla.naive", "naive_recurrent_gla")(q, k, v, gk if g is None else g)


def simple_gla(q, k, v, g, **_):
    return naive("simple_gla.naive", "naive_recurrent_simple_gla")(q, k, v, g)


def retention(q, k, v, **_):
    return heads_first(lambda *x: (naive("retention.naive", "naive_retention")(*x), None), q, k, v)


def linear_attention(q, k, v, normalize, **_):
    return naive("linear_attn.naive", "naive_recurrent_linear_attn")(q, k, v, normalize=normalize)


def rwkv6(r, k, v, w, u, scale, **_):
    return heads_first(naive("rwkv6.recurrent_naive", "naive_recurrent_rwkv6"), r, k, v, w, u, scale=scale)


def rwkv7(r, w, k, v, a, b, scale, **_):
    o, state = heads_first(naive("generalized_delta_rule.dplr.naive", "dplr_recurrence"), r, k, v, a, b, w)
    return o * scale * r.shape[-1]**0.5, state


def unit(*inputs):
    return [x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6) for x in inputs]


def delta_rule(q, k, v, beta, **_):
    return heads_first(naive("delta_rule.naive", "delta_rule_recurrence"), *unit(q, k), v, beta)


def gated_delta_rule(q, k, v, g, beta, A_log, dt_bias, **_):
    decay = naive("gated_delta_rule.gate", "naive_gdn_gate")(g, A_log, dt_bias)
    return naive("gated_delta_rule.naive", "naive_recurrent_gated_delta_rule")(*unit(q, k), v, beta.sigmoid(), decay)


def gated_delta_product(q, k, v, g, beta, num_householder, **_):
    return naive("gated_delta_product.naive", "naive_recurrent_gated_delta_product")(
        *unit(q, k), v, g, beta, q.shape[-1]**-0.5, num_householder=num_householder)


def kda(q, k, v, g, beta, A_log, dt_bias, **_):
    decay = naive("kda.gate", "naive_kda_gate")(g, A_log, dt_bias)
    return naive("kda.naive", "naive_recurrent_kda")(*unit(q, k), v, decay, beta.sigmoid())


def gdn2(q, k, v, g, b, w, **_):
    return naive("gdn2.naive", "naive_recurrent_gdn2")(*unit(q, k), v, g, b, w)


def comba(q, k, v, p, g, beta, **_):
    q, k, p = unit(q, k, p)
    return naive("comba.naive", "naive_chunk_comba")(q, k, v, p, g, beta)


def gsa(q, k, v, s, g, scale, **_):
    return naive("gsa.naive", "naive_recurrent_gsa")(q, k, v, s, g, scale)


def abc(q, k, v, s, **_):
    return heads_first(naive("abc.naive", "naive_recurrent_abc"), q, k, v, s)


def hgrn(x, g, **_):
    return naive("hgrn.naive", "naive_recurrent_hgrn")(x, g)


# Of each model, what its configuration says besides SMALL, and by which functions its layers reach the reference.
MODELS = {
    "ABC": ({}, {"fla.layers.abc.chunk_abc": abc}),
    "Comba": ({}, {"fla.layers.comba.chunk_comba": comba}),
    "DeltaNet": ({}, {"fla.layers.delta_net.chunk_delta_rule": delta_rule}),
    "GLA": ({}, {"fla.layers.gla.chunk_gla": gla}),
    "GSA": ({}, {"fla.layers.gsa.chunk_gsa": gsa}),
    "GatedDeltaNet": ({}, {"fla.layers.gated_deltanet.chunk_gated_delta_rule": gated_delta_rule}),
    "GatedDeltaProduct": ({}, {"fla.layers.gated_deltaproduct.chunk_gated_delta_product": gated_delta_product}),
    "HGRN": ({"num_heads": None}, {"fla.layers.hgrn.chunk_hgrn": hgrn}),
    "HGRN2": ({"expand_ratio": None}, {"fla.layers.hgrn2.chunk_gla": gla}),
    "KDA": ({}, {"fla.layers.kda.chunk_kda": kda}),
    "LightNet": ({}, {"fla.ops.lightnet.chunk.chunk_gla": gla}),
    "LinearAttention": ({}, {"fla.layers.linear_attn.chunk_linear_attn": linear_attention}),
    "Mamba2": ({"num_heads": 4, "expand": 2}, {"fla.layers.mamba2.Mamba2.torch_forward": None}),
    "RWKV6": ({}, {"fla.layers.rwkv6.chunk_rwkv6": rwkv6}),
    "RWKV7": ({"num_heads": None}, {"fla.layers.rwkv7.chunk_rwkv7": rwkv7}),
    "Raven": ({"topk": 8}, {"fla.layers.raven.chunk_gsa": gsa}),
    "RetNet": ({}, {"fla.layers.multiscale_retention.chunk_retention": retention}),
    "Rodimus": ({"expand_ratio": 8, "residual_in_fp32": False, "block_type": "rodimus"}, {"fla.layers.rodimus.chunk_gla": gla}),
    "YOCO": ({"num_self_decoder_layers": 1, "self_decoder_attn": {"type": "gated_retention", "num_heads": 2},
              "cross_decoder_attn": {"num_heads": 2}},
             {"fla.layers.yoco.chunk_simple_gla": simple_gla}),
}
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_heads": 2, "vocab_size": WORDS, "head_dim": 16, "intermediate_size": 48,
         "max_position_embeddings": 128, "state_size": 16, "num_slots": 16, "chunk_size": 32}


def make(name, **more):
    import fla.models
    config = getattr(fla.models, f"{name}Config")
    known = inspect.signature(config.__init__).parameters
    options = {key: value for key, value in {**SMALL, **MODELS.get(name, ({},))[0], **more}.items() if key in known}
    model = getattr(fla.models, f"{name}ForCausalLM")(config(**options))
    with torch.no_grad():
        for weight in model.parameters():
            # Some layers begin as zeros, and then nothing behind them matters.
            if weight.dim() > 1:
                weight.normal_(0, 0.1)
    return model


def words(batch=BATCH, tokens=TOKENS):
    return torch.randint(3, WORDS, (batch, tokens))


@contextlib.contextmanager
def references(name, monkeypatch):
    """The model's recurrences by flash-linear-attention's own references; all else stays as it is patched. Each is called."""
    unused = set(MODELS[name][1])

    def counted(path, function):
        def call(*arguments, **named):
            unused.discard(path)
            return function(*arguments, **named)
        return call

    with monkeypatch.context() as change:
        for path, function in MODELS[name][1].items():
            owner, _, attribute = path.rpartition(".")
            if function is None:
                # Its own method, which has the recurrence written out.
                module, _, cls = owner.rpartition(".")
                function = getattr(getattr(importlib.import_module(module), cls), attribute).__wrapped__
            change.setattr(path, counted(path, function))
        yield
    assert not unused


def loss_and_gradients(model, ids):
    # Raven's router draws numbers.
    torch.manual_seed(1)
    model.zero_grad()
    loss = model(ids, labels=ids).loss
    loss.backward()
    return loss.item(), {key: weight.grad.clone() for key, weight in model.named_parameters() if weight.grad is not None}


@pytest.mark.parametrize("name", MODELS)
def test_model_computes_what_its_reference_does(name, monkeypatch):
    """In f32 what flash-linear-attention's references give in float64."""
    model, ids = make(name), words()
    found, gradients = loss_and_gradients(model, ids)
    with references(name, monkeypatch), Double():
        expected, reference = loss_and_gradients(copy.deepcopy(model).double(), ids)
    assert abs(found - expected) <= LOSS * expected, (found, expected)
    assert gradients.keys() == reference.keys() == dict(model.named_parameters()).keys()
    errors = {key: ratio(gradients[key], reference[key]) for key in gradients}
    # Where rounding the parameters alone moves the float64 gradient by more than the bound, nothing in f32 is that near (RWKV6: by
    # 4e-5). Its two recurrences round as 25 such roundings each, independent of each other, so together as the root of 50.
    moved = max(ratio(one[key], reference[key]) for one in rounded_gradients(name, model, ids, monkeypatch) for key in reference)
    bound = GRADIENT if moved <= GRADIENT else 50**0.5 * moved
    assert max(errors.values()) <= bound, {key: e for key, e in errors.items() if e > bound}


def rounded_gradients(name, model, ids, monkeypatch):
    """Gradients of the reference in float64, of parameters that are moved by up to half a unit in the last place of f32."""
    for seed in range(4):
        other, generator = copy.deepcopy(model).double(), torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weight in other.parameters():
                weight.mul_(1 + 2.0**-24 * (2 * torch.rand(weight.shape, generator=generator, dtype=torch.float64) - 1))
        with references(name, monkeypatch), Double():
            yield loss_and_gradients(other, ids)[1]


@pytest.mark.parametrize("name", ["GLA", "GatedDeltaNet"])
def test_training_goes_as_with_the_reference(name, monkeypatch):
    def losses():
        torch.manual_seed(1)
        model, ids = make(name), words()
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        seen = []
        for _ in range(4):
            loss = model(ids, labels=ids).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        return seen

    found = losses()
    with references(name, monkeypatch):
        expected = losses()
    assert found[-1] < found[0]
    # A step of AdamW divides gradients by their size, so that the smallest of them, mostly rounding, count as much as others.
    assert max(abs(a - b) / b for a, b in zip(found, expected)) <= 1e-4, (found, expected)
    assert abs(found[0] - expected[0]) <= LOSS * expected[0]


@pytest.mark.parametrize("name, more", [
    ("MLA", {}), ("Mom", {}), ("Transformer", {}),
    ("Samba", {"attn": {"layers": [1], "num_heads": 2, "num_kv_heads": 2, "window_size": 32, "rope_theta": 10000.0, "qkv_bias": False}})])
def test_models_with_other_mixers_train(name, more):
    """Softmax attention, Mamba-1 by their own torch form, a mixture of memories: without a reference here."""
    model, ids = make(name, **more), words(1, 20)
    loss, gradients = loss_and_gradients(model, ids)
    assert 0 < loss < float("inf") and all(gradient.isfinite().all() for gradient in gradients.values())
    assert gradients.keys() == dict(model.named_parameters()).keys()


def test_layer_without_a_model(monkeypatch):
    from fla.layers import GatedDeltaNet2

    def gradients(layer, x):
        return torch.autograd.grad(layer(x)[0].square().sum(), list(layer.parameters()))

    layer, x = GatedDeltaNet2(hidden_size=32, head_dim=16, num_heads=2, layer_idx=0), torch.randn(BATCH, TOKENS, 32)
    found = gradients(layer, x)
    monkeypatch.setattr("fla.layers.gdn2.chunk_gdn2", gdn2)
    with Double():
        expected = gradients(copy.deepcopy(layer).double(), x.double())
    errors = [ratio(a, b) for a, b in zip(found, expected)]
    assert max(errors) <= GRADIENT, errors


# --- sequences -------------------------------------------------------------------------------------------------------

# Logits of two layers, against those computed with other numbers of tokens: rounding, as above.
LOGITS = 1e-5


@torch.no_grad()
def logits(model, ids, **more):
    return model(ids, use_cache=False, **more).logits


@pytest.mark.parametrize("name", ["GLA", "GatedDeltaNet", "RWKV7"])
def test_packed_sequences_do_not_see_each_other(name):
    model = make(name).eval()
    bounds = [0, 5, 6, 17]
    ids = words(1, 17)
    found = logits(model, ids, cu_seqlens=torch.tensor(bounds))
    apart = torch.cat([logits(model, ids[:, a:b]) for a, b in zip(bounds, bounds[1:])], 1)
    assert ratio(found, apart.double()) <= LOGITS


@pytest.mark.parametrize("name", ["GLA", "GatedDeltaNet"])
def test_packed_sequences_train(name):
    model, ids, bounds, cotangent = make(name).train(), words(1, 17), [0, 5, 17], torch.randn(1, 17, 32)

    def gradients(hidden):
        model.zero_grad()
        hidden.backward(cotangent)
        return [weight.grad.clone() for key, weight in model.named_parameters() if "lm_head" not in key]

    found = gradients(model.model(ids, cu_seqlens=torch.tensor(bounds))[0])
    apart = gradients(torch.cat([model.model(ids[:, a:b])[0] for a, b in zip(bounds, bounds[1:])], 1))
    errors = [ratio(a, b.double()) for a, b in zip(found, apart)]
    assert max(errors) <= GRADIENT, errors


@pytest.mark.parametrize("name", ["GLA", "Transformer"])
def test_padding_on_the_left_changes_nothing(name):
    model, ids, mask = make(name).eval(), words(2, 12), torch.ones(2, 12, dtype=torch.long)
    mask[0, :4] = 0
    found = logits(model, ids, attention_mask=mask)
    assert ratio(found[:1, 4:], logits(model, ids[:1, 4:]).double()) <= LOGITS


@pytest.mark.parametrize("name, more", [
    *((name, {}) for name in ("DeltaNet", "GLA", "GSA", "GatedDeltaNet", "HGRN", "HGRN2", "KDA", "RWKV6", "RWKV7", "RetNet",
                               "Transformer")),
    ("Mamba2", {"n_groups": 2})])
def test_decoding_with_a_cache_is_the_whole_forward(name, more):
    model, ids = make(name, **more).eval(), words(2, 9)
    expected = logits(model, ids)
    with torch.no_grad():
        out = model(ids[:, :7], use_cache=True)
        found = [out.logits]
        for t in range(7, 9):
            out = model(ids[:, t:t + 1], past_key_values=out.past_key_values, use_cache=True)
            found.append(out.logits)
    assert ratio(torch.cat(found, 1), expected.double()) <= LOGITS


@pytest.mark.parametrize("name", ["GLA", "GatedDeltaNet"])
def test_generation_takes_the_likeliest_words(name):
    model, ids = make(name).eval(), words(2, 7)
    found = model.generate(ids, max_new_tokens=3, do_sample=False, pad_token_id=0, eos_token_id=None)
    for _ in range(3):
        ids = torch.cat((ids, logits(model, ids)[:, -1:].argmax(-1)), 1)
    assert torch.equal(found, ids)


def test_inference_goes_step_by_step(monkeypatch):
    """In inference, short sequences take the fused_recurrent functions."""
    calls = []
    for kind in ("chunk", "fused_recurrent"):
        name = f"{kind}_gated_delta_rule"
        function = getattr(importlib.import_module("fla.layers.gated_deltanet"), name)
        monkeypatch.setattr(f"fla.layers.gated_deltanet.{name}",
                            lambda *x, kind=kind, function=function, **more: (calls.append(kind), function(*x, **more))[1])
    model, ids = make("GatedDeltaNet", num_hidden_layers=1).eval(), words(1, 9)
    step_by_step = logits(model, ids)
    whole = model(ids, use_cache=False).logits
    assert calls == ["fused_recurrent", "chunk"] and ratio(step_by_step, whole.detach().double()) <= LOGITS


def test_models_of_16_bits_train():
    model = make("GLA").to(torch.bfloat16)
    ids = words()
    loss = model(ids, labels=ids).loss
    loss.backward()
    assert loss.isfinite() and all(weight.grad.isfinite().all() for weight in model.parameters())
    model = make("GLA")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(ids, labels=ids).loss
    loss.backward()
    assert loss.isfinite() and all(weight.grad.isfinite().all() for weight in model.parameters())


def test_models_compile():
    model, ids = make("GLA", num_hidden_layers=1), words(1, 66)
    expected = logits(model, ids)
    torch._dynamo.reset()
    with torch.no_grad():
        assert torch.equal(torch.compile(model, backend="eager")(ids, use_cache=False).logits, expected)


# --- what stands around the recurrences ------------------------------------------------------------------------------

def modules(path, name):
    return getattr(importlib.import_module(f"fla.modules.{path}"), name)


def same(found, expected, tolerance=1e-6):
    found, expected = ((x,) if isinstance(x, torch.Tensor) else x for x in (found, expected))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and ratio(a, b.detach().double()) <= tolerance


def rows(*shape, count=1):
    tensors = [torch.randn(*shape) for _ in range(count)]
    return tensors[0] if count == 1 else tensors


@pytest.mark.parametrize("prenorm", [False, True])
@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm", "group_norm"])
def test_norms_are_theirs(norm, prenorm):
    x, residual = rows(3, 5, 32, count=2)
    weight, bias = rows(32, count=2)
    more = {"num_groups": 4} if norm == "group_norm" else {}
    reference = modules("norm.layernorm", f"{norm}_ref")
    # Their form of groups takes no residual: it gives x in its place.
    if norm == "group_norm":
        same(modules("norm.layernorm", norm)(x + residual, weight, bias, prenorm=prenorm, **more),
             reference(x + residual, weight, bias, prenorm=prenorm, **more))
    else:
        same(modules("norm.layernorm", norm)(x, weight, bias, residual, prenorm=prenorm),
             reference(x, weight, bias, residual, prenorm=prenorm))
    halves = modules("norm.layernorm", norm)(x.bfloat16(), weight, bias, residual.float(), prenorm=True, **more)
    assert [y.dtype for y in halves] == [torch.bfloat16, torch.float32]


def test_gated_norms_are_theirs():
    x, g, residual = rows(3, 5, 32, count=3)
    weight, bias = rows(32, count=2)
    reference = modules("norm.layernorm", "rms_norm_ref")
    for activation, factor in (("swish", F.silu(g)), ("silu", F.silu(g)), ("sigmoid", torch.sigmoid(g))):
        same(modules("norm.fused_norm_gate", "rms_norm_gated")(x, g, weight, bias, activation, residual, eps=1e-5),
             reference(x, weight, bias, residual) * factor)
    for before in (True, False):
        for size in (None, 8):
            same(modules("norm.layernorm_gated", "rmsnorm_fn")(x, weight, bias, g, group_size=size, norm_before_gate=before),
                 modules("norm.layernorm_gated", "rms_norm_ref")(x, weight, bias, g, group_size=size, norm_before_gate=before))
    same(modules("norm.layernorm_gated", "layernorm_fn")(x, weight, bias), F.layer_norm(x, (32,), weight, bias, 1e-6))
    matrix = rows(7, 32)
    same(modules("norm.layernorm", "rms_norm_linear")(x, weight, bias, matrix, None, residual, prenorm=True),
         (F.linear(reference(x, weight, bias, residual), matrix), x + residual))
    same(modules("norm.fused_norm_gate", "rms_norm_swish_gate_linear")(x, g, weight, bias, matrix, None, eps=1e-5),
         F.linear(reference(x, weight, bias) * F.silu(g), matrix))
    same(modules("norm.l2norm", "l2norm")(x), F.normalize(x, dim=-1))


@pytest.mark.parametrize("name, formula", [
    ("sigmoid", torch.sigmoid), ("swish", F.silu), ("logsigmoid", F.logsigmoid), ("sqrelu", lambda x: F.relu(x)**2),
    ("fast_gelu_impl", lambda x: F.gelu(x, approximate="tanh"))])
def test_activations_are_theirs(name, formula):
    x = rows(5, 33).requires_grad_()
    ours = modules("activations", name)
    same(ours(x), formula(x))
    same(torch.autograd.grad(ours(x).sum(), x), torch.autograd.grad(formula(x).sum(), x))
    # One rounding, of half a unit in the last place of bfloat16.
    assert ratio(ours(x.bfloat16()), formula(x.bfloat16().double()).detach()) <= 2.0**-8


def test_gated_activations_are_theirs():
    x, y, matrix, bias = *rows(5, 33, count=2), rows(7, 33), rows(7)
    same(modules("activations", "swiglu")(x, y), F.silu(x) * y)
    same(modules("activations", "swiglu_linear")(x, y, matrix, bias), F.linear(F.silu(x) * y, matrix, bias))
    same(modules("activations", "sigmoidglu")(x, y), torch.sigmoid(x) * y)
    same(modules("activations", "sigmoidglu_linear")(x, y, matrix, None), F.linear(torch.sigmoid(x) * y, matrix))
    same(modules("activations", "bias_gelu_impl")(x, y), F.gelu(x + y, approximate="tanh"))
    power = torch.tensor([[(a**(3 / (a**0.5 + 1)) if a > 0 else a) / (1 + torch.tensor(-a).exp().item()) for a in row]
                          for row in x.tolist()])
    same(modules("activations", "powglu")(x, y), power * y)
    same(modules("activations", "powglu_linear")(x, y, matrix, bias), F.linear(power * y, matrix, bias))
    x = x.clone().requires_grad_()
    assert torch.autograd.grad(modules("activations", "powglu")(x, y).sum(), x)[0].isfinite().all()


def convolution(x, weight, bias, state):
    """x [T, D], tap by tap."""
    full = torch.cat((state.T, x))
    width = weight.shape[1]
    return torch.stack([(full[t + 1:t + 1 + width].T * weight).sum(-1) + bias for t in range(x.shape[0])])


def test_short_convolutions_keep_to_their_sequence():
    x, weight, bias, states = rows(1, 17, 6), rows(6, 4), rows(6), rows(4, 6, 4)
    residual, bounds = rows(1, 17, 6), [0, 2, 2, 9, 17]
    conv = modules("causal_conv1d", "causal_conv1d")
    y, final = conv(x, weight, bias, residual, states, True, "silu", cu_seqlens=torch.tensor(bounds))
    parts = [(x[0, a:b], states[n]) for n, (a, b) in enumerate(zip(bounds, bounds[1:]))]
    expected = torch.cat([convolution(part, weight, bias, state) for part, state in parts if len(part)])
    same(y[0], F.silu(expected) + residual[0])
    same(final, torch.stack([torch.cat((state.T, part)).T[:, -4:] for part, state in parts]))
    whole, last = conv(x, weight, bias, output_final_state=True)
    same(whole[0], convolution(x[0], weight, bias, torch.zeros(6, 4)))
    # Token by token from the state that a sequence left.
    later = rows(1, 3, 6)
    update = modules("causal_conv1d", "causal_conv1d_update")
    steps = torch.cat([update(later[:, t:t + 1], last, None, weight, bias)[0] for t in range(3)], 1)
    same(steps, conv(torch.cat((x, later), 1), weight, bias)[0][:, -3:])


def test_token_shift_keeps_to_its_sequence():
    x, cache, bounds = rows(1, 17, 6), rows(3, 6), torch.tensor([0, 2, 9, 17])
    shift = modules("token_shift", "token_shift")
    same(shift(x, bounds), modules("token_shift", "token_shift_ref")(x, bounds))
    delta, last = shift(x, bounds, cache, True)
    assert torch.equal(last, x[0, [1, 8, 16]]) and torch.equal(delta[0, [0, 2, 9]], cache - x[0, [0, 2, 9]])
    same(shift(x), modules("token_shift", "token_shift_ref")(x))


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_embeddings_are_theirs(interleaved):
    x, angles = rows(2, 9, 3, 16), torch.arange(20)[:, None] * torch.rand(6)
    cos, sin = angles.cos(), angles.sin()
    ours, reference = (modules("rotary.ops", name) for name in ("rotary_embedding", "rotary_embedding_ref"))
    same(ours(x, cos, sin, interleaved, seqlen_offsets=4), reference(x, cos[4:13], sin[4:13], interleaved))
    found = ours(x, cos, sin, interleaved, seqlen_offsets=torch.tensor([4, 1]))
    same(found[1], reference(x[1:], cos[1:10], sin[1:10], interleaved)[0])
    packed = ours(x.view(1, 18, 3, 16), cos, sin, interleaved, seqlen_offsets=torch.tensor([4, 1]),
                  cu_seqlens=torch.tensor([0, 9, 18]))
    assert torch.equal(packed.view_as(x), found)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_is_torchs(reduction, smoothing):
    scores, target = rows(9, 13).requires_grad_(), torch.randint(0, 13, (9,))
    target[2] = -100
    loss = modules("fused_cross_entropy", "FusedCrossEntropyLoss")(reduction=reduction, label_smoothing=smoothing)(scores, target)
    expected = F.cross_entropy(scores, target, reduction=reduction, label_smoothing=smoothing)
    same(loss, expected)
    same(torch.autograd.grad(loss.sum(), scores), torch.autograd.grad(expected.sum(), scores))


def test_cross_entropy_has_their_terms():
    scores, target = rows(9, 13), torch.randint(0, 13, (9,))
    found = modules("fused_cross_entropy", "cross_entropy_loss")(scores, target, logit_scale=2.0, logit_softcapping=3.0,
                                                                lse_square_scale=0.1)
    capped = 3 * torch.tanh(2 * scores / 3)
    squares = 0.1 * capped.logsumexp(-1)**2
    same(found, (F.cross_entropy(capped, target, reduction="none") + squares, squares))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_cross_entropy_of_a_layer_goes_in_parts(reduction, monkeypatch):
    from fla.modules.l2warp import l2_warp

    x, weight, bias, target = rows(9, 5), rows(13, 5), rows(13), torch.randint(0, 13, (9,))
    target[2] = -100
    leaves = [t.requires_grad_() for t in (x, weight, bias)]

    def everything(loss):
        return loss.detach(), *torch.autograd.grad(loss, leaves)

    loss = modules("fused_linear_cross_entropy", "FusedLinearCrossEntropyLoss")(reduction=reduction, use_l2warp=True)
    whole = everything(loss(x, target, weight, bias))
    monkeypatch.setattr(_forms, "_LOGITS", 2 * 13)
    parts = everything(loss(x, target, weight, bias))
    scores = F.linear(x, weight, bias)
    expected = everything(l2_warp(F.cross_entropy(scores, target, reduction=reduction), scores[None]))
    same(whole, expected)
    same(parts, expected)


def test_one_of_several_greatest_logits_is_pulled():
    from fla.modules.l2warp import l2_warp

    weight = rows(6, 8)
    weight[1] = weight[0]
    weight.requires_grad_()
    x, target = (10 * weight[:1].detach()).expand(4, 8).contiguous(), torch.full((4,), 3)
    loss = modules("fused_linear_cross_entropy", "FusedLinearCrossEntropyLoss")(use_l2warp=True, l2_penalty_factor=1.0)
    found, = torch.autograd.grad(loss(x, target, weight), weight)
    scores = F.linear(x, weight)
    expected, = torch.autograd.grad(l2_warp(F.cross_entropy(scores, target), scores[None], 1.0), weight)
    same(found, expected)


def test_divergence_is_torchs():
    x, y, weight, other = *rows(9, 5, count=2), *rows(13, 5, count=2)
    found = modules("fused_kl_div", "FusedKLDivLoss")()(x, y, weight, other)
    same(found, F.kl_div(F.linear(x, weight).log_softmax(-1), F.linear(y, other).softmax(-1), reduction="batchmean"))
    with pytest.raises(drawloom.CallError, match="detach"):
        modules("fused_kl_div", "FusedKLDivLoss")()(x, y, weight, other.requires_grad_())


@pytest.mark.parametrize("window", [None, 4])
def test_attention_sees_what_comes_before(window):
    q, k, v = rows(1, 9, 4, 8), *rows(1, 9, 2, 8, count=2)
    expected = naive("attn.naive", "naive_parallel_attn")(q, k, v, window_size=window)[0]
    sizes = (-1, -1) if window is None else (window - 1, 0)
    same(_forms.flash_attn_func(q, k, v, causal=True, window_size=sizes), expected)
    same(_forms.flash_attn_func(q[:, -2:], k, v, causal=True, window_size=sizes), expected[:, -2:])
    starts = torch.tensor([0, 3, 9], dtype=torch.int32)
    packed = _forms.flash_attn_varlen_func(q[0], k[0], v[0], starts, starts, causal=True, window_size=sizes)
    same(packed[3:], naive("attn.naive", "naive_parallel_attn")(q[:, 3:], k[:, 3:], v[:, 3:], window_size=window)[0][0])
    same(importlib.import_module("fla.ops.attn").parallel_attn(q, k, v, window_size=window, cu_seqlens=starts)[0], packed)


# --- the patch itself ------------------------------------------------------------------------------------------------

def everything_of_theirs():
    return {(module, key): value for module, names in _fla._modules() if module.partition(".")[0] == "fla"
            for key, value in names.items()}


def test_undoing_puts_back_what_was_there(unpatched):
    import fla.layers.attn
    import fla.modules.activations as activations

    if importlib.util.find_spec("flash_attn") is None:
        assert fla.layers.attn.flash_attn_func is None and not hasattr(fla.layers.attn, "flash_attn_varlen_func")
    before, table = everything_of_theirs(), dict(activations.ACT2FN)
    with patch_fla(verbose=False):
        now = everything_of_theirs()
        changed = {key for key, value in now.items() if before.get(key) is not value}
        assert ("fla.layers.gla", "chunk_gla") in changed and ("fla.ops.gla.chunk", "chunk_gla") in changed
        assert activations.ACT2FN["swish"] is activations.swish is not table["swish"]
        assert fla.layers.attn.flash_attn_varlen_func is not None
    assert everything_of_theirs() == before and activations.ACT2FN == table


def test_names_of_the_caller_and_of_later_modules_are_replaced(unpatched, monkeypatch, tmp_path):
    import fla.ops

    caller = types.ModuleType("caller_of_fla")
    caller.attention = fla.ops.chunk_gla
    monkeypatch.setitem(sys.modules, caller.__name__, caller)
    (tmp_path / "later_than_the_patch.py").write_text("from fla.ops.gla.chunk import chunk_gla as attention\n")
    monkeypatch.syspath_prepend(tmp_path)
    with patch_fla(verbose=False):
        later = importlib.import_module("later_than_the_patch")
        q = torch.randn(1, 5, 2, 4)
        for module in (caller, later):
            assert torch.equal(module.attention(q, q, q, -q.abs())[0], drawloom.torch.linrec.chunk_gla(q, q, q, -q.abs())[0])
    assert caller.attention is later.attention is fla.ops.chunk_gla
    del sys.modules["later_than_the_patch"]


def test_second_patch_changes_nothing(patched):
    before = everything_of_theirs()
    with patch_fla(verbose=False) as second:
        assert everything_of_theirs() == before and second.recurrences == patched.recurrences
    # What did not make it does not undo it.
    assert everything_of_theirs() == before


def test_other_devices_keep_their_kernels():
    calls = []
    routed = _fla._routed(lambda *x, **more: calls.append("theirs"), lambda *x, **more: calls.append("ours"))
    for x in (torch.empty(1), torch.empty(1, device="meta")):
        routed(x)
        routed(1, x=x)
        routed([x])
    assert calls == ["ours"] * 3 + ["theirs"] * 3
    # Starts of sequences may be in main memory, too, for a kernel of a GPU.
    routed(torch.empty(1, device="meta"), cu_seqlens_cpu=torch.empty(1))
    assert calls[-1] == "theirs"


def test_summary_names_what_it_did(patched, capsys):
    second = patch_fla()
    said = capsys.readouterr().out
    assert said.strip() == str(second)
    assert "computed by Drawloom: chunk_abc, chunk_comba" in said and "torch's own ops: FusedCrossEntropyLoss.forward" in said
    assert "not for the CPU: chunk_cyfa" in said


def test_every_function_of_theirs_is_accounted_for():
    import fla.ops

    listed = {name for table in (_table.RECURRENCES, _table.FORMS, _table.REFUSED) for names in table.values() for name in names}
    aliases = {"chunk_gdn", "fused_recurrent_gdn"}
    # These raise errors of their own.
    deprecated = {"fused_chunk_gla", "fused_chunk_delta_rule"}
    assert set(fla.ops.__all__) - listed == aliases | deprecated


def test_refusal_names_the_function():
    ids = words(1, 9)
    with pytest.raises(drawloom.CallError, match="fla.ops.mesa_net.* has no form for the CPU"):
        make("MesaNet")(ids)


def test_slots_without_gates_have_no_cache():
    with pytest.raises(drawloom.CallError, match="averages over all tokens"):
        model = make("ABC").eval()
        out = model(words(1, 5), use_cache=True)
        model(words(1, 1), past_key_values=out.past_key_values, use_cache=True)


@pytest.mark.parametrize("version, words", [(None, "pip install flash-linear-attention==0.6.0"), ("0.5.1", "was tested with 0.6.0")])
def test_other_versions_are_refused(version, words, monkeypatch):
    def found(name):
        if version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(importlib.metadata, "version", found)
    with pytest.raises(drawloom.CallError) as error:
        patch_fla()
    assert words in str(error.value)


@pytest.mark.parametrize("call, words", [
    (lambda x: modules("causal_conv1d", "causal_conv1d")(x, torch.randn(4, 3), cu_seqlens=torch.tensor([0, 9])), "they go from 0 to"),
    (lambda x: modules("causal_conv1d", "causal_conv1d")(x, torch.randn(4, 9), cu_seqlens=torch.tensor([0, 9])), "it goes from 0 to"),
    (lambda x: modules("causal_conv1d", "causal_conv1d")(x), "weight is None; it is a tensor"),
    (lambda x: modules("causal_conv1d", "causal_conv1d")(x, torch.randn(4, 3), cp_context=object()), "cp_context splits"),
    (lambda x: modules("fused_cross_entropy", "cross_entropy_loss")(x[0], torch.zeros(5).long(), process_group=object()), "splits"),
])
def test_error_says_what_fits(call, words):
    with pytest.raises(drawloom.CallError, match=words):
        call(torch.randn(1, 5, 4))
