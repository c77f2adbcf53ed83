# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.op: a function of rows, written in PyTorch, as an op with gradients to any order."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import os
import re
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.utils._python_dispatch import _disable_current_modes

from .. import _errors, ops
from .._errors import CallError, CallTypeError, Error
from .._library import program_after
from ..ops import Spec, tracing
from ..ops.regions import Unsupported, check_function, key_of
from . import _aten  # noqa: F401
from ._dispatch import DEVICES, _names, apply, intern
from ._recorder import Recorder

__all__ = ["op"]

# The function is traced for so many rows, a number that nothing else has.
_ROWS = 7919


def _on_cpu(mode, tensor):
    with mode:
        return torch.empty(tensor.shape, dtype=tensor.dtype)


@contextlib.contextmanager
def quiet():
    """Shapes that do not fit are expected, and no errors that torch has to log."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _place(error):
    """" (layer.py:12)": the line of the user's function that an error came from, or nothing."""
    place, own = "", tuple(os.path.dirname(module.__file__) + os.sep for module in (torch, _errors))
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith(own) and not file.startswith("<"):
            place = f" ({os.path.basename(file)}:{line})"
    return place


def _spec(function, name, arguments, rows, options):
    """The interned spec of a function on arguments of these types, (dtype, extents of a row, or all extents of a shared one)."""
    # A symbol: what is done with the number of rows shows.
    fake = FakeTensorMode(shape_env=ShapeEnv())
    fakes = []
    for i, (dtype, shape) in enumerate(arguments):
        whole = (_ROWS, *shape) if i < rows else shape
        sizes = [DimDynamic.DUCK if i < rows and d == 0 else DimDynamic.STATIC for d in range(len(whole))]
        fakes.append(fake.from_tensor(torch.empty(whole, dtype=dtype, device="meta"), symbolic_context=StatelessSymbolicContext(dynamic_sizes=sizes)))
    fakes = [_on_cpu(fake, one) for one in fakes]
    recorder = Recorder(tracing.Program(), fakes[0].shape[0])
    try:
        for i, one in enumerate(fakes):
            recorder.take(one, 1 if i < rows else -1)
        # What turns gradients off then shows.
        with torch.enable_grad(), quiet(), recorder:
            results = function(*fakes, **options)
        several = isinstance(results, (tuple, list))
        for i, one in enumerate(results if several else [results]):
            if not isinstance(one, torch.Tensor):
                raise CallTypeError(f"{name}: result {i} is a {type(one).__name__}; it is a tensor of rows")
            if not recorder.item(one).rows:
                raise Unsupported("it gives a tensor that all rows share")
            if recorder.item(one).lead != 1:
                raise Unsupported(f"its result has the rows in {recorder.item(one).lead} dimensions, of the shape {list(one.shape)}")
            recorder.result(one)
        if recorder.row_count.node.maybe_as_int() is not None:
            raise Unsupported("what is done depends on the number of rows")
    except Unsupported as error:
        raise CallError(f"{name} is no function of rows: {error}{_place(error)}") from None
    except RuntimeError as error:
        # torch names the number of rows by a symbol, which says nothing to whom the function is.
        said = re.sub(r"\bs\d+\b", "rows", str(error))
        if said == str(error) or isinstance(error, Error):
            raise
        said = said.splitlines()[0]
        # torch's own sentence about sizes closes a parenthesis that it has not opened.
        said = said.removesuffix(")") if said.count(")") > said.count("(") else said
        shared = ", ".join(map(str, range(rows, len(arguments))))
        hint = f"; argument {shared} is shared by all rows, unless rows= says otherwise" if "(rows)" in said and shared else ""
        raise CallError(f"{name}: {said}{hint}{_place(error)}") from error
    return intern(Spec("rows", recorder.program.attributes())), several


def _checked(name, rows, tensors):
    """(the extents in front of those of a row, the types that `_spec` takes)."""
    if len(tensors) < rows:
        raise CallTypeError(f"{name}: the first {rows} arguments are tensors with rows, but {len(tensors)} are given")
    for i, one in enumerate(tensors):
        if not isinstance(one, torch.Tensor):
            raise CallTypeError(f"{name}: argument {i} is a {type(one).__name__}; tensors come first, and what is no tensor is given by name")
        if one.device.type not in (*DEVICES, "meta"):
            raise CallError(f"{name}: argument {i} is on {one.device}; programs run on the CPU and on NVIDIA's GPUs")
        if one.dtype not in _names:
            raise CallTypeError(f"{name}: argument {i} is {str(one.dtype).removeprefix('torch.')}, which programs do not have")
    if tensors[0].dim() < 1:
        raise CallError(f"{name}: argument 0 is a scalar; its last dimension is that of channels")
    leading = tensors[0].shape[:-1]
    for i in range(1, rows):
        if tensors[i].shape[:len(leading)] != leading:
            raise CallError(f"{name}: argument {i} has the shape {list(tensors[i].shape)}; its first extents are those of argument 0, {list(leading)}")
    return leading, tuple((one.dtype, tuple(one.shape[len(leading):] if i < rows else one.shape)) for i, one in enumerate(tensors))


def op(function: Callable[..., Any] | None = None, *, rows: int = 1) -> Any:
    """Makes an op of a function of tensors, a decorator. Drawloom compiles it and all its derivatives, each as programs whose rows stay in the
    cache between the function's steps.

        @drawloom.torch.op
        def gated(x, gate, up, down):
            return (torch.nn.functional.silu(x @ gate) * (x @ up)) @ down

    function   is written for x of shape [rows, channels], in torch's own functions: what it does to a row does not depend on another one. It
               is traced once for arguments of each type. Tensors come first; arguments by name are numbers and the like, which it is traced
               anew for
    rows       how many arguments, from the first one, have rows; all others are shared, as weights are

    A call takes any extents in front of the channels. The op takes part in autograd to any order, torch.func and torch.compile.
    `mlir(*tensors)` is its program as text, `mlir(*tensors, gradients=True)` that of its gradients, and with `phase="blocks"` what a phase of
    compiling makes of it for this processor (docs/architecture.md lists them). Raises CallError for a function that mixes
    rows, or calls what programs of rows do not have, with the reason.
    """
    if function is None:
        return functools.partial(op, rows=rows)
    check_function(function, rows)
    name = getattr(function, "__name__", "op")
    specs: dict[Any, Any] = {}

    def spec_of(types, options):
        key = types, key_of(name, options, torch.Tensor, "tensor")
        found = specs.get(key)
        if found is None:
            # The call may be traced itself, by torch.compile say, or transformed.
            with _disable_current_modes(), temporarily_clear_interpreter_stack():
                found = specs[key] = _spec(function, name, types, rows, options)
        return found

    def call(*tensors, **options):
        leading, types = _checked(name, rows, tensors)
        spec, several = spec_of(types, options)
        flat = [one.reshape(-1, *types[i][1]) if i < rows and len(leading) != 1 else one for i, one in enumerate(tensors)]
        results = apply(flat, str(spec))
        if len(leading) != 1:
            results = [one.reshape(*leading, *one.shape[1:]) for one in results]
        return tuple(results) if several else results[0]

    def mlir(*tensors, gradients=False, phase=None, **options):
        _, types = _checked(name, rows, tensors)
        spec, _ = spec_of(types, options)
        arrays = [ops.Array(_names[dtype], ((-1, *shape) if i < rows else shape)) for i, (dtype, shape) in enumerate(types)]
        given = spec.results(arrays)
        called = ops.parameter_names(function, len(arrays))
        if gradients:
            wrt = [i for i, one in enumerate(tensors) if one.is_floating_point()]
            text = ops.text(spec.vjp(wrt, range(len(given))), [*arrays, *given], called)
        else:
            text = ops.text(spec, arrays, called)
        return text if phase is None else program_after(phase, [(f"{name}.mlir", text.encode())])

    made: Any = functools.wraps(function)(torch.compiler.allow_in_graph(call))
    made.mlir = mlir
    with contextlib.suppress(ValueError):  # Of functions in C there is none.
        made.__signature__ = inspect.signature(function)
    return made
