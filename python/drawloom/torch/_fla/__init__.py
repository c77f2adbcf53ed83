# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.linrec.patch_fla: the layers and models of an installed flash-linear-attention on the CPU."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType, TracebackType
from typing import Any

import torch

from ..._errors import CallError
from ._table import ALONE, FLASH_ATTENTION, FORMS, METHODS, RECURRENCES, REFUSED

__all__ = ["Patch", "patch_fla"]

TESTED = ("0.6.0",)

# What holds now: {id of what is in place: (what was there, what is in place)}, or None where nothing is replaced.
_active: dict[int, tuple[Any, Any]] | None = None
# Methods, and names of a package that may not be installed: (owner, name, what was there or _NOTHING).
_set: list[tuple[Any, str, Any]] = []
_NOTHING = object()


def _on_cpu(arguments: tuple, named: dict[str, Any]) -> bool:
    """Whether the first tensor is one of main memory. Starts of sequences may be there for a GPU as well."""
    for values in (arguments, named.values()):
        for value in values:
            first = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(first, torch.Tensor):
                return first.device.type == "cpu"
    return False


def _routed(original: Callable, replacement: Callable) -> Callable:
    @functools.wraps(original)
    def routed(*arguments: Any, **named: Any) -> Any:
        if _on_cpu(arguments, named):
            return replacement(*arguments, **named)
        return original(*arguments, **named)

    return routed


def _missing(name: str) -> Callable:
    def missing(*arguments: Any, **named: Any) -> Any:
        raise CallError(f"{name}: the package flash-attn is not installed, and these tensors are not on the CPU")

    return missing


def _refusal(name: str) -> Callable:
    def refuse(*arguments: Any, **named: Any) -> Any:
        raise CallError(f"{name} has no form for the CPU: drawloom.torch.linrec.patch_fla replaces linear recurrences and what "
                        "stands around them; docs/linear-recurrences.md lists the models")

    return refuse


def _name_of_kernel(kernel: Any) -> tuple[str, str]:
    """(module, name) of what Triton launches, from inside of what tunes and specializes it."""
    while hasattr(kernel, "fn"):
        kernel = kernel.fn
    return getattr(kernel, "__module__", ""), getattr(kernel, "__name__", "")


def _called() -> str:
    """The outermost of the package's functions that run now, but for layers and models."""
    found = ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module.startswith(("fla.ops.", "fla.modules.")) and callable(frame.f_globals.get(name)):
            found = f"{module}.{name}"
        frame = frame.f_back
    return found


def _launched(original: Callable) -> Callable:
    """kernel[grid] of Triton, whose launch says of tensors of the CPU that there are 0 active drivers."""
    def launched(kernel: Any, grid: Any) -> Any:
        module, name = _name_of_kernel(kernel)
        launch = original(kernel, grid)
        if not module.startswith("fla."):
            return launch

        def checked(*arguments: Any, **named: Any) -> Any:
            if _on_cpu(arguments, named):
                _refusal(_called() or f"the kernel {module}.{name}")()
            return launch(*arguments, **named)

        return checked

    return launched


def _modules() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if isinstance(names, dict):
            yield name, names


def _exchange(pairs: dict[int, tuple[Any, Any]]) -> None:
    """Puts the second of a pair wherever a module holds the first, by any name, or in a table of flash-linear-attention."""
    for module, names in _modules():
        tables = [value for value in names.values() if type(value) is dict] if module.partition(".")[0] == "fla" else []
        for table in [names, *tables]:
            for key, value in list(table.items()):
                pair = pairs.get(id(value))
                if pair is not None:
                    table[key] = pair[1]


class Patch:
    """What patch_fla replaced: names of `recurrences` that Drawloom computes, of `forms` said with torch's ops, and of `refused`
    ones, which raise CallError for tensors of the CPU. As a context manager it undoes on leaving what it did on being made."""

    def __init__(self, recurrences: tuple[str, ...], forms: tuple[str, ...], refused: tuple[str, ...], made: bool) -> None:
        self.recurrences, self.forms, self.refused, self._made = recurrences, forms, refused, made

    def undo(self) -> None:
        """Puts back what was there. Models go on to work on GPUs only."""
        global _active
        if _active is None:
            return
        _exchange({id(new): (new, old) for old, new in _active.values()})
        for owner, name, old in reversed(_set):
            if old is _NOTHING:
                delattr(owner, name)
            else:
                setattr(owner, name, old)
        _set.clear()
        _active = None

    def __enter__(self) -> Patch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._made:
            self.undo()

    def __str__(self) -> str:
        return "\n".join(f"drawloom: {words}: {', '.join(sorted(names))}" for words, names in (
            ("computed by Drawloom", self.recurrences), ("said with torch's own ops", self.forms),
            ("not for the CPU", self.refused)))


def _version() -> str:
    try:
        found = importlib.metadata.version("fla-core")
    except importlib.metadata.PackageNotFoundError:
        raise CallError("patch_fla: flash-linear-attention is not installed; pip install flash-linear-attention=="
                        f"{TESTED[-1]}") from None
    if found not in TESTED:
        raise CallError(f"patch_fla: this is flash-linear-attention {found}; it was tested with {', '.join(TESTED)}")
    return found


def _names(table: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    return tuple(name for entries in table.values() for name in entries)


def patch_fla(*, verbose: bool = True) -> Patch:
    """Makes the functions, layers and models of the installed flash-linear-attention work on tensors of the CPU.

    Its recurrences become those of drawloom.torch.linrec, and the norms, short convolutions, activations, rotary embeddings,
    losses and attention around them plain torch, wherever a module holds them, those of the caller included, and in modules that
    are imported later. Tensors of GPUs go to its own kernels as before. What has no form for the CPU raises CallError with its
    name. Modules of a model take some functions when they are made: patch first, then make the model.

    Prints what it did unless `verbose` is false, and gives it as an object that can undo it, by `undo()` or as a context
    manager. A second call changes nothing. Raises CallError where the package is missing or of another version than 0.6.0.
    """
    global _active
    _version()
    made = _active is None
    if made:
        _active = {}
        try:
            _replace(_active)
        except BaseException:
            Patch((), (), (), True).undo()
            raise
    patch = Patch(_names(RECURRENCES), _names(FORMS) + _names(METHODS) + FLASH_ATTENTION[1], _names(REFUSED), made)
    if verbose:
        print(patch)
    return patch


def _imported(path: str) -> Any:
    """The module; None for one of layers or models where only fla-core is installed."""
    try:
        with warnings.catch_warnings():
            # It says of a machine without a GPU that Triton has none, several times.
            warnings.filterwarnings("ignore", message="Triton is not supported on current platform")
            return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if path.startswith(ALONE) and error.name is not None and error.name.partition(".")[0] in ("fla", "transformers"):
            return None
        raise


def _replace(active: dict[int, tuple[Any, Any]]) -> None:
    from .. import linrec
    from . import _forms

    for path in ALONE:
        _imported(path)
    pairs: dict[int, tuple[Any, Any]] = {}

    def plan(path: str, name: str, replacement: Callable) -> None:
        module = _imported(path)
        if module is not None:
            original = getattr(module, name)
            pairs[id(original)] = original, _routed(original, replacement)

    for path, names in RECURRENCES.items():
        for name in names:
            plan(path, name, getattr(linrec, name))
    for path, forms in FORMS.items():
        for name, form in forms.items():
            if isinstance(form, str):
                where, _, own = form.rpartition(".")
                form = getattr(_imported(where), own)
            plan(path, name, form)
    for path, names in REFUSED.items():
        for name in names:
            plan(path, name, _refusal(f"{path}.{name}"))
    _exchange(pairs)
    active.update({id(new): (old, new) for old, new in pairs.values()})

    def put(owner: Any, name: str, value: Any) -> None:
        _set.append((owner, name, getattr(owner, name, _NOTHING)))
        setattr(owner, name, value)

    for path, methods in METHODS.items():
        for name, form in methods.items():
            module = _imported(path)
            if module is not None:
                owner, method = getattr(module, name.partition(".")[0]), name.partition(".")[2]
                put(owner, method, _routed(getattr(owner, method), form))
    interface = importlib.import_module("triton.runtime.jit").KernelInterface
    put(interface, "__getitem__", _launched(interface.__getitem__))
    paths, functions = FLASH_ATTENTION
    for path in paths:
        module = _imported(path)
        for name in functions if module is not None else ():
            put(module, name, _routed(getattr(module, name, None) or _missing(name), getattr(_forms, name)))
