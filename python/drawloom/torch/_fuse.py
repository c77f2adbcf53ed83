# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.fuse: chains of layers in an existing model, replaced by fused ones. _trace.py finds those in a forward of one's
own."""

from __future__ import annotations

import copy

import torch
from torch import nn

from . import _dense, functional
from ._dense import WIDEST, draws, is_dropout, plain
from .nn import Rational

__all__ = ["fuse"]


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


class FusedSequential(nn.Sequential):
    """An nn.Sequential whose children are those that it was made of, so that state dicts fit; runs of them are computed at
    once."""

    def plan(self, runs):
        """runs: (first, last + 1) of children that are one chain."""
        self._runs = {first: end for first, end in runs}
        return self

    def forward(self, x):
        return _run(list(self), self._runs, x)


def _run(children, runs, x):
    i = 0
    while i < len(children):
        end = runs.get(i)
        # Hooks may have come since.
        if end is None or not all(map(plain, children[i:end])):
            x, i = children[i](x), i + 1
        else:
            x, i = _call(children[i:end], x), end
    return x


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
    return _run(list(module), dict(chains(list(module))[0]), x) if _has_chains(module, x) else module(x)


def chain_of(module, x):
    """([w [in, out], bias or None, and so on], the activation between layers, that behind them) of a Linear, or an nn.Sequential that is one
    chain; None of everything else."""
    if isinstance(module, nn.Module) and _dense.is_product(module, x):
        return [module.weight.t(), module.bias], "none", "none"
    if not _has_chains(module, x) or chains(list(module))[0] != [(0, len(module))]:
        return None
    layers, _, options = parts(list(module))
    if layers[0].in_features != x.shape[1]:
        return None
    return [one for layer in layers for one in (layer.weight.t(), layer.bias)], options["activation"], options["output_activation"] or "none"


def parts(chain):
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
    layers, rationals, options = parts(chain)
    biases = None if layers[0].bias is None else [layer.bias for layer in layers]
    return functional.fused_mlp(x, [layer.weight for layer in layers], biases,
                                activation_params=[table for module in rationals for table in (module.a, module.b)], **options)


def chains(children, end_of="the model"):
    """[(first, last + 1)] of the chains, and [(name, why it ends)] for what might have been one."""
    runs, notes, i = [], [], 0
    while i < len(children):
        if type(children[i]) is not nn.Linear:
            i += 1
            continue
        first, layers, kind, why, end = i, [children[i]], None, None, i + 1
        while why is None:
            # Behind a layer: an activation, what does nothing, and the next layer.
            k, activation = end, None
            while k < len(children) and type(children[k]) is not nn.Linear:
                child = children[k]
                if draws(child):
                    why = f"{type(child).__name__}(p={child.p}) draws random numbers between the layers; of a model in eval() it does not"
                elif type(child) is nn.Identity or is_dropout(child):
                    pass
                elif _activation(child) is None:
                    why = f"{type(child).__name__} is no activation of the fused op"
                elif activation is not None:
                    why = "two activations follow each other"
                else:
                    activation, behind = child, k + 1
                if why:
                    break
                k += 1
            name = _activation(activation) if activation is not None else None
            if why is None and k == len(children):
                why = f"{end_of} ends there"
            elif why is None and name is None:
                why = "there is no activation between two layers"
            elif why is None and kind not in (None, name):
                why = f"the activations differ, {kind} and {name}"
            elif why is None and (children[k].bias is None) != (layers[0].bias is None):
                why = "some layers have a bias and others have none"
            if why is None:
                kind, end = name, k + 1
                layers.append(children[k])
            elif activation is not None:
                end = behind
        widest = max(max(layer.in_features, layer.out_features) for layer in layers)
        if len(layers) < 2:
            notes.append((first, f"it is a single layer: {why}"))
        elif widest > WIDEST:
            notes.append((first, f"a layer has {widest} channels; above {WIDEST} the products take all the time"))
        elif not all(plain(module) for module in children[first:end]):
            notes.append((first, "a module in it has hooks, parametrizations or a forward of its own"))
        else:
            runs.append((first, end))
            i = end
            continue
        i = max(end, first + 1)
    return runs, notes


def fuse(model: nn.Module, *, inplace: bool = False, verbose: bool = True) -> nn.Module:
    """Replaces chains of layers in a model by fused ones: runs of Linear with one kind of activation between them (ReLU,
    LeakyReLU, ELU, SiLU, GELU, Tanh, Sigmoid, Softplus, drawloom.torch.nn.Rational), in each nn.Sequential, and in each module
    whose forward says so without conditions, be it with modules or with functions as torch.nn.functional.relu.

    Parameters are the same objects under the same names, so that state dicts and optimizers fit. Prints what was fused, and
    for what was not, why. Gives the model: a copy that shares its parameters, or with `inplace` the model itself.
    """
    from ._trace import Fused, fuse_forward

    if not inplace:
        memo = {id(tensor): tensor for tensor in [*model.parameters(), *model.buffers()]}
        model = copy.deepcopy(model, memo)
    said: list[str] = []
    stays: dict[str, list[str]] = {}
    root = nn.ModuleDict({"model": model})
    for name, parent in list(root.named_modules()):
        for key, child in list(parent.named_children()):
            if type(child) is not nn.Sequential:
                continue
            path = f"{name}.{key}".removeprefix(".").removeprefix("model").removeprefix(".") or "the model"
            children = list(child)
            runs, notes = chains(children)
            for at, why in notes:
                stays.setdefault(why, []).append(f"{path}[{at}]")
            if not runs:
                continue
            replacement = FusedSequential()
            replacement.__dict__.update(child.__dict__)
            parent._modules[key] = replacement.plan(runs)
            for first, end in runs:
                said.append(f"{path}[{first}:{end}] is one program now: {_widths(children[first:end])}")
    for path, module in root["model"].named_modules():
        if isinstance(module, (nn.Sequential, nn.ModuleList, nn.ModuleDict, Fused)) or not _own_layers(module):
            continue
        found, notes = fuse_forward(module)
        before = f"{path}." if path else ""
        for names, chain in found:
            said.append(f"{before}{names[0]} to {before}{names[-1]} is one program now: {_widths(chain)}")
        for layer, why in notes:
            stays.setdefault(why, []).append(before + layer if layer else path or "the model")
    if verbose:
        for why, paths in stays.items():
            more = f" and {len(paths) - 1} more stay as they are" if len(paths) > 1 else " stays as it is"
            print(f"drawloom: {paths[0]}{more}: {why}")
        for line in said:
            print(f"drawloom: {line}")
        if not said and not stays:
            print("drawloom: nothing to fuse was found")
    return root["model"]


def _widths(chain):
    layers = [module for module in chain if isinstance(module, nn.Linear)]
    return " -> ".join(str(n) for n in [layers[0].in_features, *[layer.out_features for layer in layers]])


def _own_layers(module) -> list[nn.Module]:
    """The Linear layers that the module's own forward calls, as far as its children tell."""
    layers: list[nn.Module] = []
    for child in module.children():
        if type(child) is nn.Linear:
            layers.append(child)
        elif isinstance(child, (nn.ModuleList, nn.ModuleDict)):
            layers += _own_layers(child)
    return layers
