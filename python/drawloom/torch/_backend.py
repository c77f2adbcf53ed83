# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(model, backend="drawloom"): parts of a model that work row by row are programs of Drawloom, Inductor compiles the rest.

A graph of Dynamo is cut before its derivative is taken. A call is supported for `rows`, the first extents of a batch, if what it computes of
a row depends on no other (`_recorder`, `_aten`). Connected calls are a region; one that is worth it becomes one `drawloom::vjp`, whose derivative is
Drawloom's own. Inductor gets the graph with these ops in it, and differentiates around them.
"""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .. import ops
from .._errors import CallError, Error
from ..ops import Spec, tracing
from ..ops.regions import FEWEST, Part, Unsupported, in_words
from ..ops.regions import worth as worth_of
from . import _aten  # noqa: F401
from ._dispatch import DEVICES, _names, intern
from ._recorder import Recorder, count_of, known, same

__all__ = ["Explanation", "Part", "drawloom", "explain"]

_FEWEST = FEWEST


@dataclass
class Explanation:
    """What became of a model: `parts` of each graph, in their order, and `breaks`, how many graphs there are beyond one."""

    parts: list[Part] = field(default_factory=list)
    graphs: int = 0

    @property
    def breaks(self) -> int:
        """How often Dynamo broke the model's graph."""
        return max(self.graphs - 1, 0)

    def __str__(self):
        return in_words(self.parts, f"; {self.graphs} graph{'s' if self.graphs != 1 else ''}")


def _tensors(value) -> Iterable[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)


def _value(node):
    return node.meta.get("example_value")


def _storage(tensor):
    """What tells whether two tensors are views of one; None of tensors without memory of their own, as those of torch.func."""
    return tensor.untyped_storage()._cdata if isinstance(tensor, FakeTensor) else None


_IN_PLACE = {getattr(operator, name) for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor",
                                                  "ilshift", "irshift", "setitem")}
# Calls that update what they are given, and that draw random numbers, in training.
_STATISTICS = {"batch_norm": "training", "instance_norm": "use_input_stats", "native_batch_norm": "training"}
_RANDOM = ("dropout", "rand", "bernoulli", "multinomial", "poisson", "exponential", "gumbel", "rrelu", "fractional")


def _name(node):
    """What the user called: torch names the value, after the variable that it is given to."""
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))


def _argument(node, name):
    """What a function is called with for one of its parameters, by its name or not; None where that is not known."""
    try:
        bound = inspect.signature(node.target).bind(*node.args, **node.kwargs)
        bound.apply_defaults()
        return bound.arguments.get(name)
    except (TypeError, ValueError):
        return node.kwargs.get(name)


def _changes(node):
    """The tensors that a call writes into."""
    if node.op not in ("call_function", "call_method"):
        return []
    name, given = _name(node), [node.kwargs.get("out")]
    schema = getattr(node.target, "_schema", None)
    if (node.target in _IN_PLACE if node.op == "call_function" else False) or (name.endswith("_") and not name.startswith("__")) or (
            schema and schema.is_mutable) or (node.op == "call_function" and _argument(node, "inplace") is True):
        given += [*node.args[:1], node.kwargs.get("input"), node.kwargs.get("self")]
    if name in _STATISTICS and _argument(node, _STATISTICS[name]) is not False:
        given += [*node.args[1:3], node.kwargs.get("running_mean"), node.kwargs.get("running_var")]
    nodes = []
    fx.node.map_arg(given, nodes.append)
    return [tensor for one in nodes for tensor in _tensors(_value(one))]


def _draws(node):
    """Whether a call draws random numbers, or may: dropout that drops nothing does not."""
    name = _name(node)
    if "dropout" in name or "rrelu" in name:
        trains = [_argument(node, word) for word in ("training", "train")]
        if False in [one for one in trains if isinstance(one, bool)] or ("dropout" in name and _argument(node, "p") == 0):
            return False
    return name == "normal" or any(part in name for part in _RANDOM)


def _is_barrier(node):
    """Whether a call does more than to give what it computes of its arguments, or may: it changes tensors or modes, or draws random numbers. No
    other call may get to its other side."""
    if node.op not in ("call_function", "call_method"):
        return node.op == "call_module"
    value, target = _value(node), node.target
    tensors = list(_tensors(value))
    if value is None or _changes(node) or any(not isinstance(one, FakeTensor) for one in tensors):
        return True
    if isinstance(target, torch._ops.HigherOrderOperator):
        return True
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace not in ("aten", "prims", "drawloom") or torch.Tag.nondeterministic_seeded in target.tags
    module = getattr(target, "__module__", None) or ""
    known = node.op == "call_method" or not module or module in ("_operator", "builtins", "math") or module.startswith(("torch", "drawloom"))
    # drawloom.torch.op's have the module of their function.
    return not (known or hasattr(target, "mlir")) or _draws(node)


class _Graph:
    """A graph of Dynamo, and what may be a program of rows in it."""

    def __init__(self, module: fx.GraphModule):
        self.module = module
        # A parameter that nobody needs has no gradient, not one of 0.
        for node in reversed(module.graph.nodes):
            if not node.users and node.op in ("call_function", "call_method") and not _is_barrier(node):
                module.graph.erase_node(node)
        self.nodes = list(module.graph.nodes)
        self.changed = {_storage(tensor) for node in self.nodes for tensor in _changes(node)} - {None}
        self.given = {_storage(tensor) for node in self.nodes if node.op in ("placeholder", "get_attr") for tensor in _tensors(_value(node))}
        # Parameters, buffers, and what is computed of these alone.
        self.shared = set()
        for node in self.nodes:
            value = _value(node)
            if node.op == "get_attr" or (node.op == "placeholder" and (
                    isinstance(value, torch.nn.Parameter) or "_dynamo_static_input_type" in node.meta.get("tensor_dict", {})
                    or node.meta.get("tensor_dict", {}).get("_is_param", False) or _is_parameter(node))):
                self.shared.add(node)
            elif node.op in ("call_function", "call_method") and node.all_input_nodes and all(
                    one in self.shared for one in node.all_input_nodes):
                self.shared.add(node)
        # Whether the graph records gradients at all.
        self.differentiated = any(one.requires_grad for node in self.nodes if node.op in ("call_function", "call_method")
                                  for one in _tensors(_value(node)))
        # How many barriers are in front of a call.
        self.segment, barriers = {}, 0
        for node in self.nodes:
            self.segment[node] = barriers = barriers + _is_barrier(node)
        # By node, why it stays with torch.
        self.why: dict[fx.Node, str] = {}

    @staticmethod
    def _inputs(node):
        return [tensor for one in node.all_input_nodes for tensor in _tensors(_value(one))]

    def leads(self):
        """The first extents of what is multiplied by shared matrices, each once: [(extents, their product)]."""
        found = []
        for node in self.nodes:
            value = _value(node)
            if node.op not in ("call_function", "call_method") or not isinstance(value, torch.Tensor) or len(value.shape) < 2:
                continue
            if not _is_product(node) or not any(one in self.shared for one in node.all_input_nodes):
                continue
            extents = tuple(value.shape[:-1])
            count = count_of(extents)
            if not any(same(count, other) for _, other in found):
                found.append((extents, count))
        return found

    def role(self, node, count):
        """How many extents of a tensor are rows; -1: all rows share it."""
        value = _value(node)
        if node in self.shared or not isinstance(value, torch.Tensor):
            return -1
        product = 1
        for lead, extent in enumerate(value.shape):
            product = product * extent
            if same(product, count):
                return lead + 1
        return -1

    def supported(self, node, count):
        """Whether a call can be part of a program of so many rows; notes why not."""
        value = _value(node)
        tensors = list(_tensors(value))
        try:
            if node.op not in ("call_function", "call_method") or not tensors:
                return False
            if any(_storage(one) in self.changed for one in [*tensors, *self._inputs(node)]):
                raise Unsupported("a tensor of its is changed in place")
            if node.target is operator.getitem and isinstance(_value(node.args[0]), (tuple, list)):
                return True
            # Those that multiply are programs of their own, which are as fast alone.
            if _calls_drawloom(node) and not getattr(ops.families.get(str(node.target).split(".")[1]), "pointwise", False):
                raise Unsupported("it is an op of Drawloom by itself")
            if isinstance(node.target, torch._ops.HigherOrderOperator):
                raise Unsupported("it is a function with a gradient of its own, or control flow")
            if self.differentiated and any(one.requires_grad for one in self._inputs(node)) and not all(
                    one.requires_grad or not one.is_floating_point() for one in tensors):
                raise Unsupported("no gradient goes through it")
            recorder = Recorder(tracing.Program(), count)
            environment = {}
            for one in node.all_input_nodes:
                environment[one] = _given(recorder, one, self.role(one, count), _value(one))
            results = list(_tensors(_run(recorder, node, environment)))
            if [(one.dtype, tuple(one.shape)) for one in results] != [(one.dtype, tuple(one.shape)) for one in tensors]:
                raise Unsupported("a context changes its type, as autocast does")
            if not any(recorder.item(one).rows for one in results):
                raise Unsupported("it has no rows")
            return True
        except Exception as error:  # Calls are anybody's: whatever they raise here, they stay with torch.
            self.why.setdefault(node, _reason(error))
            return False


def _is_parameter(node):
    source = node.meta.get("grapharg")
    example = getattr(source, "_example", None)
    example = example() if callable(example) else example
    return isinstance(example, torch.nn.Parameter)


def _is_product(node):
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    return name in ("linear", "matmul", "mm", "addmm", "__matmul__", "einsum")


def _calls_drawloom(node):
    return getattr(node.target, "namespace", "") == "drawloom"


def _given(recorder, node, lead, value):
    """A fake tensor of its own for an input of a program, or a number."""
    if isinstance(value, (tuple, list)):
        return type(value)(_given(recorder, node, lead, one) for one in value)
    if isinstance(value, torch.SymFloat):
        # As a constant, for which Dynamo keeps a guard: eps of a norm, say, with dynamic=True.
        return float(value)
    if not isinstance(value, torch.Tensor):
        return value
    if not isinstance(value, FakeTensor):
        raise Unsupported("it reads a tensor of a class of its own")
    if value.device.type not in DEVICES:
        raise Unsupported(f"it is on {value.device.type}; programs run on the CPU and on NVIDIA's GPUs")
    with torch.no_grad():
        one = value.detach()
    recorder.take(one, lead)
    return one


def _run(recorder, node, environment):
    """The node's call on what the environment has, under the recorder."""
    arguments, options = fx.node.map_arg((node.args, dict(node.kwargs)), lambda one: environment[one])
    # What turns gradients off then shows.
    with torch.enable_grad(), recorder:
        if node.op == "call_method":
            return getattr(arguments[0], node.target)(*arguments[1:], **options)
        return node.target(*arguments, **options)


def _reason(error):
    if isinstance(error, Unsupported):
        return error.reason
    return str(error) if isinstance(error, CallError) else f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


@dataclass
class _Region:
    """Calls that become one program: the nodes, the tensors it takes, with how many extents are rows, those it gives, and its spec."""

    nodes: list[fx.Node]
    count: Any
    inputs: list[fx.Node]
    leads: list[int]
    outputs: list[fx.Node]
    spec: Spec
    products: list[tuple[int, int]]


def _region(graph, nodes, count, outputs):
    inside = set(nodes)
    inputs = list(dict.fromkeys(one for node in nodes for one in node.all_input_nodes
                                if one not in inside and any(True for _ in _tensors(_value(one)))))
    leads = [graph.role(one, count) for one in inputs]
    # A program of rows has them first.
    order = sorted(range(len(inputs)), key=lambda i: (leads[i] < 0, not _value(inputs[i]).is_floating_point()))
    inputs, leads = [inputs[i] for i in order], [leads[i] for i in order]
    if not leads or leads[0] < 0 or not _value(inputs[0]).is_floating_point():
        raise Unsupported("no input of floats has the rows")
    recorder = Recorder(tracing.Program(), count)
    environment = {}
    for one, lead in zip(inputs, leads):
        environment[one] = _given(recorder, one, lead, _value(one))
    for node in nodes:
        for one in node.all_input_nodes:
            if one not in environment:
                environment[one] = _given(recorder, one, -1, _value(one))
        environment[node] = _run(recorder, node, environment)
    for one in outputs:
        if not recorder.item(environment[one]).rows:
            raise Unsupported("it gives a tensor that all rows share")
        recorder.result(environment[one])
        shape, lead = _value(one).shape, recorder.item(environment[one]).lead
        if sum(not isinstance(extent, int) and not any(same(extent, other) for given in inputs for other in _value(given).shape)
               for extent in shape[:lead]) > 1:
            raise Unsupported("its rows have extents that no input has")
    spec = intern(Spec("rows", recorder.program.attributes()))
    return _Region(nodes, count, inputs, leads, outputs, spec, recorder.program.products)


def _hint(extent):
    return extent if isinstance(extent, int) else extent.node.hint or 0


class _Supports(OperatorSupportBase):
    def __init__(self, nodes):
        self.nodes = nodes

    def is_node_supported(self, submodules, node):
        return node in self.nodes


def _cut(module: fx.GraphModule):
    """(regions that are worth it, parts in words) of a graph, which stays as it is but for copies of views and calls that nobody reads."""
    graph = _Graph(module)
    regions, parts, taken, counted = [], [], set(), set()
    for _, count in graph.leads():
        nodes = {node for node in graph.nodes if node not in taken and graph.supported(node, count)}
        partitions = [partition for segment in sorted({graph.segment[node] for node in nodes})
                      for partition in CapabilityBasedPartitioner(module, _Supports({node for node in nodes if graph.segment[node] == segment}),
                                                                  allows_single_node_partition=True).propose_partitions()]
        for partition in partitions:
            # The partitioner gives items of a tensor to the call that gives the tensor, as if that were a tuple.
            members = [node for node in graph.nodes if node in partition.nodes and node in nodes]
            rows = str(count)
            names = [_name(node) for node in members]
            try:
                outputs = _outputs(graph, members)
                names = [_name(node) for node in members]
                if not outputs:
                    continue
                region = _region(graph, members, count, outputs)
                worth, why = worth_of(region.products, _hint(region.count), _FEWEST)
            except Exception as error:  # What cannot be said is left to Inductor, whatever the reason.
                worth, why = False, _reason(error)
            if worth:
                regions.append(region)
                taken |= set(members)
            counted |= set(members)
            parts.append(Part(names, "drawloom" if worth else "inductor", why, rows))
    reasons: dict[str, list[str]] = {}
    for node in graph.nodes:
        if node.op in ("call_function", "call_method") and node not in counted and any(True for _ in _tensors(_value(node))):
            reasons.setdefault(graph.why.get(node, "no product of rows is near it"), []).append(_name(node))
    parts += [Part(names, "inductor", why) for why, names in reasons.items()]
    return regions, parts


def _outputs(graph, members):
    """The calls of a region whose results others read. Views of what the graph is given, and what is true or false, are computed on both
    sides, and are no members where no other one reads them."""
    inside = set(members)
    outputs = []
    # From the last one on: copies read what comes before them.
    for node in reversed(list(members)):
        outer = [user for user in node.users if user not in inside]
        if not outer:
            continue
        given = any(_storage(one) in graph.given for one in _tensors(_value(node)))
        if given or any(one.dtype == torch.bool for one in _tensors(_value(node))):
            if len(outer) == len(node.users):
                members.remove(node)
                inside.remove(node)
                continue
            with graph.module.graph.inserting_after(node):
                twin = graph.module.graph.node_copy(node, lambda one: one)
            for user in outer:
                user.replace_input_with(node, twin)
        elif isinstance(_value(node), (tuple, list)):
            raise Unsupported("it gives a list of tensors")
        else:
            outputs.append(node)
    return outputs[::-1]


def _extent(graph, region, extent):
    """An extent of rows as an argument of a call: a number, or the size of an input. None where no input has it."""
    if isinstance(extent, int):
        return extent
    for one in region.inputs:
        for dim, other in enumerate(_value(one).shape):
            if same(other, extent):
                return graph.call_method("size", (one, dim))
    return None


def _behind(module, region, last):
    """The calls in front of `last`, the region's last call, that need what the region gives; None where the region needs one of these, as a
    program of other rows that has become one call may."""
    found = {}
    inside = set(region.nodes)
    for node in module.graph.nodes:
        needs = any(one in found for one in node.all_input_nodes)
        if node in inside and needs:
            return None
        if node is last:
            return list(found)
        if node not in inside and (needs or any(one in inside for one in node.all_input_nodes)):
            found[node] = None
    raise AssertionError("the region is not of this graph")


def _replace(module, region, regions=()):
    """Puts an op in place of a region, whose results become inputs of the others. Nodes of the graph stay the objects that they are: Dynamo has
    notes on them."""
    # Another region's op may have changed their order.
    graph, inside = module.graph, set(region.nodes)
    region.nodes = [node for node in graph.nodes if node in inside]
    last = region.nodes[-1]
    later = _behind(module, region, last)
    if later is None:
        return
    with graph.inserting_after(last):
        anchor = graph.call_function(_identity)
    with graph.inserting_before(anchor):
        flat = []
        for node, lead in zip(region.inputs, region.leads):
            flat.append(graph.call_method("reshape", (node, (-1, *known(_value(node).shape[lead:])))) if lead > 1 else node)
        result = graph.call_function(torch.ops.drawloom.vjp.default, (flat, str(region.spec)))
        for j, node in enumerate(region.outputs):
            value = _value(node)
            one = graph.call_function(operator.getitem, (result, j))
            lead = next(k for k in range(1, len(value.shape) + 1) if same(count_of(value.shape[:k]), region.count))
            if lead > 1:
                extents = [_extent(graph, region, extent) for extent in value.shape[:lead]]
                one = graph.call_method("reshape", (one, (*[-1 if extent is None else extent for extent in extents], *known(value.shape[lead:]))))
            one.meta["example_value"] = value
            node.replace_all_uses_with(one)
            for other in regions:
                other.inputs = [one if given is node else given for given in other.inputs]
    for node in later:
        anchor.append(node)
        anchor, before = node, anchor
        if before.target is _identity:
            graph.erase_node(before)
    if anchor.target is _identity:
        graph.erase_node(anchor)
    for node in reversed(region.nodes):
        graph.erase_node(node)


def _identity():
    """Marks a place in a graph."""


def _compiles(region):
    """Compiles a region's program and that of its gradients, for as many rows as the example has. One that cannot be is left to Inductor."""
    rows = _hint(region.count)
    tensors = [_value(node) for node in region.inputs]
    arrays = [ops.Array(_names[one.dtype], (rows, *known(one.shape[lead:])) if lead >= 0 else known(one.shape)) for one, lead in zip(tensors, region.leads)]
    needs = [i for i, one in enumerate(tensors) if one.requires_grad]
    device = tensors[0].device
    target = "cpu" if device.type == "cpu" else f"cuda:{device.index or 0}"
    try:
        if not needs or not torch.is_grad_enabled():
            ops.function(region.spec, tuple(arrays), target)
            return True
        saves, differentiated, count, _ = region.spec.saving() or (region.spec, region.spec, 0, 0)
        ops.function(intern(saves), tuple(arrays), target)
        given, results = saves.results(arrays)[-count:] if count else [], region.spec.results(arrays)
        ops.function(intern(intern(differentiated).vjp(needs, range(len(results)))), (*arrays, *given, *results), target)
        return True
    except Error as error:
        warnings.warn(f"drawloom: a part of {len(region.nodes)} calls is left to Inductor: {error}", stacklevel=2)
        return False


def drawloom(module: fx.GraphModule, inputs, *, mode: str | None = None, options: dict[str, Any] | None = None):
    """The backend of torch.compile. `options`: `rest` is what becomes of the calls that are not Drawloom's, "inductor" (the default) or "eager",
    which needs no compiler of C++ and is compiled in less time; all others are Inductor's, and so is `mode`."""
    options = dict(options or {})
    rest = options.pop("rest", "inductor")
    if rest not in ("inductor", "eager"):
        raise CallError(f"options: rest is {rest!r}; it is 'inductor' or 'eager'")
    regions, _ = _cut(module)
    regions = [region for region in regions if _compiles(region)]
    for region in regions:
        _replace(module, region, regions)
    module.graph.lint()
    module.recompile()
    if rest == "eager":
        if any(isinstance(node.target, torch._ops.HigherOrderOperator) for node in module.graph.nodes):
            # A checkpoint in it has to draw the same random numbers twice, which AOTAutograd sees to.
            from torch._dynamo.backends.debugging import aot_eager

            return aot_eager(module, inputs)
        return module.forward
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(module, inputs, config_patches={**(list_mode_options(mode) if mode else {}), **options})


def explain(model: Callable[..., Any], *arguments: Any, **options: Any) -> Explanation:
    """What torch.compile(model, backend="drawloom") makes of a call of the model with these arguments: which calls are programs of Drawloom,
    which Inductor's, and why. The model is called once, without being compiled."""
    found = Explanation()

    def look(module, inputs):
        found.graphs += 1
        found.parts += _cut(module)[1]
        return module.forward

    torch._dynamo.reset()
    torch.compile(model, backend=look)(*arguments, **options)
    torch._dynamo.reset()
    return found
