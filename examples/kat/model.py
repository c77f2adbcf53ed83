# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small vision transformer whose feed-forward blocks are those of the Kolmogorov-Arnold Transformer."""

import torch
from torch import nn
from torch.nn import functional as F

import drawloom.torch
from drawloom.ops import rational as tables


def plain_rational(x, a, b):
    """P(x) / Q(x) with Q = 1 + |b_1| |x| + ..., in plain torch, in the form that torch runs fastest: one coefficient for each
    channel, Horner's rule."""
    a = a.repeat_interleave(x.shape[-1] // a.shape[0], 0).unbind(1)
    b = b.abs().repeat_interleave(x.shape[-1] // b.shape[0], 0).unbind(1)
    p, absolute, q = a[-1], x.abs(), b[-1]
    for coefficient in reversed(a[:-1]):
        p = p * x + coefficient
    for coefficient in reversed(b[:-1]):
        q = q * absolute + coefficient
    return p / (1 + q * absolute)


class FeedForward(nn.Module):
    """rational, dense, rational, dense: by Drawloom as one program, or in plain torch."""

    def __init__(self, width, hidden, groups, plain):
        super().__init__()
        self.plain = plain

        def coefficients(init):
            a, b = tables.initial(init, (5, 4), "abs_terms")
            return (nn.Parameter(torch.tensor(a, dtype=torch.float32)[None]),
                    nn.Parameter(torch.tensor(b, dtype=torch.float32).repeat(groups, 1)))

        (self.a1, self.b1), (self.a2, self.b2) = coefficients("identity"), coefficients("silu")
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        nn.init.normal_(self.fc1.weight, 0, (1 / width)**0.5)
        nn.init.normal_(self.fc2.weight, 0, (tables.gain("silu", (5, 4), "abs_terms") / hidden)**0.5)

    def forward(self, x):
        if self.plain:
            return self.fc2(plain_rational(self.fc1(plain_rational(x, self.a1, self.b1)), self.a2, self.b2))
        return drawloom.torch.kat_mlp(x, (self.a1, self.b1), self.fc1.weight, self.fc1.bias,
                                      (self.a2, self.b2), self.fc2.weight, self.fc2.bias)


class Layer(nn.Module):
    def __init__(self, width, heads, hidden, groups, plain):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed_forward = FeedForward(width, hidden, groups, plain)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.feed_forward(self.norm2(x))


class KolmogorovArnoldTransformer(nn.Module):
    """Pictures of 8 x 8 pixels, [batch, 8, 8], as 16 tokens of 2 x 2 pixels; ten logits."""

    def __init__(self, *, width=64, heads=4, depth=4, hidden=256, groups=8, plain=False):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.position = nn.Parameter(0.02 * torch.randn(16, width))
        self.layers = nn.Sequential(*(Layer(width, heads, hidden, groups, plain) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, pictures):
        patches = pictures.unflatten(1, (4, 2)).unflatten(3, (4, 2)).transpose(2, 3).flatten(3).flatten(1, 2)
        return self.head(self.norm(self.layers(self.embed(patches) + self.position)).mean(1))
