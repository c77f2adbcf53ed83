# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices that are quantised or pruned while they train: values, straight-through derivatives, stochastic rounding."""

import math

import numpy as np
import pytest
import torch

import drawloom.torch as dt
from drawloom import CallError
from drawloom.structured import FORMATS, n_of_m, sparse
from structured import trees

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


# Sums of n = 6 products in float64, in two orders: each is off by n 2^-53 of the sum of their sizes, and numbers are below 4 in size.
SUMS = {"rtol": 0, "atol": 2 * 6 * (6 * 4 * 4) * 2.0**-53}


def values_of(format):
    """What the codes of a format stand for, without what is no number."""
    if format == "e2m1":
        return np.concatenate((E2M1, -E2M1))
    bits, value = trees.FORMATS[format]
    values = np.asarray(value(np.arange(2**bits)), np.float64)
    return values[:0x7C] if format == "f8e5m2" else values[:0x7F] if format == "f8e4m3fn" else values


def signed_values_of(format):
    values = values_of(format)
    return np.concatenate((values, -values)) if format.startswith("f8") else values


def weight_of(rows=6, row=64, dtype=torch.float32, seed=0):
    return torch.randn(rows, row, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("format", [*FORMATS, "e2m1"])
def test_values_are_the_nearest_of_the_format(format):
    weight, values = weight_of(), signed_values_of(format)
    found = dt.fake_quantize(weight, format=format, group=16, double_scales=False).double().numpy().reshape(6, 4, 16)
    rows = weight.double().numpy().reshape(6, 4, 16)
    offset = rows.min(2, keepdims=True) if format.startswith("uint") else 0
    scale = np.abs(rows - offset).max(2, keepdims=True) / values.max()
    nearest = np.abs((rows - offset)[..., None] - values * scale[..., None]).min(3)
    # The difference, the quotient, the scale and the value are rounded to float32: each by 2^-24 of what is as large as the group's largest.
    assert (np.abs(found - rows) <= nearest + 8 * 2.0**-24 * np.abs(rows).max(2, keepdims=True)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("double_scales", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_training_has_the_bits_of_what_is_kept(format, double_scales, dtype):
    weight = weight_of(dtype=dtype).requires_grad_()
    options = {"format": format, "group": 16, "double_scales": double_scales}
    found = dt.fake_quantize(weight, **options)
    assert found.dtype == dtype and torch.equal(found, dt.quantize(weight, **options).dequantize(dtype))
    g = torch.randn_like(found)
    assert torch.equal(torch.autograd.grad(found, weight, g)[0], g)


@pytest.mark.parametrize("format", ["int4", "uint4", "nf4", "e2m1"])
def test_given_scales_and_offsets_train(format):
    weight = weight_of(dtype=torch.float64).requires_grad_()
    low, high = values_of(format).min(), values_of(format).max()
    # Two thirds of the range that there is, so that some elements are outside.
    scales = (torch.rand(6, 4, dtype=torch.float64) + 0.5).mul_(2 / high).requires_grad_()
    offsets = torch.full((6, 4), -0.5 if low else -1.5, dtype=torch.float64).requires_grad_()
    found = dt.fake_quantize(weight, format=format, scales=scales, offsets=offsets)
    g = torch.randn_like(found)
    gradients = torch.autograd.grad(found, (weight, scales, offsets), g)

    w, s, z, g = (one.detach().numpy() for one in (weight.view(6, 4, 16), scales[..., None], offsets[..., None], g.view(6, 4, 16)))
    u = (w - z) / s
    inside = (low <= u) & (u <= high)
    assert inside.any() and not inside.all()
    values = values_of(format)
    code = values[np.abs(np.clip(u, low, high)[..., None] - values).argmin(-1)]
    wanted = code * s + z, g * inside, (g * np.where(inside, code - u, code)).sum(2), (g * ~inside).sum(2)
    for one, other in zip((found, *gradients), wanted):
        # Sums of 16 terms that are not larger than the values, each of three roundings.
        np.testing.assert_allclose(one.detach().numpy().reshape(other.shape), other, rtol=0, atol=64 * 2.0**-53 * 16 * np.abs(values).max())


def test_what_was_trained_is_exported():
    weight, scales, offsets = weight_of(), torch.rand(6, 2) + 0.1, torch.randn(6, 2)
    trained = dt.fake_quantize(weight, format="uint4", scales=scales, offsets=offsets)
    kept = dt.quantize(weight, format="uint4", scales=scales, offsets=offsets)
    assert torch.equal(kept.dequantize(), trained) and kept.group == 32
    x = torch.randn(5, 64)
    # 64 products and their sums on each side.
    bound = 2 * 65 * 2.0**-24 * (x.abs() @ (kept.scales.float().repeat_interleave(32, 1) * 15 + offsets.abs().repeat_interleave(32, 1)).T)
    assert ((dt.nn.QuantizedLinear(kept)(x) - torch.nn.functional.linear(x, trained)).abs() <= bound).all()


@pytest.mark.parametrize("format", ["nf4", "int4", "uint2", "int8", "f8e4m3fn", "e2m1"])
def test_stochastic_rounding_has_the_mean_of_what_is_rounded(format):
    count, elements = 4000, 48
    weight = weight_of(1, elements, seed=3)
    generator = torch.Generator().manual_seed(1)
    options = {"format": format, "group": elements, "double_scales": False}
    drawn = dt.fake_quantize(weight.expand(count, elements), generator=generator, **options).double()
    nearest = dt.fake_quantize(weight, **options).double()
    low, high = drawn.amin(0), drawn.amax(0)
    # One of the two neighbours, of which one is the nearest.
    assert all(len(column.unique()) <= 2 for column in drawn.T) and ((nearest == low) | (nearest == high)).all()
    # Hoeffding: a mean of n numbers within a gap is off by t with a probability of at most 2 exp(-2 n t^2 / gap^2). With 10^-9 for all:
    bound = (high - low) * math.sqrt(math.log(2 * elements / 1e-9) / (2 * count))
    # Float32 rounds w / s, and numbers that are drawn are multiples of 2^-24.
    assert ((drawn.mean(0) - weight[0]).abs() <= bound + 8 * 2.0**-24 * weight.abs().max()).all()
    assert bool((high > low).any())


@pytest.mark.parametrize("format", ["int2", "int4", "uint4", "int8", "uint8", "e2m1"])
def test_of_two_nearest_values_it_is_the_lower_one(format):
    values = np.sort(np.unique(values_of(format)))
    middle = torch.from_numpy(((values[1:] + values[:-1]) / 2)[None])
    scales, offsets = torch.ones(1, 1), torch.zeros(1, 1)
    group = middle.repeat(1, 4)
    assert np.array_equal(dt.fake_quantize(group, format=format, scales=scales, offsets=offsets), np.tile(values[:-1], 4)[None])


def test_stochastic_rounding_is_the_generators():
    weight = weight_of()
    one, other = (dt.quantize(weight, format="int4", generator=torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(one.codes, other.codes) and not torch.equal(one.codes, dt.quantize(weight, format="int4").codes)
    # What a code stands for stays, whatever is drawn.
    whole = torch.arange(-7.0, 8).repeat(4, 16)[:, :64]
    assert torch.equal(dt.fake_quantize(whole, format="int4", scales=torch.ones(4, 1), generator=torch.Generator().manual_seed(0)), whole)


@pytest.mark.parametrize("block", [(1, 1), (2, 4)])
@pytest.mark.parametrize("own", [False, True])
def test_pruning_keeps_the_largest(block, own):
    weight, importance = weight_of(dtype=torch.float64).requires_grad_(), weight_of(seed=7).exp() if own else None
    found = dt.prune(weight, 0.25, block=block, importance=importance, decay=0.5)
    p, q = block
    sizes = (weight.detach().abs() if importance is None else importance).numpy().reshape(6 // p, p, 64 // q, q).sum((1, 3))
    kept = np.zeros(sizes.size, bool)
    kept[np.argsort(-sizes.ravel())[:sizes.size // 4]] = True
    mask = torch.from_numpy(np.kron(kept.reshape(sizes.shape), np.ones(block)))
    assert torch.equal(found, weight * mask)
    g = torch.randn_like(found)
    assert torch.equal(torch.autograd.grad(found, weight, g)[0], g + 0.5 * weight * (1 - mask))


@pytest.mark.parametrize("n, m", [(2, 4), (1, 8), (4, 4)])
def test_pruning_keeps_n_of_m(n, m):
    weight = weight_of(dtype=torch.float64).requires_grad_()
    found = dt.prune_n_of_m(weight, n, m)
    kept = found.detach().numpy().reshape(6, -1, m)
    for row, own in zip(kept.reshape(-1, m), weight.detach().numpy().reshape(-1, m)):
        assert sorted(abs(row))[m - n:] == sorted(abs(own))[m - n:] and (row != 0).sum() == n and set(row[row != 0]) <= set(own)
    g = torch.randn_like(found)
    assert torch.equal(torch.autograd.grad(found, weight, g)[0], g)
    values, places = dt.as_n_of_m(weight, n, m)
    x = torch.randn(5, 6, dtype=torch.float64)
    y = dt.structured_linear(x, n_of_m("v", "p", m), {"v": values, "p": places})
    torch.testing.assert_close(y, x @ found, **SUMS)
    # Through the leaves, only what is kept has gradients.
    g = torch.randn_like(y)
    torch.testing.assert_close(torch.autograd.grad(y, weight, g)[0], (x.T @ g) * (found != 0), **SUMS)


def test_of_equal_elements_the_first_are_kept():
    assert dt.prune_n_of_m(torch.ones(1, 4), 2, 4).tolist() == [[1, 1, 0, 0]]
    assert dt.prune(torch.ones(1, 4), 0.25).tolist() == [[1, 0, 0, 0]]
    assert dt.as_n_of_m(torch.zeros(1, 4), 2, 4)[1].tolist() == [[[0, 1]]]


@pytest.mark.parametrize("block", [(1, 1), (3, 4)])
def test_a_pruned_matrix_is_a_sparse_term(block):
    weight = weight_of(dtype=torch.float64).requires_grad_()
    pruned = dt.prune(weight, 0.3, block=block)
    values, pattern = dt.as_sparse(pruned, block=block)
    x = torch.randn(5, 6, dtype=torch.float64)
    y = dt.structured_linear(x, sparse("v", "p"), {"v": values, **pattern.leaves("p", torch.from_numpy)})
    torch.testing.assert_close(y, x @ pruned, **SUMS)
    g = torch.randn_like(y)
    torch.testing.assert_close(torch.autograd.grad(y, weight, g)[0], (x.T @ g) * (pruned != 0), **SUMS)
    assert len(dt.as_sparse(torch.zeros(6, 64), block=block)[0]) == 0


@pytest.mark.parametrize("change", [lambda w: dt.fake_quantize(w, format="int4", group=16), lambda w: dt.prune_n_of_m(w, 2, 4, decay=2e-4)],
                         ids=["quantised", "pruned"])
def test_trains_in_one_graph(change):
    torch.manual_seed(0)
    target, layer, x = torch.nn.Linear(64, 8), torch.nn.Linear(64, 8), torch.randn(256, 64)

    def step(layer):
        return (torch.nn.functional.linear(x, change(layer.weight), layer.bias) - torch.nn.functional.linear(x, change(target.weight), target.bias)
                ).square().mean()

    compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
    gradients = [torch.autograd.grad(one(layer), layer.weight)[0] for one in (step, compiled)]
    torch.testing.assert_close(*gradients)
    optimizer, losses = torch.optim.Adam(layer.parameters(), 0.01), []
    for _ in range(100):
        optimizer.zero_grad()
        loss = step(layer)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]


def test_pruning_is_mapped_and_differentiated_again():
    weight = weight_of(2, 8, torch.float64)
    batch = torch.stack([weight, 2 * weight])
    mapped = torch.func.vmap(torch.func.grad(lambda w: (dt.prune_n_of_m(w, 2, 4, decay=0.5) ** 2).sum()))(batch)
    kept = torch.stack([dt.prune_n_of_m(w, 2, 4) for w in batch])
    assert torch.equal(mapped, 2 * kept + 0.5 * (batch - kept))
    weight.requires_grad_()
    (first,) = torch.autograd.grad((dt.prune(weight, 0.5) ** 2).sum(), weight, create_graph=True)
    assert torch.equal(torch.autograd.grad(first.sum(), weight)[0], torch.full_like(weight, 2))


def test_what_does_not_fit_is_refused():
    weight = torch.ones(4, 8)
    for call, message in (
            (lambda: dt.fake_quantize(weight, format="int3"), "fake_quantize: format is 'int3'; it is one of nf4, fp4, .*, e2m1"),
            (lambda: dt.quantize(weight, format="e2m1"), "quantize: format is 'e2m1'"),
            (lambda: dt.fake_quantize(weight, group=3), "group is 3; it is an even number that divides the 8 elements of a row"),
            (lambda: dt.fake_quantize(weight, format="int2", group=2), "group is 2; it is a multiple of 4 that divides the 8 elements of a row"),
            (lambda: dt.fake_quantize(weight, format="int8", group=3), "group is 3; it is a number that divides the 8 elements of a row"),
            (lambda: dt.fake_quantize(weight, scales=torch.ones(4, 3)), r"scales have the shape \[4, 3\]; they are \[4, G\], and G divides the 8"),
            (lambda: dt.fake_quantize(weight, scales=torch.zeros(4, 1)), "a scale is 0; they are positive"),
            (lambda: dt.fake_quantize(weight, offsets=torch.zeros(4, 1)), "scales are not given; they are given together"),
            (lambda: dt.fake_quantize(weight.int()), "weight is torch.int32"),
            (lambda: dt.prune(weight, 1.5), "prune: density is 1.5; it is from 0 to 1"),
            (lambda: dt.prune(weight, 0.5, block=(3, 1)), r"prune: block is \[3, 1\]; it is a pair of extents that divide those of weight, \[4, 8\]"),
            (lambda: dt.prune(weight, 0.5, decay=-1), "decay is -1; it is a number from 0"),
            (lambda: dt.prune(weight, 0.5, importance=torch.ones(3)), r"importance has the shape \[3\], but weight \[4, 8\]"),
            (lambda: dt.prune_n_of_m(weight, 3, 2), "prune_n_of_m: n is 3; it is a number from 1 to 2"),
            (lambda: dt.as_n_of_m(weight, 1, 3), "m = 3 divides the elements of a row"),
            (lambda: dt.as_sparse(weight[0]), "as_sparse: block is")):
        with pytest.raises(CallError, match=message):
            call()
