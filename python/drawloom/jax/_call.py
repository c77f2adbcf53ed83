# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The primitive `drawloom_call`: a Spec (drawloom.ops) on arrays, with a rule for each of JAX's transformations.

Derivatives of a spec are specs, so that every rule of differentiation is one call of the same primitive: the jvp rule gives
forward mode, transposing what it gives yields the vector-Jacobian product, and the rules apply to these again.

Where a spec has rows, the primitive's arrays have any number of dimensions before the channels; they are rows to the program.
"""

import functools
import hashlib
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.export import is_symbolic_dim
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from .. import _drawloom, _library, ops
from .._errors import CallError, Error
from .._version import __version__
from ..ops import Along, Array, Tangents
from ..ops.rows import ROW
from ._sharding import explicitly_sharded, partitioned

# Executables that JAX keeps on disk name it: another number where its attributes change.
_TARGET = "drawloom_call_1"
jax.ffi.register_ffi_target(
    _TARGET, {"instantiate": _drawloom.xla_handler, "execute": _drawloom.xla_handler}, platform="cpu")
# A GPU is known when XLA initializes a call there.
jax.ffi.register_ffi_target(
    _TARGET, {stage: _drawloom.xla_handler for stage in ("instantiate", "initialize", "execute")}, platform="CUDA")

call_p = Primitive("drawloom_call")
call_p.multiple_results = True


def call(spec, *arrays):
    """The results of a spec, as a list."""
    return call_p.bind(*_alike(arrays), spec=spec)


def call_anywhere(spec, *arrays):
    """`call`, also on arrays whose types say how they are split."""
    return explicitly_sharded(functools.partial(call, spec), *spec.axes_of(list(map(type_of, arrays))), arrays)


def _alike(arrays):
    """Within shard_map all arrays vary along the same axes; a parameter's gradients are thus summed over these."""
    varying = [jax.typeof(array).mat.varying for array in arrays]
    every = frozenset().union(*varying)
    return [jax.lax.pcast(array, tuple(sorted(every - own)), to="varying") if every - own else array
            for array, own in zip(arrays, varying)]


def type_of(array):
    return Array(str(np.dtype(array.dtype)), tuple(array.shape))


@functools.lru_cache(maxsize=4096)
def _program_types(spec, types):
    """The types that the program has, and those of the primitive's results."""
    given, gives = spec.rows_of(types)
    leading = types[0].shape[:-1]
    flat = [Array(one.dtype, (math.prod(leading), one.shape[-1])) if row else one for one, row in zip(types, given)]
    results = [Array(one.dtype, (*leading, one.shape[-1])) if row else one for one, row in zip(spec.results(flat), gives)]
    return tuple(flat), tuple(results)


@call_p.def_abstract_eval
def _abstract_eval(*avals, spec):
    # What varies along the axes of a mesh, and on which mesh, is as with the first argument.
    like = avals[0]
    sharding = NamedSharding(like.sharding.mesh, PartitionSpec())
    return [like.update(shape=one.shape, dtype=jnp.dtype(one.dtype), weak_type=False, sharding=sharding)
            for one in _program_types(spec, tuple(map(type_of, avals)))[1]]


@functools.partial(jax.jit, static_argnames="spec")
def _compiled(*arrays, spec):
    return call_p.bind(*arrays, spec=spec)


@call_p.def_impl
def _impl(*arrays, spec):
    # Programs are called by way of jit, also where it is off.
    with jax.disable_jit(False):
        return _compiled(*arrays, spec=spec)


# --- differentiation ---------------------------------------------------------------------------------------------------

def _jvp(primals, tangents, *, spec):
    wrt = [i for i, tangent in enumerate(tangents) if type(tangent) is not ad.Zero]
    moved = [tangents[i] for i in wrt]
    saving = spec.saving()
    if not saving:
        return call_p.bind(*primals, spec=spec), call(spec.jvp(wrt), *primals, *moved)
    # Derivatives begin with what the forward pass keeps for them.
    saves, given, count, own = saving
    results = call(saves, *primals)
    kept = map(jax.lax.stop_gradient, results[-count:])
    shown = len(results) - count + own
    return results[:shown], call(given.jvp(wrt), *primals, *kept, *moved)[:shown]


def _transpose(cotangents, *arguments, spec):
    """Of a call that is linear in its last arguments: tangents of a Jacobian-vector product, cotangents of the other."""
    last = spec.derivatives[-1] if spec.derivatives else None
    linear = [i for i, one in enumerate(arguments) if ad.is_undefined_primal(one)]
    first = len(arguments) - (len(last.given) if last else 0)
    if linear != list(range(first, len(arguments))) or isinstance(last, Along):
        raise NotImplementedError(f"a call of Drawloom's {spec.family} is not linear in its arguments {linear}")
    of = spec.before()
    there = [j for j, one in enumerate(cotangents) if type(one) is not ad.Zero]
    if not there:
        return [None] * len(arguments)
    given = [cotangents[j] for j in there]
    if isinstance(last, Tangents):
        values = call(of.vjp(last.wrt, there), *arguments[:first], *given)
    else:
        tangents = call(of.jvp([last.wrt[j] for j in there]), *arguments[:first], *given)
        values = [tangents[j] for j in last.given]
    return [None] * first + list(values)


ad.primitive_jvps[call_p] = _jvp
ad.primitive_transposes[call_p] = _transpose


# --- vmap --------------------------------------------------------------------------------------------------------------

def _example_type(array, dim):
    """The type of one example."""
    own = type_of(array)
    return own if dim is None else Array(own.dtype, own.shape[:dim] + own.shape[dim + 1:])


def _batch(arguments, dims, *, spec):
    given, gives = spec.rows_of([_example_type(array, dim) for array, dim in zip(arguments, dims)])
    front = [array if dim is None else jnp.moveaxis(array, dim, 0) for array, dim in zip(arguments, dims)]
    size = next(array.shape[0] for array, dim in zip(front, dims) if dim is not None)
    if all(gives) and all(row or dim is None for row, dim in zip(given, dims)):
        # The batch is more rows: no parameter has one, and nothing is summed over rows.
        front = [jnp.broadcast_to(array, (size, *array.shape)) if row and dim is None else array
                 for array, dim, row in zip(front, dims, given)]
        results = call(spec, *front)
        return results, [0] * len(results)

    if spec.family == "rows":
        given, gives = ([names[:1] == (ROW,) for names in side] for side in spec.axes_of([_example_type(*one) for one in zip(arguments, dims)]))
        if all(gives) and all(row or dim is None for row, dim in zip(given, dims)):
            # As above, in the dimension of rows.
            rows = next(array.shape[dim is not None] for array, dim, row in zip(front, dims, given) if row)
            flat = [jnp.broadcast_to(array, (size, *array.shape[dim is not None:])).reshape(size * rows, *array.shape[1 + (dim is not None):])
                    if row else array for array, dim, row in zip(front, dims, given)]
            results = [one.reshape(size, rows, *one.shape[1:]) for one in call(spec, *flat)]
            return results, [0] * len(results)

    def one_example(batched):
        values = iter(batched)
        return call(spec, *(array if dim is None else next(values) for array, dim in zip(front, dims)))

    results = jax.lax.map(one_example, [array for array, dim in zip(front, dims) if dim is not None])
    return results, [0] * len(results)


batching.primitive_batchers[call_p] = _batch


# --- lowering ----------------------------------------------------------------------------------------------------------

def _devices(axis_context):
    """How many devices run a computation, and whether the arrays are one device's part already."""
    count = getattr(axis_context, "num_devices", None)
    if count is not None:
        return count, count == 1
    mesh = getattr(axis_context, "mesh", None)
    if mesh is None:
        return 1, True
    return max(mesh.size, 1), set(axis_context.manual_axes) == set(mesh.axis_names)


def _lower(context, *operands, spec, target="cpu"):
    shares, local = _devices(context.module_context.axis_context)
    if not local:
        return mlir.lower_fun(functools.partial(_partition, spec), multiple_results=True)(context, *operands)
    types, _ = _program_types(spec, tuple(map(type_of, context.avals_in)))
    if types[0].shape[0] == 0:
        # No rows: sums over them are zero.
        return mlir.lower_fun(lambda *_: [jnp.zeros(one.shape, one.dtype) for one in context.avals_out],
                              multiple_results=True)(context, *operands)
    isa = _library.default_isa() if target == "cpu" else "native"
    is_open = any(is_symbolic_dim(extent) for one in types for extent in one.shape)
    if is_open:
        types = _any_extents(spec, types)
    source = ops.text(spec, list(types))
    key = hashlib.sha256("\0".join([__version__, target, isa, source]).encode()).hexdigest()
    if target == "cpu":
        # Compiled now, so that errors come where the function is traced; the handler finds it by the key.
        _drawloom.xla_known(key, ops.function_of_any(spec, types) if is_open else ops.function(spec, types))
    return jax.ffi.ffi_lowering(_TARGET)(
        context, *operands, key=key, source=source, name=f"{spec.family}.mlir", target=target, isa=isa,
        shares=np.int64(shares))


def _any_extents(spec, types):
    """The types with -1 where they have symbols of jax.export: the handler tells the program the extents of each call."""
    # What is open goes by the numbers of sequences: of many.
    many = [Array(one.dtype, tuple(1 << 20 if is_symbolic_dim(extent) else extent for extent in one.shape)) for one in types]
    opened = spec.opened(many)
    for i, one in enumerate(types):
        for d, extent in enumerate(one.shape):
            if is_symbolic_dim(extent) and (opened is None or opened[i].shape[d] >= 0):
                raise CallError(f"{ops.name(spec)}: dimension {d} of argument {i} is {extent}; it has to be a number: "
                                "jax.export takes symbols for dimensions that programs leave open (docs/shapes.md)")
    return opened


def _partition(spec, *arrays):
    return partitioned(functools.partial(call_p.bind, spec=spec), *spec.axes_of(list(map(type_of, arrays))), arrays)


def _lower_elsewhere(context, *operands, spec):
    raise Error(f"Drawloom's {spec.family} runs on the CPU and on NVIDIA's GPUs in JAX: JAX_PLATFORMS=cpu in the environment, or "
                "jax.default_device(jax.devices('cpu')[0]), brings the computation to the CPU")


mlir.register_lowering(call_p, _lower_elsewhere)
mlir.register_lowering(call_p, _lower, platform="cpu")
mlir.register_lowering(call_p, functools.partial(_lower, target="cuda"), platform="cuda")
try:
    # The rule above makes a custom_partitioning, which asks for this.
    from jax._src.dispatch import prim_requires_devices_during_lowering

    prim_requires_devices_during_lowering.add(call_p)
except ImportError:
    pass
