# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers as compiled programs."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from typing import Any

import torch

from .. import _drawloom
from .._errors import CallError, CallTypeError
from ..ops import optimizers
from ._dispatch import _names, local_part
from ._offload import Offload
from ._offload_states import States, Update

__all__ = ["AdamW"]

_MOMENTS = "exp_avg", "exp_avg_sq"


class AdamW(torch.optim.Optimizer):
    """torch.optim.AdamW, with each update one pass over a parameter, its gradient and its moments.

    Takes groups of parameters with options of their own, state dicts of torch.optim.AdamW, and learning-rate schedulers.
    Moments of float16 and bfloat16 parameters are float32, where torch keeps them in the parameter's type. Parameters are
    dense tensors on the CPU; sparse gradients, amsgrad and complex numbers are refused.

    offload: what drawloom.torch.offload returns. Moments are on its SSDs then, and stream through its memory beside the update; steps
    and state dicts are the same. See docs/offload.md.
    """

    # None where moments are in self.state.
    _streamed: States | None = None
    _loss: Any = None

    # As torch declares them; said again for who checks types of what is assigned here.
    state: Any
    param_groups: Any

    def __init__(self, params: Any, lr: float | torch.Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, *, maximize: bool = False, offload: Offload | None = None) -> None:
        lr = float(lr)
        if not lr >= 0 or not eps > 0 or not weight_decay >= 0 or not all(0 <= beta < 1 for beta in betas):
            raise CallError(f"AdamW: lr {lr} and weight_decay {weight_decay} are 0 or more, eps {eps} is above 0, "
                            f"betas {tuple(betas)} are in [0, 1)")
        # The other names of torch.optim.AdamW's groups, so that state dicts go both ways.
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, amsgrad=False,
                                      maximize=maximize, foreach=None, capturable=False, differentiable=False, fused=None,
                                      decoupled_weight_decay=True))
        if offload is not None:
            self._streamed = States("AdamW", _checked(offload), _MOMENTS)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """Updates the parameters by their gradients. closure: computes the gradients anew, and gives the loss, which is returned.

        With offload, a step that a disk has stopped is a drawloom.StorageError. It says what was updated, and the next call updates the rest
        by the gradients that are there: it calls no closure, and gives the loss of the one before."""
        if self._streamed is None or not self._streamed.unfinished:
            self._loss = None
            if closure is not None:
                with torch.enable_grad():
                    self._loss = closure()
        for group in self.param_groups:
            if group["amsgrad"]:
                raise CallError("AdamW: a group has amsgrad, which this optimizer has not: use torch.optim.AdamW")
        if self._streamed is not None:
            # All of them are checked before the first changes.
            updates = [Update(parameter, self._check(parameter, parameter.grad), group)
                       for group in self.param_groups for parameter in group["params"] if parameter.grad is not None]
            self._streamed.step(self.state, updates, _moments_of, self._change_piece)
        else:
            for group in self.param_groups:
                self._update(group)
        loss, self._loss = self._loss, None
        return loss

    def _update(self, group):
        # [(parameter, gradient, state)], all of them checked before the first changes.
        updates = [(parameter, self._check(parameter, parameter.grad), self.state[parameter])
                   for parameter in group["params"] if parameter.grad is not None]
        if not updates:
            return
        for parameter, _, state in updates:
            if not state:
                kind = _moments_of(parameter.dtype)
                state["step"] = torch.zeros((), dtype=torch.float32)
                state["exp_avg"] = torch.zeros_like(parameter, dtype=kind, memory_format=torch.contiguous_format)
                state["exp_avg_sq"] = torch.zeros_like(parameter, dtype=kind, memory_format=torch.contiguous_format)
        torch._foreach_add_([state["step"] for _, _, state in updates], 1)
        # Parameters that share types and the number of their step go together.
        batches = {}
        for parameter, gradient, state in updates:
            moment = state["exp_avg"]
            batches.setdefault((parameter.dtype, moment.dtype, int(state["step"].item())), []).append(
                (local_part(parameter), -gradient if group["maximize"] else gradient, local_part(moment), local_part(state["exp_avg_sq"])))
        for (_, _, step), tensors in batches.items():
            # A parameter with strides of its own is updated through a dense copy.
            dense = [[tensor if tensor.is_contiguous() else tensor.contiguous() for tensor in four] for four in tensors]
            self._change(group, step, dense, torch.get_num_threads())
            for four, copies in zip(tensors, dense):
                for i in (0, 2, 3):
                    if copies[i] is not four[i]:
                        four[i].copy_(copies[i])
        # A backward pass through what is no more there has to be refused.
        torch.autograd.graph.increment_version([parameter for parameter, _, _ in updates])

    def _change_piece(self, group, step, tensors):
        if group["maximize"]:
            tensors[1] = -tensors[1]
        # The store's thread has a core of its own: a team that is short of one waits.
        self._change(group, step, [tensors], max(torch.get_num_threads() - 1, 1))

    @staticmethod
    def _change(group, step, tensors, threads):
        """tensors: [(parameter, gradient, first moment, second moment)], dense and of the same types."""
        parameter, _, moment, _ = tensors[0]
        pieces = optimizers.adamw(_names[parameter.dtype], _names[moment.dtype], *map(float, group["betas"]), float(group["eps"]),
                                  float(group["weight_decay"]))
        _drawloom.update_in_place(pieces, [[tensor.data_ptr() for tensor in four] for four in tensors],
                                  [four[0].numel() for four in tensors], float(group["lr"]), step, threads)

    @staticmethod
    def _check(parameter, gradient):
        local, gradient = local_part(parameter), local_part(gradient)
        if gradient.is_sparse:
            raise CallError("AdamW: a gradient is sparse; use torch.optim.SparseAdam for its parameter")
        if not local.is_cpu:
            raise CallError(f"AdamW: a parameter is on the device '{local.device}': this optimizer runs on the CPU")
        dtype = local.dtype
        if dtype not in _computed or gradient.dtype != dtype:
            raise CallError(f"AdamW: a parameter is {local.dtype} and its gradient {gradient.dtype}; both are float32, float64, "
                            "float16 or bfloat16")
        # What is to be negated or filled with zeros when it is read, is so now.
        if gradient.is_neg():
            gradient = gradient.resolve_neg()
        return gradient.clone() if gradient._is_zerotensor() else gradient

    # State dicts and copies.

    def state_dict(self) -> dict[str, Any]:
        """As torch.optim.AdamW's. With offload, moments are read from the SSDs to main memory."""
        if self._streamed is None:
            return super().state_dict()
        own = self.state
        moments = dict(self._streamed.read())
        # The numbers of steps are those of the moments, whatever step comes next.
        self.state = collections.defaultdict(dict, {
            parameter: {**{name: value.clone() if name == "step" else value for name, value in state.items()}, **moments.get(parameter, {})}
            for parameter, state in own.items()})
        try:
            return super().state_dict()
        finally:
            self.state = own

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state dict of this optimizer or of torch.optim.AdamW. With offload, moments go to the SSDs piece by piece."""
        given: dict[str, Any] = {}
        before = self.state, self.param_groups
        handle = self.register_load_state_dict_pre_hook(lambda _, loaded: given.update(loaded))
        try:
            super().load_state_dict(state_dict)
            self._take_moments(given)
        except BaseException:
            self.state, self.param_groups = before
            raise
        finally:
            handle.remove()

    def _take_moments(self, given):
        """Behind torch's load_state_dict, which gives moments the types of their parameters."""
        numbers = itertools.chain.from_iterable(group["params"] for group in given["param_groups"])
        own = itertools.chain.from_iterable(group["params"] for group in self.param_groups)
        moments = {}
        for number, parameter in zip(numbers, own):
            # A dict of this optimizer's, with tensors that may be the caller's.
            state = self.state.get(parameter, {})
            for name in _MOMENTS:
                if name in state:
                    if state[name].shape != parameter.shape:
                        raise CallError(f"AdamW: {name} of a state dict has shape {list(state[name].shape)}, and its parameter "
                                        f"{list(parameter.shape)}; the state dict is of another model")
                    state[name] = given["state"][number][name].to(parameter.device, _moments_of(parameter.dtype))
            if self._streamed is not None and all(name in state for name in _MOMENTS):
                moments[parameter] = {name: state.pop(name) for name in _MOMENTS}
        if self._streamed is not None:
            self._streamed.load(moments, _moments_of)

    def move_states(self, offload: Offload) -> None:
        """Takes moments that are on SSDs to the folders of another `offload`. A step that a disk has stopped goes on there."""
        if self._streamed is None:
            raise CallError("AdamW: its states are in main memory; make it with offload=, and load its state dict")
        self._streamed.move(_checked(offload))

    def __getstate__(self) -> dict[str, Any]:
        if self._streamed is not None:
            raise CallError("AdamW: its states are on SSDs, and it can be neither copied nor pickled; make another optimizer, and give it the state_dict()")
        return super().__getstate__()


_computed = frozenset([torch.float32, torch.float64, torch.float16, torch.bfloat16])


def _checked(offload):
    if not isinstance(offload, Offload):
        raise CallTypeError(f"AdamW: offload is of type {type(offload).__name__}; it is what drawloom.torch.offload(folder, memory) returns")
    return offload


def _moments_of(dtype):
    """The type of a parameter's moments."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
