# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hugging Face PEFT's layers, computed by Drawloom."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn.modules.module import _has_any_global_hook

from .._errors import CallError
from . import _peft_layers as layers
from ._peft_layers import Left

TESTED = ("0.21.2",)


class Tuner(NamedTuple):
    """A layer of PEFT: where it is, below peft.tuners, and its forward pass."""

    module: str
    kind: str
    forward: Callable[[Any, torch.Tensor], torch.Tensor]


_TUNERS = {
    "lora": Tuner("lora.layer", "Linear", layers.lora), "vera": Tuner("vera.layer", "Linear", layers.vera),
    "lokr": Tuner("lokr.layer", "Linear", layers.lokr), "loha": Tuner("loha.layer", "Linear", layers.loha),
    "randlora": Tuner("randlora.layer", "Linear", layers.randlora), "miss": Tuner("miss.layer", "MissLinear", layers.miss),
    "oft": Tuner("oft.layer", "Linear", layers.oft), "hira": Tuner("hira.layer", "Linear", layers.hira),
    "gralora": Tuner("gralora.layer", "Linear", layers.gralora), "boft": Tuner("boft.layer", "Linear", layers.boft),
}

# Calls by tuner: computed here, and left to PEFT, with the reasons.
_taken: Counter = Counter()
_left: Counter = Counter()
# By tuner: (class, its forward or None where it inherits one).
_originals: dict[str, tuple[Any, Any]] = {}

_TYPES = frozenset([torch.float32, torch.float64, torch.bfloat16, torch.float16])
_transforms = torch._C._functorch.maybe_current_level


def _check(kind, layer, x, arguments, options):
    """Raises Left for what no tuner's pass computes."""
    if arguments or options:
        raise Left("it is called with more than x")
    if type(layer) is not kind:
        raise Left("it is of a derived class")
    if layer.disable_adapters:
        raise Left("its adapters are disabled")
    if layer.merged:
        raise Left("its adapters are merged")
    if type(x) not in layers.PLAIN or x.is_nested or x.layout is not torch.strided or not x.dim():
        raise Left("x is no dense torch.Tensor")
    if not x.is_cpu:
        raise Left(f"x is on {x.device.type}")
    if x.dtype not in _TYPES:
        raise Left(f"x is {str(x.dtype).removeprefix('torch.')}")
    if torch.is_autocast_enabled("cpu"):
        raise Left("autocast is on")
    if torch.jit.is_tracing() or _transforms() is not None:
        raise Left("torch.jit or torch.func looks at it")
    if _has_any_global_hook():
        raise Left("there are hooks on all modules")


def _patched(name, kind, original):
    forward = _TUNERS[name].forward

    @functools.wraps(original)
    def patched(self, x, *args, **kwargs):
        if torch.compiler.is_compiling():
            return original(self, x, *args, **kwargs)
        try:
            _check(kind, self, x, args, kwargs)
            result = forward(self, x)
        except Left as reason:
            _left[name, str(reason)] += 1
            return original(self, x, *args, **kwargs)
        _taken[name] += 1
        return result

    return patched


def patch_peft(*, always: bool = False) -> list[str]:
    """Has the layers of Hugging Face PEFT computed by Drawloom on the CPU, by `structured_linear`, those that exist and those that will.
    Classes, parameters and state dicts stay what they are. Calls that Drawloom does not compute go to PEFT as before; `patch_peft_report`
    counts both. Returns the names of the tuners. A second call changes nothing else; `unpatch_peft` takes it back. Raises CallError where
    the package is missing or of another version than 0.21.2.

    always  also computes calls of such shapes that PEFT's own pass was measured to be as fast, such as LoRA of few rows
    """
    layers.always = always
    try:
        found = importlib.metadata.version("peft")
    except importlib.metadata.PackageNotFoundError as error:
        raise CallError(f"patch_peft: PEFT is not installed; pip install peft=={TESTED[-1]}") from error
    if found not in TESTED:
        raise CallError(f"patch_peft: this is PEFT {found}; it was tested with {', '.join(TESTED)}")
    for name, tuner in _TUNERS.items():
        if name not in _originals:
            kind = getattr(importlib.import_module(f"peft.tuners.{tuner.module}"), tuner.kind)
            _originals[name] = kind, vars(kind).get("forward")
            kind.forward = _patched(name, kind, kind.forward)
    return sorted(_originals)


def unpatch_peft() -> None:
    """Takes `patch_peft` back."""
    for kind, forward in _originals.values():
        if forward is None:
            del kind.forward
        else:
            kind.forward = forward
    _originals.clear()


def patch_peft_report() -> dict:
    """How many calls of each tuner's layers Drawloom computed ("computed"), and how many it left to PEFT, by tuner and reason ("left")."""
    return {"computed": dict(_taken), "left": dict(_left)}
