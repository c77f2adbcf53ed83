# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops of the kan dialect mean, in torch: autograd gives the gradients."""

import math

import torch


def spread(table, channels):
    """Row floor(c G / D) of table[G, k] for each of D channels."""
    groups = table.shape[0]
    return table[torch.arange(channels) * groups // channels]


def powers(x, first, count):
    return torch.stack([x**i for i in range(first, first + count)], dim=-1)


def rational(x, a, b, form, eps=0.1, noise=None):
    channels = x.shape[-1]
    a = spread(a if noise is None else a * noise, channels)
    b = spread(b, channels)
    p = (a * powers(x, 0, a.shape[-1])).sum(-1)
    if form == "abs_terms":
        return p / (1 + (b.abs() * powers(x.abs(), 1, b.shape[-1])).sum(-1))
    if form == "abs_sum_eps":
        return p / (eps + (b * powers(x, 0, b.shape[-1])).sum(-1).abs())
    w = (b * powers(x, 1, b.shape[-1])).sum(-1)
    return p / (1 + (w if form == "unsafe" else w.abs()))


def frequency_encode(x, octaves):
    angle = x[:, :, None] * (2.0 ** torch.arange(octaves)) * math.pi
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(x.shape[0], 2 * x.shape[1] * octaves)


PRIMES = (1, 2654435761, 805459861)


def grid_encode(x, tables, base, finest=None, growth=None):
    levels, entries, features = tables.shape
    rows, d = x.shape
    if growth is None:
        growth = (finest / base) ** (1 / (levels - 1)) if levels > 1 else 1.0
    x = x.clamp(0, 1)
    out = []
    for level in range(levels):
        scale = base * growth**level - 1
        if abs(scale - round(scale)) < 1e-6:
            scale = float(round(scale))
        resolution = math.ceil(scale) + 1
        position = x * scale + 0.5
        cell = position.detach().floor()
        fraction = position - cell
        cell = cell.long()
        value = torch.zeros(rows, features, dtype=tables.dtype)
        for corner in range(2**d):
            bits = [(corner >> k) & 1 for k in range(d)]
            vertex = [cell[:, k] + bits[k] for k in range(d)]
            if (resolution + 1) ** d <= entries:
                entry = sum(v * (resolution + 1) ** k for k, v in enumerate(vertex))
            else:
                entry = torch.zeros(rows, dtype=torch.long)
                for v, prime in zip(vertex, PRIMES):
                    entry = entry ^ (v * prime)
                entry = (entry % 2**32) % entries
            weight = torch.ones(rows, dtype=x.dtype)
            for k in range(d):
                weight = weight * (fraction[:, k] if bits[k] else 1 - fraction[:, k])
            value = value + weight[:, None] * tables[level, entry]
        out.append(value)
    return torch.cat(out, dim=1)
