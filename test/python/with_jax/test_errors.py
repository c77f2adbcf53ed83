# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of drawloom.jax that do not fit say what would, and importing drawloom needs no JAX."""

import subprocess
import sys

import jax
import numpy as np
import pytest

import drawloom
import drawloom.jax as dj

X = np.zeros((3, 8), "float32")
A, B = np.zeros((2, 6), "float32"), np.zeros((2, 4), "float32")


def refused(message, call, *arguments, **options):
    with pytest.raises(drawloom.CallError) as error:
        call(*arguments, **options)
    assert message in str(error.value)


def test_groups_that_do_not_divide_are_refused():
    refused("a has 3 groups, which do not divide the 8 channels of x", dj.rational, X, np.zeros((3, 6), "float32"), B)


def test_an_unknown_form_is_refused():
    refused("the form is 'abs'; it is one of abs_terms", dj.rational, X, A, B, form="abs")


def test_coefficients_of_another_type_are_refused():
    refused("a is float16, but x is float32", dj.rational, X, A.astype("float16"), B)


def test_integers_are_refused():
    refused("x is int32", dj.rational, np.zeros((3, 8), "int32"), A, B)


def test_what_is_no_array_is_refused():
    refused("a is no array", dj.rational, X, object(), B)


def test_a_scalar_is_refused():
    refused("x is a scalar", dj.frequency_encode, 1.0, 3)


def test_weights_that_do_not_follow_are_refused():
    refused("weights[1] is [4, 6], [out, in], but layer 0 has 5 channels", dj.fused_mlp, X,
            [np.zeros((5, 8), "float32"), np.zeros((4, 6), "float32")])


def test_a_missing_bias_is_refused():
    refused("there are 2 weights, but 1 biases", dj.fused_mlp, X,
            [np.zeros((5, 8), "float32"), np.zeros((4, 5), "float32")], [np.zeros(5, "float32")])


def test_a_misspelt_activation_is_refused_with_the_right_one():
    refused("did you mean 'silu'?", dj.fused_mlp, X, [np.zeros((5, 8), "float32")], activation="slu")


def test_a_direction_of_other_channels_is_refused():
    refused("directions[0] is float32[2]; it has the channels of x, float32[8]", dj.fused_mlp_along, X,
            [np.ones(2, "float32")], [np.zeros((5, 8), "float32")])


def test_shapes_are_checked_while_jit_traces():
    refused("a has 3 groups", jax.jit(dj.rational), X, np.zeros((3, 6), "float32"), B)


def test_an_executable_with_a_broken_program_fails_with_the_compilers_message():
    target = dj._call._TARGET
    call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct((3,), "float32"))
    attributes = {"key": "broken", "name": "broken.mlir", "target": "cpu", "isa": "native", "shares": np.int64(1)}
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"drawloom: broken\.mlir:1:1.*"):
        jax.block_until_ready(jax.jit(lambda x: call(x, source="func.fun", **attributes))(X[0, :3]))


def test_an_executable_that_calls_with_other_buffers_fails(rng):
    spec = drawloom.ops.Spec("rational", (("form", "abs_terms"),))
    source = drawloom.ops.text(spec, [drawloom.ops.Array("float32", one.shape) for one in (X, A, B)])
    attributes = {"key": "other", "name": "r.mlir", "target": "cpu", "isa": "native", "shares": np.int64(1), "source": source}
    call = jax.ffi.ffi_call(dj._call._TARGET, jax.ShapeDtypeStruct((3, 4), "float32"))
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT: drawloom: "):
        jax.block_until_ready(jax.jit(lambda x: call(x, A, B, **attributes))(X[:, :4]))


def test_importing_drawloom_imports_no_jax():
    code = "import sys, drawloom; assert 'jax' not in sys.modules; drawloom.jax.rational; assert 'jax' in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
