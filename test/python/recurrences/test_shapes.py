# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of shapes.py: each model, each of flash-linear-attention's shapes and each schedule."""

import itertools

import pytest

from recurrences import shapes
from recurrences.test_linear_recurrences import one_thread_of_torch  # noqa: F401

SMALL = shapes.Shape(1, 63, 1, 64)
# The models that are compiled fastest for what they have in common with others: no decay, of heads, of tokens, of keys, of values; erasure.
LARGE = {
    "2x1024x4x60": ("simple_gla", "resident", "f16"), "2x1024x8x128": ("linear_attention", "segments", "bf16"),
    "4x2048x8x64": ("gated_linear_attention", "resident", "f32"), "1x128x4x256": ("delta_rule", "materialised", "f32"),
    "1x64x2x320": ("hgrn2", "resident", "f16"), "1x128x4x512": ("retention", "segments", "f32"),
    "packed-0-15": ("hgrn", "resident", "f32"), "packed-0-0-16": ("gated_delta_rule", "resident", "bf16"),
    "packed-0-256-500-1000": ("simple_gla", "resident", "f32"), "packed-0-15-100-300-1200-2000": ("delta_rule", "resident", "f16"),
    "2x256x4x60-grouped-2": ("gated_delta_rule", "resident", "f32"), "2x256x8x64-grouped-2": ("simple_gla", "materialised", "f16"),
    "1x128x8x128-grouped-4": ("linear_attention", "resident", "f32"), "1x64x2x32-grouped-1": ("rwkv6", "segments", "f32")}


def test_every_shape_is_here():
    assert set(LARGE) | {SMALL.name} == set(shapes.SHAPES)


@pytest.mark.parametrize("name", shapes.MODELS)
def test_program_for_f64_is_the_loop_over_tokens(name):
    shapes.check_oracle(name, SMALL)


@pytest.mark.parametrize("name, schedule", zip(shapes.MODELS, itertools.cycle(shapes.SCHEDULES)))
def test_model(name, schedule):
    """With decays as strong as they come, and as weak."""
    for normalizer in shapes.NORMALIZERS[::2] if shapes.has_normalizer(name) else (1.0,):
        shapes.check(name, SMALL, schedule, "f32", normalizer)


@pytest.mark.parametrize("shape", LARGE)
def test_shape(shape):
    name, schedule, element = LARGE[shape]
    shapes.check_oracle(name, shapes.SHAPES[shape])
    shapes.check(name, shapes.SHAPES[shape], schedule, element)


@pytest.mark.parametrize("name, shape, schedule", [
    ("simple_gla", "packed-0-0-16", "resident"), ("retention", "1x63x1x64", "segments"),
    ("gated_linear_attention", "1x64x2x32-grouped-1", "materialised")])
def test_shape_on_the_gpu_emulated(name, shape, schedule):
    shapes.check(name, shapes.SHAPES[shape], schedule, "emulated")
