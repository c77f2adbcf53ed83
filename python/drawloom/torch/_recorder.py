# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of torch, written down as a program of rows.

A Recorder is a dispatch mode. Under it a call runs on fake tensors; each ATen op that arrives is composed of simpler ones where
`COMPOSED` says how, and else becomes lines of the program by the function of its name in `OPS`. A tensor has rows, whose extents
are the first of its shape (`Item.lead`), or is shared by all rows. What one row does must not depend on another one: ops that mix rows,
and ops that are not known here, raise Unsupported with the reason.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from ..ops import Array, families, tracing
from ..ops.formulas import number_in
from ..ops.regions import LARGEST_MADE, Unsupported
from ..ops.rows import ROW
from ..ops.tracing import Value
from ._dispatch import _names, defined

aten = torch.ops.aten

_FLOATS = ("float32", "float64", "bfloat16", "float16")


def dtype_name(dtype, known=_FLOATS):
    name = _names.get(dtype)
    if name not in known:
        raise Unsupported(f"{str(dtype).removeprefix('torch.')} is no type of its programs of rows")
    return name


def count_of(extents):
    number = 1
    for extent in extents:
        number = number * extent
    return number


def same(a, b):
    return a is b or statically_known_true(a == b)


def known(shape, what="a shared tensor"):
    """Extents as numbers; a symbol may be one."""
    extents = [extent if isinstance(extent, int) else extent.node.maybe_as_int() for extent in shape]
    if None in extents:
        raise Unsupported(f"{what} has extents that are open, {list(shape)}")
    return tuple(extents)


def rounded(number, kinds):
    """A number as torch compares it with tensors of one type: in that type."""
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    return torch.tensor(number, dtype=kind).item() if kind in (torch.bfloat16, torch.float16) else number


def _is_the_same_in_order(view, tensor):
    """Whether a view of a tensor has the same numbers, in another shape at most."""
    return view.is_contiguous() and tensor.is_contiguous() and same(view.numel(), tensor.numel())


class Item:
    """What stands for a tensor: a Value of the program, [ROW, ...] for a tensor of rows, whose shape begins with `lead` extents that are
    one row each; -1 where all rows share it. A matrix that is only turned is not written down before somebody needs it so."""

    def __init__(self, value: Value | None, lead: int, turned: Value | None = None):
        self._value, self.lead, self.turned = value, lead, turned

    @property
    def rows(self):
        return self.lead >= 0

    @property
    def value(self) -> Value:
        if self._value is None:
            assert self.turned is not None
            self._value = self.turned.transpose((1, 0))
        return self._value


class Recorder(TorchDispatchMode):
    """Writes down what runs under it on fake tensors that `take` has made known. `rows` is how many rows there are."""

    def __init__(self, program: tracing.Program, rows: Any):
        super().__init__()
        self.program, self.row_count = program, rows
        # By identity, with the tensor: an identity is not taken again as long as it lives.
        self.items: dict[int, tuple[torch.Tensor, Item]] = {}
        self.fakes: Any = None
        # Identities of inputs, and of what is made of numbers alone.
        self.given: set[int] = set()
        self.made: set[int] = set()

    def take(self, tensor, lead):
        """An input: its first `lead` extents are rows; -1: all rows share it."""
        self.fakes = tensor.fake_mode
        trailing = known(tensor.shape[max(lead, 0):], "a row" if lead >= 0 else "a shared tensor")
        value = self.program.input(dtype_name(tensor.dtype, (*_FLOATS, "bool")), (ROW, *trailing) if lead >= 0 else trailing)
        self.items[id(tensor)] = tensor, Item(value, lead)
        self.given.add(id(tensor))

    def _known(self, tensor, scalar):
        """The tensor; for a number that torch has made a tensor of, a fake one, where calls have these."""
        if isinstance(tensor, FakeTensor):
            return tensor
        if tensor.dim() or tensor.requires_grad or self.fakes is None or not scalar:
            raise Unsupported("it reads a tensor that is no argument")
        number, dtype = tensor.item(), dtype_name(tensor.dtype)
        fake = self.fakes.from_tensor(tensor)
        self.items[id(fake)] = fake, Item(self.program.constant(number, dtype), -1)
        return fake

    def item(self, tensor) -> Item:
        found = self.items.get(id(tensor))
        if found is None:
            raise Unsupported("it reads a tensor that is made on the way")
        return found[1]

    def result(self, tensor):
        self.program.result(self.item(tensor).value.to(dtype_name(tensor.dtype)))

    def lead_of(self, shape):
        """How many extents of a shape are the rows."""
        count = 1
        for lead, extent in enumerate(shape):
            count = count * extent
            if same(count, self.row_count):
                # Extents of one behind belong to the row.
                return lead + 1
        raise Unsupported(f"its result, {list(shape)}, does not have the rows first")

    def __torch_dispatch__(self, func, types, arguments=(), options=None):
        try:
            return self._write(func, arguments, options or {})
        except Unsupported as error:
            if error.op is None:
                error.op = func.overloadpacket.__name__
            raise

    def _write(self, func, arguments, options):
        if not torch.is_grad_enabled():
            raise Unsupported("no gradient goes through it")
        if func.namespace == "drawloom":
            return self._call(func, arguments, options)
        if func.namespace == "prim":
            # Questions about a tensor, such as its device.
            return func(*arguments, **options)
        composed, written, views = COMPOSED.get(func), None, []
        packet = func.overloadpacket
        if packet.__name__.endswith("_") and func._schema.is_mutable:
            # Composed ops change what they have just made.
            written, packet = arguments[0], getattr(aten, packet.__name__.rstrip("_"), None)
            if id(written) in self.given:
                raise Unsupported("it changes its argument")
            views = [one for one, _ in self.items.values() if one is not written and one.untyped_storage()._cdata == written.untyped_storage()._cdata]
            if not all(_is_the_same_in_order(one, written) for one in views) or any(id(one) in self.given for one in views):
                raise Unsupported("it changes a tensor of which there are views")
        # There are thousands of rows.
        dims = {aten.split: arguments[2:], aten.split_with_sizes: arguments[2:], aten.unbind: arguments[1:]}.get(packet)
        if dims is not None and self._is_row(arguments[0], *dims, **options):
            raise Unsupported("it takes the rows apart")
        if packet is aten._local_scalar_dense:
            raise Unsupported("what is done depends on values")
        if packet in _MADE and not any(isinstance(one, FakeTensor) for one in arguments):
            return self._made(func, arguments, options)
        write = None if composed else OPS.get(packet)
        if composed:
            with self:
                return composed(*arguments, **options)
        if write is None:
            # Some ops of C++ are composed of what the dispatcher does not know, size say.
            if torch._C._dispatch_has_kernel(func.name()) and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
                with self:
                    return func.decompose(*arguments, **options)
            raise Unsupported(_RANDOM.get(packet.__name__.rstrip("_"), f"{packet.__name__} has no form in a program of rows"))
        arguments = torch.utils._pytree.tree_map_only(torch.Tensor, lambda one: self._known(one, packet is aten.where), arguments)
        result = func(*arguments, **options)
        out = result[0] if isinstance(result, (tuple, list)) else result
        try:
            values = write(self, out, *arguments, **{name: one for name, one in options.items() if name not in _IGNORED})
        except (AttributeError, RuntimeError, TypeError) as error:  # A form that the function of this op does not have.
            raise Unsupported(f"{packet.__name__}, called like this, has no form in a program of rows") from error
        for tensor, item in zip(result if isinstance(result, (tuple, list)) else [result], values if isinstance(values, list) else [values]):
            self.items[id(tensor)] = tensor, item
        if written is not None:
            item = self.items[id(out)][1]
            self.items[id(written)] = written, item
            for one in views:
                self.items[id(one)] = one, self.shaped(item, one.shape)
        return result

    def _is_row(self, x, dim=0):
        return self.item(x).rows and (dim + x.dim() if dim < 0 else dim) < self.item(x).lead

    def _made(self, func, arguments, options):
        """A tensor that is made of numbers alone: a constant of the program. Whole numbers are known as float64."""
        if any(isinstance(one, torch.SymInt) and one.node.maybe_as_int() is None for one in torch.utils._pytree.tree_leaves((arguments, options))):
            raise Unsupported("its size is known in a call only")
        with _disable_current_modes():
            made = func(*arguments, **{name: one for name, one in options.items() if name != "device"})
        if made.numel() > LARGEST_MADE:
            raise Unsupported(f"it makes {made.numel()} numbers, more than {LARGEST_MADE}; a tensor that is an argument may have any number")
        if made.numel() == 0 or made.isnan().any():
            raise Unsupported("it makes an empty tensor, or one with NaN")
        numbers = made.double() if made.is_floating_point() or made.dtype in (torch.int64, torch.int32) else made
        name = dtype_name(made.dtype) if made.is_floating_point() else dtype_name(numbers.dtype, ("float64", "bool"))
        with _disable_current_modes():
            fake = self.fakes.from_tensor(made, static_shapes=True)
        self.made.add(id(fake))
        self.items[id(fake)] = fake, Item(self.program.array(numbers.tolist(), name, tuple(made.shape)), -1)
        return fake

    def _call(self, func, arguments, options):
        """An op of Drawloom: its program becomes part of this one."""
        spec_of, flatten = defined.get(func, (None, None))
        spec = spec_of(*arguments, **options) if spec_of else None
        if spec is not None and families[spec.family].rowwise and not spec.derivatives:
            return self._inlined(func, spec, arguments, options)
        if spec is None or spec.family != "rows" or spec.derivatives or "kept" in dict(spec.attributes):
            raise Unsupported("an op of Drawloom stays whole")
        items = [self.item(one) for one in flatten(*arguments, **options)]
        attributes = dict(spec.attributes)
        for item, (_, shape) in zip(items, tracing.program_of(attributes)["inputs"]):
            if item.lead != (1 if ROW in shape else -1):
                raise Unsupported("an op of Drawloom takes rows where others share a tensor, or the other way round")
        results = func(*arguments, **options)
        for tensor, value in zip(results, self.program.call(attributes, [item.value for item in items])):
            self.items[id(tensor)] = tensor, Item(value, 1)
        return results

    def _inlined(self, func, spec, arguments, options):
        """An op whose first tensor has the rows: what it does becomes part of this program."""
        family, tensors = families[spec.family], defined[func][1](*arguments, **options)
        items = [self.item(one) for one in tensors]
        if not items[0].rows or len(items[0].value.shape) != 2 or any(one.rows for one in items[1:]):
            raise Unsupported(f"drawloom::{func.name().partition('::')[2]} takes rows of numbers, and tensors that all rows share")
        results = func(*arguments, **options)
        values = [item.value.to(dtype_name(one.dtype)) for item, one in zip(items, tensors)]
        given = [Array(one.dtype, (-1, *one.shape[1:]) if i == 0 else one.shape) for i, one in enumerate(values)]
        gives = family.results(dict(spec.attributes), given)
        inputs = {f"%given{i}": one for i, one in enumerate(values)}
        lines, names = family.body(dict(spec.attributes), given, gives, list(inputs))
        made = self.program.include(lines, names, [(one.dtype, (ROW, *one.shape[1:])) for one in gives], inputs)
        if not family.pointwise:
            self.program.products += [(one.shape[1], one.shape[0]) for one in values[1:] if len(one.shape) > 1]
        for tensor, value in zip(results if isinstance(results, (tuple, list)) else [results], made):
            self.items[id(tensor)] = tensor, Item(value, items[0].lead)
        return results

    # --- what ops are written with ---

    def operand(self, one, out, lead):
        """A tensor or number as it goes with the result: a value that broadcasts along rows."""
        if isinstance(one, numbers.Real):
            return one
        if not isinstance(one, torch.Tensor):
            raise Unsupported(f"it has an operand {type(one).__name__}")
        item = self.item(one)
        if item.rows:
            if item.lead != lead or len(one.shape) != len(out.shape):
                raise Unsupported("it goes along another dimension than that of rows")
            return item.value
        value = item.value
        if lead >= 0 and len(value.shape) > len(out.shape) - lead:
            extra = len(value.shape) - (len(out.shape) - lead)
            if any(extent != 1 for extent in value.shape[:extra]):
                raise Unsupported("it reads a tensor that differs from row to row, but does not have all rows")
            value = value.reshape(value.shape[extra:])
        return value

    def lead(self, tensors, out):
        """That of the result of arithmetic."""
        leads = {self.item(one).lead for one in tensors if isinstance(one, torch.Tensor)} - {-1}
        if len(leads) > 1:
            raise Unsupported("its operands have their rows in different dimensions")
        if not leads:
            return -1
        lead, = leads
        if not same(count_of(out.shape[:lead]), self.row_count):
            raise Unsupported("it makes rows of its own")
        return lead

    def elementwise(self, out, compute, *operands, masks=False):
        """`masks`: what is true or false is so for `compute`, and not 1 or 0."""
        lead = self.lead(operands, out)
        values = [self.operand(one, out, lead) for one in operands]
        if not any(isinstance(one, Value) for one in values):
            raise Unsupported("it has no tensor")
        if out.dtype != torch.bool:
            wide = tracing.computed(dtype_name(out.dtype))
            values = [one if not isinstance(one, Value) or (masks and one.dtype == "bool") else number_in(one, wide) for one in values]
        else:
            if any(isinstance(one, Value) and one.dtype == "bool" for one in values):
                raise Unsupported("it compares what is true")
            wide = tracing.promoted(*{tracing.computed(one.dtype) for one in values if isinstance(one, Value)})
            kinds = {one.dtype for one in operands if isinstance(one, torch.Tensor)}
            values = [one.to(wide) if isinstance(one, Value) else rounded(one, kinds) for one in values]
        value = compute(*values)
        shape = tuple(out.shape) if lead < 0 else (ROW, *known(out.shape[lead:], "a row"))
        return Item(value.broadcast(shape), lead)

    def dims(self, tensor, dims, item):
        """Dimensions of a reduction as those of the value; those of rows are none."""
        rank = len(tensor.shape)
        dims = range(rank) if dims is None or (isinstance(dims, (list, tuple)) and not dims) else [dims] if isinstance(dims, int) else dims
        dims = sorted(d + rank if d < 0 else d for d in dims)
        if not item.rows:
            return dims
        if any(d < item.lead for d in dims):
            raise Unsupported("it goes over the rows")
        return [d - item.lead + 1 for d in dims]

    def shaped(self, item, shape):
        """The same numbers in another shape."""
        if not item.rows:
            return Item(item.value.reshape(list(known(shape))), -1)
        lead = self.lead_of(shape)
        trailing = known(shape[lead:], "a row")
        if count_of(trailing) != count_of(item.value.shape[1:]):
            raise Unsupported("it takes numbers from one row to another")
        return Item(item.value.reshape([ROW, *trailing]), lead)


# What options do not matter to a program.
_IGNORED = ("memory_format", "layout", "device", "pin_memory", "non_blocking")

# Dropout and the like get memory first, and fill it with random numbers.
_RANDOM = {**dict.fromkeys(("bernoulli", "exponential", "multinomial", "native_dropout", "normal", "poisson", "rand", "rand_like", "randint", "randint_like",
                            "randn", "randn_like", "randperm", "uniform"), "it draws random numbers"),
           **dict.fromkeys(("empty_like", "new_empty"), "it gives memory without values, where what draws random numbers, such as dropout in training, puts these")}

# What makes tensors of numbers.
_MADE = (aten.arange, aten.eye, aten.full, aten.lift_fresh, aten.linspace, aten.logspace, aten.ones, aten.scalar_tensor, aten.zeros)

# By ATen op: what writes it down (_aten fills both), and ops that are composed of others.
OPS: dict[Any, Callable] = {}
COMPOSED: dict[Any, Callable] = {}


def op(*packets):
    def register(function):
        for packet in packets:
            OPS[packet] = function
        return function
    return register
