# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dispatcher's side of the ops: kernels, fake tensors, autograd, vmap, autocast for torch.ops.drawloom.*

Every op is a Spec (drawloom.ops) on a list of tensors. `drawloom::vjp` is any spec that ends in a derivative, named by its text; it
is differentiable like the others, so that derivatives of any order are the same few lines.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from .. import _drawloom, ops
from .._errors import CallError, CallTypeError
from ..ops import Spec

_library = torch.library.Library("drawloom", "DEF")

# Where programs run, as torch names it.
DEVICES = ("cpu", "cuda")

# Specs by what a call says of them. A spec is known to the extension module by its identity.
_specs: dict[Spec, Spec] = {}


def intern(spec):
    return _specs.setdefault(spec, spec)


def need(condition, message):
    if not condition:
        raise CallError(message)


def _rows(shape):
    """The extents of rows before the last dimension, as one."""
    rows = 1
    for extent in shape[:-1]:
        rows = rows * extent
    return rows


def _flat(spec, types):
    """The types that the program has: x, of any number of dimensions, is [rows, channels], and so are its cotangents."""
    flat = [ops.Array(dtype, tuple(shape)) for dtype, shape in types]
    leading = tuple(types[0][1][:-1])
    count = len(types) - sum(len(derivative.given) for derivative in spec.derivatives)

    def flatten(array):
        return ops.Array(array.dtype, (_rows(types[0][1]), array.shape[-1]))

    family = ops.families[spec.family]
    first = flatten(flat[0]) if family.rowwise else flat[0]
    results = family.results(dict(spec.attributes), [first, *flat[1:count]])
    given, gives = spec.rows(len(types), len(results))
    flat = [flatten(array) if row else array for array, row in zip(flat, given)]
    return flat, gives, leading


def result_types(spec, types):
    """[(dtype, shape)] as torch sees them; extents may be symbols."""
    flat, gives, leading = _flat(spec, types)
    return [(array.dtype, leading + (array.shape[-1],) if row else tuple(array.shape))
            for array, row in zip(spec.results(flat), gives)]


def _check(spec, types):
    """Raises CallError where the arguments of the op itself do not fit."""
    count = len(types) - sum(len(derivative.given) for derivative in spec.derivatives)
    need(len(types[0][1]) >= 1 or not ops.families[spec.family].rowwise,
         f"{spec.family}: x is a scalar; its last dimension is that of channels")
    ops.check(spec, [ops.Array(dtype, tuple(shape)) for dtype, shape in types[:count]])


def _resolve(spec, types, target):
    _check(spec, types)
    flat, _, _ = _flat(spec, types)
    function = ops.function(spec, tuple(flat), target)
    return function, [shape for _, shape in result_types(spec, types)]


_threads = torch.get_num_threads
_run_spec = _drawloom.run_spec
# Fake tensors and other subclasses are not computed at once.
_plain_types = frozenset([torch.Tensor, torch.nn.Parameter])


def local_part(tensor):
    """The part of a distributed tensor (FSDP2) that is here, or the tensor itself."""
    if type(tensor) in _plain_types:
        return tensor
    tensor = tensor.detach()
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def run(spec, tensors):
    """Computes now. `tensors` are dense or not, all of main memory or of one GPU, and not fake."""
    return _run_spec(spec, tensors, _threads(), _resolve)


_torch_dtypes = {name: getattr(torch, name) for name in
                 ("float64", "float32", "bfloat16", "float16", "int64", "int32", "int8", "bool")}
_names = {dtype: name for name, dtype in _torch_dtypes.items()}


def _types(tensors):
    return [(_names.get(tensor.dtype, str(tensor.dtype)), tuple(tensor.shape)) for tensor in tensors]


def fake(spec, tensors):
    """New tensors of the results' types, where nothing is computed."""
    types = _types(tensors)
    _check(spec, types)
    made = [tensors[0].new_empty(shape, dtype=_torch_dtypes[dtype]) for dtype, shape in result_types(spec, types)]
    return made[0] if len(made) == 1 else made


# What tells whether a call may compute at once: no mode that watches ops, no transform above, no level of forward mode, whose number
# is forward_ad._current_level, -1 where there is none.
_modes = torch._C._len_torch_dispatch_stack
_transforms = torch._C._functorch.maybe_current_level
_below_autograd = torch._C._AutoDispatchBelowAutograd
_grad_enabled = torch.is_grad_enabled


def _now(spec, tensors):
    """The results, or None where the dispatcher has more to do than to compute."""
    if _modes() or _transforms() is not None or forward_ad._current_level >= 0:
        return None
    for tensor in tensors:
        if type(tensor) not in _plain_types or tensor.is_meta:
            return None
    return _run_spec(spec, tensors, _threads(), _resolve)


# (identity of an interned spec, which inputs need a gradient, which cotangents there are) -> _derivative of these
_derivatives: dict[tuple, tuple] = {}


def _derivative(spec, needs, present):
    """(wrt, given, the interned spec of the derivative, its text). `needs` begins with what is no tensor, twice."""
    wrt = tuple(i for i, need in enumerate(needs[2:]) if need)
    given = tuple(j for j, one in enumerate(present) if one)
    derived = intern(spec.vjp(wrt, given)) if wrt and given else None
    known = _derivatives[id(spec), needs, present] = wrt, given, derived, str(derived)
    return known


# Identity of an interned spec -> its `saving`, interned.
_savings: dict[int, tuple | None] = {}


def _saving(spec):
    if id(spec) not in _savings:
        found = spec.saving()
        _savings[id(spec)] = found and (intern(found[0]), intern(found[1]), *found[2:])
    return _savings[id(spec)]


class _Differentiable(torch.autograd.Function):
    """A call of an op that autograd remembers. call(tensors) is the op below autograd, on the tensors alone, and call(tensors, spec)
    another one, call.gradients says whether any is wanted; None where it may compute at once."""

    @staticmethod
    def forward(ctx, spec, call, *tensors):
        ctx.spec = ctx.differentiated = spec
        ctx.set_materialize_grads(False)
        saving = _saving(spec) if any(ctx.needs_input_grad) and (call is None or call.gradients) else None
        if saving:
            # Derivatives begin with what the forward pass keeps for them.
            saves, ctx.differentiated, count, own = saving
            results = _as_list(_run_spec(saves, tensors, _threads(), _resolve) if call is None else call(tensors, saves))
            kept = [one.detach() for one in results[-count:]]
            shown = len(results) - count + own
            result = results[:shown] if shown > 1 else results[0]
        else:
            kept = []
            result = _run_spec(spec, tensors, _threads(), _resolve) if call is None else call(tensors)
        ctx.save_for_backward(*tensors, *kept)
        if call is not None:
            ctx.save_for_forward(*tensors)
        return tuple(result) if isinstance(result, list) else result

    @staticmethod
    def backward(ctx, *cotangents):
        spec, needs = ctx.differentiated, ctx.needs_input_grad
        present = tuple([cotangent is not None for cotangent in cotangents])
        wrt, given, derived, text = (_derivatives.get((id(spec), needs, present)) or _derivative(spec, needs, present))
        gradients = [None] * len(needs)
        if derived is not None:
            inputs = (*ctx.saved_tensors, *[cotangents[j] for j in given])
            # Without create_graph there is nothing for the dispatcher to do.
            values = None if _grad_enabled() else _now(derived, inputs)
            if values is None:
                values = _vjp_op(inputs, text)
            elif len(wrt) == 1:
                values = (values,)
            for i, value in zip(wrt, values):
                gradients[2 + i] = value
        return tuple(gradients)

    @staticmethod
    def jvp(ctx, *tangents):
        """Forward mode, which asks here only where a tensor has a tangent. `tangents` begin with what is no tensor, twice."""
        need(not ops.families[ctx.spec.family].once,
             f"{ctx.spec.family} has no forward mode: it is differentiated once, in reverse mode, as by torch.func.vjp, jacrev and grad")
        wrt = [i for i, tangent in enumerate(tangents[2:]) if tangent is not None]
        derived = intern(ctx.spec.jvp(wrt))
        return tuple(_vjp_op([*ctx.saved_tensors, *[tangents[2 + i] for i in wrt]], str(derived)))


# Not Function.apply: that hands over to torch.func where one of its transforms is active, as is right for a function that a
# user calls. Here the dispatcher has done that, and the tensors are those of one level.
_apply = super(torch.autograd.Function, _Differentiable).apply


def _autograd_kernel(spec_of, flatten, call):
    """An op's kernel for the Autograd keys. call(tensors, arguments) is the op, below them. In the common case, nothing to
    record and nobody to tell, the extension module computes at once."""
    def record(*arguments):
        spec, tensors = spec_of(*arguments), flatten(*arguments)
        try:
            return _apply(spec, None, *tensors)
        except CallError:
            # Tensors without memory have results without memory.
            if any(tensor.is_meta for tensor in tensors):
                return dispatch(*arguments)
            raise

    def dispatch(*arguments):
        spec, gradients = spec_of(*arguments), _grad_enabled()

        def below(tensors, instead=None):
            # What autograd's function turned off for this transform, those further out need as it was. Forward mode is on, as in
            # torch's own custom functions; transforms turn it off where they are to.
            with torch.set_grad_enabled(gradients), forward_ad._set_fwd_grad_enabled(True), _below_autograd():
                return call(tensors, arguments) if instead is None else _vjp_op(list(tensors), str(instead))

        below.gradients = gradients
        # Also where no gradient is wanted: autograd's function knows whether there are tangents.
        with enable_single_level_autograd_function() if _transforms() is not None else contextlib.nullcontext():
            return _apply(spec, below, *flatten(*arguments))

    return _drawloom.Kernel(spec_of, _resolve, record, dispatch, torch.Tensor, torch.nn.Parameter, _modes, _transforms,
                            forward_ad, _grad_enabled, _threads, torch._C.TensorBase.requires_grad)


# --- drawloom::vjp ---------------------------------------------------------------------------------------------------

_library.define("vjp(Tensor[] tensors, str spec) -> Tensor[]")
_by_text: dict[str, Spec] = {}
# By op: (spec_of, flatten), see `define`.
defined: dict = {}


def _spec_of(text):
    spec = _by_text.get(text)
    if spec is None:
        spec = _by_text[text] = intern(Spec.parse(text))
    return spec


def apply(tensors, text):
    """The results of a spec, by the text of an interned one, as a list."""
    return _vjp_op(tensors, text)


def derivative(tensors, spec):
    """The results of an interned spec that ends in a derivative, as a list."""
    return apply(tensors, str(spec))


def _as_list(result):
    return list(result) if isinstance(result, tuple) else result if isinstance(result, list) else [result]


def _vjp_now(tensors, spec):
    return _as_list(run(_spec_of(spec), tuple(tensors)))


_vjp_kernel = _autograd_kernel(lambda tensors, spec: _spec_of(spec), lambda tensors, spec: tuple(tensors),
                               lambda tensors, arguments: _vjp_op(list(tensors), arguments[1]))


def _vjp_autograd(tensors, spec):
    return _as_list(_vjp_kernel(tensors, spec))


for _device in DEVICES:
    _library.impl("vjp", _vjp_now, _device.upper())
_library.impl("vjp", _vjp_autograd, "Autograd")
torch.library.register_fake("drawloom::vjp", lambda tensors, spec: _as_list(fake(_spec_of(spec), tensors)), lib=_library)
_vjp_op: Any = torch.ops.drawloom.vjp.default
defined[_vjp_op] = lambda tensors, spec: _spec_of(spec), lambda tensors, spec: tuple(tensors)


def _batched(spec, info, dims, tensors, call):
    """The results of call(tensors) for a batch, as (list, dims)."""
    given, gives = [], [False]
    if ops.families[spec.family].rowwise:
        given, gives = spec.rows_of([ops.Array(dtype, shape if dim is None else shape[:dim] + shape[dim + 1:])
                                     for (dtype, shape), dim in zip(_types(tensors), dims)])
    if all(gives) and all(row or dim is None for row, dim in zip(given, dims)):
        # The batch is more rows: no parameter has one, and nothing is summed over rows.
        def front(tensor, dim, row):
            return tensor.movedim(dim, 0) if dim is not None else tensor.expand(info.batch_size, *tensor.shape) if row else tensor

        results = _as_list(call([front(*one) for one in zip(tensors, dims, given)]))
    else:
        # A call for each example: what sums over rows must not sum over the batch.
        examples = [[tensor if dim is None else tensor.select(dim, i) for tensor, dim in zip(tensors, dims)]
                    for i in range(info.batch_size)]
        results = [torch.stack(parts) for parts in zip(*[_as_list(call(example)) for example in examples])]
    return results, [0] * len(results)


def _vjp_vmap(info, in_dims, tensors, spec):
    return _batched(_spec_of(spec), info, in_dims[0], tensors, lambda tensors: _vjp_op(tensors, spec))


torch.library.register_vmap("drawloom::vjp", _vjp_vmap, lib=_library)


def _tensor_dims(in_dims, arguments):
    """The batch dimensions of the tensors among the arguments, in order; operands that are absent have none."""
    dims = []
    for dim, one in zip(in_dims, arguments):
        if isinstance(one, torch.Tensor):
            dims.append(dim)
        elif isinstance(one, (list, tuple)):
            dims += _tensor_dims(dim if isinstance(dim, (list, tuple)) else [dim] * len(one), one)
    return dims


# --- named ops -------------------------------------------------------------------------------------------------------

def define(schema, spec_of, flatten, join, autocast=None):
    """Defines drawloom::<name>, whose forward pass is a family of drawloom.ops. All but the schema are functions of the
    arguments as the schema has them.

    spec_of   gives the Spec, interned
    flatten   gives all tensors, x first
    join      (tensors, *arguments) -> the arguments with these tensors in place of their own
    autocast  (dtype, arguments) -> arguments under autocast
    """
    name = schema.partition("(")[0]
    _library.define(schema)
    op = getattr(torch.ops.drawloom, name).default
    defined[op] = spec_of, flatten
    # The dispatcher takes None for a tensor, too.
    required = [(i, one.name) for i, one in enumerate(op._schema.arguments) if str(one.type) == "Tensor"]

    def checked_spec_of(*arguments):
        for i, one in required:
            if arguments[i] is None:
                raise CallTypeError(f"{name}: {one} is None; it is a tensor")
        return spec_of(*arguments)

    lists = schema.endswith("-> Tensor[]")

    def of_schema(results):
        return _as_list(results) if lists else tuple(results) if isinstance(results, list) else results

    def now(*arguments):
        return of_schema(run(spec_of(*arguments), flatten(*arguments)))

    autograd = _autograd_kernel(checked_spec_of, flatten, lambda tensors, arguments: op(*join(tensors, *arguments)))

    def shapes(*arguments):
        return of_schema(fake(spec_of(*arguments), flatten(*arguments)))

    def vmap(info, in_dims, *arguments):
        tensors = flatten(*arguments)
        results, of_results = _batched(spec_of(*arguments), info, _tensor_dims(in_dims, arguments), tensors,
                                       lambda tensors: op(*join(tensors, *arguments)))
        if lists:
            return results, of_results
        return (results[0], 0) if len(results) == 1 else (tuple(results), tuple(of_results))

    for device in DEVICES:
        _library.impl(name, now, device.upper())
    _library.impl(name, (lambda *arguments: _as_list(autograd(*arguments))) if lists else autograd, "Autograd")
    torch.library.register_fake(f"drawloom::{name}", shapes, lib=_library)
    torch.library.register_vmap(f"drawloom::{name}", vmap, lib=_library)
    for device in DEVICES if autocast else ():
        def cast(*arguments, device=device, keys=torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, f"Autocast{device.upper()}"))):
            with torch._C._ExcludeDispatchKeyGuard(keys):
                # As torch's own ops, it leaves float64 alone.
                if flatten(*arguments)[0].dtype == torch.float64:
                    return op(*arguments)
                return op(*autocast(torch.get_autocast_dtype(device), *arguments))

        _library.impl(name, cast, f"Autocast{device.upper()}")
    return op
