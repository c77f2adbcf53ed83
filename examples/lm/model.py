# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Byte-level language models: a recurrence, linear or not, or attention, mixes the tokens; the rest is the same for all.

A mixer takes x [B, T, width] and what it remembers of the tokens before (None at the beginning), and gives the same of
what comes out. So a text can be read at once, or byte after byte. The recurrences come from a module: drawloom.torch.linrec, or
reference.py, which has the same functions in plain torch.
"""

from __future__ import annotations

import math
from types import ModuleType

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import drawloom.torch
from drawloom import cells

BYTES = 256


class SizeError(Exception):
    """There is no model of this size; the message says why."""


def linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False)


def heads(x: Tensor, number: int) -> Tensor:
    """[B, T, H * size] -> [B, T, H, size]"""
    return x.unflatten(-1, (number, -1))


def rotate(x: Tensor, first: int) -> Tensor:
    """Rotary position embedding (arXiv 2104.09864) of x [B, T, H, size], whose first token has the position `first`."""
    half = x.shape[-1] // 2
    frequency = 10000 ** (-torch.arange(half, dtype=torch.float32) / half)
    angle = torch.arange(first, first + x.shape[1], dtype=torch.float32)[:, None, None] * frequency
    sine, cosine = angle.sin(), angle.cos()
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)


def before(x: Tensor, last: Tensor | None) -> tuple[Tensor, Tensor]:
    """The token before each one, `last` or zeros before the first; and the last token."""
    last = torch.zeros_like(x[:, :1]) if last is None else last
    return torch.cat((last, x[:, :-1]), 1), x[:, -1:]


def decay_bias(channels: int) -> nn.Parameter:
    """softplus of it is between 0.001 and 0.1, at even distances of the logarithm: Mamba's steps at first."""
    steps = torch.exp(torch.rand(channels) * math.log(100) + math.log(0.001))
    return nn.Parameter(steps + torch.log(-torch.expm1(-steps)))


class ShortConvolution(nn.Module):
    """Each channel's own convolution over a token and the three before it, then SiLU."""

    def __init__(self, channels: int, size: int = 4):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels, 1, size).uniform_(-(size ** -0.5), size ** -0.5))

    def forward(self, x: Tensor, last: Tensor | None) -> tuple[Tensor, Tensor]:
        size = self.weight.shape[-1]
        last = x.new_zeros(x.shape[0], size - 1, x.shape[2]) if last is None else last
        x = torch.cat((last, x), 1)
        y = F.conv1d(x.transpose(1, 2), self.weight, groups=x.shape[2]).transpose(1, 2)
        return F.silu(y), x[:, 1 - size:]


class Attention(nn.Module):
    """Causal attention with rotary positions; remembers all keys and values."""

    def __init__(self, width: int, number: int, ops: ModuleType):
        super().__init__()
        self.number = number
        self.q, self.k, self.v, self.out = (linear(width, width) for _ in range(4))

    def forward(self, x, memory, shared):
        first = 0 if memory is None else memory[0].shape[1]
        q, k = rotate(heads(self.q(x), self.number), first), rotate(heads(self.k(x), self.number), first)
        v = heads(self.v(x), self.number)
        if memory is not None:
            if x.shape[1] != 1:
                raise ValueError(f"the Transformer goes on with one byte at a time, not with {x.shape[1]}")
            k, v = torch.cat((memory[0], k), 1), torch.cat((memory[1], v), 1)
        o = F.scaled_dot_product_attention(*(y.transpose(1, 2) for y in (q, k, v)), is_causal=memory is None)
        return self.out(o.transpose(1, 2).flatten(2)), (k, v)


class GatedLinearAttention(nn.Module):
    """GLA (arXiv 2312.06635): keys half as wide as the model; log-decays of each key by a layer of rank 16, over 16."""

    def __init__(self, width: int, number: int, ops: ModuleType):
        super().__init__()
        self.number, self.ops = number, ops
        self.q, self.k = linear(width, width // 2), linear(width, width // 2)
        self.v, self.gate, self.out = (linear(width, width) for _ in range(3))
        self.decay = nn.Sequential(linear(width, 16), nn.Linear(16, width // 2))
        self.norm = nn.RMSNorm(width // number, eps=1e-5)

    def forward(self, x, memory, shared):
        q, k, v, g = (heads(layer(x), self.number) for layer in (self.q, self.k, self.v, self.decay))
        o, memory = self.ops.chunk_gla(q, k, v, F.logsigmoid(g) / 16, initial_state=memory, output_final_state=True)
        return self.out(self.norm(o).flatten(2) * F.silu(self.gate(x))), memory


class Retention(nn.Module):
    """RetNet (arXiv 2307.08621): each head has its decay; queries and keys are rotated; values twice as wide as the model."""

    def __init__(self, width: int, number: int, ops: ModuleType):
        super().__init__()
        self.number, self.ops = number, ops
        self.q, self.k = linear(width, width), linear(width, width)
        self.v, self.gate, self.out = linear(width, 2 * width), linear(width, 2 * width), linear(2 * width, width)
        self.norm = nn.RMSNorm(2 * width // number, eps=1e-5, elementwise_affine=False)

    def forward(self, x, memory, shared):
        state, first = (None, 0) if memory is None else memory
        q, k = rotate(heads(self.q(x), self.number), first), rotate(heads(self.k(x), self.number), first)
        o, state = self.ops.chunk_retention(q, k, heads(self.v(x), self.number), initial_state=state, output_final_state=True)
        return self.out(self.norm(o).flatten(2) * F.silu(self.gate(x))), (state, first + x.shape[1])


class Mamba2(nn.Module):
    """Mamba-2 (arXiv 2405.21060): twice the model's width and heads, one B and one C of 64 numbers for all heads."""

    def __init__(self, width: int, number: int, ops: ModuleType, states: int = 64):
        super().__init__()
        self.ops, self.number, self.sizes = ops, 2 * number, (2 * width, states, states)
        self.gate, self.mixed, self.out = linear(width, 2 * width), linear(width, sum(self.sizes)), linear(2 * width, width)
        self.convolution = ShortConvolution(sum(self.sizes))
        self.step, self.step_bias = linear(width, self.number), decay_bias(self.number)
        self.log_a = nn.Parameter(torch.empty(self.number).uniform_(1, 16).log())
        self.skip = nn.Parameter(torch.ones(self.number))
        self.norm = nn.RMSNorm(2 * width, eps=1e-5)

    def forward(self, x, memory, shared):
        state, last = (None, None) if memory is None else memory
        mixed, last = self.convolution(self.mixed(x), last)
        values, b, c = mixed.split(self.sizes, -1)
        o, state = self.ops.chunk_mamba2(heads(values, self.number), self.step(x), -self.log_a.exp(), b.unsqueeze(2), c.unsqueeze(2),
                                         D=self.skip, dt_bias=self.step_bias, dt_softplus=True, initial_states=state,
                                         return_final_states=True)
        return self.out(self.norm(o.flatten(2) * F.silu(self.gate(x)))), (state, last)


class GatedDeltaNet(nn.Module):
    """Gated DeltaNet (arXiv 2412.06464): the delta rule with a decay for each head. Keys are 3/4 as wide as the model, values
    twice as wide as keys; short convolutions before both and before queries."""

    def __init__(self, width: int, number: int, ops: ModuleType):
        super().__init__()
        self.number, self.ops = number, ops
        keys, values = 3 * width // 4, 3 * width // 2
        self.q, self.k, self.v = linear(width, keys), linear(width, keys), linear(width, values)
        self.convolutions = nn.ModuleList(ShortConvolution(size) for size in (keys, keys, values))
        self.beta, self.step, self.step_bias = linear(width, number), linear(width, number), decay_bias(number)
        self.log_a = nn.Parameter(torch.empty(number).uniform_(1, 16).log())
        self.gate, self.out = linear(width, values), linear(values, width)
        self.norm = nn.RMSNorm(values // number, eps=1e-5)

    def forward(self, x, memory, shared):
        state, *lasts = (None,) * 4 if memory is None else memory
        mixed, lasts = zip(*(conv(layer(x), last) for conv, layer, last in zip(self.convolutions, (self.q, self.k, self.v), lasts)))
        q, k, v = (heads(y, self.number) for y in mixed)
        g = -self.log_a.exp() * F.softplus(self.step(x) + self.step_bias)
        o, state = self.ops.chunk_gated_delta_rule(q, k, v, g, self.beta(x).sigmoid(), initial_state=state,
                                                   output_final_state=True, use_qk_l2norm_in_kernel=True)
        return self.out(self.norm(o).flatten(2) * F.silu(self.gate(x))), (state, *lasts)


class KimiDeltaAttention(nn.Module):
    """Kimi delta attention (arXiv 2510.26692): the delta rule with a decay for each key, short convolutions, and sigmoids of low
    rank as the output's gate."""

    def __init__(self, width: int, number: int, ops: ModuleType):
        super().__init__()
        self.number, self.ops = number, ops
        size = width // number
        self.q, self.k, self.v, self.out = (linear(width, width) for _ in range(4))
        self.convolutions = nn.ModuleList(ShortConvolution(width) for _ in range(3))
        self.beta = linear(width, number)
        self.step, self.step_bias = nn.Sequential(linear(width, size), linear(size, width)), decay_bias(width)
        self.log_a = nn.Parameter(torch.empty(number, 1).uniform_(1, 16).log())
        self.gate = nn.Sequential(linear(width, size), nn.Linear(size, width))
        self.norm = nn.RMSNorm(size, eps=1e-5)

    def forward(self, x, memory, shared):
        state, *lasts = (None,) * 4 if memory is None else memory
        mixed, lasts = zip(*(conv(layer(x), last) for conv, layer, last in zip(self.convolutions, (self.q, self.k, self.v), lasts)))
        q, k, v = (heads(y, self.number) for y in mixed)
        g = -self.log_a.exp() * F.softplus(heads(self.step(x) + self.step_bias, self.number))
        o, state = self.ops.chunk_kda(q, k, v, g, self.beta(x).sigmoid(), initial_state=state, output_final_state=True,
                                      use_qk_l2norm_in_kernel=True)
        return self.out(self.norm(o).flatten(2) * self.gate(x).sigmoid()), (state, *lasts)


class RWKV7(nn.Module):
    """RWKV-7's time mixing (arXiv 2503.14456): each of its inputs is a mixture of a token and the one before; the state
    decays by key, and what one key has stored is replaced at a rate of its own for each channel. Values are mixtures of
    the layer's and the first layer's."""

    def __init__(self, width: int, number: int, ops: ModuleType):
        super().__init__()
        self.number, self.ops, rank = number, ops, min(32, width // 4)
        # Shares of the token before in the inputs of r, w, k, v, a and g: from none in the first channel to all in the last.
        self.shares = nn.Parameter(torch.linspace(0, 1, width).repeat(6, 1))
        self.r, self.k, self.v, self.out = (linear(width, width) for _ in range(4))
        self.decay = nn.Sequential(linear(width, rank), nn.Tanh(), nn.Linear(rank, width))
        self.rate = nn.Sequential(linear(width, rank), nn.Linear(rank, width))
        self.first_values = nn.Sequential(linear(width, rank), nn.Linear(rank, width))
        self.gate = nn.Sequential(linear(width, 2 * rank), nn.Sigmoid(), linear(2 * rank, width))
        self.removed, self.kept = nn.Parameter(torch.full((width,), 0.85)), nn.Parameter(torch.ones(width))
        self.bonus = nn.Parameter(torch.zeros(number, width // number))
        self.norm = nn.GroupNorm(number, width, eps=64e-5)

    def initialize(self):
        # Channels remember for different times: RWKV's own first decays, from -6.5 to -1.5.
        with torch.no_grad():
            self.decay[2].bias.copy_(-6.5 + 5 * torch.linspace(0, 1, self.decay[2].bias.shape[0]))
            self.first_values[1].bias.fill_(1)

    def forward(self, x, memory, shared):
        state, last = (None, None) if memory is None else memory
        previous, last = before(x, last)
        xr, xw, xk, xv, xa, xg = (torch.lerp(x, previous, share) for share in self.shares)
        r, k, v = self.r(xr), self.k(xk), self.v(xv)
        if "first values" in shared:
            v = torch.lerp(v, shared["first values"], self.first_values(xv).sigmoid())
        else:
            shared["first values"] = v
        w, rate = -math.exp(-0.5) * self.decay(xw).sigmoid(), self.rate(xa).sigmoid()
        removed = F.normalize(heads(k * self.removed, self.number), dim=-1)
        k = k * (1 + (rate - 1) * self.kept)
        r, w, k, v, rate = (heads(y, self.number) for y in (r, w, k, v, rate))
        o, state = self.ops.chunk_rwkv7(r, w, k, v, -removed, removed * rate, initial_state=state, output_final_state=True)
        o = self.norm(o.flatten(2).flatten(0, 1)).view_as(x)
        o = o + ((r * k * self.bonus).sum(-1, keepdim=True) * v).flatten(2)
        return self.out(o * self.gate(xg)), (state, last)


class DiagonalCell(nn.Module):
    """A GRU or an LSTM whose matrices of states are diagonal (ParaRNN, arXiv 2510.21450), between a short convolution and a gate. Its states
    are not linear in each other: what many tokens do to them is known only by going through all."""

    def __init__(self, width: int, number: int, ops: ModuleType):
        super().__init__()
        self.ops = ops
        self.conv = ShortConvolution(width)
        self.inputs = nn.ModuleList(nn.Linear(width, width) for _ in range(self.cell.inputs))
        self.diagonals = nn.Parameter(torch.empty(self.cell.parameters, width))
        self.gate, self.out = linear(width, width), linear(width, width)
        self.norm = nn.RMSNorm(width, eps=1e-5)

    cell: cells.Cell

    def initialize(self):
        # Below 1 / sqrt(2), states do not grow; a token's first share of them is small, so that they remember.
        nn.init.uniform_(self.diagonals, -0.7, 0.7)
        with torch.no_grad():
            self.inputs[0].bias.fill_(self.first_bias)

    def forward(self, x, memory, shared):
        last, states = (None, None) if memory is None else memory
        u, last = self.conv(x, last)
        scan = getattr(self.ops, "nonlinear_scan", drawloom.torch.nonlinear_scan)
        y, states, _ = scan(self.cell, [layer(u) for layer in self.inputs], list(self.diagonals.unbind()), states)
        return self.out(self.norm(y[0]) * F.silu(self.gate(x))), (last, states)


class DiagonalGRU(DiagonalCell):
    """Its first input opens for the new: z."""

    cell, first_bias = cells.gru, -2.0


class DiagonalLSTM(DiagonalCell):
    """Its first input keeps the old: f."""

    cell, first_bias = cells.lstm, 2.0


class SwiGLU(nn.Module):
    """arXiv 2002.05202; remembers nothing."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)

    def forward(self, x, memory):
        return self.down(F.silu(self.gate(x)) * self.up(x)), None


class ChannelMixing(nn.Module):
    """RWKV-7's: squares of ReLUs of a mixture of a token and the one before."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.share = nn.Parameter(torch.linspace(0, 1, width))
        self.up, self.down = linear(width, hidden), linear(hidden, width)

    def forward(self, x, memory):
        previous, last = before(x, memory)
        return self.down(F.relu(self.up(torch.lerp(x, previous, self.share))).square()), last


MIXERS = {"gla": GatedLinearAttention, "retnet": Retention, "mamba2": Mamba2, "gdn": GatedDeltaNet, "kda": KimiDeltaAttention,
          "rwkv7": RWKV7, "gru": DiagonalGRU, "lstm": DiagonalLSTM, "transformer": Attention}


class Layer(nn.Module):
    def __init__(self, kind: str, width: int, number: int, hidden: int, ops: ModuleType):
        super().__init__()
        self.norm1, self.mixer = nn.RMSNorm(width, eps=1e-5), MIXERS[kind](width, number, ops)
        self.norm2, self.feed_forward = nn.RMSNorm(width, eps=1e-5), (ChannelMixing if kind == "rwkv7" else SwiGLU)(width, hidden)

    def forward(self, x, memory, shared):
        mixer, feed_forward = (None, None) if memory is None else memory
        y, mixer = self.mixer(self.norm1(x), mixer, shared)
        x = x + y
        y, feed_forward = self.feed_forward(self.norm2(x), feed_forward)
        return x + y, (mixer, feed_forward)


class LanguageModel(nn.Module):
    """Bytes [B, T] -> logits of the byte after each one, [B, T, 256], and what the next call with `memory` needs to go on."""

    def __init__(self, kind: str, ops: ModuleType, *, width: int, layers: int, heads: int, hidden: int):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(BYTES, width), nn.RMSNorm(width, eps=1e-5), linear(width, BYTES)
        self.layers = nn.ModuleList(Layer(kind, width, heads, hidden, ops) for _ in range(layers))
        # Whether the backward pass computes again what is within a layer.
        self.recomputes = False
        for name, module in self.named_modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                deviation = 0.6 / math.sqrt(module.weight.shape[1])
                # What adds to the sum of all layers begins smaller, as in GPT-2.
                nn.init.normal_(module.weight, 0, deviation / math.sqrt(2 * layers) if name.endswith((".out", ".down")) else deviation)
                if getattr(module, "bias", None) is not None:
                    nn.init.zeros_(module.bias)
        for module in self.modules():
            if hasattr(module, "initialize"):
                module.initialize()

    def forward(self, tokens: Tensor, memory: list | None = None) -> tuple[Tensor, list]:
        x, shared, after = self.embed(tokens), {}, []
        for i, layer in enumerate(self.layers):
            if self.recomputes and torch.is_grad_enabled():
                x, one = checkpoint(layer, x, None if memory is None else memory[i], shared, use_reentrant=False)
            else:
                x, one = layer(x, None if memory is None else memory[i], shared)
            after.append(one)
        return self.head(self.norm(x)), after


def parameters(model: nn.Module) -> int:
    return sum(one.numel() for one in model.parameters())


def same_size(kind: str, width: int, layers: int, number: int) -> int:
    """The hidden width of the feed-forward blocks that gives a model as many parameters as the Transformer of this width has with
    8/3 of it."""
    def count(kind, hidden):
        with torch.device("meta"):
            return parameters(LanguageModel(kind, None, width=width, layers=layers, heads=number, hidden=hidden))

    hidden = 8 * width // 3
    if kind == "transformer":
        return hidden
    least = count(kind, 1)
    found = 1 + round((count("transformer", hidden) - least) / (count(kind, 2) - least))
    if found < 1:
        raise SizeError(f"{kind} of width {width} has more parameters without feed-forward blocks than the Transformer has with them. "
                        "Take a larger --width")
    return found


def make(kind: str, ops: ModuleType, *, width: int, layers: int, heads: int, seed: int) -> LanguageModel:
    """A model of the Transformer's size; the seed decides the first parameters, whatever `ops` is."""
    hidden = same_size(kind, width, layers, heads)
    torch.manual_seed(seed)
    return LanguageModel(kind, ops, width=width, layers=layers, heads=heads, hidden=hidden)
