# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of other packages of Kolmogorov-Arnold networks, computed by Drawloom."""

from __future__ import annotations

import contextvars
import functools
import importlib
import sys
from collections import Counter
from typing import Any

import torch

from .._errors import CallError
from ._kan import kan_layer

# Calls by package and layer: computed here, and left to the package, with the reasons.
_taken: Counter = Counter()
_left: Counter = Counter()
# By class: its own forward.
_originals: dict[Any, Any] = {}

# Activations that a program has beside a basis. Others are a product of their own.
_BASES = {torch.nn.SiLU: "silu", torch.nn.ReLU: "relu", torch.nn.Tanh: "tanh", torch.nn.Sigmoid: "sigmoid", torch.nn.Identity: "none"}

# Whether a MultKAN does not look at what its layers give beside their sums.
_sums_only = contextvars.ContextVar("sums_only", default=False)


def _base(activation):
    """The name of an activation that a module, a class or a function of torch is, or None."""
    if isinstance(activation, torch.nn.GELU):
        return "gelu" if activation.approximate == "none" else None
    if activation is torch.nn.functional.silu:
        return "silu"
    return _BASES.get(type(activation))


def _reason(x, *tensors):
    """Why a call is left to the package, or None."""
    if torch.jit.is_scripting() or torch.jit.is_tracing():
        return "torch.jit traces or scripts it"
    for one in (x, *tensors):
        if one.device.type != "cpu":
            return f"it is on {one.device.type}"
        if one.layout != torch.strided:
            return "a tensor is sparse"
    kinds = {one.dtype for one in (x, *tensors)}
    if len(kinds) > 1 or kinds - {torch.float32, torch.float64, torch.bfloat16, torch.float16}:
        return f"tensors are {', '.join(sorted(str(kind).removeprefix('torch.') for kind in kinds))}"
    return None


def _splines(x, weight, knots, order, activation, base_weight):
    """sum_k weight[o, i, k] B_k(x_i) + base_weight activation(x) with knots [in, m], as most packages keep them."""
    base = _base(activation)
    y = kan_layer(x, weight.permute(2, 1, 0), basis="bspline", order=order, parameters=[knots.T], base=base,
                  base_weight=base_weight if base else None)
    return y if base else y + torch.nn.functional.linear(activation(x), base_weight)


# --- each layer: a reason why not or None, and the forward pass -------------------------------------------------------

def _efficient_reason(module, x):
    if module.spline_order < 1:
        return "its order is 0"
    return _reason(x, module.base_weight, module.spline_weight, module.grid)


def _efficient(module, x):
    return _splines(x, module.scaled_spline_weight, module.grid, module.spline_order, module.base_activation, module.base_weight)


def _convkan(module, x):
    """One layer for each group, x [groups, rows, in]."""
    parts = zip(x.unbind(0), module.scaled_spline_weight.unbind(0), module.grid.unbind(0), module.base_weight.unbind(0))
    return torch.stack([_splines(rows, weight, knots, module.spline_order, module.base_activation, base) for rows, weight, knots, base in parts])


def _inkan_reason(module, x):
    if module.dim != 1:
        return "its splines are of pairs of inputs"
    if x.ndim != 2:
        return "x has other dimensions than rows and inputs"
    return _reason(x, module.weight, module.grid_starts)


def _inkan(module, x):
    splines = module.in_features * module.n_bases
    weight = module.weight[:, :splines].reshape(module.out_features, module.in_features, module.n_bases)
    # The functions begin at knots of equal distances.
    first, step = module.grid_starts[0], 1 / module.inv_h
    domain = torch.stack([first + 3 * step, first + module.n_bases * step])
    base_weight, base = module.weight[:, splines:], _base(module.base_activation)
    y = kan_layer(x, weight.permute(2, 1, 0), basis="uniform_bspline", order=3, parameters=[domain], base=base,
                  base_weight=base_weight if base else None)
    return y if base else y + torch.nn.functional.linear(module.base_activation(x), base_weight)


def _pykan_reason(module, x):
    if not _sums_only.get():
        return "its values on each edge are asked for (save_act; model.speed() or fit with lamb=0 does not)"
    if module.k < 1:
        return "its order is 0"
    if x.ndim != 2 or x.shape[0] == 0:
        return "x has other dimensions than rows and inputs, or no rows"
    return _reason(x, module.coef, module.grid, module.scale_base, module.scale_sp, module.mask)


def _pykan(module, x):
    weight = (module.mask * module.scale_sp)[..., None] * module.coef
    y = _splines(x, weight.transpose(0, 1), module.grid, module.k, module.base_fun, (module.mask * module.scale_base).T)
    return y, None, None, None


def _patched(package, kind, reason, forward):
    original, name = kind.forward, f"{package}.{kind.__name__}"

    @functools.wraps(original)
    def patched(self, x, *arguments, **options):
        why = "it is called with more than x" if arguments or options else reason(self, x)
        if why is not None:
            _left[name, why] += 1
            return original(self, x, *arguments, **options)
        _taken[name] += 1
        return forward(self, x)

    return patched


def _patched_network(original):
    """Of pykan: a forward pass that keeps nothing of its edges reads their sums only."""
    @functools.wraps(original)
    def patched(self, *arguments, **options):
        token = _sums_only.set(not self.save_act)
        try:
            return original(self, *arguments, **options)
        finally:
            _sums_only.reset(token)

    return patched


def _patched_symbolic(original):
    """Of pykan: a layer none of whose functions is symbolic adds zeros, in one loop over all edges."""
    @functools.wraps(original)
    def patched(self, x, *arguments, **options):
        if not _sums_only.get() or torch.count_nonzero(self.mask) or not torch.isfinite(x).all():
            return original(self, x, *arguments, **options)
        zeros = x.new_zeros(x.shape[0], self.out_dim)
        return zeros, zeros[:, :, None].expand(-1, -1, self.in_dim)

    return patched


# By package: the module of each class, its name, why a call of it is left, and the forward pass.
_LAYERS = {
    "pykan": [("kan.KANLayer", "KANLayer", _pykan_reason, _pykan)],
    "inkan": [("inkan.layer", "KANLayer", _inkan_reason, _inkan)],
    "convkan": [("convkan.kanlinear", "KANLinear", _efficient_reason, _convkan)],
    "efficient_kan": [("efficient_kan.kan", "KANLinear", _efficient_reason, _efficient)],
    "kan_gpt": [("kan_gpt.efficient_kan.model", "KANLinear", _efficient_reason, _efficient)],
    "ikan": [("ikan.KAN", "KANLinear", _efficient_reason, _efficient)],
}
# Packages that do something when they are imported are patched where they are imported already.
_ONLY_IF_IMPORTED = ("ikan", "kan_gpt")


def _module(package, name):
    if package in _ONLY_IF_IMPORTED and name not in sys.modules:
        return None
    try:
        importlib.import_module(name)
    except ImportError:
        return None
    # The attribute of this name may be a class of the same name.
    return sys.modules[name]


def _replace(kind, forward):
    _originals[kind] = kind.forward
    kind.forward = forward


def patch_kan() -> list[str]:
    """Has layers of other packages computed by Drawloom on the CPU: pykan's, inkan's and convkan's, efficient-kan's and its copies in ikan and
    kan_gpt, those that exist and those that will. Classes, parameters, state dicts and methods stay what they are, results are the same within rounding.
    pykan's layers are computed where the network does not keep the values of its edges (`save_act`): after `model.speed()`, and in `fit` with
    lamb=0. Calls that Drawloom does not compute go to the package as before; `patch_kan_report` counts both. Returns the names of
    the packages. A second call changes nothing; `unpatch_kan` takes it back."""
    found = []
    for package, layers in _LAYERS.items():
        for module, name, reason, forward in layers:
            kind = getattr(_module(package, module), name, None)
            if kind is None:
                continue
            found.append(package)
            if kind not in _originals:
                _replace(kind, _patched(package, kind, reason, forward))
    for module, name, patched in (("kan.MultKAN", "MultKAN", _patched_network), ("kan.Symbolic_KANLayer", "Symbolic_KANLayer", _patched_symbolic)):
        kind = getattr(_module("pykan", module), name, None) if "pykan" in found else None
        if kind is not None and kind not in _originals:
            _replace(kind, patched(kind.forward))
    if not found:
        raise CallError(f"patch_kan needs one of {', '.join(_LAYERS)}: pip install pykan, for example")
    return found


def unpatch_kan() -> None:
    """Takes `patch_kan` back."""
    for kind, forward in _originals.items():
        kind.forward = forward
    _originals.clear()


def patch_kan_report() -> dict:
    """How many calls of each layer Drawloom computed ("computed"), and how many it left to the package, by layer and reason ("left")."""
    return {"computed": dict(_taken), "left": dict(_left)}
