# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of calls in a module's own forward that is no program as a whole: torch.fx writes down what it calls, and where that is the same for
every call, a forward with the runs as programs takes its place.

What a trace does not show must not matter. So a forward is left alone that has a condition (a trace takes one branch), a context
manager (a trace forgets it), or that writes attributes; also one that is not the same in training and evaluation, or each time.
Numbers that it reads from its module are compared at each call, and so are the arguments' kinds: where anything is another one,
the original forward runs.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from ._fuse import _has_matrices, become, one_after_another, runs_of
from ._row_program import Kept, Program, Unsupported, check_code, hold, numbers_of, watched

_OPERATORS = frozenset([operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow])


@dataclass
class _Lines:
    """What runs in place of a forward: replacement(module, *arguments) for `count` tensors, where `numbers` are what they were."""

    replacement: Callable
    count: int
    numbers: list[tuple[Any, str, Any]]

    def __reduce__(self):
        return type(None), ()

    def run(self, module, own, arguments, options):
        if options or len(arguments) != self.count or not all(isinstance(one, torch.Tensor) for one in arguments) or not hold(self.numbers):
            return own(*arguments, **options)
        return self.replacement(module, *arguments)


class _Call(nn.Module):
    """A call of a function on one tensor, or of a method of its."""

    def __init__(self, target, more, options):
        super().__init__()
        self.target, self.more, self.options = target, more, options

    def forward(self, x):
        function = getattr(torch.Tensor, self.target) if isinstance(self.target, str) else self.target
        return function(x, *self.more, **self.options)


class _Tracer(fx.Tracer):
    # What changes a buffer is a call of the graph then, and not done by the trace.
    proxy_buffer_attributes = True

    def is_leaf_module(self, module, path):
        return True


def _trace(module, names):
    """(graph, numbers that the forward reads from its module) of the forward with these arguments, all others by default."""
    kind = type(module)
    namespace = {"kind": kind}
    exec(f"def forward(self, {', '.join(names)}):\n    return kind.forward(self, {', '.join(names)})", namespace)
    forward = namespace["forward"]
    kept, others = Kept([module]), [(one, one._version, one.detach().clone()) for one in vars(module).values() if isinstance(one, torch.Tensor)]
    module.__class__ = type(kind.__name__, (kind,), {"forward": forward})
    try:
        graph, codes = watched(lambda: _Tracer().trace(module), forward.__code__)
    finally:
        module.__class__ = kind
        changed = kept.put_back()
    for one, version, were in others:
        if one._version != version:
            one.data.copy_(were)
            raise Unsupported("its forward changes a tensor that is no buffer of its")
    if changed:
        raise Unsupported("its forward makes tensors of its own" if changed.startswith("_tensor_constant") else f"its forward sets self.{changed}")
    for code in codes:
        check_code(code, conditions=False)
    return graph, numbers_of([module], codes)[0]


def _graph_of(module):
    """The graph of the forward, the number of its arguments, the numbers it reads; raises Unsupported."""
    if isinstance(module, torch.jit.ScriptModule) or "forward" in module.__dict__:
        raise Unsupported("its forward is not its class's")
    parameters = list(inspect.signature(module.forward).parameters.values())
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.KEYWORD_ONLY) for one in parameters):
        raise Unsupported("its forward takes a variable number of arguments, or some by name only")
    names = [one.name for one in parameters if one.default is one.empty]
    training = [(one, one.training) for one in module.modules()]
    graphs = []
    try:
        for mode in (True, False):
            for one, _ in training:
                one.training = mode
            graphs.append(_trace(module, names))
    except Unsupported:
        raise
    except Exception as error:  # Whatever a proxy cannot do.
        raise Unsupported(f"its forward cannot be traced: {str(error).partition(chr(10))[0]}") from None
    finally:
        for one, mode in training:
            one.training = mode
    (graph, numbers), (other, others) = graphs
    if str(graph) != str(other):
        raise Unsupported("its forward is not the same in training, in evaluation, or each time")
    numbers = [one for one in numbers if one in others]
    return graph, len(names), numbers


def _called(module, node):
    """The module that a node calls with one tensor, or one that stands for a function; None of other nodes."""
    if not node.args or not isinstance(node.args[0], fx.Node) or len(node.all_input_nodes) != 1:
        return None
    if node.op == "call_module":
        return module.get_submodule(node.target) if len(node.args) == 1 and not node.kwargs else None
    of_torch = node.op == "call_function" and (node.target in _OPERATORS or (getattr(node.target, "__module__", None) or "torch").startswith("torch"))
    if not of_torch and node.op != "call_method":
        return None
    if fx.node.map_arg((node.args[1:], dict(node.kwargs)), lambda one: None) != (node.args[1:], dict(node.kwargs)):
        return None
    return _Call(node.target, tuple(node.args[1:]), dict(node.kwargs))


def _line(module, node):
    """Nodes that follow one another, each the only one to read the one before, with what they call."""
    nodes, calls = [], []
    while (called := _called(module, node)) is not None:
        nodes.append(node)
        calls.append(called)
        if len(node.users) != 1:
            break
        node = next(iter(node.users))
    return nodes, calls


def fuse_forward(module):
    """Gives the module a forward with runs of calls as programs: ([(paths of a run's modules, these, its products)], [(path, why it stays)]).
    Raises Unsupported."""
    graph, count, numbers = _graph_of(module)
    found, notes, seen = [], [], set()
    for node in list(graph.nodes):
        nodes, calls = ([], []) if node in seen else _line(module, node)
        seen.update(nodes)
        if not any(map(_has_matrices, calls)):
            continue
        runs, reasons = runs_of(calls, "the chain")
        notes += [(nodes[at].target, why) for at, why in reasons]
        for first, end, products, _ in runs:
            layers = [(one.target, call) for one, call in zip(nodes[first:end], calls[first:end]) if one.op == "call_module"]
            named = [name for name, call in layers if _has_matrices(call)]
            found.append((named, [call for _, call in layers], products))
            _replace(graph, nodes[first:end], calls[first:end], len(found))
    if found:
        graph.lint()
        code = graph.python_code("self")
        namespace = dict(code.globals)
        exec(compile(code.src, f"<drawloom.torch.fuse of {type(module).__name__}>", "exec"), namespace)
        become(module, _Lines(namespace["forward"], count, numbers))
    return found, notes


def _replace(graph, nodes, calls, number):
    """A run by one call, of the modules that are there then."""
    program, slots = Program(), [None if node.op == "call_module" else call for node, call in zip(nodes, calls)]

    def run(x, *modules):
        given = iter(modules)
        now = tuple([next(given) if slot is None else slot for slot in slots])
        return program(now, one_after_another(now), x)

    run.__name__ = run.__qualname__ = f"run_{number}"
    # Where the first one was: what is between them may change the tensor that it reads.
    with graph.inserting_before(nodes[0]):
        modules = [graph.get_attr(node.target) for node in nodes if node.op == "call_module"]
        call = graph.call_function(run, (nodes[0].args[0], *modules))
    nodes[-1].replace_all_uses_with(call)
    for node in reversed(nodes):
        graph.erase_node(node)
