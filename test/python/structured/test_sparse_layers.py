# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Codes, sparse weights, and adapters by rows: against dense matrices in float64."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import drawloom.torch as dt  # noqa: E402
from drawloom import CallError  # noqa: E402
from drawloom.structured import Pattern, dense, n_of_m, quantized, sparse  # noqa: E402


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def close(given, wanted, **options):
    # Some hundred roundings of 2^-53 of sums of numbers about 1, which reach some hundreds.
    torch.testing.assert_close(given, wanted, rtol=1e-12, atol=1e-12, **options)


def dense_of(layer):
    """The matrix of a pattern's layer, from its arrays."""
    starts, columns = layer.pattern_row_starts.tolist(), layer.pattern_columns.tolist()
    p, q = layer.values.shape[1:] if layer.values.ndim == 3 else (1, 1)
    rows = [r for r, (a, b) in enumerate(zip(starts, starts[1:])) for _ in range(a, b)]
    full = torch.zeros(layer.in_features, layer.out_features, dtype=layer.values.dtype)
    for e, (r, c) in enumerate(zip(rows, columns)):
        full[r * p:(r + 1) * p, c * q:(c + 1) * q] = layer.values[e].detach().reshape(p, q)
    return full


@pytest.mark.parametrize("block", [(1, 1), (4, 8), (3, 1)])
def test_a_block_sparse_layer_trains_its_blocks_alone(block):
    pattern = Pattern.of_mask(torch.rand(6, 5) < 0.4)
    layer = dt.nn.BlockSparseLinear(pattern, block, dtype=torch.float64)
    x = torch.randn(7, 3, layer.in_features, dtype=torch.float64, requires_grad=True)
    w = dense_of(layer).requires_grad_()
    y, wanted = layer(x), x @ w + layer.bias
    close(y, wanted)
    g = torch.randn_like(y)
    dx, dv = torch.autograd.grad(y, (x, layer.values), g)
    wanted_dx, dw = torch.autograd.grad(wanted, (x, w), g)
    close(dx, wanted_dx)
    layer.values.data = dv
    close(dense_of(layer), dw * (dense_of(dt.nn.BlockSparseLinear(pattern, block, dtype=torch.float64)) != 0))
    assert dv.shape == (len(pattern), *block)


def test_an_sltrain_layer_is_low_rank_and_sparse():
    layer = dt.nn.SLTrainLinear(20, 30, 4, density=0.1, seed=3, dtype=torch.float64)
    layer.b.data.normal_()
    x = torch.randn(9, 20, dtype=torch.float64)
    w = dense_of(layer).requires_grad_()
    y, wanted = layer(x), x @ (4 * layer.a @ layer.b + w) + layer.bias
    close(y, wanted)
    g = torch.randn_like(y)
    *given, values = torch.autograd.grad(y, (layer.a, layer.b, layer.bias, layer.values), g)
    *others, whole = torch.autograd.grad(wanted, (layer.a, layer.b, layer.bias, w), g)
    for one, other in zip(given, others):
        close(one, other)
    # The values are in the order of rows.
    close(values, whole[w != 0])
    assert layer.values.shape == (60,)
    other = dt.nn.SLTrainLinear(20, 30, 4, density=0.1, seed=3, dtype=torch.float64)
    assert torch.equal(layer.pattern_columns, other.pattern_columns)
    assert dt.nn.SLTrainLinear(4, 4, 2, density=0.0)(torch.randn(2, 4)).shape == (2, 4)


def test_a_sparse_gradient_is_central_differences():
    pattern = Pattern.of_mask(torch.rand(8, 6) < 0.5)
    values = torch.randn(len(pattern), dtype=torch.float64, requires_grad=True)
    x = torch.randn(5, 8, dtype=torch.float64, requires_grad=True)
    leaves = pattern.leaves("p", torch.from_numpy)
    assert torch.autograd.gradgradcheck(lambda x, v: dt.structured_linear(x, sparse("v", "p"), {"v": v, **leaves}).square(), (x, values))


def test_rows_have_the_same_bits_beside_any_others():
    pattern = Pattern.of_mask(torch.rand(64, 64) < 0.2)
    layer = dt.nn.BlockSparseLinear(pattern, (1, 1))
    x = torch.randn(200, 64)
    with torch.no_grad():
        all_rows = layer(x)
        assert all(torch.equal(layer(x[i:j]), all_rows[i:j]) for i, j in ((0, 1), (3, 20), (64, 130), (199, 200), (5, 5)))


@pytest.mark.parametrize("order", ["any", "sorted"])
def test_each_row_has_its_own_adapter(order):
    base = torch.nn.Linear(12, 20, dtype=torch.float64)
    layer = dt.nn.MultiLoRALinear(base, {"a": 4, "b": 2, "c": 3})
    layer.lora_b.data.normal_()
    layer.lora_b.data[1, :, 2:] = 0
    names = ["a", "b", None, "c"] * 5
    if order == "sorted":
        names.sort(key=str)
    x = torch.randn(len(names), 7, 12, dtype=torch.float64, requires_grad=True)
    y = layer(x, names)
    wanted = torch.stack([base(row) if name is None else base(row) + 16 / layer.ranks[name] * (
        row @ layer.lora_a[i].T @ layer.lora_b[i].T) for row, name, i in ((r, n, ["a", "b", "c", None].index(n)) for r, n in zip(x, names))])
    close(y, wanted)
    g = torch.randn_like(y)
    for given, other in zip(torch.autograd.grad(y, (x, layer.lora_a, layer.lora_b), g),
                            torch.autograd.grad(wanted, (x, layer.lora_a, layer.lora_b), g)):
        close(given, other)
    close(layer.merge("b")(x), base(x) + 8 * (x @ layer.lora_a[1].T @ layer.lora_b[1].T))


def test_a_batch_of_adapters_has_the_bits_of_each_alone():
    layer = dt.nn.MultiLoRALinear(torch.nn.Linear(64, 48), {"a": 8, "b": 8})
    layer.lora_b.data.normal_()
    x = torch.randn(6, 10, 64)
    names = ["a", "b", "b", "a", None, "a"]
    with torch.no_grad():
        together = layer(x, names)
        assert all(torch.equal(layer(x[i:i + 1], names[i:i + 1]), together[i:i + 1]) for i in range(6))


def test_padding_of_smaller_ranks_stays_zero():
    layer = dt.nn.MultiLoRALinear(torch.nn.Linear(8, 8), {"a": 1, "b": 4})
    optimizer = torch.optim.AdamW(layer.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.randn(16, 8), ["a", "b"] * 8).square().sum().backward()
        optimizer.step()
    assert not layer.lora_a[0, 1:].any() and not layer.lora_b[0, :, 1:].any() and layer.lora_b[0].any()


def test_adapters_that_nobody_has_get_zeros():
    layer = dt.nn.MultiLoRALinear(torch.nn.Linear(8, 8), {"a": 2, "b": 2})
    layer(torch.randn(0, 8), torch.zeros(0, dtype=torch.int64)).sum().backward()
    assert not layer.lora_a.grad.any()
    layer(torch.randn(3, 8), [None, None, None]).sum().backward()
    assert not layer.lora_a.grad.any() and not layer.lora_b.grad.any()


def test_two_of_four_are_a_dense_matrix_of_zeros():
    values = torch.randn(6, 4, 2, dtype=torch.float64, requires_grad=True)
    places = torch.tensor([[0, 1], [1, 3], [2, 0], [3, 2]], dtype=torch.uint8).expand(6, 4, 2).contiguous()
    w = torch.zeros(6, 4, 4, dtype=torch.float64).scatter(2, places.long(), values).reshape(6, 16)
    x = torch.randn(5, 6, dtype=torch.float64)
    y = dt.structured_linear(x, n_of_m("v", "p", 4), {"v": values, "p": places})
    close(y, x @ w)
    g = torch.randn_like(y)
    close(torch.autograd.grad(y, values, g)[0], torch.autograd.grad(x @ w, values, g)[0])


def test_places_are_checked_where_they_are_known():
    jax = pytest.importorskip("jax")
    import drawloom.jax as dj

    places, values = torch.tensor([[[0]], [[1]], [[1]], [[0]]], dtype=torch.int8), torch.randn(4, 1, 1)
    x, term = torch.randn(3, 4), n_of_m("v", "p", 2)
    wanted = dt.structured_linear(x, term, {"v": values, "p": places})
    compiled = torch.compile(lambda x, places: dt.structured_linear(x, term, {"v": values, "p": places}), backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(x, places), wanted)
    mapped = torch.func.vmap(lambda x, v: dt.structured_linear(x, term, {"v": v, "p": places}), (0, None))(x[:, None], values)
    assert torch.equal(mapped[:, 0], wanted)

    def of_jax(places):
        return dj.structured_linear(x.numpy(), term, {"v": values.numpy(), "p": places})

    for function in (of_jax, jax.jit(of_jax)):
        assert np.array_equal(function(places.numpy()), wanted)
    with pytest.raises(CallError, match="the places 'p' of n_of_m.* are from 0 to 1; there are some from 3 to 4"):
        of_jax(places.numpy() + 3)


def test_scales_of_codes_train():
    codes = torch.randint(0, 256, (6, 8), dtype=torch.uint8)
    scales = torch.rand(6, 2, dtype=torch.float64, requires_grad=True)
    offsets = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    w = torch.stack([codes & 15, codes >> 4], 2).reshape(6, 2, 8) * scales[:, :, None] + offsets[:, :, None]
    x = torch.randn(5, 6, dtype=torch.float64)
    y = dt.structured_linear(x, quantized("c", "s", "o", format="uint4"), {"c": codes, "s": scales, "o": offsets})
    close(y, x @ w.reshape(6, 16))
    for given, wanted in zip(torch.autograd.grad(y.sum(), (scales, offsets), retain_graph=True),
                             torch.autograd.grad((x @ w.reshape(6, 16)).sum(), (scales, offsets))):
        close(given, wanted)


def test_patterns_are_sorted_and_checked():
    pattern, order = Pattern.of_coordinates([2, 0, 2], [1, 3, 0], (3, 4))
    assert order.tolist() == [1, 2, 0] and [a.tolist() for a in pattern.arrays] == [[0, 1, 1, 3], [3, 0, 1], [0, 1, 2, 2, 3], [2, 2, 0], [1, 2, 0]]
    assert len(Pattern.of_mask(np.zeros((2, 3), bool))) == 0
    for arguments, message in (
            (([0, 2], [1, 0], 3), "columns 1 and 0 of row 0 do not rise; of_coordinates sorts them"),
            (([0, 1], [3], 3), "columns are from 0 to 2; there are some from 3 to 3"),
            (([0, 2, 1], [1, 2], 3), "row_starts rise from 0 to 2"),
            (([0.0, 1.0], [1], 3), "row_starts is float64")):
        with pytest.raises(CallError, match=message):
            Pattern(*arguments)
    with pytest.raises(CallError, match="row 1, column 1 is there more than once"):
        Pattern.of_coordinates([1, 1], [1, 1], (2, 2))
    with pytest.raises(CallError, match="rows are from 0 to 1; there are some from 0 to 2"):
        Pattern.of_coordinates([0, 2], [1, 1], (2, 2))


def test_what_does_not_fit_is_refused():
    x, codes, scales = torch.randn(2, 4), torch.zeros(4, 4, dtype=torch.uint8), torch.ones(4, 2)
    for term, leaves, message in (
            (quantized("c", "s", format="nf4"), {"c": codes, "s": torch.ones(4, 3)}, "4 bytes in a row of 'c' are not 3 groups"),
            (quantized("c", "s", format="nf4"), {"c": codes, "s": torch.ones(3, 1)}, "has 3 rows for 4 rows of codes"),
            (quantized("c", "s", format="nf4"), {"c": codes.int(), "s": scales}, "c is int32; codes and places are int8 or uint8"),
            (n_of_m("v", "p", 2), {"v": torch.ones(4, 2, 3), "p": torch.zeros(4, 2, 3, dtype=torch.int8)}, "3 values are not among 2 neighbours"),
            (n_of_m("v", "p", 2), {"v": torch.ones(4, 1, 1), "p": torch.full((4, 1, 1), 2, dtype=torch.uint8)},
             "the places 'p' of n_of_m.* are from 0 to 1; there are some from 2 to 2"),
            (dense("w") + n_of_m("v", "p", 2).T, {"w": torch.ones(4, 2), "v": torch.ones(2, 2, 1), "p": torch.full((2, 2, 1), -1, dtype=torch.int8)},
             "from 0 to 1; there are some from -1 to -1"),
            (dense("c") + quantized("c", "s", format="uint8"), {"c": codes, "s": scales}, "holds a number in one place and a code in another")):
        with pytest.raises((CallError, TypeError), match=message):
            dt.structured_linear(x, term, leaves)
    with pytest.raises(CallError, match="format is 'nf3'; it is one of nf4"):
        quantized("c", "s", format="nf3")
    layer = dt.nn.MultiLoRALinear(torch.nn.Linear(4, 4), {"a": 2})
    with pytest.raises(CallError, match="there is no adapter 'z'; there are a"):
        layer(x, ["a", "z"])
    with pytest.raises(CallError, match="there are adapters from 0 to 0, and -1 for none; `which` has numbers from 0 to 1"):
        layer(x, torch.tensor([0, 1]))
    with pytest.raises(CallError, match="it has an integer for each row"):
        layer(x, torch.tensor([0, 0, 0]))
    with pytest.raises(CallError, match="the rank of adapter 'a' is 0"):
        dt.nn.MultiLoRALinear(torch.nn.Linear(4, 4), {"a": 0})
    with pytest.raises(CallError, match="density is 2"):
        dt.nn.SLTrainLinear(4, 4, 2, density=2)


def test_autocast_takes_rows_with_adapters_in_half_precision():
    layer = dt.nn.MultiLoRALinear(torch.nn.Linear(32, 16), {"a": 4})
    layer.lora_b.data.normal_()
    x = torch.randn(20, 32)
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x, ["a"] * 20)
    assert y.dtype == torch.bfloat16
    # x, W, both factors, the narrow row, both results and their sum are rounded to 8 bits, each once.
    size = x.abs() @ (layer.weight.abs() + 4 * layer.lora_b[0].abs() @ layer.lora_a[0].abs()).T + layer.bias.abs()
    assert ((y.float() - layer(x, ["a"] * 20)).abs() <= 8 * 2.0**-8 * size).all()
    y.sum().backward()
    assert layer.lora_a.grad.dtype == torch.float32 and layer.lora_a.grad.any()


def test_shira_adds_sparse_values_to_a_frozen_matrix():
    w, x = torch.randn(8, 6, dtype=torch.float64), torch.randn(5, 8, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(8, 6) < 0.3
    pattern = Pattern.of_mask(mask)
    v = torch.randn(len(pattern), dtype=torch.float64, requires_grad=True)
    y = dt.structured_linear(x, dense("w") + 2.0 * sparse("v", "p"), {"w": w, "v": v, **pattern.leaves("p", torch.from_numpy)})
    wanted = x @ (w + 2 * torch.zeros(8, 6, dtype=torch.float64).masked_scatter(mask, v))
    close(y, wanted)
    g = torch.randn_like(y)
    for given, other in zip(torch.autograd.grad(y, (x, v), g), torch.autograd.grad(wanted, (x, v), g)):
        close(given, other)


def test_slope_is_two_of_four_and_a_low_rank_adapter():
    x = torch.randn(5, 8, dtype=torch.float64, requires_grad=True)
    values, a, b = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((8, 3, 2), (8, 2), (2, 12)))
    places = torch.tensor([0, 3], dtype=torch.int8).expand(8, 3, 2).contiguous()
    y = dt.structured_linear(x, n_of_m("v", "p", 4) + dense("a") @ dense("b"), {"v": values, "p": places, "a": a, "b": b})
    wanted = x @ (torch.zeros(8, 3, 4, dtype=torch.float64).scatter(2, places.long(), values).reshape(8, 12) + a @ b)
    close(y, wanted)
    g = torch.randn_like(y)
    for given, other in zip(torch.autograd.grad(y, (x, values, a, b), g), torch.autograd.grad(wanted, (x, values, a, b), g)):
        close(given, other)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("block", [(1, 1), (3, 2)])
def test_sparse_values_train_in_half_types(dtype, block):
    layer = dt.nn.BlockSparseLinear(Pattern.of_mask(torch.rand(4, 6) < 0.6), block, dtype=dtype)
    x = torch.randn(20, layer.in_features).to(dtype)
    (gradient,) = torch.autograd.grad(layer(x).sum(), layer.values)
    starts, p = layer.pattern_row_starts.tolist(), block[0]
    rows = [r for r, (a, b) in enumerate(zip(starts, starts[1:])) for _ in range(a, b)]
    wanted = torch.stack([x.double()[:, r * p:(r + 1) * p].sum(0)[:, None].expand(block) for r in rows])
    # One rounding of what is summed in float32, 20 terms with a rounding each.
    sizes = torch.stack([x.double().abs()[:, r * p:(r + 1) * p].sum(0)[:, None].expand(block) for r in rows])
    unit = 2.0**-8 if dtype is torch.bfloat16 else 2.0**-11
    assert ((gradient.double() - wanted).abs() <= unit * wanted.abs() + 20 * 2.0**-24 * sizes + torch.finfo(dtype).tiny).all()


def test_two_wide_products_share_rows_and_meet():
    # Each is cut along columns; what reads both belongs to one of them.
    x, v, w = torch.randn(70, 512, requires_grad=True), torch.randn(512, 1056), torch.randn(512, 1056)
    a, b = torch.randn(512, 2), torch.randn(2, 1056)
    y, z = dt.structured_linear(x, [dense("v") + dense("a") @ dense("b"), dense("w")], {"v": v, "w": w, "a": a, "b": b})
    (given,) = torch.autograd.grad(y.sum() + z.sum(), x)
    wanted = (v.double() + a.double() @ b.double() + w.double()).sum(1).expand(70, 512)
    # Sums of 1056 terms, of 2 and of 3, in float32.
    size = (v.abs() + a.abs() @ b.abs() + w.abs()).double().sum(1).expand(70, 512)
    assert ((given.double() - wanted).abs() <= (1056 + 2 + 3) * 2.0**-24 * size).all()


def test_which_is_any_kind_of_integer():
    layer = dt.nn.MultiLoRALinear(torch.nn.Linear(4, 4), {"a": 2, "b": 2})
    layer.lora_b.data.normal_()
    x, numbers = torch.randn(3, 4), [1, 0, 1]
    wanted = layer(x, torch.tensor(numbers))
    assert all(torch.equal(layer(x, torch.tensor(numbers, dtype=dtype)), wanted) for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32))
