# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with frozen weights in codes of a few bits compute with the matrix that the codes stand for, whoever made them."""

import copy
import math
import types

import numpy as np
import pytest
import torch

from drawloom import CallError
from drawloom.structured import FORMATS
from drawloom.torch import QuantizedTensor, quantize, read_gguf
from drawloom.torch._quantized import of_gguf, values_of
from drawloom.torch.nn import DoRALinear, LoRALinear, QDoRALinear, QLoRALinear, QuantizedLinear
from structured.trees import FP4, NF4

TABLES = {"nf4": NF4, "fp4": np.concatenate((FP4, -FP4))}


def weight_of(rows=12, row=128, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, row, generator=generator) * torch.rand(rows, 1, generator=generator)


def linear_of(inputs=128, outputs=12, bias=True):
    base = torch.nn.Linear(inputs, outputs, bias)
    with torch.no_grad():
        base.weight.copy_(weight_of(outputs, inputs))
    return base


def trained(layer):
    torch.manual_seed(1)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return layer


def size_of(layer):
    """What the elements of a layer's weight are sums of, in absolute values: those of the base and of the adapter of scale 16 / r."""
    a, b = layer.lora_a.detach().double(), layer.lora_b.detach().double()
    scale = 16 / a.shape[0]
    base = layer.quantized.dequantize(torch.float64)
    size = base.abs() + scale * b.abs() @ a.abs()
    if isinstance(layer, QDoRALinear):
        size = size * (layer.magnitude.detach().double().abs() / (base + scale * b @ a).norm(dim=1))[:, None]
    return size


def rounding(layer):
    """How far an element may be off in float32, of its size: it is a code times its scale, r products and their sums. QDoRA's lengths are roots
    of sums of 128 squares in closed form, each of three sums of as many terms, whose digits may cancel to a part of them."""
    count = layer.lora_a.shape[0] + 5
    return (count + (3 * 128 if isinstance(layer, QDoRALinear) else 0)) * 2.0**-24


@pytest.mark.parametrize("group", [2, 32, 128])
@pytest.mark.parametrize("format", TABLES)
def test_codes_are_those_of_the_nearest_values(format, group):
    weight = weight_of()
    weight[3] = 0
    found = quantize(weight, format=format, group=group, double_scales=False)
    rows = weight.numpy().reshape(12, -1, group).astype(np.float64)
    largest = np.abs(rows).max(2)
    assert np.array_equal(found.scales.numpy(), largest)
    distances = np.abs(rows[..., None] / np.where(largest, largest, 1)[..., None, None] - TABLES[format].astype(np.float64))
    # Codes of one value, zero and minus zero, are as good as each other.
    assert np.array_equal(TABLES[format][found.elements().numpy()], TABLES[format][distances.argmin(-1)])
    assert np.array_equal(found.dequantize().numpy(), (TABLES[format][distances.argmin(-1)] * np.float32(largest)[..., None]).reshape(12, 128))


def test_of_two_nearest_values_it_is_the_lower_one():
    middle = (NF4[1:] + NF4[:-1]) / 2
    weight = torch.from_numpy(np.concatenate((middle, [1])))[None]
    assert quantize(weight, group=16).elements().flatten().tolist() == [*range(15), 15]


def test_double_scales_are_near_the_scales():
    one, double = (quantize(weight_of(96, 1024), double_scales=both) for both in (False, True))
    kept, table = double.scales, double.scales.table
    assert len(table) == 256 and table.unique().equal(table) and kept.codes.dtype == torch.uint8 and len(kept.scales) == 96 * 16 // 256
    rest = (one.scales.double() - kept.offset.double()).view(-1, 256)
    assert kept.scales.equal(rest.abs().amax(1).float())
    # A number is at most half a gap of the table from its neighbour, and so is its scale.
    gap = table.double().diff().max() / 2 * kept.scales.double()[:, None]
    assert ((kept.float().double().view(-1, 256) - kept.offset.double() - rest).abs() <= gap * (1 + 1e-6)).all()
    assert torch.equal(one.elements(), double.elements())


@pytest.mark.parametrize("packing", ["low_first", "high_first", "parts"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_matrix_is_the_same_in_any_packing(format, packing):
    bits = FORMATS[format]
    generator = torch.Generator().manual_seed(2)
    # Of 8 bits finite floats of some size.
    codes = torch.randint(0, 0x48 if format.startswith("f8") else 0x100, (6, 8), generator=generator).to(torch.uint8)
    one = QuantizedTensor(codes, torch.rand(6, 2, generator=generator), torch.rand(6, 2, generator=generator), format, packing, (6, 64 // bits))
    expected = one.dequantize()
    assert all(torch.equal(one.packed(other).dequantize(), expected) for other in ("low_first", "high_first", "parts"))
    assert torch.equal(one.packed("parts").packed(packing).codes, codes)
    # And it is the one that the compiler's term computes with, which may round once where this rounds the product and the sum.
    found = QuantizedLinear(one)(torch.eye(64 // bits)).T
    torch.testing.assert_close(found, expected, rtol=2 ** -23, atol=2 ** -24 * values_of(format)[one.elements().int()].abs().max().item())


# Sums of 128 terms and of 3 that are about as large as their terms.
TOLERANCES = {torch.float64: 1e-13, torch.float32: 1e-5, torch.bfloat16: 2e-2}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("kind", [QLoRALinear, QDoRALinear])
def test_values_and_gradients_are_those_of_the_formula(kind, dtype):
    layer = trained(kind(linear_of(), r=3, alpha=6))
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(2, 5, 128, generator=generator).to(dtype).requires_grad_()
    given = torch.randn(2, 5, 12, generator=generator).to(dtype)
    y = layer(x)
    assert y.dtype == dtype
    y.backward(given)

    wide = x.detach().double().requires_grad_()
    a, b = (one.detach().double().requires_grad_() for one in (layer.lora_a, layer.lora_b))
    weight = layer.quantized.dequantize(torch.float64) + 2.0 * b @ a
    if kind is QDoRALinear:
        magnitude = layer.magnitude.detach().double().requires_grad_()
        weight = (magnitude / weight.detach().norm(dim=1))[:, None] * weight
    expected = torch.nn.functional.linear(wide, weight, layer.bias.double())
    expected.backward(given.double())
    pairs = [(y, expected), (x.grad, wide.grad), (layer.lora_a.grad, a.grad), (layer.lora_b.grad, b.grad)]
    if kind is QDoRALinear:
        pairs.append((layer.magnitude.grad, magnitude.grad))
    for found, wanted in pairs:
        # Parameters have gradients in float32, and lengths of rows are computed in it.
        limit = TOLERANCES[torch.float32] if dtype == torch.float64 and (found.dtype == torch.float32 or kind is QDoRALinear) else TOLERANCES[dtype]
        assert (found.double() - wanted).norm() <= limit * wanted.norm()
    assert ((layer.materialize().double() - weight.detach()).abs() <= rounding(layer) * size_of(layer)).all()


@pytest.mark.parametrize("kind", [LoRALinear, DoRALinear, QLoRALinear, QDoRALinear])
def test_dropout_is_of_the_adapters_rows(kind):
    layer = trained(kind(linear_of(), r=3, alpha=6, dropout=0.5))
    weight = (layer.quantized.dequantize() if hasattr(layer, "quantized") else layer.weight).double()
    x, given = torch.randn(2, 5, 128).requires_grad_(), torch.randn(2, 5, 12)
    torch.manual_seed(4)
    y = layer(x)
    found = [y, *torch.autograd.grad(y, [x, *layer.parameters()], given)]

    torch.manual_seed(4)
    kept = (torch.nn.functional.dropout(torch.ones_like(x), 0.5) * x).double()
    a, b = layer.lora_a.double(), layer.lora_b.double()
    if hasattr(layer, "magnitude"):
        changed = weight + 2.0 * b @ a
        gain = layer.magnitude.double() / changed.detach().norm(dim=1)
        expected = (x.double() - kept) @ weight.T + gain * (kept @ changed.T) + layer.bias.double()
    else:
        expected = x.double() @ weight.T + 2.0 * kept @ a.T @ b.T + layer.bias.double()
    wanted = [expected, *torch.autograd.grad(expected, [x, *layer.parameters()], given.double())]
    for one, other in zip(found, wanted, strict=True):
        assert (one.double() - other).norm() <= TOLERANCES[torch.float32] * other.double().norm()
    layer.eval()
    torch.testing.assert_close(layer(x), torch.nn.functional.linear(x, layer.merge().weight, layer.bias))
    with pytest.raises(CallError, match=f"{kind.__name__}: dropout is 1; it is a probability below 1"):
        kind(linear_of(), dropout=1)


def test_an_untrained_layer_is_its_base_in_codes():
    base = linear_of()
    x = torch.randn(7, 128)
    expected = torch.nn.functional.linear(x, quantize(base.weight).dequantize(), base.bias)
    for layer in (QLoRALinear(base), QDoRALinear(base), QLoRALinear(QuantizedLinear(quantize(base.weight), base.bias))):
        torch.testing.assert_close(layer(x), expected)
        assert {name for name, _ in layer.named_parameters()} - {"magnitude"} == {"lora_a", "lora_b"}
    assert QLoRALinear(base, 4, 6.0).scale == 1.5 and QLoRALinear(base, 4, 6.0, rslora=True).scale == 3.0


def test_a_weight_takes_little_more_than_its_bits():
    layer = QLoRALinear(torch.nn.Linear(1024, 256, bias=False))
    assert sum(one.numel() * one.element_size() for one in layer.buffers()) <= 0.52 * 1024 * 256


@pytest.mark.parametrize("double_scales", [False, True])
@pytest.mark.parametrize("kind", [QLoRALinear, QDoRALinear])
def test_states_and_copies_are_the_same_layer(kind, double_scales):
    layer = trained(kind(linear_of(), r=3, double_scales=double_scales))
    other = kind(torch.nn.Linear(128, 12), r=3, double_scales=double_scales)
    other.load_state_dict(layer.state_dict())
    x = torch.randn(4, 128)
    assert torch.equal(other(x), layer(x)) and torch.equal(copy.deepcopy(layer)(x), layer(x))


@pytest.mark.parametrize("kind", [QLoRALinear, QDoRALinear])
def test_one_graph_holds_a_layer(kind):
    layer = trained(kind(linear_of(), r=3))
    x = torch.randn(4, 128, requires_grad=True)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    (expected,), (found,) = (torch.autograd.grad(one(x).sum(), x) for one in (layer, compiled))
    assert torch.equal(compiled(x), layer(x)) and torch.equal(found, expected)


@pytest.mark.parametrize("change", [torch.nn.Module.bfloat16, torch.nn.Module.half, torch.nn.Module.double])
@pytest.mark.parametrize("double_scales", [False, True])
def test_the_type_of_a_layer_is_not_that_of_its_weight(change, double_scales):
    layer = QDoRALinear(linear_of(), double_scales=double_scales)
    before, squares = layer.quantized.dequantize(), layer.squares
    change(layer)
    assert torch.equal(layer.quantized.dequantize(), before) and torch.equal(layer.squares, squares)
    assert layer.lora_a.dtype == layer.bias.dtype != torch.float32


def test_autocast_keeps_the_scales():
    layer = trained(QLoRALinear(linear_of(bias=False), double_scales=False))
    x = torch.randn(5, 128)
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x)
    assert torch.equal(y, layer(x.bfloat16()))


@pytest.mark.parametrize("kind", [QLoRALinear, QDoRALinear])
def test_merged(kind):
    layer = trained(kind(linear_of(), r=3))
    x = torch.randn(5, 128)
    with torch.no_grad():
        expected = layer(x)
        merged = layer.merge()
        assert type(merged) is torch.nn.Linear
        # A sum of 128 terms on each side, of weights that are rounded themselves.
        limit = 2 * (128 * 2.0**-24 + rounding(layer)) * (x.double().abs() @ size_of(layer).T + layer.bias.double().abs())
        assert ((merged(x) - expected).abs() <= limit).all()
        assert ((layer.merge_()(x) - expected).abs() <= limit).all()
        assert torch.equal(layer.unmerge_()(x), expected)
    with pytest.raises(CallError, match="the layer is merged"):
        layer.merge_()(x)


@pytest.mark.parametrize("ours, wide", [(QLoRALinear, LoRALinear), (QDoRALinear, DoRALinear)])
def test_adapters_go_to_peft_and_back(ours, wide):
    base = linear_of()
    one, other = trained(wide(base, r=3)), ours(base, r=3)
    other.load_peft_state_dict(one.peft_state_dict(None), None)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert list(other.peft_state_dict(None)) == list(one.peft_state_dict(None))
    with pytest.raises(CallError, match="the layer has nothing for 'base_layer.weight'"):
        other.load_peft_state_dict(one.peft_state_dict())


def test_trains():
    torch.manual_seed(0)
    layer, target = QLoRALinear(torch.nn.Linear(64, 8), r=8), torch.nn.Linear(64, 8)
    optimizer, x = torch.optim.Adam(layer.parameters(), 0.02), torch.randn(64, 64)
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        loss = (layer(x) - layer.bias - target(x) + target.bias).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 1e-2 * losses[0]


# --- bitsandbytes -------------------------------------------------------------------------------------------------------


def like_bitsandbytes(nested, inputs=128, block=64):
    """A layer with what a bitsandbytes.nn.Linear4bit has, and the matrix that it stands for, in float64."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 16, 12 * inputs)
    layer = torch.nn.Linear(inputs, 12)
    layer.weight = torch.nn.Parameter(torch.from_numpy((codes[::2] << 4 | codes[1::2]).astype(np.uint8)[:, None]), requires_grad=False)
    count = codes.size // block
    if nested:
        absmax, code, second = rng.integers(0, 256, count), np.sort(rng.uniform(-1, 1, 256)), np.float64([0.25])
        scales = np.float32(code)[absmax].astype(np.float64) * second[np.arange(count) // 256] + 0.5
        state2 = types.SimpleNamespace(code=torch.tensor(code, dtype=torch.float32), absmax=torch.tensor(second, dtype=torch.float32), blocksize=256)
        kept = {"absmax": torch.from_numpy(absmax.astype(np.uint8)), "offset": torch.tensor(0.5), "state2": state2}
    else:
        scales = rng.uniform(0.1, 1, count).astype(np.float32)
        kept = {"absmax": torch.from_numpy(scales)}
    layer.weight.quant_state = types.SimpleNamespace(shape=torch.Size((12, inputs)), blocksize=block, quant_type="nf4", nested=nested, **kept)
    return layer, (NF4[codes].astype(np.float64).reshape(-1, block) * scales[:, None]).reshape(12, inputs)


@pytest.mark.parametrize("nested", [False, True])
def test_layers_of_bitsandbytes_are_read_as_they_are(nested):
    base, expected = like_bitsandbytes(nested)
    # Bytes may be kept as another type.
    base.weight.data = base.weight.data.view(-1).view(torch.bfloat16)[:, None]
    layer = QLoRALinear(base, r=3)
    # The scales and the products are rounded to float32, three times.
    torch.testing.assert_close(layer.quantized.dequantize().double(), torch.from_numpy(expected), rtol=3 * 2 ** -24, atol=3 * 2 ** -24)
    assert torch.equal(layer.bias, base.bias)


def test_layers_of_bitsandbytes_that_cannot_be_read_are_refused():
    base, _ = like_bitsandbytes(False)
    base.weight.quant_state.packing_format_for_cpu = True
    with pytest.raises(CallError, match="has repacked the layer's weight for inference"):
        QLoRALinear(base)
    base.weight.quant_state = None
    with pytest.raises(CallError, match="has no codes yet"):
        QLoRALinear(base)
    with pytest.raises(CallError, match="96 inputs are no multiple of bitsandbytes' block of 64"):
        QLoRALinear(like_bitsandbytes(False, inputs=96)[0])


# --- GGUF ---------------------------------------------------------------------------------------------------------------


def blocks_of(kind, rows, count):
    """Bytes of a tensor [rows, 32 count], and the numbers that they stand for."""
    rng = np.random.default_rng(5)
    halves = rng.uniform(-1, 1, (rows, count, 2)).astype(np.float16)
    scales, offsets = halves.astype(np.float32)[..., :1], halves.astype(np.float32)[..., 1:]
    if kind == "Q8_0":
        codes = rng.integers(-128, 128, (rows, count, 32)).astype(np.int8)
        parts, values = [halves[..., :1].view(np.uint8), codes.view(np.uint8)], scales * codes
    else:
        codes = rng.integers(0, 16, (rows, count, 32)).astype(np.uint8)
        packed = codes[..., :16] | codes[..., 16:] << 4
        if kind == "Q4_0":
            parts, values = [halves[..., :1].view(np.uint8), packed], scales * (codes.astype(np.float32) - 8)
        else:
            parts, values = [halves.view(np.uint8), packed], scales * codes + offsets
    return np.concatenate(parts, -1).reshape(rows, -1), values.reshape(rows, -1)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q8_0"])
def test_blocks_of_gguf_are_read_as_they_are(kind):
    data, values = blocks_of(kind, 12, 4)
    found = of_gguf(torch.from_numpy(data.reshape(-1)), kind, (3, 4, 128))
    assert found.shape == (3, 4, 128) and found.group == 32 and np.array_equal(found.dequantize().numpy(), values.reshape(3, 4, 128))
    layer = QLoRALinear(of_gguf(torch.from_numpy(data.reshape(-1)), kind, (12, 128)), r=3)
    assert torch.equal(layer(torch.eye(128)).T, torch.from_numpy(values))
    with pytest.raises(CallError, match=r"has the shape \[3, 4, 128\]; it is a matrix"):
        QuantizedLinear(found)


def test_files_of_gguf_are_read(tmp_path):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    expected, types_ = {}, gguf.GGMLQuantizationType
    for kind in ("Q4_0", "Q4_1", "Q8_0"):
        data, expected[kind] = blocks_of(kind, 6, 2)
        writer.add_tensor(kind, data, raw_dtype=types_[kind])
    for kind in ("F32", "F16", "BF16"):
        expected[kind] = np.float32([[1, -2.5, 0.125], [3, 0, 7]])
        writer.add_tensor(kind, gguf.quants.quantize(expected[kind], types_[kind]), raw_dtype=types_[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = read_gguf(tmp_path / "model.gguf")
    assert set(found) == set(expected) and found["F16"].dtype == torch.float16 and found["BF16"].dtype == torch.bfloat16
    for kind, one in found.items():
        numbers = one.dequantize() if isinstance(one, QuantizedTensor) else one.float()
        assert np.array_equal(numbers.numpy(), expected[kind])


def test_what_gguf_files_may_not_hold_is_refused(tmp_path):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    writer.add_tensor("blk.0.attn_q.weight", np.zeros((2, 210), np.uint8), raw_dtype=gguf.GGMLQuantizationType.Q6_K)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(CallError, match="the tensor 'blk.0.attn_q.weight' is Q6_K; F32, F16, BF16, Q4_0, Q4_1, Q8_0 are read"):
        read_gguf(tmp_path / "model.gguf")
    (tmp_path / "text").write_text("no file of GGUF" * 10)
    with pytest.raises(CallError, match="is no GGUF file that can be read"):
        read_gguf(tmp_path / "text")


# --- what does not fit --------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused():
    base, codes, scales = linear_of(), torch.zeros(4, 8, dtype=torch.uint8), torch.ones(4, 1)
    for refused, message in (
        (lambda: QLoRALinear(base, r=0), "QLoRALinear: r is 0; it is a number from 1"),
        (lambda: QLoRALinear(base, alpha=math.nan), "alpha is nan; it is a finite number"),
        (lambda: QLoRALinear(torch.nn.Identity()), "a QuantizedLinear or a QuantizedTensor, not a Identity"),
        (lambda: QLoRALinear(base, format="int3"), "quantize: format is 'int3'; it is one of nf4, fp4"),
        (lambda: QLoRALinear(base, group=96), "group is 96; it is an even number that divides the 128 elements of a row"),
        (lambda: QuantizedLinear(base.weight), "the weight is a QuantizedTensor, not a Parameter"),
        (lambda: quantize(torch.ones(4)), "weight is torch.float32 [4]; it is a matrix [out, in] of floats"),
        (lambda: QuantizedTensor(codes, scales, None, "nf5", "parts", (4, 16)), "format is 'nf5'"),
        (lambda: QuantizedTensor(codes, scales, None, "nf4", "last", (4, 16)), "packing is 'last'"),
        (lambda: QuantizedTensor(codes, scales, None, "nf4", "parts", (4, 8)), "for [4, 8] in nf4 they are torch.uint8 [4, 4]"),
        (lambda: QuantizedTensor(codes, torch.ones(4, 3), None, "nf4", "parts", (4, 16)), "they are [4, G], and G divides the 8 bytes"),
        (lambda: QuantizedTensor(codes, scales, torch.ones(4), "nf4", "parts", (4, 16)), "offsets have the shape [4]; the scales have [4, 1]"),
    ):
        with pytest.raises(CallError) as caught:
            refused()
        assert message in str(caught.value)


@pytest.mark.parametrize("format", FORMATS)
def test_values_of_a_format(format):
    values, bits = values_of(format).tolist(), FORMATS[format]
    if format in TABLES:
        assert values == TABLES[format].tolist()
    elif format.startswith("f8"):
        assert values[0x38 if format == "f8e4m3fn" else 0x3C] == 1.0 and values[1] == (2 ** -9 if format == "f8e4m3fn" else 2 ** -16)
    else:
        assert sorted(values) == [code - (2 ** (bits - 1) if format[0] == "i" else 0) for code in range(2 ** bits)] and values[1] in (1, -1)
