# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.export: a model with its weights, compiled into one file that C and C++ call without a compiler and without Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from .. import compile as compile_program
from .. import ops
from .._errors import CallTypeError
from .._module import Path, named_text
from ._dispatch import _names
from ._op import _checked, _spec

__all__ = ["export"]


def _constant(tensor, kind):
    """MLIR's text for a tensor: its bytes, lowest address first."""
    if not tensor.numel():
        return f"arith.constant dense<> : {kind}"
    # The bytes of one element alone stand for all of a tensor's, which for a tensor of one is the same.
    held = tensor.detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes()
    return f'arith.constant dense<"0x{held.hex().upper()}"> : {kind}'


def _program(model, name, inputs, entry):
    """The text of a program with one function, which has the model's parameters and buffers inside."""
    weights = {}
    if isinstance(model, torch.nn.Module):
        held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        # What counts batches and the like is not for programs of rows; a model that reads it is refused.
        weights = {key: one for key, one in held.items() if one.is_floating_point()}
    count = len(inputs)

    def function(*tensors):
        if not isinstance(model, torch.nn.Module):
            return model(*tensors)
        return torch.func.functional_call(model, dict(zip(weights, tensors[count:])), tensors[:count])

    leading, types = _checked(name, count, [*inputs, *weights.values()])
    if len(leading) != 1:
        # Extents in front of the channels are the model's own, but for the first one.
        types = tuple((one.dtype, tuple(one.shape[1:])) for one in inputs) + types[count:]
    spec, _ = _spec(function, name, types, count, {})
    arguments = [ops.Array(_names[dtype], (-1, *shape) if i < count else shape) for i, (dtype, shape) in enumerate(types)]
    results = spec.results(arguments)
    rows = re.sub(r"func\.func @main\b", "func.func private @rows", ops.text(spec, arguments))
    called = ops.parameter_names(model.forward if isinstance(model, torch.nn.Module) else model, count)
    given = ", ".join(f"%x{i}: {one.text}{named_text(called[i])}" for i, one in enumerate(arguments[:count]))
    gives = ", ".join(one.text for one in results)
    lines = [f"  %w{i} = {_constant(one, kind.text)}" for i, (one, kind) in enumerate(zip(weights.values(), arguments[count:]))]
    names = [f"%x{i}" for i in range(count)] + [f"%w{i}" for i in range(len(weights))]
    values = ", ".join(f"%y#{i}" for i in range(len(results)))
    return "\n".join([rows, f"func.func @{entry}({given}) -> ({gives}) {{", *lines,
                      f"  %y:{len(results)} = call @rows({', '.join(names)}) : ({', '.join(one.text for one in arguments)}) -> ({gives})",
                      f"  return {values} : {gives}\n}}\n"])


def export(model: Any, inputs: torch.Tensor | Sequence[torch.Tensor], path: Path, *, entry: str = "forward", isa: str = "all",
           target: str = "cpu") -> None:
    """Compiles what a model computes, with its weights inside, and writes it to a file for `drawloom.load` and for the runtime library of
    C and C++, which needs neither a compiler nor Python (docs/embedding.md).

    model    a torch.nn.Module, as it is in eval mode, or a function. What it does to a row of its inputs, their first extent, does not depend on
             another row; any number of rows may come later
    inputs   a tensor or several, of the types and shapes that it takes. Their values and their number of rows do not matter
    path     the file, "net.drawloom" say
    entry    what the function in it is called; its arguments have the names that the model's forward has for them
    isa      the processors: "all" (any of x86-64), or some of "baseline", "avx2", "avx512", ... with commas; "native": those that
             can do all that this one can. The file has code and weights for each
    target   "cpu", or "cuda" for NVIDIA's GPUs

    The model is left as it is. Raises CallError for a model that mixes rows, or calls what programs of rows do not have (docs/compiled-models.md),
    with the reason.
    """
    inputs = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    if not callable(model):
        raise CallTypeError(f"export takes a module or a function, not a {type(model).__name__}")
    if not isinstance(entry, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", entry):
        raise CallTypeError(f"entry is {entry!r}; it is a name of letters, digits and underscores")
    name = type(model).__name__ if isinstance(model, torch.nn.Module) else getattr(model, "__name__", "the function")
    modes = [(one, one.training) for one in model.modules()] if isinstance(model, torch.nn.Module) else []
    try:
        for one, _ in modes:
            one.training = False
        text = _program(model, name, inputs, entry)
    finally:
        for one, training in modes:
            one.training = training
    compile_program(text, isa=isa if target == "cpu" else None, target=target, cache=False).save(path)
