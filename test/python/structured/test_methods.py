# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published methods as expressions of structured weights: values and gradients of what trains against their formulas, in float64.

Weights are [in, out] here: rows x give x W."""

import math

import pytest
import torch

import drawloom.torch
from drawloom.structured import (
    Pattern,
    block_diagonal,
    concat,
    dense,
    diagonal,
    fold,
    hadamard,
    identity,
    kronecker,
    n_of_m,
    normalize_columns,
    permute,
    select,
    sparse,
)

K, N, R = 24, 16, 4
ROWS = 11


def sum_of(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


W, A, B = (K, N), (K, R), (R, N)
# Name: (the term, shapes of the leaves, which of them train, the weight by the method's formula).
METHODS = {
    "LoRA": (dense("w") + 2.0 * (dense("a") @ dense("b")), {"w": W, "a": A, "b": B}, "ab", lambda w, a, b: w + 2.0 * a @ b),
    "rsLoRA": (dense("w") + 16 / R ** 0.5 * (dense("a") @ dense("b")), {"w": W, "a": A, "b": B}, "ab", lambda w, a, b: w + 16 / R ** 0.5 * a @ b),
    "LoRA-FA": (dense("w") + dense("a") @ dense("b"), {"w": W, "a": A, "b": B}, "b", lambda w, a, b: w + a @ b),
    "WeLore": (dense("a") @ dense("b"), {"a": A, "b": B}, "ab", lambda a, b: a @ b),
    "LoRA-XS": (dense("w") + dense("a") @ dense("m") @ dense("b"), {"w": W, "a": A, "m": (R, R), "b": B}, "m",
                lambda w, a, m, b: w + a @ m @ b),
    "SVFit": (dense("w") + dense("u") @ diagonal("s") @ dense("v"), {"w": W, "u": A, "s": (R,), "v": B}, "s",
              lambda w, u, s, v: w + u @ torch.diag(s) @ v),
    "LoLDU": (dense("w") + 0.5 * (dense("u") @ diagonal("z") @ dense("l")), {"w": W, "u": A, "z": (R,), "l": B}, "z",
              lambda w, u, z, l: w + 0.5 * (u * z) @ l),
    "VeRA": (dense("w") + dense("a") @ diagonal("d") @ dense("b") @ diagonal("g"), {"w": W, "a": A, "d": (R,), "b": B, "g": (N,)}, "dg",
             lambda w, a, d, b, g: w + (a * d) @ b * g),
    "SALT": (dense("u") @ (diagonal("s") + dense("x") @ dense("y")) @ dense("v"),
             {"u": (K, N), "s": (N,), "x": (N, R), "y": (R, N), "v": (N, N)}, "sxy", lambda u, s, x, y, v: u @ (torch.diag(s) + x @ y) @ v),
    "RandLoRA": (dense("w") + sum_of([dense(f"b{i}") @ diagonal(f"l{i}") @ dense("a") @ diagonal(f"g{i}") for i in range(5)]),
                 {"w": W, "a": B, **{f"b{i}": A for i in range(5)}, **{f"l{i}": (R,) for i in range(5)}, **{f"g{i}": (N,) for i in range(5)}},
                 "lg", lambda w, a, **rest: w + sum((rest[f"b{i}"] * rest[f"l{i}"]) @ a * rest[f"g{i}"] for i in range(5))),
    "Hydra": (dense("w") @ (identity(N) + dense("c") @ dense("d")) + dense("a") @ dense("b"),
              {"w": W, "c": (N, R), "d": (R, N), "a": A, "b": B}, "abcd", lambda w, c, d, a, b: w + w @ c @ d + a @ b),
    "DoRA, norms not detached": (normalize_columns(dense("w") + 2.0 * (dense("a") @ dense("b")), "m"), {"w": W, "a": A, "b": B, "m": (N,)}, "abm",
                                 lambda w, a, b, m: (w + 2.0 * a @ b) * (m / (w + 2.0 * a @ b).norm(dim=0))),
    "Compacter": (sum_of([kronecker(dense(f"a{i}"), dense(f"s{i}") @ dense(f"t{i}")) for i in range(3)]),
                  {**{f"a{i}": (3, 2) for i in range(3)}, **{f"s{i}": (8, 1) for i in range(3)}, **{f"t{i}": (1, 8) for i in range(3)}}, "ast",
                  lambda **v: sum(torch.kron(v[f"a{i}"], v[f"s{i}"] @ v[f"t{i}"]) for i in range(3))),
    "SoKA": (dense("w") + kronecker(dense("c0"), dense("d0")) + kronecker(dense("c1"), dense("d1")),
             {"w": W, "c0": (6, 4), "d0": (4, 4), "c1": (2, 4), "d1": (12, 4)}, "cd",
             lambda w, c0, d0, c1, d1: w + torch.kron(c0, d0) + torch.kron(c1, d1)),
    "LoKr": (dense("w") + 0.25 * kronecker(dense("c"), dense("a") @ dense("b")), {"w": W, "c": (6, 4), "a": (4, 2), "b": (2, 4)}, "abc",
             lambda w, c, a, b: w + 0.25 * torch.kron(c, a @ b)),
    "LoHa": (dense("w") + 0.5 * hadamard(dense("a") @ dense("b"), dense("c") @ dense("d")), {"w": W, "a": A, "b": B, "c": A, "d": B}, "abcd",
             lambda w, a, b, c, d: w + 0.5 * (a @ b) * (c @ d)),
    "HiRA": (dense("w") + hadamard(dense("w"), dense("a") @ dense("b")), {"w": W, "a": A, "b": B}, "ab", lambda w, a, b: w + w * (a @ b)),
    "MiSS": (dense("w") + fold(K, 6) @ dense("d"), {"w": W, "d": (R, N)}, "d", lambda w, d: w + d.repeat(6, 1)),
    "Block-LoRA": (dense("w") + fold(K, 3) @ dense("a") @ dense("b"), {"w": W, "a": (8, R), "b": B}, "ab",
                   lambda w, a, b: w + a.repeat(3, 1) @ b),
    "OFT": (block_diagonal("q") @ dense("w"), {"q": (6, 4, 4), "w": W}, "q", lambda q, w: torch.block_diag(*q) @ w),
    "BOFT": (permute([4, 6], [1, 0]) @ block_diagonal("q") @ permute([6, 4], [1, 0]) @ block_diagonal("p") @ dense("w"),
             {"q": (6, 4, 4), "p": (4, 6, 6), "w": W}, "qp",
             lambda q, p, w: torch.eye(K, dtype=w.dtype).reshape(K, 4, 6).transpose(1, 2).reshape(K, K) @ torch.block_diag(*q)
             @ torch.eye(K, dtype=w.dtype).reshape(K, 6, 4).transpose(1, 2).reshape(K, K) @ torch.block_diag(*p) @ w),
    "GraLoRA": (dense("w") + block_diagonal("a") @ permute([4, 4], [1, 0]) @ block_diagonal("b"), {"w": W, "a": (4, 6, 4), "b": (4, 4, 4)}, "ab",
                lambda w, a, b: w + torch.block_diag(*a) @ torch.eye(16, dtype=w.dtype).reshape(16, 4, 4).transpose(1, 2).reshape(16, 16)
                @ torch.block_diag(*b)),
    "Monarch": (block_diagonal("r") @ permute([4, 8], [1, 0]) @ block_diagonal("l") @ permute([8, 2], [1, 0]),
                {"r": (4, 6, 8), "l": (8, 4, 2)}, "rl",
                lambda r, l: torch.einsum("kpq,qks->kpsq", r, l).reshape(K, N)),
    "S2FT": (dense("w") + select(6, 3, K) @ dense("p"), {"w": W, "p": (6, N)}, "p",
             lambda w, p: w + torch.cat([torch.zeros(3, N, dtype=w.dtype), p, torch.zeros(K - 9, N, dtype=w.dtype)])),
    "BD-LoRA, A in blocks": (dense("w") + 2.0 * (block_diagonal("a") @ dense("b")), {"w": W, "a": (2, 12, 3), "b": (6, N)}, "ab",
                             lambda w, a, b: w + 2.0 * torch.block_diag(*a) @ b),
    "BD-LoRA, B in blocks": (dense("w") + 2.0 * (dense("a") @ block_diagonal("b")), {"w": W, "a": (K, 6), "b": (2, 3, 8)}, "ab",
                             lambda w, a, b: w + 2.0 * a @ torch.block_diag(*b)),
    "AutoLoRA": (dense("w") + dense("a") @ diagonal("g") @ dense("b"), {"w": W, "a": A, "g": (R,), "b": B}, "abg",
                 lambda w, a, g, b: w + sum(g[j] * torch.outer(a[:, j], b[j]) for j in range(R))),
    "Sparse Spectral Training": (
        dense("u") @ diagonal("s") @ dense("v") + dense("cu") @ diagonal("cs") @ dense("cv"),
        {"u": (K, N - R), "s": (N - R,), "v": (N - R, N), "cu": A, "cs": (R,), "cv": B}, "sc",
        lambda u, s, v, cu, cs, cv: torch.cat([u, cu], 1) @ torch.diag(torch.cat([s, cs])) @ torch.cat([v, cv])),
    "LoRAM, recovered": (dense("w") + 2.0 * (select(10, 3, K) @ dense("a") @ dense("b") @ select(7, 5, N).T), {"w": W, "a": (10, R), "b": (R, 7)},
                         "ab", lambda w, a, b: w + 2.0 * torch.nn.functional.pad(a @ b, (5, N - 12, 3, K - 13))),
    "adapters of several layers side by side": (
        concat(dense("q") + dense("a") @ dense("b"), dense("v") + dense("a") @ dense("c")),
        {"q": W, "a": A, "b": B, "v": (K, 5), "c": (R, 5)}, "abc", lambda q, a, b, v, c: torch.cat([q + a @ b, v + a @ c], 1)),
}


@pytest.mark.parametrize("method, dtype", [*((method, torch.float64) for method in METHODS), ("LoRA", torch.float32), ("Monarch", torch.float32),
                                           ("DoRA, norms not detached", torch.float32)])
def test_method(method, dtype):
    term, shapes, trained, formula = METHODS[method]
    generator = torch.Generator().manual_seed(len(method))
    leaves = {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    trains = [name for name in leaves if name[0] in trained]
    x = torch.randn(ROWS, term.shape(shapes)[0], generator=generator, dtype=torch.float64)
    g = torch.randn(ROWS, term.shape(shapes)[1], generator=generator, dtype=torch.float64)

    def run(dtype, function):
        given = {name: leaf.to(dtype).requires_grad_(name in trains) for name, leaf in leaves.items()}
        rows = x.to(dtype).requires_grad_()
        y = function(rows, given)
        return [y.detach(), *torch.autograd.grad(y, [rows, *(given[name] for name in trains)], g.to(dtype))]

    ours = run(dtype, lambda rows, given: drawloom.torch.structured_linear(rows, term, given))
    theirs = run(torch.float64, lambda rows, given: rows @ formula(**given))
    for one, other in zip(ours, theirs):
        assert one.shape == other.shape
        error = (one.double() - other).norm() / other.norm()
        assert error < (1e-12 if dtype == torch.float64 else 2e-6)


# --- with parts that torch computes -------------------------------------------------------------------------------------

ADAPTED = dense("w") + 2.0 * (dense("a") @ dense("b"))
SHARDS, POOL, BANK, TOP = 3, 10, 9, 2
INDEX_A = [[7, 1, 11], [0, 3, 4], [9, 1, 2], [5, 10, 8]]
INDEX_B = [[2, 2], [8, 10], [11, 5], [0, 7]]


def mos(x, w, pool_a, private_a, pool_b, private_b):
    """Mixture of Shards (arXiv 2410.00938): rows of A^T and of B are shards of pools, one behind the other; A and B choose apart from each other,
    and some shards are the layer's own."""
    a, b = (torch.cat([pool, private])[torch.tensor(index)].flatten(1) for pool, private, index in (
        (pool_a, private_a, INDEX_A), (pool_b, private_b, INDEX_B)))
    return drawloom.torch.structured_linear(x, ADAPTED, {"w": w, "a": a.T, "b": b})


def mos_formula(x, w, pool_a, private_a, pool_b, private_b):
    def row(pool, private, chosen):
        return torch.cat([pool[i] if i < POOL else private[i - POOL] for i in chosen])

    return x @ (w + 2.0 * sum(torch.outer(row(pool_a, private_a, i), row(pool_b, private_b, j)) for i, j in zip(INDEX_A, INDEX_B)))


def vb_lora(x, w, bank, logits_a, logits_b):
    """VB-LoRA (arXiv 2405.15179): parts of the vectors of A and B are mixtures of the TOP vectors of a bank with the largest logits."""
    def mixed(logits):
        chosen, index = logits.topk(TOP)
        return (chosen.softmax(-1)[..., None] * bank[index]).sum(-2).flatten(1)

    return drawloom.torch.structured_linear(x, dense("w") + dense("a") @ dense("b"), {"w": w, "a": mixed(logits_a).T, "b": mixed(logits_b)})


def vb_lora_formula(x, w, bank, logits_a, logits_b):
    def mixed(logits):
        # All the others have no weight.
        least = logits.sort(descending=True).values[..., TOP - 1:TOP]
        powers = logits.exp() * (logits >= least)
        return torch.einsum("rjh,hv->rjv", powers / powers.sum(-1, keepdim=True), bank).reshape(R, -1)

    return x @ (w + torch.einsum("rk,rn->kn", mixed(logits_a), mixed(logits_b)))


def fly_lora(x, w, a, b, d):
    """FlyLoRA (arXiv 2510.08396): of the narrow row the TOP elements that are largest beside the balancing d; A is random and stays."""
    s = drawloom.torch.structured_linear(x, dense("a"), {"a": a})
    mask = torch.zeros_like(s).scatter(-1, (s + d).abs().topk(TOP).indices, 1.0)
    return drawloom.torch.structured_linear(torch.cat([x, s * mask], -1), concat(dense("w").T, 2.0 * dense("b").T).T, {"w": w, "b": b})


def fly_lora_formula(x, w, a, b, d):
    rows = []
    for row in x:
        s = row @ a
        chosen = sorted(range(R), key=lambda j: -abs((s[j] + d[j]).item()))[:TOP]
        rows.append(row @ w + 2.0 * sum(s[j] * b[j] for j in chosen))
    return torch.stack(rows)


def maestro(x, a, b, prefix=3):
    """Maestro (arXiv 2308.14929): the first ranks of a factorization, as many as the step draws. One program serves any number."""
    kept = (torch.arange(R) < prefix).to(x.dtype)
    return drawloom.torch.structured_linear(x, dense("a") @ diagonal("kept") @ dense("b"), {"a": a, "kept": kept, "b": b})


def maestro_formula(x, a, b, prefix=3):
    return x @ a[:, :prefix] @ b[:prefix]


CHANNELS = [2, 3, 7, 11, 20]
PLACES = torch.tensor([[(i + j) % 3 == 0 for j in range(N)] for i in range(K)])


def panel(rows):
    """Whole rows of W at these inputs, as a sparse weight of blocks of 1 x N, and its pattern's leaves."""
    pattern, _ = Pattern.of_coordinates(rows, [0] * len(rows), (K, 1))
    return sparse("p", "at"), pattern.leaves("at", torch.from_numpy)


def paca(x, w, p):
    """PaCA (arXiv 2503.01905): some of the inputs' rows of W train, and the others stay. w is zero in these rows."""
    term, leaves = panel(CHANNELS)
    return drawloom.torch.structured_linear(x, dense("w") + term, {"w": rows_cleared(w), "p": p[:, None], **leaves})


def rows_cleared(w):
    return w.index_fill(0, torch.tensor(CHANNELS), 0.0)


def paca_formula(x, w, p):
    return x @ w.index_copy(0, torch.tensor(CHANNELS), p)


def lost(x, a, b, p, gamma=0.7):
    """LOST (arXiv 2508.02668): a low-rank weight and one of chosen inputs, mixed."""
    term, leaves = panel(CHANNELS)
    return drawloom.torch.structured_linear(x, gamma * (dense("a") @ dense("b")) + (1 - gamma) * term, {"a": a, "b": b, "p": p[:, None], **leaves})


def lost_formula(x, a, b, p, gamma=0.7):
    return gamma * x @ a @ b + (1 - gamma) * x[:, CHANNELS] @ p


def largest(gradient, density=0.5):
    return gradient * (gradient.abs() >= gradient.abs().flatten().sort(descending=True).values[round(density * gradient.numel()) - 1])


def spar_cl(x, v):
    """SparCL (arXiv 2209.09476): a sparse weight whose pattern changes between steps, and of its gradient the largest elements."""
    v = v * 1
    if v.requires_grad:
        v.register_hook(largest)
    return drawloom.torch.structured_linear(x, sparse("v", "p"), {"v": v, **Pattern.of_mask(PLACES).leaves("p", torch.from_numpy)})


class LargestGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        return w.clone()

    @staticmethod
    def backward(ctx, gradient):
        return largest(gradient, 0.5 * int(PLACES.sum()) / PLACES.numel())


def spar_cl_formula(x, v):
    # Of the gradient of the whole matrix those at the places, of which the largest.
    return x @ (LargestGradient.apply(torch.zeros(K, N, dtype=x.dtype).masked_scatter(PLACES, v)) * PLACES)


def slope(x, w, a, b):
    """SLoPe (arXiv 2405.16325): of four inputs of an output two are kept, and for the gradient of x of four outputs of an input two of these, too."""
    values, places = drawloom.torch.as_n_of_m(w.T, 2, 4)
    kept = drawloom.torch.prune_n_of_m(w.detach().T, 2, 4).T
    fewer, there = drawloom.torch.as_n_of_m(drawloom.torch.prune_n_of_m(kept, 2, 4), 2, 4)
    y = drawloom.torch.structured_linear(x.detach(), n_of_m("v", "p", 4).T, {"v": values, "p": places})
    backward = drawloom.torch.structured_linear(x, n_of_m("v", "p", 4), {"v": fewer, "p": there})
    return y + (backward - backward.detach()) + drawloom.torch.structured_linear(x, dense("a") @ dense("b"), {"a": a, "b": b})


def two_of_four(w):
    """By their places in the order of sizes, along the last dimension."""
    groups = w.detach().unflatten(-1, (-1, 4)).abs()
    return (groups[..., :, None] < groups[..., None, :]).sum(-1).lt(2).flatten(-2)


class PrunedTwice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        kept = two_of_four(w.T).T
        ctx.save_for_backward(x, w * kept, kept)
        return x @ (w * kept)

    @staticmethod
    def backward(ctx, g):
        x, w, kept = ctx.saved_tensors
        return g @ (w * two_of_four(w)).T, (x.T @ g) * kept


def slope_formula(x, w, a, b):
    return PrunedTwice.apply(x, w) + x @ a @ b


G = 4
KEPT = torch.tensor([[(i + j) % 2 == 0 for j in range(N // G)] for i in range(K)])


def gqsa(x, v, s, z):
    """GQSA (arXiv 2412.17560): groups of neighbours, of which some are left out and the others are integers of 4 bits with a scale and an
    offset each, all of which train."""
    values = drawloom.torch.fake_quantize(v, format="uint4", scales=s.abs() + 0.1, offsets=z)
    pattern = Pattern.of_mask(KEPT)
    return drawloom.torch.structured_linear(x, sparse("v", "p"), {"v": values[:, None], **pattern.leaves("p", torch.from_numpy)})


def gqsa_formula(x, v, s, z):
    s = s.abs() + 0.1
    u = (v - z) / s
    inside = (u >= 0) & (u <= 15)
    # Rounding counts as the identity.
    code = torch.where(inside, u + (u.round() - u).detach(), u.detach().clamp(0, 15))
    w = torch.zeros(K, N // G, G, dtype=x.dtype)
    w[KEPT] = code * s + z
    return x @ w.reshape(K, N)


HADAMARD = torch.tensor([[(-1) ** bin(i & j).count("1") / math.sqrt(8) for j in range(8)] for i in range(8)], dtype=torch.float64)


def quest_scales(rows):
    """Of each group a power of two below 2.92247856 / 6 standard deviations."""
    return torch.exp2((2.92247856 / 6 * rows.unflatten(-1, (-1, 8)).std(-1, correction=0)).log2().floor()).detach()


def quartet(x, w):
    """Quartet (arXiv 2505.14669): rows and weights are rotated in groups, of which each has a power of two as its scale, and rounded to four
    bits; the gradients' straight-through parts. W is [out, in] here."""
    x, w = ((one.unflatten(-1, (-1, 8)) @ HADAMARD).flatten(-2) for one in (x, w.T))
    x, w = (drawloom.torch.fake_quantize(one, format="e2m1", scales=quest_scales(one)) for one in (x, w))
    return drawloom.torch.structured_linear(x, dense("w").T, {"w": w})


def quartet_formula(x, w):
    rotation = torch.block_diag(*[HADAMARD] * (K // 8))
    grid = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)

    def rounded(rows):
        s = quest_scales(rows).repeat_interleave(8, -1)
        u = rows / s
        value = grid[(u.abs()[..., None] - grid).abs().argmin(-1)] * u.sign() * s
        # The mask of what is not clipped.
        return torch.where(u.abs() <= 6, rows, 0) - torch.where(u.abs() <= 6, rows, 0).detach() + value.detach()

    return rounded(x @ rotation) @ rounded(w.T @ rotation).T


# Name: (the method, its formula, shapes, which of them train).
COMPOSED = {
    "MoS": (mos, mos_formula, {"w": W, "pool_a": (POOL, K // SHARDS), "private_a": (2, K // SHARDS), "pool_b": (POOL, N // 2),
                               "private_b": (2, N // 2)}, ("pool_a", "private_a", "pool_b", "private_b")),
    "VB-LoRA": (vb_lora, vb_lora_formula, {"w": W, "bank": (BANK, 4), "logits_a": (R, K // 4, BANK), "logits_b": (R, N // 4, BANK)},
                ("bank", "logits_a", "logits_b")),
    "FlyLoRA": (fly_lora, fly_lora_formula, {"w": W, "a": A, "b": B, "d": (R,)}, ("b",)),
    "Maestro": (maestro, maestro_formula, {"a": A, "b": B}, ("a", "b")),
    "PaCA": (paca, paca_formula, {"w": W, "p": (len(CHANNELS), N)}, ("p",)),
    "LOST": (lost, lost_formula, {"a": A, "b": B, "p": (len(CHANNELS), N)}, ("a", "b", "p")),
    "SparCL": (spar_cl, spar_cl_formula, {"v": (int(PLACES.sum()),)}, ("v",)),
    "SLoPe": (slope, slope_formula, {"w": W, "a": A, "b": B}, ("w", "a", "b")),
    "GQSA": (gqsa, gqsa_formula, {"v": (int(KEPT.sum()), G), "s": (int(KEPT.sum()), 1), "z": (int(KEPT.sum()), 1)}, ("v", "s", "z")),
    "Quartet": (quartet, quartet_formula, {"w": W}, ("w",)),
}


@pytest.mark.parametrize("method", COMPOSED)
def test_method_with_parts_outside(method):
    ours, formula, shapes, trained = COMPOSED[method]
    generator = torch.Generator().manual_seed(len(method))

    def draw(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    leaves = {name: draw(*shape).requires_grad_(name in trained) for name, shape in shapes.items()}
    x, g = draw(ROWS, K).requires_grad_(), draw(ROWS, N)
    results = [[y, *torch.autograd.grad(y, [x, *(leaves[name] for name in trained)], g)] for y in (ours(x, **leaves), formula(x, **leaves))]
    for one, other in zip(*results, strict=True):
        assert (one - other).norm() < 1e-12 * other.norm()


# --- initial values -----------------------------------------------------------------------------------------------------


def pissa(w):
    """PiSSA (arXiv 2404.02948): the adapter begins as the largest singular triplets, and the rest of W stays."""
    u, s, v = torch.linalg.svd(w, full_matrices=False)
    a, b = u[:, :R] * s[:R].sqrt(), s[:R].sqrt()[:, None] * v[:R]
    return w - a @ b, a, b


def olora(w):
    """OLoRA (arXiv 2406.01775): it begins as the first columns of Q and the first rows of R in W = Q R."""
    q, r = torch.linalg.qr(w)
    return w - q[:, :R] @ r[:R], q[:, :R], r[:R]


def loftq(w, steps=5):
    """LoftQ (arXiv 2310.08659): in turns the base is W without the adapter in codes, and the adapter the largest singular triplets of what these
    leave."""
    a, b = torch.zeros(K, R, dtype=w.dtype), torch.zeros(R, N, dtype=w.dtype)
    for _ in range(steps):
        base = drawloom.torch.fake_quantize(w - a @ b, group=8, double_scales=False)
        u, s, v = torch.linalg.svd(w - base, full_matrices=False)
        a, b = u[:, :R] * s[:R].sqrt(), s[:R].sqrt()[:, None] * v[:R]
    return base, a, b


@pytest.mark.parametrize("begin, rest", [(pissa, 0.0), (olora, 0.0), (loftq, None)])
def test_initial_values(begin, rest):
    """Adapters that begin as a part of W: values and gradients are LoRA's with these, and the layer begins as W, or nearer to it than codes are."""
    generator = torch.Generator().manual_seed(3)
    w, x = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in (W, (ROWS, K)))
    base, a, b = begin(w)
    a, b = a.contiguous().requires_grad_(), b.contiguous().requires_grad_()
    y = drawloom.torch.structured_linear(x, dense("w") + dense("a") @ dense("b"), {"w": base, "a": a, "b": b})
    if rest is None:
        codes = drawloom.torch.fake_quantize(w, group=8, double_scales=False)
        assert (base + a @ b - w).norm() < 0.8 * (codes - w).norm()
        wanted = x @ (base + a @ b)
    else:
        wanted = x @ w
    assert (y - wanted).norm() < 1e-12 * wanted.norm()
    g = torch.randn(y.shape, generator=generator, dtype=torch.float64)
    for one, other in zip(torch.autograd.grad(y, (a, b), g), (x.T @ (g @ b.T), (x @ a).T @ g), strict=True):
        assert (one - other).norm() < 1e-12 * other.norm()


def test_gradients_that_are_rounded_stochastically_have_the_mean_of_those_that_are_not():
    """As Quartet multiplies by them backwards, in four bits."""
    generator = torch.Generator().manual_seed(0)
    g, w = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((1, 8), (8, 3)))
    # Powers of two by 4/3, so that nothing is beyond 6 of them.
    scales = torch.exp2(g.abs().amax(1, keepdim=True).log2().floor() - 2) * 4 / 3
    count = 20000
    drawn = drawloom.torch.fake_quantize(g.expand(count, 8), format="e2m1", scales=scales.expand(count, 1), generator=generator)
    found, wanted = (drawn @ w).mean(0), (g @ w)[0]
    # Hoeffding for sums of independent numbers, each within a gap of at most 2 scales times its weight; 10^-9 for the three of them.
    bound = ((2 * scales[0] * w).square().sum(0) * math.log(6 / 1e-9) / (2 * count)).sqrt()
    assert ((found - wanted).abs() <= bound + 1e-5 * w.abs().sum(0)).all()
