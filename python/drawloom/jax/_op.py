# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.jax.op: a function of rows, written in JAX, as an op with gradients to any order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import ops
from .._errors import CallError, CallTypeError
from .._library import program_after
from ..ops import Spec, tracing
from ..ops.regions import Unsupported, check_function, key_of
from . import _primitives  # noqa: F401
from ._call import call_anywhere
from ._recorder import Flat, Recorder

__all__ = ["op"]

# The function is traced for so many rows, numbers that nothing else has; where its program is another one for the second, it depends on them.
_ROWS = (7919, 104729)
_DTYPES = ("float32", "float64", "bfloat16", "float16", "bool")


def _program(function, name, arguments, rows, options, count):
    """(attributes, whether it gives several) of the program of a function."""
    types = [jax.ShapeDtypeStruct((count, *shape) if i < rows else shape, dtype) for i, (dtype, shape) in enumerate(arguments)]
    several = False

    def run(*arrays):
        nonlocal several
        results = function(*arrays, **options)
        several = isinstance(results, (tuple, list))
        for i, one in enumerate(results if several else [results]):
            if not isinstance(one, (jax.Array, np.ndarray)):
                raise CallTypeError(f"{name}: result {i} is a {type(one).__name__}; it is an array of rows")
        return results

    flat = Flat(jax.make_jaxpr(run)(*types), remat=True)
    recorder = Recorder(tracing.Program(), count, flat.known)
    for i, one in enumerate(flat.inputs):
        recorder.items[one] = recorder.take(one, 1 if i < rows else -1)
    needed = set(flat.outputs)
    for equation in reversed(flat.equations):
        if needed & set(equation.outputs):
            needed |= set(equation.inputs)
    for equation in flat.equations:
        if needed & set(equation.outputs) and not all(one in recorder.items for one in equation.outputs):
            try:
                recorder.write(equation)
            except Unsupported as error:
                raise Unsupported(f"{error}{f' ({equation.place})' if equation.place else ''}") from None
    for one in flat.outputs:
        item = recorder.known(one)
        if item is None:
            raise Unsupported("it gives an array that is no argument")
        if not item.rows:
            raise Unsupported("it gives an array that all rows share")
        if item.lead != 1:
            raise Unsupported(f"its result has the rows in {item.lead} dimensions, of the shape {list(item.shape)}")
        recorder.program.result(item.value.to(_float_name(item.dtype)))
    return recorder.program.attributes(), several


def _float_name(dtype):
    if "float" not in dtype:
        raise Unsupported(f"its result is {dtype}, and programs of rows give floats")
    return dtype


def _spec(function, name, arguments, rows, options):
    try:
        (attributes, several), (others, _) = (_program(function, name, arguments, rows, options, count) for count in _ROWS)
        if attributes != others:
            raise Unsupported("what is done depends on the number of rows")
    except Unsupported as error:
        raise CallError(f"{name} is no function of rows: {error}") from None
    except jax.errors.ConcretizationTypeError as error:
        raise CallError(f"{name} is no function of rows: what is done depends on values: {str(error).splitlines()[0]}") from None
    return Spec("rows", attributes), several


def _checked(name, rows, given):
    """(arrays, the extents in front of those of a row, the types that `_spec` takes)."""
    if len(given) < rows:
        raise CallTypeError(f"{name}: the first {rows} arguments are arrays with rows, but {len(given)} are given")
    arrays = []
    for i, one in enumerate(given):
        if not hasattr(one, "shape") or not hasattr(one, "dtype"):
            raise CallTypeError(f"{name}: argument {i} is a {type(one).__name__}; arrays come first, and what is no array is given by name")
        one = one if isinstance(one, (jax.Array, jax.ShapeDtypeStruct)) else jnp.asarray(one)
        if str(one.dtype) not in _DTYPES:
            raise CallTypeError(f"{name}: argument {i} is {one.dtype}, which programs of rows do not have")
        arrays.append(one)
    if len(arrays[0].shape) < 1:
        raise CallError(f"{name}: argument 0 is a scalar; its last dimension is that of channels")
    leading = arrays[0].shape[:-1]
    for i in range(1, rows):
        if arrays[i].shape[:len(leading)] != leading:
            raise CallError(f"{name}: argument {i} has the shape {list(arrays[i].shape)}; its first extents are those of argument 0, {list(leading)}")
    return arrays, leading, tuple((str(one.dtype), tuple(one.shape[len(leading):] if i < rows else one.shape)) for i, one in enumerate(arrays))


def op(function: Callable[..., Any] | None = None, *, rows: int = 1) -> Any:
    """Makes an op of a function of arrays, a decorator. Drawloom compiles it and all its derivatives, each as programs whose rows stay in the
    cache between the function's steps.

        @drawloom.jax.op
        def gated(x, gate, up, down):
            return (jax.nn.silu(x @ gate) * (x @ up)) @ down

    function   is written for x of shape [rows, channels], in JAX's own functions: what it does to a row does not depend on another one. It
               is traced once for arguments of each type. Arrays come first; arguments by name are numbers and the like, which it is traced
               anew for
    rows       how many arguments, from the first one, have rows; all others are shared, as weights are

    A call takes any extents in front of the channels. The op takes part in jit, grad and jvp to any order, vmap and sharded computations.
    `mlir(*arrays)` is its program as text, `mlir(*arrays, gradients=True)` that of its gradients, and with `phase="blocks"` what a phase of
    compiling makes of it for this processor (docs/architecture.md lists them). Raises CallError for a function that mixes
    rows, or calls what programs of rows do not have, with the reason.
    """
    if function is None:
        return functools.partial(op, rows=rows)
    check_function(function, rows)
    name = getattr(function, "__name__", "op")
    specs: dict[Any, Any] = {}

    def spec_of(types, options):
        key = types, key_of(name, options, (jax.Array, np.ndarray), "array")
        found = specs.get(key)
        if found is None:
            found = specs[key] = _spec(function, name, types, rows, options)
        return found

    @functools.wraps(function)
    def made(*given, **options):
        arrays, leading, types = _checked(name, rows, given)
        spec, several = spec_of(types, options)
        count = 1
        for extent in leading:
            count = count * extent
        flat = [one.reshape(count, *types[i][1]) if i < rows and len(leading) != 1 else one for i, one in enumerate(arrays)]
        results = call_anywhere(spec, *flat)
        if len(leading) != 1:
            results = [one.reshape(*leading, *one.shape[1:]) for one in results]
        return tuple(results) if several else results[0]

    def mlir(*given, gradients=False, phase=None, **options):
        _, _, types = _checked(name, rows, given)
        spec, _ = spec_of(types, options)
        arrays = [ops.Array(dtype, ((-1, *shape) if i < rows else shape)) for i, (dtype, shape) in enumerate(types)]
        results = spec.results(arrays)
        called = ops.parameter_names(function, len(arrays))
        if gradients:
            wrt = [i for i, (dtype, _) in enumerate(types) if "float" in dtype]
            text = ops.text(spec.vjp(wrt, range(len(results))), [*arrays, *results], called)
        else:
            text = ops.text(spec, arrays, called)
        return text if phase is None else program_after(phase, [(f"{name}.mlir", text.encode())])

    made.mlir = mlir  # type: ignore[attr-defined]
    return made
