# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.fuse: modules of an existing model that are functions of rows, as programs. _row_program.py makes the programs, _trace.py finds
what of another module's forward may be one."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from . import _row_program
from ._dispatch import DEVICES
from ._row_program import Program, Traced, Unsupported

__all__ = ["fuse"]

# So many numbers of channels are tried for a module whose input is not known.
_MOST_CHANNELS = 4


class Fused:
    """What is put in front of a module's class; `_drawloom_kind` is that class."""

    _drawloom_kind: type

    def forward(self, *arguments, **options):
        plan = self.__dict__.get("_drawloom_plan")
        if plan is None:
            return super().forward(*arguments, **options)
        return plan.run(self, super().forward, arguments, options)

    @torch._dynamo.assume_constant_result
    def _drawloom_chosen(self, first, dtype, lead):
        """What torch.compile makes a call of, for an input of a type: see Program.chosen."""
        program, calls, compute = self.__dict__["_drawloom_plan"].part(self, super().forward, first)
        return program.chosen(calls, compute, dtype, lead)

    def __reduce_ex__(self, protocol):
        return _rebuild, (self._drawloom_kind,), dict(self.__dict__)


_classes: dict[type, type] = {}


def _fused_class(kind):
    if kind not in _classes:
        _classes[kind] = type(f"Fused{kind.__name__}", (Fused, kind), {"__module__": __name__, "__doc__": kind.__doc__, "_drawloom_kind": kind})
    return _classes[kind]


def _rebuild(kind):
    return _fused_class(kind).__new__(_fused_class(kind))


def _set_state(self, state):
    kind = self._drawloom_kind
    self.__class__ = kind
    self.__setstate__(state)
    if self.__dict__.get("_drawloom_plan"):
        self.__class__ = _fused_class(kind)
    else:
        # A forward that was written anew is code, which copies and files do not hold.
        from ._trace import fuse_forward

        fuse_forward(self)


Fused.__setstate__ = _set_state  # type: ignore[attr-defined]


def become(module: nn.Module, plan: Any) -> None:
    """Gives the module's forward to a plan: run(module, own forward, arguments, options)."""
    module.__dict__["_drawloom_plan"] = plan
    module.__class__ = _fused_class(type(module))


class _Whole:
    """The module's forward is one program."""

    def __init__(self, channels):
        self.program = Program(channels, alone=True)

    def run(self, module, own, arguments, options):
        if options or len(arguments) != 1 or not isinstance(arguments[0], Tensor):
            return own(*arguments, **options)
        if torch.compiler.is_compiling():
            return _in_graph(module, 0, (module,), own, arguments[0])
        return self.program((module,), own, arguments[0])

    def part(self, module, own, first):
        return self.program, (module,), own


class _Parts:
    """Runs of the children of an nn.Sequential are programs."""

    def __init__(self, runs):
        self.runs = {first: (end, Program(channels)) for first, end, channels in runs}

    def run(self, module, own, arguments, options):
        if options or len(arguments) != 1 or not isinstance(arguments[0], Tensor):
            return own(*arguments, **options)
        x, children, i = arguments[0], tuple(module), 0
        while i < len(children):
            end, program = self.runs.get(i, (i + 1, None)) if isinstance(x, Tensor) else (i + 1, None)
            calls, i, first = children[i:end], end, i
            if program is None:
                x = calls[0](x)
            elif torch.compiler.is_compiling():
                x = _in_graph(module, first, calls, one_after_another(calls), x)
            else:
                x = program(calls, one_after_another(calls), x)
        return x

    def part(self, module, own, first):
        end, program = self.runs[first]
        calls = tuple(module)[first:end]
        return program, calls, one_after_another(calls)


def _in_graph(module, first, calls, compute, x):
    """compute(x) as torch.compile sees it: what is compared here, it compares at each call of the graph."""
    chosen = module._drawloom_chosen(first, x.dtype, x.dim() - 1) if x.dim() else None
    if chosen is None:
        return compute(x)
    text, names, numbers, functions, channels, row = chosen
    if x.shape[-1] != channels:
        return compute(x)
    for at, path, name, value in numbers:
        if getattr(calls[at].get_submodule(path), name) != value:
            return compute(x)
    for at, path, name in functions:
        # To be looked at is enough.
        if getattr(calls[at].get_submodule(path), name) is None:
            return compute(x)
    tensors = [getattr(calls[at].get_submodule(path), name) for at, path, name in names]
    result = torch.ops.drawloom.vjp.default([x if x.dim() == 2 else x.reshape(-1, x.shape[-1]), *tensors], text)[0]
    return result if x.dim() == 2 else result.reshape([*x.shape[:-1], *row])


def one_after_another(calls: Sequence[Callable]) -> Callable[[Tensor], Tensor]:
    def compute(x):
        for call in calls:
            x = call(x)
        return x

    return compute


def _has_matrices(module):
    return any(isinstance(one, nn.parameter.UninitializedTensorMixin) or one.dim() > 1 for one in module.parameters())


def _channels(calls):
    """Numbers of channels that the input of some modules may have: those of the first layers."""
    found = []
    for module in (module for call in calls for module in call.modules()):
        shape = getattr(module, "normalized_shape", None)
        given = [getattr(module, "in_features", None), getattr(module, "num_features", None), shape[0] if isinstance(shape, tuple) and shape else None]
        if not any(isinstance(one, int) for one in given):
            given = [extent for one in module.parameters(recurse=False) if one.dim() in (1, 2) for extent in one.shape]
        found += [one for one in given if isinstance(one, int)]
    return list(dict.fromkeys(found))[:_MOST_CHANNELS]


def probe(calls: Sequence[nn.Module], compute: Callable[[Tensor], Tensor], channels: Sequence[int], alone: bool = False) -> Traced | str:
    """The program of modules for an input of one of these numbers of channels, or why there is none."""
    why = _row_program.blocked(calls, alone)
    if why is not None:
        return why
    tensors = [one for call in calls for one in (*call.parameters(), *call.buffers())]
    if any(isinstance(one, nn.parameter.UninitializedTensorMixin) for one in tensors):
        return "it has parameters whose shape is not known yet"
    if any(one.device.type not in (*DEVICES, "meta") for one in tensors):
        return "it is on another device than the CPU and NVIDIA's GPUs"
    dtype = next((one.dtype for one in tensors if one.is_floating_point()), torch.get_default_dtype())
    why = "the number of channels of its input is not known"
    for lead in (1, 2):
        for extent in channels:
            try:
                return _row_program.trace(calls, compute, dtype, extent, lead)
            except Exception as error:  # Modules are anybody's: whatever they raise for rows, they stay.
                why = _row_program.reason(error, calls)
                if isinstance(error, Unsupported):
                    return why
    return why


def _whole(module):
    """The program of a module's forward, or why there is none."""
    if "forward" in vars(module) or isinstance(module, torch.jit.ScriptModule):
        return "its forward is not its class's"
    required = [one for one in inspect.signature(module.forward).parameters.values()
                if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    if len(required) > 1:
        return "its forward takes several arguments"
    found = probe([module], module.forward, _channels([module]), alone=True)
    return found if isinstance(found, str) else _row_program.worth(found) or found


def runs_of(calls: Sequence[nn.Module], end_of: str = "the model") -> tuple[list[tuple[int, int, list, int]], list[tuple[int, str]]]:
    """[(first, last + 1, products, channels of the input)] of calls, one after another, that are a program worth it, and [(number of a call,
    why it stays)]."""
    runs, notes, first = [], [], 0
    while first < len(calls):
        traced: list[Traced] = []
        end, why, stays = first, f"{end_of} ends there", None
        while end < len(calls) and stays is None:
            found = probe([calls[end]], calls[end], traced[-1].row if traced else _channels(calls[end:]))
            stays = found if isinstance(found, str) else _row_program.too_wide(found)
            if isinstance(found, str) or stays:
                why = stays
                break
            # What has no numbers of its own, in front of a run, may be what makes rows of channels of something else.
            if traced or next(calls[end].parameters(), None) is not None:
                traced.append(found)
            else:
                first = end + 1
            end += 1
            if len(found.row) != 1:
                why = "what it gives is no row of channels"
                break
        products = [product for one in traced for product in one.products]
        if len(products) > 1:
            runs.append((first, end, products, traced[0].channels))
        elif products:
            notes.append((first + next(i for i, one in enumerate(traced) if one.products), f"it is a single layer: {why}"))
        if stays and _has_matrices(calls[end]) and not list(calls[end].children()):
            notes.append((end, why))
        first = end + bool(stays)
    return runs, notes


def widths(products: Sequence[tuple[int, int]]) -> str:
    """Products as a message has them."""
    if all(one[1] == other[0] for one, other in zip(products, products[1:])):
        return " -> ".join(str(n) for n in [products[0][0], *(one[1] for one in products)])
    return f"{len(products)} products of at most {max(max(one) for one in products)} channels"


class _Fusing:
    """One call of fuse: what it says."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.stays: dict[str, list[str]] = {}
        self.seen: set[int] = set()

    def note(self, path, why):
        self.stays.setdefault(why, []).append(path or "the model")

    def fuse(self, module, path):
        """A module, or what is inside of it."""
        if id(module) in self.seen or isinstance(module, Fused):
            return
        self.seen.add(id(module))
        if isinstance(module, (nn.ModuleList, nn.ModuleDict)) or not _has_matrices(module) or not list(module.children()):
            why = ""
        else:
            found = _whole(module)
            if isinstance(found, Traced):
                become(module, _Whole(found.channels))
                self.said.append(f"{path or 'the model'} is one program now: {widths(found.products)}")
                return
            why = found
        if type(module) is nn.Sequential:
            self._parts(module, path)
        elif why and _own_layers(module):
            self._lines(module, path, why)
        for name, child in module.named_children():
            self.fuse(child, f"{path}.{name}" if path else name)

    def _parts(self, module, path):
        children, before = list(module), path or "the model"
        runs, notes = runs_of(children)
        for at, why in notes:
            self.note(f"{before}[{at}]", why)
        for first, end, products, _ in runs:
            self.said.append(f"{before}[{first}:{end}] is one program now: {widths(products)}")
            self.seen.update(id(child) for child in children[first:end])
        if runs:
            become(module, _Parts([(first, end, channels) for first, end, _, channels in runs]))

    def _lines(self, module, path, why):
        from ._trace import fuse_forward

        before = f"{path}." if path else ""
        try:
            lines, notes = fuse_forward(module)
        except Unsupported:
            self.note(path, why)
            return
        for names, layers, products in lines:
            self.said.append(f"{before}{names[0]} to {before}{names[-1]} is one program now: {widths(products)}")
            self.seen.update(map(id, layers))
        for name, reason in notes:
            self.note(before + name, reason)


def fuse(model: nn.Module, *, inplace: bool = False, verbose: bool = True) -> nn.Module:
    """Replaces what works row by row in a model by programs: modules whose forward is a function of the rows of its input (the outermost ones:
    dense layers, activations, norms, gates, residual connections, whatever drawloom.torch.op takes), runs of the children of an
    nn.Sequential, and calls that follow one another in another module's forward.

    Parameters are the same objects under the same names, so that state dicts and optimizers fit. Prints what was fused, and
    for what was not, why. Gives the model: a copy that shares its parameters, or with `inplace` the model itself.
    """
    if not inplace:
        memo = {id(tensor): tensor for tensor in [*model.parameters(), *model.buffers()]}
        model = copy.deepcopy(model, memo)
    fusing = _Fusing()
    fusing.fuse(model, "")
    if verbose:
        for why, paths in fusing.stays.items():
            more = f" and {len(paths) - 1} more stay as they are" if len(paths) > 1 else " stays as it is"
            print(f"drawloom: {paths[0]}{more}: {why}")
        for line in fusing.said:
            print(f"drawloom: {line}")
        if not fusing.said and not fusing.stays:
            print("drawloom: nothing to fuse was found")
    return model


def _own_layers(module) -> list[nn.Module]:
    """The Linear layers that the module's own forward calls, as far as its children tell."""
    layers: list[nn.Module] = []
    for child in module.children():
        if type(child) is nn.Linear:
            layers.append(child)
        elif isinstance(child, (nn.ModuleList, nn.ModuleDict)):
            layers += _own_layers(child)
    return layers
