# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dense layers of models as programs, of many rows: their gradients do not depend on the number of threads, as torch's do."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..ops import row_models, rows
from ..ops.regions import WIDEST
from . import _dispatch

_global_hooks = nn.modules.module._has_any_global_hook

# The identity unless they are training. A class of the user's own may do anything.
_DROPOUTS = frozenset([nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout])

# What layers on graphs compute of the caller's dense layers in programs, they compute of so many rows. Of fewer torch is as fast, and gives
# what torch_geometric gives, to the last bit.
MANY_ROWS = 512

# Sums of more numbers torch gives to several threads (GRAIN_SIZE of ATen/Parallel.h), and then they round as there are threads.
MANY_NUMBERS = 32768


def is_dropout(module):
    return type(module) in _DROPOUTS


def draws(module):
    return is_dropout(module) and module.training and module.p > 0


def unhooked(module):
    """Hooks, parametrizations and a forward of the object's own see or change what a program does not compute."""
    return not (_global_hooks() or module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or
                module._backward_pre_hooks or "forward" in vars(module) or getattr(module, "parametrizations", None))


def plain(module):
    """Unhooked, and dropout in training draws numbers."""
    return unhooked(module) and not draws(module)


def is_linear(module):
    """Whether a call of it is a product with its weight and no more: torch's Linear, torch_geometric's or ours."""
    return ((type(module) is nn.Linear or _is_known(module, "Linear")) and plain(module) and
            not isinstance(module.weight, nn.parameter.UninitializedParameter))


def lins_of(module):
    """The Linears by type of node, of which it calls each on its own; nothing where it may do more."""
    return module.lins if _is_known(module, "HeteroDictLinear") and plain(module) else {}


def _is_known(module, name):
    """Whether its class, not a subclass of it, is torch_geometric's of this name, or ours."""
    kind = type(module)
    return vars(kind).get("is_theirs") == name or (kind.__name__ == name and kind.__module__ == "torch_geometric.nn.dense.linear")


def multiplies(x, *factors):
    """Whether a program multiplies rows by matrices, and adds vectors, well: many rows, not too wide, on the CPU; a GPU's library of
    products does."""
    if (not x.is_cpu or torch.is_autocast_enabled("cpu") or x.layout != torch.strided or x.dim() != 2 or
            not all(one.dim() in (1, 2) and one.dtype == x.dtype and max(one.shape, default=0) <= WIDEST for one in factors)):
        return False
    return x.shape[0] >= MANY_ROWS or x.shape[0] * max((max(one.shape) for one in factors), default=0) >= MANY_NUMBERS


def is_product(linear, x):
    given = [linear.weight] if is_linear(linear) else []
    if given and linear.bias is not None:
        given.append(linear.bias)
    return bool(given) and x is not None and multiplies(x, *given) and linear.weight.shape[1] == x.shape[1]


@functools.lru_cache(maxsize=4096)
def _text(build, options, inputs):
    """The text of an interned spec."""
    return str(_dispatch.intern(rows.spec_of(build, options, inputs)))


def apply(build: Callable, given: list[Tensor | None], shared: list[Tensor | None], options: tuple = ()) -> list[Tensor]:
    """The results of a program of rows: build(program, *values, *options), traced once for each combination of types. `given` have rows,
    `shared` do not; the first one is there."""
    def types(tensors, first):
        return [None if one is None else (str(one.dtype).removeprefix("torch."), (*first, *one.shape[len(first):])) for one in tensors]

    text = _text(build, options, (*types(given, (rows.ROW,)), *types(shared, ())))
    return _dispatch.apply([one for one in (*given, *shared) if one is not None], text)


def products(x: Tensor, *factors: tuple[Tensor, Tensor | None]) -> list[Tensor]:
    """x w + bias for each (w, bias), w [in, out]."""
    if not multiplies(x, *[one for pair in factors for one in pair if one is not None]):
        return [x @ weight if bias is None else torch.addmm(bias, x, weight) for weight, bias in factors]
    return apply(row_models.products, [x], [one for pair in factors for one in pair])


def linear(module: nn.Module, x: Tensor) -> Tensor:
    """module(x) for a Linear of the caller's."""
    return products(x, (module.weight.t(), module.bias))[0] if is_product(module, x) else module(x)


def linears(modules: list[nn.Module], x: Tensor) -> list[Tensor]:
    """The same for several of them, which read x together."""
    if not all(is_product(module, x) for module in modules):
        return [module(x) for module in modules]
    return products(x, *[(module.weight.t(), module.bias) for module in modules])
