# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of dense layers in an nn.Sequential of the caller's, which layers on graphs compute at once."""

from __future__ import annotations

import torch
from torch import nn

from ..ops.regions import WIDEST
from . import _dense, functional
from ._dense import is_dropout, plain
from .nn import Rational


def _activation(module):
    """The name of an activation that the fused op has, or None."""
    kind = type(module)
    if kind is nn.GELU:
        return "gelu" if module.approximate == "none" else "gelu_tanh"
    if kind is nn.LeakyReLU:
        return "leaky_relu" if module.negative_slope == 0.01 else None
    if kind is nn.ELU:
        return "elu" if module.alpha == 1.0 else None
    if kind is nn.Softplus:
        return "softplus" if module.beta == 1 and module.threshold == 20 else None
    names = {nn.ReLU: "relu", nn.SiLU: "silu", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid", Rational: "rational"}
    return names.get(kind)


def _chain(children, first):
    """Where the chain that begins with a layer ends: the layers have one kind of activation between them, and may have another one behind
    the last."""
    kind, end, activation = None, first + 1, None
    for k in range(first + 1, len(children)):
        child = children[k]
        if type(child) is nn.Linear:
            name = _activation(activation) if activation is not None else None
            if name is None or kind not in (None, name) or (child.bias is None) != (children[first].bias is None):
                break
            kind, activation, end = name, None, k + 1
        elif type(child) is nn.Identity or (is_dropout(child) and plain(child)):
            pass
        elif _activation(child) is None or activation is not None:
            break
        else:
            activation, end = child, k + 1
    return end


def _chains(children):
    """{first: last + 1} of the chains of two layers and more."""
    runs, i = {}, 0
    while i < len(children):
        end = _chain(children, i) if type(children[i]) is nn.Linear else i + 1
        layers = [one for one in children[i:end] if type(one) is nn.Linear]
        if len(layers) > 1 and all(map(plain, children[i:end])) and max(max(one.weight.shape) for one in layers) <= WIDEST:
            runs[i] = end
        i = end
    return runs


def _has_chains(module, x):
    """Whether chains of an nn.Sequential of the caller's are computed at once, of many rows. Of bfloat16 a chain would not round between its
    layers, as these do."""
    if type(module) is not nn.Sequential or not plain(module) or torch.compiler.is_compiling() or x.dtype not in (torch.float32, torch.float64):
        return False
    tensors = list(module.parameters())
    return _dense.multiplies(x, *tensors) and all(one.device.type == "cpu" for one in (x, *tensors))


def fused(module, x):
    """module(x), where a Linear, or the chains of an nn.Sequential, of the caller's are programs, of many rows."""
    if isinstance(module, nn.Module) and _dense.is_linear(module):
        return _dense.linear(module, x)
    if not _has_chains(module, x):
        return module(x)
    children, i = list(module), 0
    runs = _chains(children)
    while i < len(children):
        end = runs.get(i, i + 1)
        x = _call(children[i:end], x) if i in runs else children[i](x)
        i = end
    return x


def chain_of(module, x):
    """([w [in, out], bias or None, and so on], the activation between layers, that behind them) of a Linear, or an nn.Sequential that is one
    chain; None of everything else."""
    if isinstance(module, nn.Module) and _dense.is_product(module, x):
        return [module.weight.t(), module.bias], "none", "none"
    if not _has_chains(module, x) or _chains(list(module)) != {0: len(module)}:
        return None
    layers, _, options = _parts(list(module))
    if layers[0].in_features != x.shape[1]:
        return None
    return [one for layer in layers for one in (layer.weight.t(), layer.bias)], options["activation"], options["output_activation"] or "none"


def _parts(chain):
    """(layers, rational activations, options of fused_mlp) of a chain of modules."""
    layers = [module for module in chain if isinstance(module, nn.Linear)]
    between = [module for module in chain if type(module) not in (nn.Linear, nn.Identity) and not is_dropout(module)]
    inner = between[:len(layers) - 1]
    output = between[len(layers) - 1] if len(between) == len(layers) else None
    rationals = [module for module in between if isinstance(module, Rational)]
    return layers, rationals, {"activation": _activation(inner[0]) if inner else "none",
                               "output_activation": _activation(output) if output is not None else None,
                               "form": rationals[0].form if rationals else "abs_terms"}


def _call(chain, x):
    layers, rationals, options = _parts(chain)
    biases = None if layers[0].bias is None else [layer.bias for layer in layers]
    return functional.fused_mlp(x, [layer.weight for layer in layers], biases,
                                activation_params=[table for module in rationals for table in (module.a, module.b)], **options)
