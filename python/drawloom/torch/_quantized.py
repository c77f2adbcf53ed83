# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices in codes of a few bits: made of floats, read from bitsandbytes' layers and from GGUF files."""

from __future__ import annotations

import functools
import importlib
import math
import os
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .._errors import CallError
from ..structured import FORMATS, PACKINGS

# The quantiles of the normal distribution (arXiv 2305.14314) and floats of 4 bits, both as bitsandbytes rounds them.
_TABLES = {
    "nf4": (-1.0, -0.69619280099868774, -0.52507305145263672, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
            -0.091050036251544952, 0.0, 0.079580299556255341, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
            0.44070982933044434, 0.56261700391769409, 0.72295683622360229, 1.0),
    "fp4": tuple(sign * value for sign in (1, -1) for value in (0.0, 1 / 192, 2 / 3, 1.0, 1 / 3, 1 / 2, 1 / 6, 1 / 4)),
    # Of the microscaling formats of the Open Compute Project; compiled programs do not decode it.
    "e2m1": tuple(sign * value for sign in (1, -1) for value in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)),
}


@functools.cache
def values_of(format: str) -> Tensor:
    """What each code of a format stands for, in float32."""
    if format in _TABLES:
        return torch.tensor(_TABLES[format])
    codes = torch.arange(2 ** FORMATS[format])
    if format.startswith("f8"):
        return codes.to(torch.uint8).view(torch.float8_e4m3fn if format == "f8e4m3fn" else torch.float8_e5m2).float()
    return (torch.where(codes < len(codes) // 2, codes, codes - len(codes)) if format.startswith("int") else codes).float()


def _packed(elements, bits, packing):
    """[K, G, group] -> [K, bytes]."""
    rows, groups, _ = elements.shape
    count = 8 // bits
    parts = elements.view(rows, groups, count, -1).unbind(2) if packing == "parts" else elements.view(rows, groups, -1, count).unbind(3)
    if packing == "high_first":
        parts = parts[::-1]
    return functools.reduce(torch.bitwise_or, [part << (i * bits) for i, part in enumerate(parts)]).view(rows, -1)


@dataclass(frozen=True, eq=False)
class DoubleScales:
    """Scales that are kept in codes of 8 bits themselves (arXiv 2305.14314, section 3), those of `block` neighbours with one scale:

        table[codes[i]] scales[i // block] + offset     for i counted through all of `codes`

    codes [K, G], table [256], scales [ceil(K G / block)], offset []
    """

    codes: Tensor
    table: Tensor
    scales: Tensor
    offset: Tensor
    block: int = 256

    @property
    def shape(self) -> torch.Size:
        """Of the scales, [K, G]."""
        return self.codes.shape

    def float(self) -> Tensor:
        """The scales, in float32."""
        values = self.table.index_select(0, self.codes.flatten().int())
        blocks = torch.nn.functional.pad(values, (0, -len(values) % self.block)).view(-1, self.block) * self.scales[:, None] + self.offset
        return blocks.flatten()[:len(values)].view_as(self.codes)


@dataclass(frozen=True, eq=False)
class QuantizedTensor:
    """A frozen tensor in codes of a few bits, those of `drawloom.structured.quantized`: value(code) scale + offset.

    codes    [K, bytes], uint8: those of K rows, where all dimensions of `shape` but the last are one
    scales   [K, G], floats or `DoubleScales`: those of G groups of neighbours in a row
    offsets  as scales, floats; or None
    format   what a code stands for
    packing  of several codes in a byte
    shape    of the tensor
    """

    codes: Tensor
    scales: Tensor | DoubleScales
    offsets: Tensor | None
    format: str
    packing: str
    shape: tuple[int, ...]

    def __post_init__(self):
        for name, value, known in (("format", self.format, FORMATS), ("packing", self.packing, PACKINGS)):
            if value not in known:
                raise CallError(f"QuantizedTensor: {name} is {value!r}; it is one of {', '.join(known)}")
        if not self.shape or min(self.shape) < 1:
            raise CallError(f"QuantizedTensor: the shape is {list(self.shape)}; it has a dimension or more, of extents from 1")
        rows, row = math.prod(self.shape[:-1]), self.shape[-1]
        if self.codes.dtype != torch.uint8 or self.codes.shape != (rows, row * FORMATS[self.format] / 8):
            raise CallError(f"QuantizedTensor: codes are {self.codes.dtype} {list(self.codes.shape)}; for {list(self.shape)} in {self.format} "
                            f"they are torch.uint8 [{rows}, {row * FORMATS[self.format] / 8:g}]")
        if len(self.scales.shape) != 2 or self.scales.shape[0] != rows or self.codes.shape[1] % max(self.scales.shape[1], 1):
            raise CallError(f"QuantizedTensor: scales have the shape {list(self.scales.shape)}; they are [{rows}, G], and G divides the "
                            f"{self.codes.shape[1]} bytes of a row")
        if self.offsets is not None and self.offsets.shape != self.scales.shape:
            raise CallError(f"QuantizedTensor: offsets have the shape {list(self.offsets.shape)}; the scales have {list(self.scales.shape)}")

    @property
    def group(self) -> int:
        """Elements that share a scale."""
        return self.shape[-1] // self.scales.shape[1]

    def elements(self) -> Tensor:
        """The code of each element, uint8 [K, G, group]."""
        bits, (rows, groups) = FORMATS[self.format], self.scales.shape
        shifts = range(8 - bits, -1, -bits) if self.packing == "high_first" else range(0, 8, bits)
        parts = [(self.codes.view(rows, groups, -1) >> shift) & (2 ** bits - 1) for shift in shifts]
        return torch.cat(parts, 2) if self.packing == "parts" else torch.stack(parts, 3).flatten(2)

    def packed(self, packing: str) -> QuantizedTensor:
        """The same elements in another packing."""
        bits = FORMATS[self.format]
        if packing == self.packing or bits == 8:
            return replace(self, packing=packing)
        return replace(self, codes=_packed(self.elements(), bits, packing), packing=packing)

    def dequantize(self, dtype: torch.dtype = torch.float32) -> Tensor:
        """The tensor in floats. It is computed in float32 and rounded to `dtype`; in float64 for float64."""
        computed = torch.promote_types(dtype, torch.float32)
        values = values_of(self.format).to(self.codes.device, computed)[self.elements().int()]
        values *= self.scales.float()[:, :, None].to(computed)
        if self.offsets is not None:
            values += self.offsets[:, :, None].to(computed)
        return values.view(self.shape).to(dtype)

    def __repr__(self) -> str:
        double = ", double scales" if isinstance(self.scales, DoubleScales) else ""
        return f"QuantizedTensor({list(self.shape)}, format='{self.format}', group={self.group}, packing='{self.packing}'{double})"


# --- of floats ----------------------------------------------------------------------------------------------------------


@functools.cache
@torch.compiler.assume_constant_result
def _in_order(format):
    """The numbers of a format, rising, and their codes. Some codes of eight bits are no numbers."""
    pairs = [(value, code) for code, value in enumerate(values_of(format).tolist()) if math.isfinite(value)]
    return tuple(zip(*sorted(pairs, key=lambda pair: pair[0])))


def _draw(like, generator):
    """Numbers from 0 to below 1."""
    return torch.rand(like.shape, generator=generator, device=like.device, dtype=like.dtype)


def _rounded(scaled, values, generator=None):
    """Index of the number of `values`, which rise, that is nearest; of two that are as near the lower one. In float32, as bitsandbytes computes
    it. With a generator one of the two neighbours, the nearer one the more often: the mean is what was given."""
    if generator is None:
        return torch.bucketize(scaled, (values[:-1] + values[1:]) / 2, out_int32=True)
    upper = torch.bucketize(scaled, values).clamp_(1, len(values) - 1)
    low, high = values[upper - 1], values[upper]
    return upper - (_draw(scaled, generator) >= (scaled - low) / (high - low)).int()


def _scaled(rows):
    """(rows divided by their largest absolute values, these), by way of the reciprocal."""
    largest = rows.abs().amax(-1)
    return rows * (1 / largest.clamp_min(1e-38))[..., None], largest


@functools.cache
def _dynamic_table():
    """The 256 numbers of signed dynamic trees (arXiv 2110.02861, section 1.2): those of each power of ten are the means of 2^i parts of
    0.1 to 1, of which there are the fewer the smaller it is."""
    found = [torch.tensor([0.0, 1.0])]
    for i in range(7):
        bounds = torch.linspace(0.1, 1, 2 ** i + 1)
        positive = 10 ** (i - 6) * ((bounds[:-1] + bounds[1:]) / 2)
        found += [positive, -positive]
    return torch.cat(found).sort().values


def _double(scales, block=256):
    offset = scales.mean()
    rest = (scales - offset).flatten()
    filled = torch.nn.functional.pad(rest, (0, -len(rest) % block)).view(-1, block)
    scaled, largest = _scaled(filled)
    table = _dynamic_table().to(scales.device)
    codes = _rounded(scaled, table).to(torch.uint8)
    return DoubleScales(codes.flatten()[:len(rest)].view_as(scales), table.clone(), largest, offset, block)


def _check_quantize(what, weight, format, formats, group, scales, offsets):
    if format not in formats:
        raise CallError(f"{what}: format is {format!r}; it is one of {', '.join(formats)}")
    if weight.dim() != 2 or not weight.is_floating_point() or 0 in weight.shape:
        raise CallError(f"{what}: weight is {weight.dtype} {list(weight.shape)}; it is a matrix [out, in] of floats, of extents from 1")
    rows, row = weight.shape
    if offsets is not None and (scales is None or offsets.shape != scales.shape):
        raise CallError(f"{what}: offsets have the shape {list(offsets.shape)}, scales {'are not given' if scales is None else list(scales.shape)}; "
                        "they are given together, in one shape")
    if scales is not None:
        if scales.dim() != 2 or scales.shape[0] != rows or row % max(scales.shape[1], 1):
            raise CallError(f"{what}: scales have the shape {list(scales.shape)}; they are [{rows}, G], and G divides the {row} elements of a row")
        group = row // scales.shape[1]
        if not torch.compiler.is_compiling() and not bool((scales > 0).all()):
            raise CallError(f"{what}: a scale is {scales.min().item():g}; they are positive")
    count = 8 // FORMATS.get(format, 8)
    if group < 1 or group % count or row % group:
        of = {1: "a number", 2: "an even number"}.get(count, f"a multiple of {count}")
        raise CallError(f"{what}: group is {group}; it is {of} that divides the {row} elements of a row")
    return group


def _coded(weight, format, group, scales, offsets, generator):
    """(codes [K, G, group], scales [K, G], offsets [K, G] or None) of a matrix."""
    rows = weight.float().reshape(len(weight), -1, group)
    values, numbers = _in_order(format)
    low, high = values[0], values[-1]
    if scales is not None:
        shifted = rows if offsets is None else rows - offsets[:, :, None].float()
        scaled = shifted / scales[:, :, None].float()
    elif low == 0:
        offsets = rows.amin(-1)
        scaled, largest = _scaled(rows - offsets[:, :, None])
        scaled, scales = scaled * high, largest / high
    else:
        scaled, largest = _scaled(rows)
        scaled, scales = scaled * high, largest / high
    scaled = scaled.clamp(low, high)
    if "int" in format:
        # As below, without a search. Codes are in two's complement.
        whole = (scaled - 0.5).ceil_() if generator is None else scaled.floor() + (_draw(scaled, generator) < scaled - scaled.floor())
        return (whole.to(torch.int16) & 2 ** FORMATS[format] - 1).to(torch.uint8), scales, offsets
    numbers = torch.tensor(numbers, dtype=torch.uint8, device=weight.device)
    return numbers[_rounded(scaled, torch.tensor(values, device=weight.device), generator)], scales, offsets


def quantize(weight: Tensor, *, format: str = "nf4", group: int = 64, double_scales: bool = True, scales: Tensor | None = None,
             offsets: Tensor | None = None, generator: torch.Generator | None = None) -> QuantizedTensor:
    """A matrix in codes: of each group of a row those whose values are nearest to w / max |w|, and max |w| as the scale (arXiv 2305.14314).

    weight           [out, in], floats
    format           "nf4" or "fp4", whose codes are bitsandbytes', bit for bit; or one of `drawloom.structured.quantized`: the largest of its
                     values stands for max |w|, and unsigned integers are of w - min w, which is the offset
    group            neighbours in a row that share a scale, so many that divide `in`, and whose codes fill bytes
    double_scales    whether scales are in codes of 8 bits, too
    scales, offsets  those to take instead, [out, G], so groups are of in / G and scales stay as they are; what is outside of
                     the range is at its end
    generator        rounds stochastically, by this generator's numbers: to one of the two neighbours, so that the mean is w
    """
    group = _check_quantize("quantize", weight, format, FORMATS, group, scales, offsets)
    with torch.no_grad():
        given = scales is not None
        codes, scales, offsets = _coded(weight, format, group, scales, offsets, generator)
        if given:
            scales, offsets = scales.detach(), None if offsets is None else offsets.detach()
        elif double_scales:
            scales = _double(scales)
        # Of a group the first part is in the low bits, the next above it.
        return QuantizedTensor(_packed(codes, FORMATS[format], "parts"), scales, offsets, format, "parts", tuple(weight.shape))


def fake_quantize(weight: Tensor, *, format: str = "nf4", group: int = 64, double_scales: bool = True, scales: Tensor | None = None,
                  offsets: Tensor | None = None, generator: torch.Generator | None = None) -> Tensor:
    """What `quantize` makes of a matrix, as floats, to train with: quantize(weight, ...).dequantize(), with straight-through derivatives.

    The gradient of `weight` is that of the result where w is inside the range of its group, and zero outside, which there is with given
    scales alone. `scales` and `offsets` that are given train, too, the codes as constants (arXiv 1902.08153, 2004.09576): each element
    adds g (c - u) to the gradient of its scale where u = (w - offset) / scale is inside the range, and g c outside, where it adds g to
    that of its offset. The arguments are those of `quantize`, and "e2m1" is a format besides.
    """
    group = _check_quantize("fake_quantize", weight, format, [*FORMATS, "e2m1"], group, scales, offsets)
    computed = torch.promote_types(weight.dtype, torch.float32)
    with torch.no_grad():
        codes, own, offset = _coded(weight, format, group, scales, offsets, generator)
        values = values_of(format).to(weight.device, computed)[codes.int()]
    if scales is None:
        own = (_double(own).float() if double_scales else own)[:, :, None].to(computed)
        made = values * own if offset is None else values * own + offset[:, :, None].to(computed)
        return made.view_as(weight).to(weight.dtype) + (weight - weight.detach())
    steps, rows, (ends, _) = scales[:, :, None].to(computed), weight.reshape(codes.shape).to(computed), _in_order(format)
    places = ((rows if offsets is None else rows - offsets[:, :, None].to(computed)) / steps).clamp(ends[0], ends[-1])
    made = (values + (places - places.detach())) * steps
    return (made if offsets is None else made + offsets[:, :, None].to(computed)).view_as(weight).to(weight.dtype)


def of_bitsandbytes(what: str, layer: torch.nn.Module) -> QuantizedTensor:
    """The weight of a bitsandbytes.nn.Linear4bit, as it is. `what` begins messages."""
    state = layer.weight.quant_state
    if state is None:
        raise CallError(f"{what}: the layer of bitsandbytes has no codes yet; it makes them when it is moved: base.to(\"cpu\")")
    if getattr(state, "packing_format_for_cpu", False):
        raise CallError(f"{what}: bitsandbytes has repacked the layer's weight for inference and rounded its scales to bfloat16, as it does in "
                        "the first call in eval(); take the layer before that, or load it again")
    rows, row = state.shape
    if row % state.blocksize:
        raise CallError(f"{what}: the layer's {row} inputs are no multiple of bitsandbytes' block of {state.blocksize} elements, so blocks go "
                        "on from row to row; quantise the torch.nn.Linear with a group that divides them")
    with torch.no_grad():
        codes = layer.weight.detach().contiguous().view(torch.uint8).reshape(rows, row // 2)
        scales = state.absmax.view(rows, -1)
        if state.nested:
            second = state.state2
            scales = DoubleScales(scales, second.code.float(), second.absmax, state.offset, second.blocksize)
        return QuantizedTensor(codes, scales, None, state.quant_type, "high_first", (rows, row))


# --- of GGUF files ------------------------------------------------------------------------------------------------------


def _halves(blocks, offset):
    return blocks[..., offset:offset + 2].contiguous().view(torch.float16).squeeze(-1)


def _q4_0(blocks):
    # w = d (q - 8): 4 bits with the highest flipped are q - 8 in two's complement.
    return blocks[..., 2:] ^ 0x88, _halves(blocks, 0), None, "int4"


def _q4_1(blocks):
    return blocks[..., 4:], _halves(blocks, 0), _halves(blocks, 2), "uint4"


def _q8_0(blocks):
    return blocks[..., 2:], _halves(blocks, 0), None, "int8"


# By the type's name: bytes of a block of 32 elements, and what is in these.
_BLOCKS = {"Q4_0": (18, _q4_0), "Q4_1": (20, _q4_1), "Q8_0": (34, _q8_0)}
_FLOATS = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def of_gguf(data: Tensor, kind: str, shape: tuple[int, ...]) -> Tensor | QuantizedTensor:
    """A tensor of a GGUF file of its bytes, uint8, the name of its type, and its shape, outermost dimension first."""
    if kind in _FLOATS:
        return data.view(_FLOATS[kind]).view(shape)
    size, read = _BLOCKS[kind]
    rows = math.prod(shape[:-1])
    codes, scales, offsets, format = read(data.view(rows, -1, size))
    return QuantizedTensor(codes.reshape(rows, -1), scales, offsets, format, "parts", shape)


def read_gguf(path: str | os.PathLike[str]) -> dict[str, Tensor | QuantizedTensor]:
    """The tensors of a GGUF file, by their names: those in F32, F16 and BF16 as torch.Tensor, those in Q4_0, Q4_1 and Q8_0 as they are, as
    QuantizedTensor. Needs the package gguf.

    Shapes are as torch has them, [out, in]. Floats are views of the file, mapped into memory (what is written to them stays in this
    process); codes are copied, because their blocks have scales between them.
    """
    try:
        gguf = importlib.import_module("gguf")
    except ImportError as error:
        raise ImportError("read_gguf needs the package gguf: pip install gguf") from error
    try:
        reader = gguf.GGUFReader(path, "c")
    except (ValueError, IndexError) as error:
        raise CallError(f"read_gguf: {os.fspath(path)} is no GGUF file that can be read: {error}") from error
    if reader.byte_order != "I":
        raise CallError(f"read_gguf: {os.fspath(path)} has the other order of bytes; convert it with gguf-convert-endian")
    found = {}
    for tensor in reader.tensors:
        kind = tensor.tensor_type.name
        if kind not in _FLOATS and kind not in _BLOCKS:
            raise CallError(f"read_gguf: the tensor '{tensor.name}' is {kind}; {', '.join([*_FLOATS, *_BLOCKS])} are read. Make a file of these "
                            "types, with llama.cpp's llama-quantize")
        data = torch.from_numpy(tensor.data.view("uint8").reshape(-1))
        found[tensor.name] = of_gguf(data, kind, tuple(int(extent) for extent in reversed(tensor.shape)))
    return found
