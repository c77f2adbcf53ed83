# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`linrec.scan` and `linrec.scan_bwd` against models written token by token in torch (references.py).

`MODELS` says of each model what its inputs are and how it is said with `linrec.scan`. What lies before and behind the op
(sigmoids, products of inputs, interleaving) is torch's, whose autograd carries the gradients of `linrec.scan_bwd` on to
the model's inputs. The final state and its cotangent always take part.
"""

import dataclasses
import functools
import typing

import numpy as np
import pytest
import torch

import drawloom
from recurrences import references as reference
from support.runner import run

# The interpreter computes in float64, as the references do. No sum here has more than 10^4 terms, nor does an error pass
# through more than 70 tokens: 10^-9 leaves a thousandfold of what they can round.
INTERPRETED = 1e-9
# Compiled f32. The roundings along the longest way (70 tokens, the sums over K in each) are a few hundred of u = 6e-8, of
# either sign, and no transition here is longer than 1, so that none of them grows: their root mean square is some 10 u.
# Decays in logarithms add |g| u for a factor exp(g), at most 0.4 u after multiplication by it. 10^-5 is 160 u. FLA asks for
# 4e-3 to 2e-2 of the same ratio.
COMPILED = 1e-5
# Results of 16 bits are rounded once, by half a unit in the last place at most, as are states and gradients of their inputs.
HALF = {"bf16": 2.0**-8, "f16": 2.0**-11}

TORCH = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
# What is not in 16 bits; decays in them would not tell 0.999 from 1.
WIDE = ("decay", "initial", "d_final")
OPERANDS = ("q", "k", "v", "decay", "rates", "beta", "erase", "lowrank", "bonus", "initial", "starts")


@pytest.fixture(autouse=True, scope="module")
def one_thread_of_torch():
    """The references are thousands of small products, which threads only slow down."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def ratio(result, expected):
    """FLA's measure without its leniency: RMS of the error over RMS of what is expected; NaN counts as infinite."""
    assert result.shape == expected.shape
    if expected.numel() == 0:
        return 0.0
    error = (result.double() - expected).square().mean().sqrt() / (expected.square().mean().sqrt() + 1e-8)
    return float(error) if torch.isfinite(error) else float("inf")


def check(results, expected, tolerance):
    assert results.keys() == expected.keys()
    errors = {name: ratio(results[name], expected[name]) for name in expected}
    assert max(errors.values()) <= tolerance, {name: f"{e:.3g}" for name, e in errors.items() if not e <= tolerance}


def program(operands, element, attributes):
    """@forward and @backward for operands of these shapes."""
    wide = "f64" if element == "f64" else "f32"
    elements = {**dict.fromkeys(WIDE, wide), "starts": "i32"}
    types = {name: mlir_type(shape, elements.get(name, element)) for name, shape in operands.items()}
    (batch, _, heads, values), keys = operands["v"], operands["q"][3]
    sequences = operands["starts"][0] - 1 if "starts" in operands else batch
    # Queries have one row for each token, which may be several steps.
    o = mlir_type((*operands["q"][:2], heads, values), element)
    final = mlir_type((sequences, heads, keys, values), wide)
    clauses = " ".join(f"{name}(%{name})" for name in operands if name not in ("q", "k", "v"))
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
    gradients = ", ".join(kind for name, kind in types.items() if name != "starts")
    count = len(types) - ("starts" in types)
    return f"""
func.func @forward({arguments}) -> ({o}, {final}) {{
  %o, %final = linrec.scan %q, %k, %v {clauses} {{{attributes}}} : ({", ".join(types.values())}) -> ({o}, {final})
  return %o, %final : {o}, {final}
}}
func.func @backward({arguments}, %d_o: {o}, %d_final: {final}) -> ({gradients}) {{
  %d:{count} = linrec.scan_bwd %q, %k, %v {clauses} cotangents(%d_o, %d_final) {{{attributes}}}
      : ({", ".join(types.values())}, {o}, {final}) -> ({gradients})
  return {", ".join(f"%d#{i}" for i in range(count))} : {gradients}
}}
"""


def mlir_type(shape, element):
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


@functools.lru_cache(maxsize=None)
def compiled(text):
    return drawloom.compile(text)


def stored(t):
    """As a file has it: NumPy has no bf16."""
    return t.view(torch.int16).numpy().view(np.uint16) if t.dtype == torch.bfloat16 else t.numpy()


def from_stored(array):
    array = np.asarray(array)
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if array.dtype.kind == "V" else torch.from_numpy(array)


def call(how, entry, operands, attributes="", cotangents=(), threads=None):
    """The results of @forward or @backward in float64; `how` is "interpreted", which is in f64, "emulated f32", a GPU's code for that
    type, or a type to compile for."""
    emulated = how.startswith("emulated ")
    element = "f64" if how == "interpreted" else how.removeprefix("emulated ")
    text = program({name: tuple(t.shape) for name, t in operands.items()}, element, attributes)
    arguments = []
    for name, t in [*operands.items(), *zip(("d_o", "d_final"), cotangents)]:
        kind = TORCH["f32" if name in WIDE and element != "f64" else element]
        arguments.append(t.contiguous() if name == "starts" else t.to(kind).contiguous())
    if how == "interpreted" or emulated:
        results = run(text, entry, [stored(t) for t in arguments], target="emulator" if emulated else "interpreter")
        return tuple(from_stored(r).double() for r in results)
    return tuple(r.double() for r in getattr(compiled(text), entry)(*arguments, threads=threads))


class Recurrence(torch.autograd.Function):
    """`linrec.scan`, interpreted in f64 or compiled for another type, with `linrec.scan_bwd` for its gradient."""

    @staticmethod
    def forward(ctx, how, names, starts, attributes, *tensors):
        ctx.how, ctx.operands, ctx.attributes = how, dict(zip(names, (t.detach() for t in tensors))), attributes
        if starts is not None:
            ctx.operands["starts"] = torch.tensor(starts, dtype=torch.int32)
        return call(how, "forward", ctx.operands, attributes)

    @staticmethod
    def backward(ctx, *cotangents):
        return (None, None, None, None, *call(ctx.how, "backward", ctx.operands, ctx.attributes, cotangents))


def scanner(how, starts=None, **schedule):
    """`scan(q, k, v, decay=..., ..., attributes="...")` for torch's autograd."""
    def scan(q, k, v, attributes="", **others):
        operands = {name: t for name, t in dict(q=q, k=k, v=v, **others).items() if t is not None}
        operands = {name: operands[name] for name in OPERANDS if name in operands}
        listed = ", ".join(filter(None, [attributes, *(f"{name} = {value}" for name, value in schedule.items() if value)]))
        return Recurrence.apply(how, tuple(operands), starts, listed, *operands.values())
    return scan


class Draw:
    """Random inputs of a model: B entries (or N packed sequences) of T tokens, H heads, keys of K and values of V."""

    def __init__(self, B=2, T=48, H=2, K=16, V=24, N=None, query_heads=None, key_heads=None, gates=None):
        self.B, self.T, self.H, self.K, self.V, self.N, self.gates = B, T, H, K, V, B if N is None else N, gates
        self.query_heads, self.key_heads = query_heads or H, key_heads or H
        self.rng = np.random.default_rng(0)

    def normal(self, *shape):
        return torch.from_numpy(self.rng.normal(size=shape))

    def share(self, *shape):
        """Numbers between 0 and 1."""
        return torch.sigmoid(self.normal(*shape))

    def tokens(self, *shape):
        return self.normal(self.B, self.T, *shape)

    def keys(self, heads=None):
        return self.tokens(heads or self.H, self.K)

    def unit_keys(self, heads=None):
        return reference.normalised(self.keys(heads))

    def values(self):
        return self.tokens(self.H, self.V)

    def shares(self, *shape):
        return self.share(self.B, self.T, *shape)

    def decays(self, *shape):
        """Logarithms, of factors around 1/2 unless `gates` gives the values to choose from."""
        if self.gates is None:
            return torch.log(self.shares(*shape))
        return torch.from_numpy(self.rng.choice(self.gates, size=(self.B, self.T, *shape)))

    def constants(self):
        return self.share(self.H)

    def state(self, keys=None, values=None):
        return self.normal(self.N, self.H, keys or self.K, values or self.V)


# Inputs that are not tokens.
STATES, PARAMETERS = {"state", "keys", "values"}, {"gamma", "slope", "a_log", "a_matrix", "d", "b_share", "d_share", "bound", "u", "share"}


@dataclasses.dataclass
class Model:
    inputs: typing.Callable  # of a Draw: inputs by name
    reference: typing.Callable  # of the inputs: outputs and last states
    scan: typing.Callable  # of scan() and the inputs: the same


def slots(scan, q, k, v, g, keys, values, write=None):
    write = 1 - g.exp() if write is None else write
    scores, keys = scan(q, k, write, decay=g, initial=keys, attributes="decay_along_values")
    o, values = scan(torch.softmax(scores, dim=-1), write, v, decay=g, initial=values, attributes="scale = 1.0")
    return o, keys, values


def products(scan, q, k, v, g, beta, state):
    """The n reflections of a token are n steps: the first decays, the last is read."""
    rows = [x.transpose(2, 3).flatten(1, 2) for x in (k, v, beta)]
    return scan(q, rows[0], rows[1], decay=g, beta=rows[2], initial=state, attributes=f"steps_per_token = {k.shape[3]}")


def scale(q):
    return q.shape[-1]**-0.5


ONE = "scale = 1.0"
BEFORE = "erase_before_decay"

MODELS = {
    "linear_attention": Model(
        lambda d: dict(q=d.keys(d.query_heads), k=d.keys(d.key_heads), v=d.values(), state=d.state()),
        lambda q, **x: reference.linear_attention(q, **x, scale=scale(q)),
        lambda scan, q, k, v, state: scan(q, k, v, initial=state)),
    "retention": Model(
        lambda d: dict(q=d.keys(), k=d.keys(), v=d.values(), gamma=1 - 2.0**(-5.0 - torch.arange(d.H).double()), state=d.state()),
        lambda q, **x: reference.retention(q, **x, scale=scale(q)),
        lambda scan, q, k, v, gamma, state: scan(q, k, v, decay=gamma.log(), initial=state)),
    "lightning_attention": Model(
        lambda d: dict(q=d.keys(), k=d.keys(), v=d.values(), slope=8 / d.H * (1 - 3 / 12) * torch.arange(d.H).double(), state=d.state()),
        reference.lightning_attention,
        lambda scan, q, k, v, slope, state: scan(q, k, v, decay=-slope, initial=state, attributes=ONE)),
    "simple_gla": Model(
        lambda d: dict(q=d.keys(), k=d.keys(), v=d.values(), g=d.decays(d.H), state=d.state()),
        lambda q, **x: reference.simple_gla(q, **x, scale=scale(q)),
        lambda scan, q, k, v, g, state: scan(q, k, v, decay=g, initial=state)),
    "mamba2": Model(
        lambda d: dict(x=d.values(), dt=d.shares(d.H), a_log=d.normal(d.H), b=d.keys(1), c=d.keys(1), d=d.normal(d.H), state=d.state()),
        reference.mamba2,
        lambda scan, x, dt, a_log, b, c, d, state: (lambda o, final: (o + d[:, None] * x, final))(
            *scan(c, b, dt[..., None] * x, decay=-dt * a_log.exp(), initial=state, attributes=ONE))),
    "hgrn": Model(
        lambda d: dict(x=d.values(), f=d.values(), state=d.state(keys=1)),
        reference.hgrn,
        lambda scan, x, f, state: (lambda one: scan(one, one, x * torch.sigmoid(-f), decay=torch.nn.functional.logsigmoid(f),
                                                    initial=state, attributes=f"{ONE}, decay_along_values"))(
            torch.ones_like(x[:, :, :1, :1]))),
    "mamba": Model(
        lambda d: dict(x=d.values(), delta=d.shares(d.H, d.V), a_matrix=-d.normal(d.H, d.V, d.K).exp(), b=d.keys(1), c=d.keys(1),
                       d=d.normal(d.H, d.V), state=d.state()),
        reference.mamba,
        lambda scan, x, delta, a_matrix, b, c, d, state: (lambda o, final: (o + d * x, final))(
            *scan(c, b, delta * x, decay=delta, rates=a_matrix.mT, initial=state, attributes=f"{ONE}, decay_along_values"))),
    "gated_linear_attention": Model(
        lambda d: dict(q=d.keys(), k=d.keys(), v=d.values(), g=d.decays(d.H, d.K), state=d.state()),
        lambda q, **x: reference.gated_linear_attention(q, **x, scale=scale(q)),
        lambda scan, q, k, v, g, state: scan(q, k, v, decay=g, initial=state)),
    "hgrn2": Model(
        lambda d: dict(q=d.keys(), f=d.keys(), v=d.values(), bound=d.share(d.H, d.K), state=d.state()),
        reference.hgrn2,
        lambda scan, q, f, v, bound, state: (lambda g: scan(q, 1 - g.exp(), v, decay=g, initial=state, attributes=ONE))(
            (bound + (1 - bound) * torch.sigmoid(f)).log())),
    "rwkv6": Model(
        lambda d: dict(r=d.keys(), k=d.keys(), v=d.values(), w=d.keys(), u=d.normal(d.H, d.K), state=d.state()),
        reference.rwkv6,
        lambda scan, r, k, v, w, u, state: scan(r, k, v, decay=-w.exp(), bonus=u, initial=state, attributes=ONE)),
    "gated_slot_attention": Model(
        lambda d: dict(q=d.keys(), k=d.keys(), v=d.values(), g=d.decays(d.H, 8), keys=d.state(values=8), values=d.state(keys=8)),
        lambda q, k, v, g, keys, values: (lambda o, keys, values: (o, keys.mT, values))(
            *reference.gated_slot_attention(q, k, v, g.exp(), keys.mT, values, scale=scale(q))),
        slots),
    "delta_rule": Model(
        lambda d: dict(q=d.keys(), k=d.unit_keys(), v=d.values(), beta=d.shares(d.H), state=d.state()),
        lambda q, **x: reference.delta_rule(q, **x, scale=scale(q)),
        lambda scan, q, k, v, beta, state: scan(q, k, v, beta=beta, initial=state)),
    "gated_delta_rule": Model(
        lambda d: dict(q=d.keys(d.query_heads), k=d.unit_keys(d.key_heads), v=d.values(), g=d.decays(d.H), beta=d.shares(d.H),
                       state=d.state()),
        lambda q, g, **x: reference.gated_delta_rule(q, alpha=g.exp(), **x, scale=scale(q)),
        lambda scan, q, k, v, g, beta, state: scan(q, k, v, decay=g, beta=beta, initial=state)),
    "kimi_delta_attention": Model(
        lambda d: dict(q=d.keys(), k=d.unit_keys(), v=d.values(), g=d.decays(d.H, d.K), beta=d.shares(d.H), state=d.state()),
        lambda q, g, **x: reference.kimi_delta_attention(q, alpha=g.exp(), **x, scale=scale(q)),
        lambda scan, q, k, v, g, beta, state: scan(q, k, v, decay=g, beta=beta, initial=state)),
    "gated_delta_net_2": Model(
        lambda d: dict(q=d.keys(), k=d.unit_keys(), v=d.values(), g=d.decays(d.H, d.K), erase=d.shares(d.H, d.K),
                       write=d.shares(d.H, d.V), state=d.state()),
        lambda q, g, **x: reference.gated_delta_net_2(q, alpha=g.exp(), **x, scale=scale(q)),
        lambda scan, q, k, v, g, erase, write, state: scan(q, k, write * v, decay=g, erase=erase * k, initial=state)),
    "comba": Model(
        # The transition alpha I - beta b k k^T is no longer than 1 where alpha is above beta b / 2.
        lambda d: dict(q=d.keys(), k=d.unit_keys(), v=d.values(), g=d.decays(d.H), beta=d.shares(d.H), b_share=d.constants(),
                       d_share=d.constants(), state=d.state()),
        lambda q, g, b_share, d_share, **x: reference.comba(q, alpha=g.exp(), b=b_share, d=d_share, **x, scale=scale(q)),
        lambda scan, q, k, v, g, beta, b_share, d_share, state: scan(
            q - d_share[:, None] * k, k, beta[..., None] * v, decay=g, erase=beta[..., None] * b_share[:, None] * k,
            initial=state, attributes=BEFORE)),
    "gated_delta_product": Model(
        lambda d: dict(q=d.keys(), k=reference.normalised(d.tokens(d.H, 2, d.K)), v=d.tokens(d.H, 2, d.V), g=d.decays(d.H),
                       beta=2 * d.shares(d.H, 2), state=d.state()),
        lambda q, g, **x: reference.gated_delta_product(q, alpha=g.exp(), **x, scale=scale(q)),
        products),
    "identity_plus_low_rank": Model(
        lambda d: (lambda a: dict(q=d.keys(), k=d.keys(), v=d.values(), a=-a, b=a * d.shares(d.H, d.K), state=d.state()))(d.unit_keys()),
        lambda q, **x: reference.identity_plus_low_rank(q, **x, scale=scale(q)),
        lambda scan, q, k, v, a, b, state: scan(q, k, v, erase=a, lowrank=b, initial=state)),
    "diagonal_plus_low_rank": Model(
        lambda d: (lambda a: dict(q=d.keys(), k=d.keys(), v=d.values(), g=d.decays(d.H, d.K), a=-a, b=a * d.shares(d.H, d.K),
                                  state=d.state()))(d.unit_keys()),
        lambda q, g, **x: reference.diagonal_plus_low_rank(q, w=g.exp(), **x, scale=scale(q)),
        lambda scan, q, k, v, g, a, b, state: scan(q, k, v, decay=g, erase=a, lowrank=b, initial=state, attributes=BEFORE)),
    "rwkv7": Model(
        lambda d: dict(r=d.keys(), k=d.keys(), v=d.values(), w=d.keys(), kappa=d.unit_keys(), rate=d.shares(d.H, d.K),
                       share=d.share(d.H, d.K), state=d.state()),
        reference.rwkv7,
        lambda scan, r, k, v, w, kappa, rate, share, state: scan(
            r, k * (1 + (rate - 1) * share), v, decay=-torch.sigmoid(w) * np.exp(-0.5), erase=-kappa, lowrank=rate * kappa,
            initial=state, attributes=f"{ONE}, {BEFORE}, decay_bound = -0.61")),
}


def by_sequence(function, starts):
    """What `function` gives for the sequences, each for itself."""
    def packed(**inputs):
        parts = []
        for i, (begin, end) in enumerate(zip(starts, starts[1:])):
            parts.append(function(**{name: x[i:i + 1] if name in STATES else x if name in PARAMETERS else x[:, begin:end]
                                     for name, x in inputs.items()}))
        outputs, *states = zip(*parts)
        return (torch.cat(outputs, dim=1), *(torch.cat(s) for s in states))
    return packed


def cotangents_of(results):
    """Random numbers that all types have."""
    rng = np.random.default_rng(99)
    return [torch.from_numpy(rng.integers(-16, 17, size=tuple(r.shape)) / 8) for r in results]


def everything(function, inputs):
    """Results of a function of the inputs, and their gradients for random cotangents, by name."""
    leaves = {name: x.clone().requires_grad_() for name, x in inputs.items()}
    results = function(**leaves)
    cotangents = cotangents_of(results)
    # An output without tokens depends on nothing.
    own = [i for i, r in enumerate(results) if r.requires_grad]
    gradients = torch.autograd.grad([results[i] for i in own], list(leaves.values()), [cotangents[i] for i in own],
                                    allow_unused=True, materialize_grads=True)
    return {**{f"result{i}": r.detach() for i, r in enumerate(results)},
            **{f"gradient of {name}": g for name, g in zip(leaves, gradients)}}


@functools.lru_cache(maxsize=None)
def expected(name, draw, starts=None):
    """The draw's inputs of a model, and what its reference makes of them."""
    model = MODELS[name]
    inputs = model.inputs(Draw(**dict(draw)))
    return inputs, everything(by_sequence(model.reference, starts) if starts else model.reference, inputs)


def check_model(name, how, tolerance, starts=None, chunk=None, segments=None, value_blocks=None, **draw):
    inputs, results = expected(name, tuple(draw.items()), starts)
    check(everything(functools.partial(MODELS[name].scan, scanner(how, starts, chunk=chunk, segments=segments, value_blocks=value_blocks)),
                     inputs), results, tolerance)


@pytest.mark.parametrize("name", MODELS)
def test_model_interpreted(name):
    check_model(name, "interpreted", INTERPRETED)


@pytest.mark.parametrize("name", MODELS)
def test_model_compiled(name):
    check_model(name, "f32", COMPILED, chunk=16)


@pytest.mark.parametrize("name, segments", [*[(name, None) for name in MODELS], ("gated_linear_attention", 3), ("gated_delta_rule", 2)])
def test_model_on_the_gpu_emulated(name, segments):
    """The emulator also reports races and accesses out of bounds."""
    check_model(name, "emulated f32", COMPILED, chunk=16, segments=segments)


@pytest.mark.parametrize("name", ["hgrn", "mamba"])
def test_values_beyond_lanes_on_the_gpu_emulated(name):
    """60 values in 64 lanes: those of the last ones, which have none, must not race with others."""
    check_model(name, "emulated f32", COMPILED, chunk=16, B=1, H=1, V=60, T=32)


@pytest.mark.parametrize("name, segments", [*[(name, 2) for name in MODELS], ("gated_linear_attention", 3), ("kimi_delta_attention", 3),
                                            ("gated_delta_rule", 5)])
def test_segments(name, segments):
    """Three chunks of 16 in two segments, which are not of the same length, in one each, and in more than there are chunks."""
    check_model(name, "f32", COMPILED, chunk=16, segments=segments)


@pytest.mark.parametrize("how", ["f32", "emulated f32"])
def test_matrices_of_segments_in_parts(how):
    """What a segment does to a state of 160 keys is a matrix [160, 160], which is multiplied in four parts."""
    check_model("gated_delta_rule", how, COMPILED, chunk=16, segments=2, B=1, T=40, H=1, K=160, V=16)


def test_segments_of_one_head_fit_on_the_gpu_emulated():
    """Of different lengths, and with no other head whose part would be cut out: nothing as long as the sequence is in a block."""
    check_model("delta_rule", "emulated f32", COMPILED, chunk=16, segments=3, B=1, T=1024, H=1, K=32, V=60)


@pytest.mark.parametrize("name", ["linear_attention", "gated_linear_attention", "gated_delta_rule", "mamba", "rwkv6"])
def test_chosen_schedules(name, monkeypatch):
    """One head and eight processors: blocks of values, segments, or both. The bits are those of any number of threads."""
    monkeypatch.setenv("DRAWLOOM_PROCESSORS", "8")
    check_model(name, "f32", COMPILED, B=1, T=512, H=1, K=32, V=64)


def test_bits_of_a_chosen_schedule_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setenv("DRAWLOOM_PROCESSORS", "4")
    # Without decays every token counts in every later state.
    operands, cotangents = operands_of("linear_attention", B=1, T=1024, H=1, K=64, V=64)
    first = both(operands, "", cotangents, threads=1)
    for threads in (1, 2, 3, 2):
        assert_same_bits(both(operands, "", cotangents, threads=threads), first)
    resident = both(operands, "segments = 1", cotangents)
    assert any(resident[x].numpy().tobytes() != first[x].numpy().tobytes() for x in first)


def test_one_packed_sequence_of_one_head():
    """A program of one block, whose number of rows is known after all."""
    check_model("gated_delta_rule", "f32", COMPILED, starts=(0, 15), chunk=32, B=1, T=15, N=1, H=1)


@pytest.mark.parametrize("name, segments", [("retention", None), ("mamba", None), ("rwkv6", None), ("kimi_delta_attention", None),
                                            ("gated_delta_rule", 2)])
def test_value_blocks(name, segments):
    """Columns of states apart; also in segments."""
    check_model(name, "f32", COMPILED, chunk=16, segments=segments, value_blocks=3)


@pytest.mark.parametrize("how, tolerance, attributes", [("interpreted", INTERPRETED, ""), ("f32", COMPILED, ""),
                                                        ("f32", COMPILED, "chunk = 16, segments = 2")])
def test_heads_that_share_decays_and_shares(how, tolerance, attributes):
    """As heads of grouped values: the results and gradients are those of decays and betas once for each head."""
    operands, cotangents = operands_of("gated_delta_rule", T=20, H=4)
    shared = {**operands, "decay": operands["decay"][:, :, :2], "beta": operands["beta"][:, :, :1]}
    alone = {**operands, "decay": shared["decay"].repeat_interleave(2, 2), "beta": shared["beta"].repeat_interleave(4, 2)}
    wanted = both(alone, "", cotangents, "interpreted")
    wanted["d_decay"] = wanted["d_decay"].unflatten(2, (2, 2)).sum(3)
    wanted["d_beta"] = wanted["d_beta"].unflatten(2, (1, 4)).sum(3)
    check(both(shared, attributes, cotangents, how), wanted, tolerance)


@pytest.mark.parametrize("name, T", [("rwkv6", 1), ("gated_linear_attention", 17), ("gated_delta_rule", 63)])
def test_numbers_of_tokens(name, T):
    """With chunks as the compiler cuts them, the last of which is not full."""
    check_model(name, "f32", COMPILED, T=T)


@pytest.mark.parametrize("name", ["gated_linear_attention", "gated_delta_rule"])
def test_no_tokens(name):
    check_model(name, "interpreted", INTERPRETED, T=0)


@pytest.mark.parametrize("how, tolerance", [("interpreted", INTERPRETED), ("f32", COMPILED)])
@pytest.mark.parametrize("name, query_heads, key_heads", [("linear_attention", 2, 4), ("gated_delta_rule", 2, 1)])
def test_heads_that_share_queries_and_keys(name, query_heads, key_heads, how, tolerance):
    check_model(name, how, tolerance, T=20, H=4, query_heads=query_heads, key_heads=key_heads)


STARTS = (0, 15, 15, 40)


@pytest.mark.parametrize("name, starts, how, tolerance", [
    *[(name, STARTS, "interpreted", INTERPRETED) for name in MODELS],
    *[(name, STARTS, "f32", COMPILED) for name in ("retention", "rwkv6", "gated_slot_attention", "gated_delta_rule",
                                                   "gated_delta_product")],
    ("simple_gla", (0, 15), "f32", COMPILED), ("linear_attention", (0, 0, 16), "f32", COMPILED)])
def test_packed_sequences(name, starts, how, tolerance):
    check_model(name, how, tolerance, starts=starts, chunk=16, B=1, T=starts[-1], N=len(starts) - 1)


# Factors of 0 in f32, 2e-9, 0.9 and 1.
STRONG = (-np.inf, -120.0, -20.0, -0.1, 0.0)


EXTREME = ["simple_gla", "gated_linear_attention", "gated_slot_attention", "gated_delta_rule", "kimi_delta_attention", "comba",
           "diagonal_plus_low_rank"]


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_gates_interpreted(name):
    check_model(name, "interpreted", INTERPRETED, gates=STRONG)


# The programs are those of test_model_compiled.
@pytest.mark.parametrize("gates", [STRONG, (-20.0,), (0.0,)])
@pytest.mark.parametrize("name", EXTREME)
def test_extreme_gates_compiled(name, gates):
    check_model(name, "f32", COMPILED, chunk=16, gates=gates)


@pytest.mark.parametrize("element", ["f64", "bf16", "f16"])
def test_types(element):
    """Of inputs that the type has."""
    model, inputs = MODELS["gated_delta_rule"], expected("gated_delta_rule", ())[0]
    inputs = {name: t.to(TORCH["f32" if name in ("g", "state") else element]).double() for name, t in inputs.items()}
    results = everything(functools.partial(model.scan, scanner(element, chunk=16)), inputs)
    check(results, everything(model.reference, inputs), HALF.get(element, COMPILED * 2.0**-29))


# FLA's own limits of the same ratio for 16 bits, for outputs and states of models without erasure and with it, and for all gradients of
# decays and of what else multiplies keys. Parameters that all tokens share count to these.
GATED, ERASING, RATES = 0.005, 0.008, 0.02
PER_RATE = {"g", "beta", "w", "bound", "gamma", "slope", "a_log", "dt", "f", "erase", "write", "rate", "share", "b_share", "d_share", "kappa"}


def limit_in_bf16(name, inputs, result):
    """Of the ratio of a result or "gradient of x" of a model."""
    if result.removeprefix("gradient of ") in PER_RATE:
        return RATES
    limit = ERASING if {"beta", "a", "kappa"} & inputs.keys() else GATED
    # Two recurrences, one behind the other.
    return 2 * limit if name == "gated_slot_attention" else limit


@pytest.mark.parametrize("how", ["bf16", "emulated bf16"])
@pytest.mark.parametrize("name", MODELS)
def test_model_in_bf16(name, how):
    """Products of matrices round what they multiply, on the CPU as on the emulated GPU."""
    model = MODELS[name]
    wide = ("g", *STATES)
    inputs = {x: t if x in wide else t.to(torch.bfloat16).double() for x, t in expected(name, ())[0].items()}
    results = everything(functools.partial(model.scan, scanner(how, chunk=16)), inputs)
    wanted = everything(model.reference, inputs)
    errors = {x: ratio(results[x], wanted[x]) for x in wanted}
    assert not (wrong := {x: f"{e:.3g}" for x, e in errors.items() if not e <= limit_in_bf16(name, inputs, x)}), wrong


def operands_of(name, **draw):
    """The inputs of a model that needs nothing but linrec.scan, as its operands; and cotangents."""
    draw = Draw(**draw)
    inputs = MODELS[name].inputs(draw)
    inputs = {{"g": "decay", "state": "initial"}.get(x, x): t for x, t in inputs.items()}
    return {x: inputs[x] for x in OPERANDS if x in inputs}, (draw.values(), draw.state())


def both(operands, attributes, cotangents, how="f32", threads=None):
    """Results and gradients by name."""
    results = call(how, "forward", operands, attributes, threads=threads)
    gradients = call(how, "backward", operands, attributes, cotangents, threads=threads)
    names = [x for x in operands if x != "starts"]
    return {**dict(zip(("o", "final"), results)), **{f"d_{x}": g for x, g in zip(names, gradients)}}


def assert_same_bits(results, expected):
    assert results.keys() == expected.keys()
    for name in results:
        assert results[name].numpy().tobytes() == expected[name].numpy().tobytes(), name


def packed_delta():
    operands, cotangents = operands_of("gated_delta_rule", B=1, T=40, N=3)
    return {**operands, "starts": torch.tensor(STARTS, dtype=torch.int32)}, cotangents


def sequence(results, i, starts=STARTS):
    """The part of packed tensors that belongs to a sequence."""
    return {x: t[i:i + 1] if x in ("initial", "final", "d_initial", "d_final") else t[:, starts[i]:starts[i + 1]]
            for x, t in results.items() if x != "starts"}


def test_a_sequence_has_the_same_bits_wherever_it_is_packed():
    operands, cotangents = packed_delta()
    first = both(operands, "chunk = 16", cotangents)
    order, starts = (2, 0, 1), (0, 25, 40, 40)

    def moved(tensors):
        parts = [sequence(tensors, i) for i in order]
        return {x: torch.cat([p[x] for p in parts], dim=0 if x in ("initial", "final") else 1) for x in parts[0]}
    cotangents = moved(dict(zip(("o", "final"), cotangents))).values()
    second = both({**moved(operands), "starts": torch.tensor(starts, dtype=torch.int32)}, "chunk = 16", tuple(cotangents))
    for at, i in enumerate(order):
        assert_same_bits(sequence(second, at, starts), sequence(first, i))


def test_nan_stays_in_its_sequence():
    operands, cotangents = packed_delta()
    clean = both(operands, "chunk = 16", cotangents)
    for name in ("q", "k", "v", "decay", "beta"):
        operands[name][:, :STARTS[1]] = torch.nan
    operands["initial"][0] = torch.nan
    dirty = both(operands, "chunk = 16", cotangents)
    assert all(t.isnan().all() for x, t in sequence(dirty, 0).items())
    for i in (1, 2):
        assert_same_bits(sequence(dirty, i), sequence(clean, i))


@pytest.mark.parametrize("name", ["q", "k", "v", "decay", "beta", "initial"])
def test_nan_is_not_lost(name):
    operands, cotangents = packed_delta()
    operands[name][0, 0, 0] = torch.nan
    results = sequence(both(operands, "chunk = 16", cotangents), 0)
    # Only what is of the token's own depends on its query.
    assert results["o"][:, 0, 0].isnan().any()
    assert results["final"].isnan().any() == (name != "q")


def test_bits_do_not_depend_on_threads_or_calls():
    operands, cotangents = packed_delta()
    first = both(operands, "chunk = 16", cotangents, threads=1)
    for threads in (1, 2, 3, 2):
        assert_same_bits(both(operands, "chunk = 16", cotangents, threads=threads), first)


@pytest.mark.parametrize("how", ["interpreted", "f32"])
@pytest.mark.parametrize("name", ["retention", "simple_gla", "gated_linear_attention", "gated_slot_attention"])
def test_positive_decays_count_as_zero(name, how):
    """The bits are those of decays 0, and what was positive has the gradient 0."""
    attributes = "chunk = 16"
    if name == "gated_slot_attention":
        operands, cotangents = operands_of("gated_linear_attention", V=8)
        operands["decay"] = operands["decay"][..., :8]
        attributes = "decay_along_values, chunk = 16"
    else:
        operands, cotangents = operands_of("simple_gla" if name == "retention" else name)
    if name == "retention":
        operands["decay"] = torch.tensor([-0.5, 0.5], dtype=torch.float64)
    positive = torch.from_numpy(np.random.default_rng(5).random(operands["decay"].shape) < 0.5)
    if name == "retention":
        positive = operands["decay"] > 0
    operands["decay"] = torch.where(positive, 0.7, operands["decay"])
    results = both(operands, attributes, cotangents, how)
    operands["decay"] = torch.where(positive, 0.0, operands["decay"])
    wanted = both(operands, attributes, cotangents, how)
    wanted["d_decay"] = torch.where(positive, 0.0, wanted["d_decay"])
    assert_same_bits(results, wanted)


@pytest.mark.parametrize("name", ["simple_gla", "gated_linear_attention", "gated_delta_rule"])
def test_packed_sequences_have_the_bits_of_separate_ones(name):
    """Of less than a chunk, of one, of none and of several."""
    lengths = (5, 16, 0, 48)
    starts = tuple(np.cumsum((0, *lengths)).tolist())
    operands, cotangents = operands_of(name, B=1, T=starts[-1], N=len(lengths))
    attributes = "chunk = 16"
    packed = both({**operands, "starts": torch.tensor(starts, dtype=torch.int32)}, attributes, cotangents)
    for i, length in enumerate(lengths):
        if length:
            alone = {"final": cotangents[1], "o": cotangents[0], **operands}
            alone = sequence(alone, i, starts)
            given = alone.pop("o"), alone.pop("final")
            assert_same_bits(sequence(packed, i, starts), both(alone, attributes, given))


@pytest.mark.parametrize("name", ["gated_linear_attention", "gated_delta_rule", "rwkv6", "mamba"])
def test_token_after_token(name):
    """Chunks of one token, as steps of decoding have them."""
    check_model(name, "f32", COMPILED, chunk=1, T=3)
