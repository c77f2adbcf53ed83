# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: linrec; and programs around them.

The oracle goes token by token, as the definition reads. Programs have a recurrence with any of its options, short convolutions,
gates and functions of elements in front of it, and such functions behind it.
"""

import torch
import torch.nn.functional as F

from .build import Rejected
from .families import wide
from .graph import Extent, Type, op
from .oracle import EPSILON

TOKENS = (1, 2, 3, 5, 8, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100)
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 24, 31, 32, 33)
LARGEST_CHUNK = 32
"""Steps that a compiler computes at a time unless a scan says how many, at most (docs/linear-recurrences.md)."""


def noisy(c, x, element):
    """What products take: rounded to the type."""
    if c.kind != "noise":
        return x
    return x * (1 + EPSILON[element] * (2 * torch.rand(x.shape, generator=c.generator, dtype=torch.float64) - 1))


def unsure(c, decay, x, steps, element):
    """Ones whose gradient is rounding: that of a token's decay is the difference of what the token reads and what it writes, each
    of which is rounded, however close they are (that of a state of zeros is nothing)."""
    if decay.dim() == 1:
        decay = decay.expand(*x.shape[:2], -1)
    elif steps > 1:
        decay = decay.repeat_interleave(steps, dim=1)
    if decay.dim() == 3:
        decay = decay[..., None]
    if decay.shape[-1] not in (1, x.shape[-1]):
        return torch.ones_like(x)
    return torch.exp(EPSILON[element] * c.direction * (decay - decay.detach()))


def per_head(x, heads, axis):
    return x.repeat_interleave(heads // x.shape[axis], dim=axis)


def decayed(state, g, rates, along_values):
    """D S for g of [B, H], [B, H, K] or [B, H, V]."""
    if g is None:
        return state
    g = g.clamp(max=0)
    if rates is not None:
        return torch.exp((rates * g[:, :, None, :]).clamp(max=0)) * state
    factor = torch.exp(g)
    if g.dim() == 2:
        return factor[..., None, None] * state
    return factor[..., None, :] * state if along_values else factor[..., None] * state


def read(x, state):
    return torch.einsum("bhk,bhkv->bhv", x, state)


def outer(x, y):
    return x[..., :, None] * y[..., None, :]


class Chunks:
    """Rounding of states that a compiler computes a chunk of steps at a time where they erase. It does not multiply by what each step
    leaves, but, as products of matrices, adds up what is there without erasing, D S + sum k v, and what erasing takes away from it:
    terms of that size, each of which is rounded by so much of itself, and decays by the exponential of a sum of logarithms, which is
    rounded by so much of the sum. If hardly anything is left, it is the difference of those terms, and off by a rounding of them, not
    of itself. The next chunk starts from what is left."""

    def __init__(self, c, a, element):
        self.generator = c.generator
        self.steps = a["said"].get("chunk", LARGEST_CHUNK)
        # Products take bf16 as it is; f16 is computed in f32.
        self.epsilon = EPSILON["f32" if element == "f16" else element]
        self.sum_epsilon = EPSILON["f64" if element == "f64" else "f32"]

    @staticmethod
    def of(c, a, operands, element):
        """None where nothing is rounded, nothing is erased, or a compiler goes step after step."""
        erases = "beta" in operands or "erase" in operands
        return Chunks(c, a, element) if c.kind == "noise" and erases and a["said"].get("chunk", LARGEST_CHUNK) > 1 else None

    def start(self, state):
        self.row, self.bare, self.exponent = 0, state, torch.zeros_like(state)

    def step(self, state, g, written):
        """Before a step that decays by g, if that is not None, and writes: the state that it finds."""
        if self.row and self.row % self.steps == 0:
            self.bare, self.exponent = self.rounded(state), torch.zeros_like(state)
            state = self.bare
        self.bare = decayed(self.bare, g, None, False) + written
        if g is not None:
            self.exponent = self.exponent - (g[..., None, None] if g.dim() == 2 else g[..., None]).clamp(max=0).detach()
        self.row += 1
        return state

    def rounded(self, state):
        epsilon = self.epsilon + self.sum_epsilon * self.exponent
        return state + epsilon * (2 * torch.rand(state.shape, generator=self.generator, dtype=torch.float64) - 1) * self.bare


def token(a, state, q, ks, vs, g, rates, betas, erases, lowranks, bonus, chunks=None):
    """One token's output and the next state; lists have one entry for each step. Everything is [B, H, ...]."""
    before = None
    for j, (k, v) in enumerate(zip(ks, vs)):
        if chunks is not None:
            state = chunks.step(state, g if j == 0 else None, outer(k, v if betas is None else betas[j][..., None] * v))
        e = betas[j][..., None] * k if betas is not None else erases[j] if erases is not None else None
        old = state
        if j == 0:
            state = decayed(state, g, rates, a["along_values"])
        before = old
        written = state + outer(k, v if betas is None else betas[j][..., None] * v)
        if e is not None:
            found = read(e, old if a["before_decay"] else state)
            written = written + outer(-k if lowranks is None else lowranks[j], found)
        state = written
    if bonus is not None:
        o = read(q, before) + (q * bonus * ks[-1]).sum(-1, keepdim=True) * vs[-1]
    else:
        o = read(q, state if chunks is None else chunks.rounded(state))
    return a["scale"] * o, state


def sequence(a, operands, state, chunks=None):
    """The outputs and the last state of tokens [B, T, H, ...]."""
    q, k, v, g, rates, beta, erase, lowrank, bonus = (operands.get(n) for n in
                                                     ("q", "k", "v", "decay", "rates", "beta", "erase", "lowrank", "bonus"))
    n, outputs = a["steps"], []
    if chunks is not None:
        chunks.start(state)

    def rows(x, t):
        return None if x is None else [x[:, n * t + j] for j in range(n)]
    for t in range(q.shape[1]):
        now = None if g is None else g.expand(q.shape[0], -1) if g.dim() == 1 else g[:, t]
        o, state = token(a, state, q[:, t], rows(k, t), rows(v, t), now, rates, rows(beta, t), rows(erase, t), rows(lowrank, t), bonus,
                         chunks)
        outputs.append(o)
    return (torch.stack(outputs, 1) if outputs else v[:, :0]), state if chunks is None else chunks.rounded(state)


def recurrence(c, operands, element):
    """linrec.scan of named operands."""
    a = c.attributes
    starts, initial = operands.pop("starts", None), operands.pop("initial", None)
    heads = operands["v"].shape[2]
    for name in ("q", "k", "beta", "erase", "lowrank", "decay"):
        if name in operands and operands[name].dim() > 2:
            operands[name] = per_head(operands[name], heads, 2)
    for name in ("q", "k", "v", "erase", "lowrank"):
        if name in operands:
            operands[name] = noisy(c, operands[name], element)
    if c.kind == "noise" and "decay" in operands:
        # Compilers add up logarithms of decays, and round the sum by so much of itself: all the same way at worst.
        operands["decay"] = operands["decay"] * (1 + EPSILON["f64" if element == "f64" else "f32"] * c.direction)
        side = "v" if a["along_values"] else "k"
        operands[side] = operands[side] * unsure(c, operands["decay"], operands[side], a["steps"], element)
    sequences = len(starts) - 1 if starts is not None else operands["v"].shape[0]
    state = torch.zeros(sequences, heads, operands["k"].shape[-1], operands["v"].shape[-1], dtype=c.dtype) if initial is None else initial
    chunks = Chunks.of(c, a, operands, element)
    if starts is None:
        return sequence(a, operands, state, chunks)
    outputs, finals = [], []
    for i in range(sequences):
        first, last = int(starts[i]), int(starts[i + 1])
        part = {name: x for name, x in operands.items() if name in ("rates", "bonus") or name == "decay" and x.dim() == 1}
        for name, x in operands.items():
            if name not in part:
                n = 1 if name in ("q", "decay") else a["steps"]
                part[name] = x[:, n * first:n * last]
        o, s = sequence(a, part, state[i:i + 1], chunks)
        outputs.append(o), finals.append(s)
    return torch.cat(outputs, 1), torch.cat(finals, 0)


# linrec.scan and linrec.step. Operands have their names in the attribute `names`.


def data(b, type, kind):
    """Arguments that keep states small: keys have length one at most, decays are negative, betas between 0 and 1."""
    x = b.random(type)
    if kind == "key":
        x = x / max(int(type.shape[-1]), 1) ** 0.5
    if kind == "decay":
        strength = b.rng.choice((0.05, 1.0, 1.0, 4.0, 30.0))
        x = torch.where(x > 1.1, x, -strength * x.abs())
    if kind == "negative":
        x = -x.abs()
    if kind == "rates":
        x = x.abs()
    if kind == "beta":
        x = x.abs() / 1.5
    from .program import to_array

    return to_array(x, type).to(torch.float64)


def operand(b, type, kind):
    """An argument, or what a convolution, a gate or a function of elements makes of one."""
    way = b.rng.random()
    if type.rank == 4 and kind in ("key", "value") and way < 0.2:
        x = b.argument(type, data(b, type, kind))
        return short_conv(b, x)[0]
    if kind == "decay" and type.rank >= 3 and way < 0.35:
        return gate(b, b.argument(type), type)
    if way < 0.4 and kind in ("key", "value"):
        x = b.argument(type, data(b, type, kind))
        return b.add(b.rng.choice(["math.tanh", "kan.silu", "arith.negf"]), [x], [type])
    if way < 0.4 and kind == "beta":
        return b.add("kan.sigmoid", [b.argument(type)], [type])
    return b.argument(type, data(b, type, kind))


def numbers(b, sequences, tokens, packed):
    """Sequences and tokens, open where the program is: both, or the tokens only."""
    if not b.opened:
        return sequences, tokens
    # Two recurrences of other numbers have other names for them.
    return Extent(sequences, f"sequences{sequences}") if not packed and b.rng.random() < 0.7 else sequences, Extent(tokens, f"tokens{tokens}")


def packing(b, tokens, most):
    """Some starts, how many sequences they are of, and their own number."""
    starts = [0, *sorted(b.rng.randint(0, tokens) for _ in range(b.rng.randint(0, most))), int(tokens)]
    count = len(starts) - 1
    is_open = isinstance(tokens, Extent)
    return (starts, Extent(count, f"packed{count}"), Extent(count + 1, f"packed{count}", more=1)) if is_open else (starts, count, count + 1)


def options(b, tokens):
    """The shapes and options of a scan, or of a step without tokens: (names, operands, types of results, attributes)."""
    rng = b.rng
    H = rng.choice((1, 1, 2, 3, 4))
    Hq, Hk = (rng.choice([h for h in (1, 2, 3, 4) if H % h == 0]) for _ in range(2))
    # Programs with open numbers are compiled for those of the call, too: small tiles, which compile sooner.
    K, V = (rng.choice([size for size in SIZES if size <= 20 or not b.opened]) for _ in range(2))
    packed = tokens is not None and rng.random() < 0.3
    B = 1 if packed else rng.choice((1, 1, 2, 3))
    steps = rng.choice((1, 1, 1, 1, 2, 3)) if tokens is not None else 1
    T = tokens if tokens is None else (max(tokens // steps, 1),)
    rows = () if tokens is None else (T[0] * steps,)
    T = () if tokens is None else T
    is_open = b.opened and tokens is not None and steps == 1
    if is_open:
        B, only = numbers(b, B, T[0], packed)
        T = rows = (only,)
    half = b.element in ("bf16", "f16")

    def element():
        return rng.choice(("f32", b.element)) if half else b.element
    names, operands = [], []

    def give(name, shape, kind, type_element=None):
        names.append(name)
        type = Type(shape, type_element or b.element)
        operands.append(b.argument(type, data(b, type, kind)) if is_open else operand(b, type, kind))
    give("q", (B, *T, Hq, K), "key")
    give("k", (B, *rows, Hk, K), "key")
    give("v", (B, *rows, H, V), "value")
    erasing = rng.choice(("none", "none", "beta", "beta", "erase", "lowrank"))
    along_values = erasing == "none" and rng.random() < 0.25
    decay = rng.choice(("none", "heads", "tokens", "tokens", "keys", "keys")) if not along_values else "values"
    if decay == "heads" and steps > 1:
        decay = "tokens"
    rates = along_values and rng.random() < 0.5
    if decay != "none":
        shape = {"heads": (H,), "tokens": (B, *T, H), "keys": (B, *T, H, K), "values": (B, *T, H, V)}[decay]
        give("decay", shape, "decay" if not rates else "negative", element())
    if rates:
        give("rates", (H, K, V), "rates", element())
    before_decay = erasing != "none" and rng.random() < 0.3
    if erasing == "beta":
        give("beta", (B, *rows, H), "beta", element())
    if erasing in ("erase", "lowrank"):
        give("erase", (B, *rows, H, K), "key")
    if erasing == "lowrank":
        give("lowrank", (B, *rows, H, K), "key")
    bonus = erasing == "none" and not along_values and steps == 1 and rng.random() < 0.25
    if bonus:
        give("bonus", (H, K), "value", element())
    starts, sequences, entries = packing(b, T[0], 4) if packed else (None, B, None)
    state = Type((sequences, H, K, V), wide(b.element))
    if tokens is None or rng.random() < 0.5:
        names.append("initial")
        operands.append(b.argument(state))
    if packed:
        index = rng.choice(("i32", "i64"))
        names.append("starts")
        operands.append(b.argument(Type((entries,), index), torch.tensor(starts, dtype=torch.int32 if index == "i32" else torch.int64)))
    scale = rng.choice((None, 1.0, 0.5))
    said = {}
    if scale is not None:
        said["scale"] = scale
    a = {"names": names, "along_values": along_values, "before_decay": before_decay, "steps": steps,
         "scale": K**-0.5 if scale is None else scale, "said": said}
    if tokens is not None:
        if rng.random() < 0.35:
            said["chunk"] = rng.choice((1, 16, 32, 64))
        if not packed and not is_open and rng.random() < 0.25:
            said["segments"] = rng.randint(1, 4)
        if not is_open and rng.random() < 0.25:
            said["value_blocks"] = rng.choice([d for d in range(1, V + 1) if V % d == 0])
        if rng.random() < 0.2:
            said["checkpoint_interval"] = rng.randint(1, 4)
        if steps > 1:
            said["steps_per_token"] = steps
        at = names.index("decay") if "decay" in names else None
        if at is not None and rng.random() < 0.3 and not rates:
            lowest = float(b.exact(operands[at]).min())
            said["decay_bound"] = -float(int(max(-lowest, 0) * 2) + 1)
    return names, operands, [Type((B, *T, H, V), b.element), state], a


def say_options(a):
    words = ([] if not a["along_values"] else ["decay_along_values"]) + ([] if not a["before_decay"] else ["erase_before_decay"])
    words += [f"{k} = {v}{' : f64' if isinstance(v, float) else ''}" for k, v in a["said"].items()]
    return f" {{{', '.join(words)}}}" if words else ""


def clauses(p, state="initial"):
    named = dict(zip(p.step.attributes["names"], p.operands))
    return "".join(f" {state if n == 'initial' else n}({v})" for n, v in named.items() if n not in ("q", "k", "v", "x", "weight"))


def signature(p):
    return f"({', '.join(map(str, p.operand_types))}) -> ({', '.join(map(str, p.types))})"


def _make_scan(b):
    names, operands, types, a = options(b, b.rng.choice(TOKENS))
    b.add("linrec.scan", operands, types, a)


def _scan(c, *operands):
    return recurrence(c, dict(zip(c.attributes["names"], operands)), c.types[0].element)


op("linrec.scan", lambda p: p.say(f"linrec.scan {', '.join(p.operands[:3])}{clauses(p)}{say_options(p.step.attributes)} : {signature(p)}"),
   _scan, _make_scan, weight=6.0)


def _make_step(b):
    names, operands, types, a = options(b, None)
    b.add("linrec.step", operands, types, a)


def _step(c, *operands):
    named = dict(zip(c.attributes["names"], operands))
    for name in ("q", "k", "v", "beta", "erase", "lowrank"):
        if name in named:
            named[name] = named[name].unsqueeze(1)
    if "decay" in named and named["decay"].dim() > 1:
        named["decay"] = named["decay"].unsqueeze(1)
    o, state = recurrence(c, named, c.types[0].element)
    return o[:, 0], state


op("linrec.step", lambda p: p.say(
    f"linrec.step {', '.join(p.operands[:3])}{clauses(p, 'state')}{say_options(p.step.attributes)} : {signature(p)}"),
   _step, _make_step, weight=2.0)


# linrec.ew_scan


def _make_ew_scan(b):
    rng = b.rng
    packed = rng.random() < 0.3
    B, T, D = 1 if packed else rng.choice((1, 2, 3)), rng.choice(TOKENS), rng.choice(SIZES)
    B, T = numbers(b, B, T, packed)
    names, operands = [], []

    def give(name, shape, kind):
        names.append(name)
        type = Type(shape, b.element)
        operands.append(b.argument(type, data(b, type, kind)) if b.opened else operand(b, type, kind))
    give("x", (B, T, D), "value")
    selective = rng.random() < 0.5
    give("decay", (B, T, D), "negative" if selective else "decay")
    N = ()
    if selective:
        N = (rng.choice((1, 2, 4, 5, 8, 16)),)
        give("rates", (D, *N), "rates")
        give("write", (B, T, *N), "key")
        give("read", (B, T, *N), "key")
    starts, sequences, entries = packing(b, T, 3) if packed else (None, B, None)
    state = Type((sequences, D, *N), wide(b.element))
    if rng.random() < 0.5:
        names.append("initial")
        operands.append(b.argument(state))
    if packed:
        names.append("starts")
        operands.append(b.argument(Type((entries,), "i32"), torch.tensor(starts, dtype=torch.int32)))
    b.add("linrec.ew_scan", operands, [Type((B, T, D), b.element), state], {"names": names})


def _ew_scan(c, *operands):
    named = dict(zip(c.attributes["names"], operands))
    element = c.types[0].element
    x, g = noisy(c, named["x"], element), named["decay"].clamp(max=0)
    rates, starts = named.get("rates"), named.get("starts")
    bounds = [(i, 0, x.shape[1]) for i in range(x.shape[0])] if starts is None else \
        [(0, int(first), int(last)) for first, last in zip(starts[:-1], starts[1:])]
    outputs, finals = [], []
    for i, (at, first, last) in enumerate(bounds):
        state = named["initial"][i] if "initial" in named else torch.zeros(tuple(map(int, c.types[1].shape[1:])), dtype=c.dtype)
        rows = []
        for t in range(first, last):
            if rates is None:
                state = torch.exp(g[at, t]) * state + x[at, t]
                rows.append(state)
            else:
                state = torch.exp((rates * named["decay"][at, t][:, None]).clamp(max=0)) * state + outer(x[at, t], named["write"][at, t])
                rows.append(state @ named["read"][at, t])
        outputs.append(torch.stack(rows) if rows else x[at, :0]), finals.append(state)
    y = torch.cat(outputs)[None] if starts is not None else torch.stack(outputs)
    return y, torch.stack(finals)


op("linrec.ew_scan", lambda p: p.say(f"linrec.ew_scan {p.operands[0]}{clauses(p)} : {signature(p)}"), _ew_scan, _make_ew_scan, weight=2.0)


# linrec.gate


def gate(b, x, type):
    rng = b.rng
    kind = rng.choice(("log_sigmoid", "softplus", "bounded", "floored"))
    names, operands, said = ["x"], [x], {}
    heads = type.shape[2:3]
    if kind in ("softplus", "bounded") and rng.random() < 0.5:
        names.append("scale"), operands.append(b.argument(Type(heads, type.element)))
    if rng.random() < 0.5:
        names.append("bias"), operands.append(b.argument(Type(type.shape[2:] if rng.random() < 0.5 else heads, type.element)))
    if kind == "log_sigmoid" and rng.random() < 0.6:
        said["temperature"] = rng.choice((4.0, 16.0))
    if kind == "bounded":
        said["limit"] = rng.choice((0.5, 5.0))
    if kind == "floored":
        said["floor"] = rng.choice((0.0, 0.25, 0.9))
    g = b.add("linrec.gate", operands, [Type(type.shape, wide(type.element))], {"names": names, "kind": kind, "said": said})
    if b.type(g) != type:
        g = b.add("arith.truncf", [g], [type])
    return g


def _gate(c, *operands):
    named, a = dict(zip(c.attributes["names"], operands)), c.attributes
    x = named["x"]

    def per(v):
        return v if x.dim() == 3 or v.dim() == 2 else v[:, None]
    z = x + per(named["bias"]) if "bias" in named else x
    rate = torch.exp(per(named["scale"])) if "scale" in named else 1.0
    if a["kind"] == "log_sigmoid":
        return F.logsigmoid(z) / a["said"].get("temperature", 1.0)
    if a["kind"] == "softplus":
        return -rate * F.softplus(z, threshold=40.0)
    if a["kind"] == "bounded":
        return -a["said"]["limit"] * torch.sigmoid(rate * z)
    floor = a["said"]["floor"]
    return torch.log(floor + (1 - floor) * torch.sigmoid(z))


def _say_gate(p):
    said = ", ".join(f"{k} = {v} : f64" for k, v in p.step.attributes["said"].items())
    p.say(f"linrec.gate {p.step.attributes['kind']} {p.operands[0]}{clauses(p)}{f' {{{said}}}' if said else ''} : "
          f"({', '.join(map(str, p.operand_types))}) -> {p.type}")


def _make_gate(b):
    shape = (b.rng.choice((1, 2)), b.rng.choice(TOKENS), b.rng.choice((1, 2, 3)), *((b.rng.choice(SIZES),) if b.rng.random() < 0.5 else ()))
    gate(b, b.argument(Type(shape, b.element)), Type(shape, b.element))


op("linrec.gate", _say_gate, _gate, _make_gate)


# linrec.short_conv


def short_conv(b, x):
    rng, type = b.rng, b.type(x)
    W = rng.randint(2, 8 if rng.random() < 0.2 else 4)
    B, T, *channels = type.shape
    names, operands = ["x", "weight"], [x, b.argument(Type((*channels, W), type.element))]
    if rng.random() < 0.5:
        names.append("bias"), operands.append(b.argument(Type(tuple(channels), type.element)))
    packed = B == 1 and not isinstance(B, Extent) and rng.random() < 0.4
    starts, sequences, entries = packing(b, T, 3) if packed else (None, B, None)
    state = Type((sequences, W - 1, *channels), type.element)
    if rng.random() < 0.5:
        names.append("initial"), operands.append(b.argument(state))
    if packed:
        names.append("starts"), operands.append(b.argument(Type((entries,), "i32"), torch.tensor(starts, dtype=torch.int32)))
    return b.add("linrec.short_conv", operands, [type, state], {"names": names, "activation": rng.choice(("silu", "none"))})


def _short_conv(c, *operands):
    named = dict(zip(c.attributes["names"], operands))
    x, weight = named["x"], named["weight"]
    W, starts = weight.shape[-1], named.get("starts")
    bounds = [(i, 0, x.shape[1]) for i in range(x.shape[0])] if starts is None else \
        [(0, int(first), int(last)) for first, last in zip(starts[:-1], starts[1:])]
    outputs, finals = [], []
    for i, (at, first, last) in enumerate(bounds):
        before = named["initial"][i] if "initial" in named else torch.zeros(W - 1, *x.shape[2:], dtype=x.dtype)
        rows = torch.cat([before, x[at, first:last]])
        z = sum((weight[..., w] * rows[w:w + last - first] for w in range(W)), torch.zeros((), dtype=x.dtype))
        if "bias" in named:
            z = z + named["bias"]
        outputs.append(F.silu(z) if c.attributes["activation"] == "silu" else z)
        finals.append(rows[rows.shape[0] - (W - 1):])
    return (torch.cat(outputs)[None] if starts is not None else torch.stack(outputs)), torch.stack(finals)


op("linrec.short_conv", lambda p: p.say(
    f"linrec.short_conv {p.step.attributes['activation']} {', '.join(p.operands[:2])}{clauses(p)} : {signature(p)}"),
   _short_conv, lambda b: short_conv(b, b.argument(Type(
       (*numbers(b, b.rng.choice((1, 2)), b.rng.choice(TOKENS), b.rng.random() < 0.3), *(b.rng.choice(SIZES) for _ in range(b.rng.randint(1, 2)))),
       b.element))), weight=1.5)


ROWS = ["linrec.scan", "linrec.step", "linrec.ew_scan", "linrec.gate", "linrec.short_conv"]
BEHIND = ["arith.mulf", "arith.addf", "math.tanh", "kan.silu", "arith.negf", "loss.softmax", "linalg.generic", "linalg.reduce", "tensor.extract_slice"]


def grow(b):
    """A recurrence, and what reads it."""
    b.extents = [1, 2, 3, 8]
    before = len(b.graph.steps)
    b.grow(1, ROWS)
    if len(b.graph.steps) == before:
        raise Rejected("no recurrence")
    # What cannot be compiled once behind an open one is compiled for each combination of shapes.
    b.grow(b.rng.randint(0, 3), BEHIND)
