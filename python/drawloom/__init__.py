# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawloom: compiled training for NumPy, PyTorch and JAX.

    module = drawloom.compile(text)         # MLIR text, bytecode or files
    y = module.forward(x, w)                # NumPy, torch, JAX arrays in, the same kind out
    g = drawloom.grad(module, "loss")       # the gradient, compiled
    print(drawloom.report(module.forward))  # where its time goes, kernel by kernel

drawloom.torch and drawloom.jax have layers, functions and optimizers; importing drawloom alone imports neither framework.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from . import cache
from ._errors import CallError, CallTypeError, Cancelled, CompileError, DeviceError, Error, FileError, OutOfMemory, StorageError, TargetError
from ._module import Function, Module, compile, grad, load, load_plugin
from ._report import Report, report
from ._version import __version__

if TYPE_CHECKING:
    from ._table import FeatureTable

__all__ = [
    "CallError", "CallTypeError", "Cancelled", "CompileError", "DeviceError", "Error", "FeatureTable", "FileError", "Function", "Module",
    "OutOfMemory", "Report", "StorageError", "TargetError", "__version__", "cache", "compile", "grad", "load", "load_plugin", "report",
]


def __getattr__(name: str) -> types.ModuleType:
    if name == "FeatureTable":
        # It needs NumPy, which is not imported either.
        from ._table import FeatureTable

        return FeatureTable  # type: ignore[return-value]
    # `import drawloom` and then `drawloom.torch.rational`, without importing a framework nobody asked for.
    if name in ("torch", "jax"):
        import importlib

        return importlib.import_module(f"drawloom.{name}")
    raise AttributeError(f"module 'drawloom' has no attribute '{name}'")
