# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of recurrences that keep the state before every m-th chunk only, and compute the others a second time."""

import re

import jax
import numpy as np
import pytest
import torch

import drawloom
import drawloom.jax
import drawloom.torch.linrec
from recurrences.test_linear_recurrences import COMPILED, assert_same_bits, call, check, compiled, operands_of, program
from support.runner import tool

# One of each form of a chunk: products of matrices without decays, with those of tokens, with erasure (solutions and scores are kept)
# tied to keys and free; decays of keys that are looked up, and that are not; token after token.
FORMS = {"linear_attention": "", "simple_gla": "", "delta_rule": "", "identity_plus_low_rank": "", "gated_linear_attention": "",
         "kimi_delta_attention": "decay_bound = -5.0", "gated_delta_rule": "chunk = 1"}
TYPES = {"starts": torch.int32}


def gradients(operands, cotangents, attributes):
    """Of all operands, compiled for f32 without the forward pass."""
    text = program({name: tuple(t.shape) for name, t in operands.items()}, "f32", attributes)
    text = "func.func @backward" + text.split("func.func @backward")[1]
    arguments = [t.to(TYPES.get(name, torch.float32)).contiguous() for name, t in [*operands.items(), *zip(("do", "df"), cotangents)]]
    names = [name for name in operands if name != "starts"]
    return dict(zip(names, compiled(text).backward(*arguments)))


def check_bits(name, attributes, interval, starts=None, **draw):
    operands, cotangents = operands_of(name, **{"B": 1, "H": 2, "V": 16, **draw})
    if "decay_bound" in attributes:
        operands["decay"] = operands["decay"].clamp(min=-5.0)
    if starts:
        operands["starts"] = torch.tensor(starts)
    if "chunk" not in attributes:
        attributes = ", ".join(filter(None, [attributes, "chunk = 16"]))
    results = [gradients(operands, cotangents, f"{attributes}, checkpoint_interval = {m}") for m in (interval, 1)]
    assert_same_bits(*results)


@pytest.mark.parametrize("name", FORMS)
def test_gradients_have_the_bits_of_those_that_keep_all_states(name):
    """In groups of two chunks, of which the last has one that is not full."""
    check_bits(name, FORMS[name], 2, T=5 if "chunk" in FORMS[name] else 75)


@pytest.mark.parametrize("T, interval", [(96, 3), (64, 3), (48, 5), (16, 2)])
def test_any_number_of_chunks(T, interval):
    """Two full groups, one chunk in the last, fewer chunks than a group, one chunk."""
    check_bits("simple_gla", "", interval, T=T, H=1)


@pytest.mark.parametrize("name", ["gated_linear_attention", "delta_rule"])
def test_packed_sequences(name):
    """Of three chunks, of none, of one and of two."""
    check_bits(name, "", 2, starts=(0, 40, 40, 50, 75), T=75, N=4)


@pytest.mark.parametrize("name, schedule", [("simple_gla", "segments = 2"), ("delta_rule", "segments = 2"),
                                            ("simple_gla", "value_blocks = 2")])
def test_other_schedules(name, schedule):
    check_bits(name, schedule, 2, T=96)


@pytest.mark.parametrize("name", ["gated_linear_attention", "delta_rule"])
def test_on_the_gpu_emulated(name):
    """Strong decays are among them, so that both forms of a chunk run."""
    operands, cotangents = operands_of(name, B=1, T=80, H=1, V=16)
    results, wanted = (call(how, "backward", operands, "chunk = 16, checkpoint_interval = 2", cotangents)
                       for how in ("emulated f32", "interpreted"))
    check(dict(zip(operands, results)), dict(zip(operands, wanted)), COMPILED)


def memory(interval, name):
    """Bytes beside arguments and results of a gradient of 64 chunks, of a thread."""
    operands, _ = operands_of(name, T=64 * 32, K=64, V=128)
    attributes = f"value_blocks = 1, chunk = 32, checkpoint_interval = {interval}"
    text = program({x: tuple(t.shape) for x, t in operands.items()}, "f32", attributes)
    kernels = tool("drawloom-run", "-", "--compile-to=kernels", text="func.func @backward" + text.split("func.func @backward")[1])
    return sum(int(found) for found in re.findall(r"(?:scratch|workspace)_bytes = (\d+)", kernels))


@pytest.mark.parametrize("name", ["simple_gla", "delta_rule"])
@pytest.mark.parametrize("interval", [8, 16])
def test_memory_is_that_of_checkpoints_and_of_one_group(name, interval):
    state = 64 * 128 * 4
    kept = (32 * 128 + 32 * 32) * 4 if name == "delta_rule" else 0
    saved = (65 - (64 // interval + interval + 1)) * state + (64 - interval) * kept
    # The state on its way to the checkpoints and through a group, and bytes that buffers share at other times.
    assert abs(memory(1, name) - saved - memory(interval, name)) <= 3 * state


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_libraries_take_the_interval(library):
    operands, (cotangent, _) = operands_of("linear_attention", B=1, H=1, V=16)
    arrays = [operands[x].float().numpy() for x in "qkv"]

    def of(interval):
        options = dict(scale=1.0, chunk=16, checkpoint_interval=interval)
        if library == "jax":
            function = lambda *x: (drawloom.jax.linear_recurrence(*x, **options)[0] * cotangent.float().numpy()).sum()  # noqa: E731
            return [np.asarray(g).tobytes() for g in jax.grad(function, argnums=(0, 1, 2))(*arrays)]
        leaves = [torch.from_numpy(x.copy()).requires_grad_() for x in arrays]
        (drawloom.torch.linrec.linear_recurrence(*leaves, **options)[0] * cotangent.float()).sum().backward()
        return [x.grad.numpy().tobytes() for x in leaves]
    assert of(2) == of(1)
