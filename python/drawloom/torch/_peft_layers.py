# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forward passes of PEFT's layers as structured weights.

A pass is a function (layer, x) that computes the layer's result, or raises `Left` before it has changed anything or drawn a random
number. Terms are written [out, in], as torch.nn.Linear keeps weights. They are made once for each configuration: of several adapters,
the i-th has leaves whose names end in i.
"""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any, NamedTuple

import torch
from torch.nn.functional import pad

from ..structured import Term, block_diagonal, dense, diagonal, fold, kronecker, permute
from .functional import adapted_linear, structured_linear


class Left(Exception):
    """A call is left to PEFT; says why."""


class Base(NamedTuple):
    """The layer that is adapted. transformers' Conv1D keeps its weight `turned`, [in, out]."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    turned: bool


PLAIN = frozenset([torch.Tensor, torch.nn.Parameter])

# Whether calls are computed here, too, whose shapes do not pay.
always = False
# Whether `adapter_names` are taken in training.
train_samples = False


def _check_pays(pays):
    if not (pays or always):
        raise Left("PEFT's own is as fast for these shapes")


def _rows(x):
    return x.numel() // x.shape[-1]


def _many_rows(x, weight, least=2**18):
    """Whether rows are so many that a layer that is little else than a wide frozen product gains. What it saves are passes over rows of x and
    y, of which there must be more than a call costs; and the library's product is faster in half precision."""
    return x.element_size() >= 4 and _rows(x) * sum(weight.shape) >= least


def check_untouched(module: torch.nn.Module, what: str) -> None:
    """A module whose own call is left out has nothing that watches or replaces it."""
    if (module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks
            or "forward" in module.__dict__):
        raise Left(f"{what} has hooks")


def _check_types(x, leaves):
    for leaf in leaves:
        if type(leaf) not in PLAIN:
            raise Left(f"a weight is a {type(leaf).__name__}")
        if leaf.dtype != x.dtype:
            raise Left(f"x is {_name(x)}, a weight is {_name(leaf)}")
        if not leaf.is_cpu:
            raise Left(f"a weight is on {leaf.device.type}")


def _name(tensor):
    return str(tensor.dtype).removeprefix("torch.")


@functools.cache
def _conv1d():
    return importlib.import_module("transformers.pytorch_utils").Conv1D


def _base(layer, x) -> Base:
    module = layer.base_layer
    kind = type(module)
    turned = kind is not torch.nn.Linear
    if turned and kind is not _conv1d():
        raise Left(f"the base is a {kind.__name__}")
    check_untouched(module, "the base")
    weight, bias = module.weight, module.bias
    _check_types(x, (weight,) if bias is None else (weight, bias))
    if weight.requires_grad and torch.is_grad_enabled():
        raise Left("the base's weight trains")
    if x.shape[-1] != weight.shape[0 if turned else 1]:
        raise Left("x has other channels")
    return Base(weight, bias, turned)


def _active(layer, owned):
    """The names of the adapters that this layer has and that are active, in their order."""
    names = [name for name in layer.active_adapters if name in owned]
    if not names:
        raise Left("no adapter is active")
    return names


def _drops(module):
    """Whether a module of dropout changes what it is given."""
    if type(module) not in (torch.nn.Identity, torch.nn.Dropout):
        raise Left(f"dropout is a {type(module).__name__}")
    check_untouched(module, "dropout")
    active = type(module) is torch.nn.Dropout and module.training and module.p > 0
    if active and module.inplace:
        raise Left("dropout is in place")
    return active


def _check_dropout(module):
    if _drops(module):
        raise Left("dropout is active")


def _weight_of(module):
    """Of a torch.nn.Linear within an adapter."""
    if type(module) is not torch.nn.Linear:
        raise Left(f"an adapter has a {type(module).__name__}")
    check_untouched(module, "an adapter")
    return module.weight


# A scale is part of a program: a schedule must not make one in each step.
_scales: set[float] = set()
_MOST_SCALES = 256


def _scale(value):
    if value not in _scales:
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise Left("its scaling is not a finite number")
        if len(_scales) >= _MOST_SCALES:
            raise Left("scalings keep changing")
        _scales.add(value)
    return value


def _base_term(turned) -> Term:
    return dense("base").T if turned else dense("base")


def _scaled(scale, term):
    return term if scale == 1 else scale * term


def _whole(x, base, weight):
    """With a weight that is made in each call and trains: the library's product is the faster one for its gradient."""
    return torch.nn.functional.linear(x, weight, base.bias)


def _linear(x, base, term, leaves, bias, association="auto"):
    _check_types(x, leaves.values())
    leaves["base"] = base.weight
    return structured_linear(x, term, leaves, bias, association=association)


# --- LoRA and DoRA ------------------------------------------------------------------------------------------------------


@functools.cache
def _lora_term(turned, scales):
    return sum((_scaled(scale, dense(f"b{i}") @ dense(f"a{i}")) for i, scale in enumerate(scales)), _base_term(turned)).T


def lora(layer: Any, x: torch.Tensor, adapter_names: list[str] | None = None) -> torch.Tensor:
    if adapter_names is not None:
        return _lora_of_samples(layer, x, adapter_names)
    base, names = _base(layer, x), _active(layer, layer.lora_A)
    variant = next((layer.lora_variant[name] for name in names if name in layer.lora_variant), None)
    if variant is not None and (type(variant).__name__ != "DoraLinearVariant" or len(names) > 1):
        raise Left(f"{type(variant).__name__} of {len(names)} adapters")
    dropouts = [layer.lora_dropout[name] for name in names]
    dropped = any([_drops(one) for one in dropouts])
    _check_pays(variant is not None or _many_rows(x, base.weight))
    adapters, bias = [], base.bias
    for name in names:
        a, b, scale = layer.lora_A[name], layer.lora_B[name], layer.scaling[name]
        adapters.append((_weight_of(a), _weight_of(b), scale if dropped and variant is None else _scale(scale)))
        if b.bias is not None:
            _check_types(x, (b.bias,))
            bias = scale * b.bias if bias is None else torch.add(bias, b.bias, alpha=scale)
    _check_types(x, (part for a, b, _ in adapters for part in (a, b)))
    if variant is not None:
        return _dora(layer, x, base._replace(bias=bias), layer.lora_magnitude_vector[names[0]], adapters[0], dropouts[0] if dropped else None)
    if dropped:
        return _lora_with_dropout(x, base._replace(bias=bias), adapters, dropouts)
    leaves = {f"{part}{i}": weight for i, adapter in enumerate(adapters) for part, weight in zip("ab", adapter)}
    return _linear(x, base, _lora_term(base.turned, tuple(scale for *_, scale in adapters)), leaves, bias)


def _lora_with_dropout(x, base, adapters, dropouts):
    """Each adapter has rows of its own, so it shares no blocks with the base. Its product is summed where the base's is."""
    y = _plain(x.reshape(-1, x.shape[-1]), base)
    for (a, b, scale), dropout in zip(adapters, dropouts):
        # Numbers are drawn in the order of x's elements in memory.
        y.addmm_(torch.nn.functional.linear(dropout(x).reshape(-1, x.shape[-1]), a), b.T, alpha=scale)
    return y.view(*x.shape[:-1], y.shape[-1])


def _plain(x, base):
    return torch.nn.functional.linear(x, base.weight.T if base.turned else base.weight, base.bias)


def _dora(layer, x, base, magnitude, adapter, dropout):
    a, b, scale = adapter
    check_untouched(magnitude, "an adapter")
    _check_types(x, (magnitude.weight,))
    if dropout is not None and not layer.training:
        raise Left("dropout is active within a layer that is not in training")
    gain = magnitude.weight / _lengths(base, a, b, scale)
    kept = x if dropout is None else dropout(x)
    z = _linear(kept, base, _lora_term(base.turned, (scale,)), {"a0": a, "b0": b}, None)
    # What is dropped goes through the base as it is.
    return _shifted(z, gain, base.bias if dropout is None else _plain(x - kept, base))


def _lora_of_samples(layer, x, names):
    """Each sample has the adapter of its name, or none where the layer has none of that name."""
    base = _base(layer, x)
    if x.dim() < 2 or len(names) != len(x):
        raise Left("there is not a name for each sample")
    _check_pays(x.element_size() >= 4 and _rows(x) >= (128 if torch.is_grad_enabled() else 512))
    used = [name for name in dict.fromkeys(names) if name in layer.lora_A]
    if not used:
        raise Left("no adapter is active")
    adapters = []
    for name in used:
        if name in layer.lora_variant:
            raise Left(f"{type(layer.lora_variant[name]).__name__} beside other adapters")
        _check_dropout(layer.lora_dropout[name])
        a, b = _weight_of(layer.lora_A[name]), _weight_of(layer.lora_B[name])
        if layer.lora_B[name].bias is not None:
            raise Left("an adapter of samples has a bias")
        _check_types(x, (a, b))
        adapters.append((a, b, layer.scaling[name]))
    rank = max(len(a) for a, _, _ in adapters)
    inner = torch.stack([pad(a, (0, 0, 0, rank - len(a))) for a, _, _ in adapters])
    # Scales are in b: adapted_linear's own are float32.
    outer = torch.stack([pad(b, (0, rank - b.shape[1])) * scale for _, b, scale in adapters])
    places = {name: i for i, name in enumerate(used)}
    which = torch.tensor([places.get(name, -1) for name in names], dtype=torch.int32)
    return adapted_linear(x, _base_term(base.turned).T, {"base": base.weight}, inner, outer, which, bias=base.bias)


def _shifted(z, gain, bias):
    """gain z + bias. Outside of the weight: its gradient takes z, which is kept, and not a second product."""
    return z * gain if bias is None else torch.addcmul(bias, z, gain)


def _lengths(base, a, b, scale):
    """|W + scale B A| of each output, without making it. PEFT differentiates nothing through it."""
    with torch.no_grad():
        weight, a, b = (one.float() if one.element_size() < 4 else one for one in (base.weight, a, b))
        weight = weight.T if base.turned else weight
        # In-place changes by way of .data leave no trace, so nothing is kept from call to call.
        own = torch.linalg.vector_norm(weight, dim=1).square_()
        squares = own + scale * (b * torch.addmm(weight @ a.T * 2, b, a @ a.T, alpha=scale)).sum(1)
        if bool((squares < 0.01 * own).any()):
            # An adapter that takes its base away leaves few digits of the difference.
            squares = torch.linalg.vector_norm(torch.addmm(weight, b, a, alpha=scale), dim=1).square_()
        return squares.sqrt_().to(base.weight.dtype)


# --- VeRA, RandLoRA and SHiRA -------------------------------------------------------------------------------------------


@functools.cache
def _vera_term(turned, count):
    return sum((diagonal(f"g{i}") @ dense(f"b{i}") @ diagonal(f"d{i}") @ dense(f"a{i}") for i in range(count)), _base_term(turned)).T


def vera(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base = _base(layer, x)
    names, leaves = _active(layer, layer.vera_lambda_d), {}
    _check_pays(_many_rows(x, base.weight) and all(len(layer.vera_lambda_d[name]) <= 64 for name in names))
    for i, name in enumerate(names):
        _check_dropout(layer.vera_dropout[name])
        # One pair of matrices serves layers of all widths.
        leaves[f"a{i}"], leaves[f"b{i}"] = layer.vera_A[name][:, :layer.in_features], layer.vera_B[name][:layer.out_features]
        leaves[f"d{i}"], leaves[f"g{i}"] = layer.vera_lambda_d[name], layer.vera_lambda_b[name]
    return _linear(x, base, _vera_term(base.turned, len(names)), leaves, base.bias, "parts")


def randlora(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base = _base(layer, x)
    names = _active(layer, layer.randlora_lambda)
    # The matrix takes as long for few rows as for many.
    _check_pays(_rows(x) >= max(base.weight.shape))
    _check_types(x, (part[name] for part in (layer.randlora_lambda, layer.randlora_gamma, layer.randlora_A, layer.randlora_B) for name in names))
    if x.element_size() < 4:
        raise Left(f"x is {_name(x)}, PEFT's bases are float32")
    for name in names:
        _check_dropout(layer.randlora_dropout[name])
    weight = base.weight.T if base.turned else base.weight
    for name in names:
        # Of full rank: one product makes the matrix.
        inner, outer = layer.get_scaled_bases(name, device=x.device)
        weight = torch.addmm(weight, outer, inner, alpha=layer.scaling[name])
    return _whole(x, base, weight)


def shira(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base, names = _base(layer, x), _active(layer, layer.shira_weight)
    if base.turned:
        raise Left("the base is a Conv1D")
    _check_types(x, (layer.shira_weight[name] for name in names))
    weight = base.weight.reshape(-1)
    for name in names:
        rows, columns = layer.shira_indices[name].long()
        weight = weight.index_add(0, rows * base.weight.shape[1] + columns, layer.shira_weight[name], alpha=layer.scaling[name])
    return _whole(x, base, weight.view_as(base.weight))


# --- LoKr and LoHa ------------------------------------------------------------------------------------------------------


def _drawn(layer, names):
    """Those of the adapters that this call has. PEFT draws a number for each in training, also where none can drop out."""
    if not layer.training:
        return list(range(len(names)))
    return [i for i, name in enumerate(names) if torch.rand(1) > layer.module_dropout[name]]


def _check_rank_dropout(layer, name):
    if layer.training and layer.rank_dropout[name]:
        raise Left("dropout is active")


@functools.cache
def _lokr_term(parts):
    """parts: (i, scale, whether the left factor is a product, whether the right one is)."""
    def factor(name, product):
        return dense(f"{name}a") @ dense(f"{name}b") if product else dense(name)

    return sum((_scaled(scale, kronecker(factor(f"l{i}", left), factor(f"r{i}", right))) for i, scale, left, right in parts), dense("base")).T


def lokr(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base = _base(layer, x)
    names, leaves, parts = _active(layer, layer.r), [], []
    _check_pays(_rows(x) >= 64)
    for i, name in enumerate(names):
        _check_rank_dropout(layer, name)
        left, right = name not in layer.lokr_w1, name not in layer.lokr_w2
        own = {f"l{i}a": layer.lokr_w1_a[name], f"l{i}b": layer.lokr_w1_b[name]} if left else {f"l{i}": layer.lokr_w1[name]}
        own |= {f"r{i}a": layer.lokr_w2_a[name], f"r{i}b": layer.lokr_w2_b[name]} if right else {f"r{i}": layer.lokr_w2[name]}
        _check_types(x, own.values())
        leaves.append(own)
        parts.append((i, _scale(layer.scaling[name]), left, right))
    drawn = _drawn(layer, names)
    return _linear(x, base, _lokr_term(tuple(parts[i] for i in drawn)), {key: leaf for i in drawn for key, leaf in leaves[i].items()}, base.bias)


def _khatri_rao(layer, name):
    """(a b) o (c d) of rank r as one product of rank r r."""
    a, b, c, d = (part[name] for part in (layer.hada_w1_a, layer.hada_w1_b, layer.hada_w2_a, layer.hada_w2_b))
    return (a[:, :, None] * c[:, None, :]).flatten(1), (b[:, None, :] * d[None, :, :]).flatten(0, 1)


def loha(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base = _base(layer, x)
    names, scales = _active(layer, layer.r), []
    thin = sum(layer.r[name] ** 2 for name in names) * sum(base.weight.shape)
    _check_pays(_rows(x) >= 64 and 2 * thin <= base.weight.numel())
    for name in names:
        _check_rank_dropout(layer, name)
        _check_types(x, (layer.hada_w1_a[name], layer.hada_w1_b[name], layer.hada_w2_a[name], layer.hada_w2_b[name]))
        # PEFT has it as a tensor of float32.
        scales.append(_scale(torch.tensor(layer.scaling[name], dtype=torch.float32).item()))
    leaves, drawn = {}, _drawn(layer, names)
    for i, j in enumerate(drawn):
        leaves[f"b{i}"], leaves[f"a{i}"] = _khatri_rao(layer, names[j])
    return _linear(x, base, _lora_term(base.turned, tuple(scales[i] for i in drawn)), leaves, base.bias)


# --- HiRA, MiSS and GraLoRA ---------------------------------------------------------------------------------------------


def hira(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base, change = _base(layer, x), None
    for name in _active(layer, layer.hira_A):
        _check_dropout(layer.hira_dropout[name])
        a, b = layer.hira_A[name], layer.hira_B[name]
        _check_types(x, (a, b))
        change = b @ a if change is None else torch.addmm(change, b, a)
    weight = base.weight.T if base.turned else base.weight
    return _whole(x, base, torch.addcmul(weight, weight, change))


@functools.cache
def _miss_term(inputs, outputs, shapes):
    term = dense("base").T
    for i, (rank, width) in enumerate(shapes):
        narrow = fold(inputs, inputs // rank) @ dense(f"d{i}")
        term += narrow if width == outputs else narrow @ fold(outputs, outputs // width).T
    return term


def miss(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base = _base(layer, x)
    if layer.miss_fn == "bat":
        raise Left("its weights are multiplied by others")
    names, leaves, shapes = _active(layer, layer.miss_block), {}, []
    _check_pays(_many_rows(x, base.weight))
    outputs, inputs = base.weight.shape
    for i, name in enumerate(names):
        _check_dropout(layer.miss_dropout[name])
        block = leaves[f"d{i}"] = layer.miss_block[name]
        rank, width = block.shape
        if inputs % rank or outputs % width:
            raise Left("its rank does not divide the channels")
        shapes.append((rank, width))
    return _linear(x, base, _miss_term(inputs, outputs, tuple(shapes)), leaves, base.bias, "parts")


@functools.cache
def _gralora_term(turned, parts):
    """parts: (scale, blocks, rank, whether there is a low-rank matrix beside them)."""
    term = _base_term(turned).T
    for i, (scale, blocks, rank, general) in enumerate(parts):
        own = block_diagonal(f"a{i}") @ permute([blocks, blocks, rank // blocks], [1, 0, 2]) @ block_diagonal(f"b{i}")
        term += _scaled(scale, own + (dense(f"g{i}") @ dense(f"h{i}")).T if general else own)
    return term


def gralora(layer: Any, x: torch.Tensor) -> torch.Tensor:
    base = _base(layer, x)
    names, leaves, parts = _active(layer, layer.gralora_A), {}, []
    _check_pays(_many_rows(x, base.weight, 2**17))
    if x.dim() not in (2, 3):
        raise Left("x has other dimensions than PEFT takes")
    for i, name in enumerate(names):
        _check_dropout(layer.gralora_dropout[name])
        leaves[f"a{i}"], leaves[f"b{i}"] = layer.gralora_A[name], layer.gralora_B[name]
        blocks, rank, general = layer.gralora_k[name], layer.r[name], layer.hybrid_r[name] > 0
        if rank % blocks:
            raise Left("its rank is not that of whole blocks")
        if general:
            leaves[f"h{i}"], leaves[f"g{i}"] = (_weight_of(one[name]) for one in (layer.gralora_A_general, layer.gralora_B_general))
        parts.append((_scale(layer.scaling[name]), blocks, rank, general))
    return _linear(x, base, _gralora_term(base.turned, tuple(parts)), leaves, base.bias)


# --- OFT and BOFT -------------------------------------------------------------------------------------------------------


@functools.cache
def _rotation_term(count):
    term = block_diagonal("r0")
    for i in range(1, count):
        term = term @ block_diagonal(f"r{i}")
    return term


def _rotated(x, rotations):
    """Rows that blocks have rotated, of one adapter after the other. The base has them next, as PEFT calls it."""
    return structured_linear(x, _rotation_term(len(rotations)), {f"r{i}": one for i, one in enumerate(rotations)}, association="parts")


def oft(layer: Any, x: torch.Tensor) -> torch.Tensor:
    modules = [layer.oft_R[name] for name in _active(layer, layer.oft_R)]
    _check_pays(_rows(x) >= 1024)
    for module in modules:
        check_untouched(module, "an adapter")
        if module.coft:
            raise Left("its rotation is projected in each call")
        if x.shape[-1] != module.in_features:
            raise Left("x has other channels")
        _check_types(x, (module.weight,))
    rotations = []
    for module in modules:
        blocks = module._cayley_batch(module.weight, module.block_size, module.use_cayley_neumann, module.num_cayley_neumann_terms)
        rotations.append(blocks.expand(module.in_features // module.block_size, -1, -1) if module.block_share else blocks)
    return layer.base_layer(_rotated(x, rotations))


def boft(layer: Any, x: torch.Tensor) -> torch.Tensor:
    names = _active(layer, layer.boft_R)
    for name in names:
        check_untouched(layer.boft_dropout[name], "dropout")
        if len(layer.boft_P) > 1 or len(layer.boft_R[name]) > 1:
            raise Left("it has several factors")
        if x.shape[-1] != layer.in_features:
            raise Left("x has other channels")
        _check_types(x, (layer.boft_R[name], layer.boft_s[name]))
    rotations, gain = [], None
    for name in names:
        rotations.append(layer.boft_dropout[name](layer.cayley_batch(layer.boft_R[name][0])[None])[0])
        gain = layer.boft_s[name][:, 0] if gain is None else layer.boft_s[name][:, 0] * gain
    # The last adapter's rotation is the first.
    y, bias = layer.base_layer(_rotated(x, rotations[::-1])), layer.base_layer.bias
    return y * gain if bias is None else torch.addcmul(bias - bias * gain, y, gain)
