# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices of which some elements are kept: to train with, and as the leaves of sparse terms."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

import torch
from torch import Tensor

from .._errors import CallError
from ..structured import Pattern


class _Kept(torch.autograd.Function):
    """The elements that a mask has, and zeros; its derivative is straight through, with a decay of the others."""

    generate_vmap_rule = True

    @staticmethod
    def forward(weight, mask, decay):
        return torch.where(mask, weight, 0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        weight, mask, ctx.decay = inputs
        ctx.save_for_backward(*((weight, mask) if ctx.decay else ()))

    @staticmethod
    def backward(ctx, gradient):
        if ctx.decay:
            weight, mask = ctx.saved_tensors
            gradient = torch.add(gradient, torch.where(mask, 0, weight), alpha=ctx.decay)
        return gradient, None, None


def _check(what, weight, decay, importance):
    if weight.dim() != 2 or not weight.is_floating_point():
        raise CallError(f"{what}: weight is {weight.dtype} {list(weight.shape)}; it is a matrix of floats")
    if not isinstance(decay, Real) or not decay >= 0:
        raise CallError(f"{what}: decay is {decay!r}; it is a number from 0")
    if importance is not None and importance.shape != weight.shape:
        raise CallError(f"{what}: importance has the shape {list(importance.shape)}, but weight {list(weight.shape)}")


def _check_n_of_m(what, weight, n, m):
    for name, value, most in (("m", m, 128), ("n", n, m)):
        if not isinstance(value, Integral) or not 1 <= value <= most:
            raise CallError(f"{what}: {name} is {value!r}; it is a number from 1 to {most}")
    if weight.dim() != 2 or weight.shape[1] % m:
        raise CallError(f"{what}: weight has the shape {list(weight.shape)}; it is a matrix, and m = {m} divides the elements of a row")


def _blocks(what, weight, block):
    """[R, C, p, q] of a matrix of R p x C q."""
    if weight.dim() != 2 or len(block) != 2 or not all(isinstance(one, Integral) and one > 0 for one in block) or any(
            extent % one for extent, one in zip(weight.shape, block)):
        raise CallError(f"{what}: block is {list(block)}; it is a pair of extents that divide those of weight, {list(weight.shape)}")
    p, q = block
    return weight.reshape(weight.shape[0] // p, p, weight.shape[1] // q, q).transpose(1, 2)


def _largest(importance, count):
    """Where the `count` largest of each row are; of equal ones the first."""
    if not count:
        return torch.zeros_like(importance, dtype=torch.bool)
    least = importance.kthvalue(importance.shape[-1] - count + 1, -1, keepdim=True).values
    above, equal = importance > least, importance == least
    return above | equal & (equal.cumsum(-1) <= count - above.sum(-1, keepdim=True))


def prune(weight: Tensor, density: float, *, block: Sequence[int] = (1, 1), importance: Tensor | None = None, decay: float = 0.0) -> Tensor:
    """A matrix of which a part is kept, the elements or blocks that are largest, and the others are zero; to train with.

    weight      [K, N], floats
    density     the part of the blocks that is kept
    block       extents of a block; (1, 1) are single elements
    importance  what each element counts, [K, N], and the elements of a block together; None for |w|
    decay       see below

    Derivatives are straight through: all of w, what is zero in the result too, has the result's gradient, and `decay` times w more where the
    result is zero (SR-STE, arXiv 2102.04010). `as_sparse` makes the leaves of a sparse term of the result; through these the kept ones
    alone have gradients.
    """
    _check("prune", weight, decay, importance)
    if not isinstance(density, Real) or not 0 <= density <= 1:
        raise CallError(f"prune: density is {density!r}; it is from 0 to 1")
    with torch.no_grad():
        sizes = _blocks("prune", weight.detach().abs() if importance is None else importance, block).sum((2, 3))
        kept = _largest(sizes.flatten(), round(density * sizes.numel())).view_as(sizes)
        mask = kept.repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)
    return _Kept.apply(weight, mask, decay)


def prune_n_of_m(weight: Tensor, n: int, m: int, *, importance: Tensor | None = None, decay: float = 0.0) -> Tensor:
    """A matrix of which the n largest of each m neighbours in a row are kept, and the others are zero; to train with (2:4 and its like). The
    other arguments and the derivatives are those of `prune`; `as_n_of_m` makes the leaves of an n_of_m term of the result."""
    _check("prune_n_of_m", weight, decay, importance)
    _check_n_of_m("prune_n_of_m", weight, n, m)
    with torch.no_grad():
        sizes = weight.detach().abs() if importance is None else importance
        mask = _largest(sizes.reshape(len(weight), -1, m), n).view_as(weight)
    return _Kept.apply(weight, mask, decay)


def as_sparse(weight: Tensor, *, block: Sequence[int] = (1, 1)) -> tuple[Tensor, Pattern]:
    """The blocks of a matrix that are not all zeros, [blocks, p, q], and their pattern: what `drawloom.structured.sparse` is made of. The blocks
    are differentiable."""
    blocks = _blocks("as_sparse", weight, block)
    mask = (blocks.detach() != 0).any(3).any(2)
    return blocks[mask], Pattern.of_mask(mask.cpu())


def as_n_of_m(weight: Tensor, n: int, m: int) -> tuple[Tensor, Tensor]:
    """The n largest of each m neighbours in a row, [K, N / m, n], and their places, int8: what `drawloom.structured.n_of_m` is made of. The
    values are differentiable."""
    _check_n_of_m("as_n_of_m", weight, n, m)
    groups = weight.reshape(len(weight), -1, m)
    with torch.no_grad():
        places = groups.abs().argsort(dim=-1, descending=True, stable=True)[..., :n].sort(-1).values
    return groups.gather(2, places), places.to(torch.int8)
