# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of layers in a module's own forward: torch.fx writes down what it calls, and where that is the same for every call, a
forward with the chains as single calls takes its place.

What a trace does not show must not matter. So a forward is left alone that has a condition (a trace takes one branch), a context
manager (a trace forgets it), or that writes attributes; also one that is not the same in training and evaluation, or each time.
Numbers that it reads from its module are compared at each call, and so are the arguments' kinds, the layers' types and their
hooks: where anything is another one, the original forward runs.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from . import functional
from ._fuse import chains, parts, plain

F = nn.functional
_FUNCTIONS: dict[Any, Callable] = {
    F.relu: lambda inplace=False: nn.ReLU(), torch.relu: nn.ReLU, "relu": nn.ReLU, F.silu: lambda inplace=False: nn.SiLU(),
    F.gelu: lambda approximate="none": nn.GELU(approximate), F.tanh: nn.Tanh, torch.tanh: nn.Tanh, "tanh": nn.Tanh,
    F.sigmoid: nn.Sigmoid, torch.sigmoid: nn.Sigmoid, "sigmoid": nn.Sigmoid,
    F.leaky_relu: lambda negative_slope=0.01, inplace=False: nn.LeakyReLU(negative_slope),
    F.elu: lambda alpha=1.0, inplace=False: nn.ELU(alpha),
    F.softplus: lambda beta=1, threshold=20: nn.Softplus(beta, threshold),
}
# What these do to a forward, a trace does not show.
_CONTEXTS = ("torch.utils._contextlib", "torch.autograd.grad_mode", "torch.amp.autocast_mode")


class Untraceable(Exception):
    """Why a forward cannot be replaced."""


@dataclass
class Plan:
    """run(module, *arguments) for `count` tensors, where `numbers` of the module are what they were; `layers` are the paths of
    the modules in the chains and their types."""

    run: Callable
    count: int
    numbers: dict[str, Any]
    layers: list[tuple[str, type]]

    def fits(self, module, arguments, options):
        if options or len(arguments) != self.count or not all(isinstance(one, torch.Tensor) for one in arguments):
            return False
        if any(getattr(module, name, None) != value for name, value in self.numbers.items()):
            return False
        for path, kind in self.layers:
            layer = module.get_submodule(path)
            if type(layer) is not kind or not plain(layer):
                return False
        return True


class Fused:
    """What is put in front of a module's class."""

    def forward(self, *arguments, **options):
        plan = self.__dict__.get("_drawloom_plan")
        if plan is not None and plan.fits(self, arguments, options):
            return plan.run(self, *arguments)
        return super().forward(*arguments, **options)

    def __reduce_ex__(self, protocol):
        # The forward is written anew: it is code, which copies and files do not hold.
        state = {name: value for name, value in self.__dict__.items() if name != "_drawloom_plan"}
        return _rebuild, (type(self).__mro__[2],), state


_classes: dict[type, type] = {}


def _fused_class(kind):
    if kind not in _classes:
        _classes[kind] = type(f"Fused{kind.__name__}", (Fused, kind), {"__module__": __name__, "__doc__": kind.__doc__})
    return _classes[kind]


def _rebuild(kind):
    return _fused_class(kind).__new__(_fused_class(kind))


def _set_state(self, state):
    kind = type(self).__mro__[2]
    self.__class__ = kind
    self.__setstate__(state)
    fuse_forward(self)


Fused.__setstate__ = _set_state  # type: ignore[attr-defined]


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module, path):
        return True


def _code_of(call, root):
    """The result of a call, and the code of all functions outside of torch that the function with the code `root` leads to."""
    codes, contexts, before = [root], [], sys.getprofile()

    def see(frame, event, _):
        if event != "call" or not frame.f_back or frame.f_back.f_code not in codes:
            return
        name = frame.f_globals.get("__name__") or ""
        if name in _CONTEXTS:
            contexts.append(name)
        elif name.partition(".")[0] not in ("torch", "drawloom") or frame.f_code.co_name == "forward":
            codes.append(frame.f_code)

    sys.setprofile(see)
    try:
        result = call()
    finally:
        sys.setprofile(before)
    if contexts:
        raise Untraceable("its forward has a context manager")
    return result, codes


def _check_code(code):
    where = f"({code.co_filename.rpartition('/')[2]}:{code.co_firstlineno})"
    if getattr(code, "co_exceptiontable", b""):
        raise Untraceable(f"its code {where} has a context manager or catches exceptions")
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if "WITH" in name or name == "SETUP_FINALLY":
            raise Untraceable(f"its code {where} has a context manager or catches exceptions")
        if "JUMP" in name and "IF" in name:
            raise Untraceable(f"its code {where} has a condition")
        if name in ("STORE_ATTR", "STORE_GLOBAL", "DELETE_ATTR"):
            raise Untraceable(f"its code {where} sets {instruction.argval}")


def _trace(module, names):
    """(graph, numbers that the forward reads from its module) of the forward with these arguments, all others by default."""
    kind, read = type(module), {}
    # What is of nn.Module itself is no business of the forward's.
    own = {*module.__dict__, *(name for base in kind.__mro__ if base not in nn.Module.__mro__ for name in vars(base))} - {
        *nn.Module().__dict__}

    def getattribute(self, name):
        value = kind.__getattribute__(self, name)
        if name not in own or self is not module or name.startswith("__"):
            return value
        if isinstance(value, (bool, int, float, str, type(None))):
            read[name] = value
        elif not callable(value) and not isinstance(value, torch.Tensor):
            raise Untraceable(f"its forward reads self.{name}, which is neither a module nor a number")
        return value

    def setattribute(self, name, value):
        if not name.startswith("_tensor_constant"):  # The tracer's own.
            raise Untraceable(f"its forward sets self.{name}")
        kind.__setattr__(self, name, value)

    namespace = {"kind": kind}
    exec(f"def forward(self, {', '.join(names)}):\n    return kind.forward(self, {', '.join(names)})", namespace)
    forward = namespace["forward"]
    module.__class__ = type(kind.__name__, (kind,), {"__getattribute__": getattribute, "__setattr__": setattribute,
                                                   "forward": forward})
    try:
        graph, codes = _code_of(lambda: _Tracer().trace(module), forward.__code__)
    finally:
        object.__setattr__(module, "__class__", kind)
        constants = [name for name in module.__dict__ if name.startswith("_tensor_constant")]
        for name in constants:
            del module.__dict__[name]
    for code in codes:
        _check_code(code)
    if constants:
        raise Untraceable("its forward makes tensors of its own")
    return graph, read


def _graph_of(module):
    """The graph of the forward, the number of its arguments, the numbers it reads; raises Untraceable."""
    if isinstance(module, torch.jit.ScriptModule) or "forward" in module.__dict__:
        raise Untraceable("its forward is not its class's")
    parameters = list(inspect.signature(module.forward).parameters.values())
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.KEYWORD_ONLY) for one in parameters):
        raise Untraceable("its forward takes a variable number of arguments, or some by name only")
    names = [one.name for one in parameters if one.default is one.empty]
    training = [(one, one.training) for one in module.modules()]
    graphs = []
    try:
        for mode in (True, False):
            for one, _ in training:
                one.training = mode
            graphs.append(_trace(module, names))
    except Untraceable:
        raise
    except Exception as error:  # Whatever a proxy cannot do.
        raise Untraceable(f"its forward cannot be traced: {str(error).partition(chr(10))[0]}") from None
    finally:
        for one, mode in training:
            one.training = mode
    (graph, numbers), (other, others) = graphs
    if str(graph) != str(other):
        raise Untraceable("its forward is not the same in training, in evaluation, or each time")
    numbers = {name: value for name, value in numbers.items() if others.get(name) == value}
    return graph, len(names), numbers


def _line(module, node):
    """The nodes that follow a layer, each the only one to read the one before, with the modules that they stand for."""
    nodes, modules = [node], [module.get_submodule(node.target)]
    while len(node.users) == 1:
        node, before = next(iter(node.users)), node
        if not node.args or node.args[0] is not before:
            break
        if node.op == "call_module" and len(node.args) == 1 and not node.kwargs:
            found = module.get_submodule(node.target)
        elif node.op in ("call_function", "call_method") and node.target in _FUNCTIONS:
            try:
                found = _FUNCTIONS[node.target](*node.args[1:], **node.kwargs)
            except TypeError:
                break
        else:
            break
        nodes.append(node)
        modules.append(found)
    return nodes, modules


def fuse_forward(module):
    """Gives the module a forward with its chains fused: ([(paths of a chain's layers, its modules)], [(layer, why not)])."""
    try:
        graph, count, numbers = _graph_of(module)
    except Untraceable as why:
        return [], [("", str(why))]
    found, notes, layers, seen = [], [], [], set()
    for node in list(graph.nodes):
        if node.op != "call_module" or node in seen or type(module.get_submodule(node.target)) is not nn.Linear:
            continue
        nodes, modules = _line(module, node)
        runs, reasons = chains(modules, "the chain")
        seen.update(nodes)
        notes += [(nodes[at].target, why) for at, why in reasons]
        for first, end in runs:
            chain = nodes[first:end]
            found.append(([one.target for one in chain if one.op == "call_module" and type(module.get_submodule(one.target)) is nn.Linear],
                          modules[first:end]))
            layers += [(one.target, type(module.get_submodule(one.target))) for one in chain if one.op == "call_module"]
            _replace(graph, chain, modules[first:end])
    if found:
        graph.lint()
        code = graph.python_code("self")
        namespace = dict(code.globals)
        exec(compile(code.src, f"<drawloom.torch.fuse of {type(module).__name__}>", "exec"), namespace)
        module.__class__ = _fused_class(type(module))
        module.__dict__["_drawloom_plan"] = Plan(namespace["forward"], count, numbers, layers)
    return found, notes


def _replace(graph, nodes, modules):
    """A chain by one call."""
    layers, rationals, options = parts(modules)
    paths = {id(module): node.target for node, module in zip(nodes, modules) if node.op == "call_module"}
    with graph.inserting_before(nodes[-1]):
        def attributes(owners, name):
            return [graph.get_attr(f"{paths[id(owner)]}.{name}") for owner in owners]

        tables = [graph.get_attr(f"{paths[id(one)]}.{name}") for one in rationals for name in ("a", "b")]
        biases = None if layers[0].bias is None else attributes(layers, "bias")
        call = graph.call_function(functional.fused_mlp, (nodes[0].args[0], attributes(layers, "weight"), biases),
                                   {"activation_params": tables, **options})
    nodes[-1].replace_all_uses_with(call)
    for node in reversed(nodes):
        graph.erase_node(node)
