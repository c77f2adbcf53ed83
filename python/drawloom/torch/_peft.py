# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hugging Face PEFT's layers, computed by Drawloom."""

from __future__ import annotations

import contextlib
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
    """A layer of PEFT: where it is, below peft.tuners, its forward pass, and what that takes besides x."""

    module: str
    kind: str
    forward: Callable[..., torch.Tensor]
    options: tuple[str, ...] = ()


_TUNERS = {
    "lora": Tuner("lora.layer", "Linear", layers.lora, ("adapter_names",)), "vera": Tuner("vera.layer", "Linear", layers.vera),
    "lokr": Tuner("lokr.layer", "Linear", layers.lokr), "loha": Tuner("loha.layer", "Linear", layers.loha),
    "randlora": Tuner("randlora.layer", "Linear", layers.randlora), "miss": Tuner("miss.layer", "MissLinear", layers.miss),
    "oft": Tuner("oft.layer", "Linear", layers.oft), "hira": Tuner("hira.layer", "Linear", layers.hira),
    "gralora": Tuner("gralora.layer", "Linear", layers.gralora), "boft": Tuner("boft.layer", "Linear", layers.boft),
    "shira": Tuner("shira.layer", "Linear", layers.shira),
}

# Calls by tuner: computed here, and left to PEFT, with the reasons.
_taken: Counter = Counter()
_left: Counter = Counter()
# What is replaced: (class, attribute, the class's own, or None where it inherits one).
_replaced: list[tuple[Any, str, Any]] = []

_TYPES = frozenset([torch.float32, torch.float64, torch.bfloat16, torch.float16])
_transforms = torch._C._functorch.maybe_current_level


def _check(kind, layer, x, more):
    """Raises Left for what no tuner's pass computes; more: arguments that it does not take."""
    if more:
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
    forward, options = _TUNERS[name].forward, _TUNERS[name].options

    @functools.wraps(original)
    def patched(self, x, *args, **kwargs):
        if torch.compiler.is_compiling():
            return original(self, x, *args, **kwargs)
        try:
            _check(kind, self, x, args or kwargs.keys() - options)
            result = forward(self, x, **kwargs)
        except Left as reason:
            _left[name, str(reason)] += 1
            return original(self, x, *args, **kwargs)
        _taken[name] += 1
        return result

    return patched


def _with_training(original):
    """LoraModel's context for `adapter_names`, which PEFT refuses in training, for `train_samples`. Its other checks stay."""
    @functools.wraps(original)
    @contextlib.contextmanager
    def hooks(self, *args, **kwargs):
        with contextlib.ExitStack() as stack:
            training = self.training
            if training and layers.train_samples and kwargs.get("adapter_names") is not None:
                if any(getattr(module, "gradient_checkpointing", False) for module in self.modules()):
                    raise CallError("patch_peft: adapter_names in training with gradient checkpointing, which computes layers again when PEFT has "
                                    "forgotten the names; call gradient_checkpointing_disable()")
                # PEFT looks at the flag of this module alone, and in the beginning.
                self.training = False
            try:
                stack.enter_context(original(self, *args, **kwargs))
            finally:
                self.training = training
            yield

    return hooks


def _replace(kind, attribute, by):
    _replaced.append((kind, attribute, vars(kind).get(attribute)))
    setattr(kind, attribute, by)


def patch_peft(*, always: bool = False, train_samples: bool = False) -> list[str]:
    """Has the layers of Hugging Face PEFT computed by Drawloom on the CPU, those that exist and those that will. Classes, parameters and
    state dicts stay what they are. Calls that Drawloom does not compute go to PEFT as before; `patch_peft_report` counts both.
    Returns the names of the tuners. A second call changes nothing but the options; `unpatch_peft` takes it back. Raises CallError where
    the package is missing or of another version than 0.21.2.

    always         also computes calls of such shapes that PEFT's own pass was measured to be as fast, such as LoRA of few rows
    train_samples  also takes `adapter_names`, an adapter for each sample, in training, where PEFT raises ValueError
    """
    layers.always, layers.train_samples = always, train_samples
    try:
        found = importlib.metadata.version("peft")
    except importlib.metadata.PackageNotFoundError as error:
        raise CallError(f"patch_peft: PEFT is not installed; pip install peft=={TESTED[-1]}") from error
    if found not in TESTED:
        raise CallError(f"patch_peft: this is PEFT {found}; it was tested with {', '.join(TESTED)}")
    if not _replaced:
        kinds = {name: getattr(importlib.import_module(f"peft.tuners.{tuner.module}"), tuner.kind) for name, tuner in _TUNERS.items()}
        for name, kind in kinds.items():
            _replace(kind, "forward", _patched(name, kind, kind.forward))
        model = importlib.import_module("peft.tuners.lora.model").LoraModel
        _replace(model, "_enable_peft_forward_hooks", _with_training(model._enable_peft_forward_hooks))
    return sorted(_TUNERS)


def unpatch_peft() -> None:
    """Takes `patch_peft` back."""
    for kind, attribute, own in _replaced:
        if own is None:
            delattr(kind, attribute)
        else:
            setattr(kind, attribute, own)
    _replaced.clear()


def patch_peft_report() -> dict:
    """How many calls of each tuner's layers Drawloom computed ("computed"), and how many it left to PEFT, by tuner and reason ("left")."""
    return {"computed": dict(_taken), "left": dict(_left)}
