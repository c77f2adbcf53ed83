# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published methods as expressions of structured weights: values and gradients of what trains against their formulas, in float64.

Weights are [in, out] here: rows x give x W."""

import pytest
import torch

import drawloom.torch
from drawloom.structured import block_diagonal, concat, dense, diagonal, fold, hadamard, identity, kronecker, normalize_columns, permute, select

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
    "LOST": (0.7 * (dense("a") @ dense("b")) + 0.3 * (select(6, 3, K) @ dense("p")), {"a": A, "b": B, "p": (6, N)}, "abp",
             lambda a, b, p: 0.7 * a @ b + 0.3 * torch.cat([torch.zeros(3, N, dtype=a.dtype), p, torch.zeros(K - 9, N, dtype=a.dtype)])),
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
