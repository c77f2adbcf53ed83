# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that a program names are given by name, in their order or not."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import drawloom

TOOL = pathlib.Path(os.environ["DRAWLOOM_BUILD_DIR"]) / "bin/drawloom-run"

DIFFERENCE = """
func.func @difference(%a: tensor<?xf32> {drawloom.name = "x"}, %b: tensor<?xf32> {drawloom.name = "y"}, %c: tensor<f32>)
    -> (tensor<?xf32> {drawloom.name = "z"}) {
  %d = arith.subf %a, %b : tensor<?xf32>
  return %d : tensor<?xf32>
}
"""
X, Y, C = np.float32([1, 2]), np.float32([5, 7]), np.float32(0)


@pytest.fixture(scope="module")
def module():
    return drawloom.compile(DIFFERENCE)


def test_order_is_that_of_the_program(module):
    named = "func.func @main(%a: tensor<2xf32> {drawloom.name = \"x\"}, %b: tensor<2xf32> {drawloom.name = \"y\"}) -> tensor<2xf32> {\n" \
            "  %d = arith.subf %a, %b : tensor<2xf32>\n  return %d : tensor<2xf32>\n}"
    assert drawloom.compile(named)(y=Y, x=X).tolist() == [-4, -5]
    assert drawloom.compile(named).main(X, y=Y).tolist() == [-4, -5]


def test_names_show(module):
    assert module.difference.argument_names == ["x", "y", ""] and module.difference.result_names == ["z"]
    assert repr(module.difference) == "<drawloom function @difference(x: float32[?], y: float32[?], float32[]) -> (z: float32[?])>"


@pytest.mark.parametrize("given, named, message", [
    ((X, Y, C), {"x": X}, "argument 'x' of @difference is given twice, in its place and by name"),
    ((X,), {"w": Y}, "@difference has no argument 'w'; it has x, y"),
    ((X,), {"y": Y}, "@difference is called without argument 2"),
    ((), {"y": Y}, "@difference is called without x, argument 2"),
    ((X, Y), {}, "@difference takes 3 arguments (x: float32[?], y: float32[?], float32[]), but 2 are given"),
    ((X, Y, C, C), {"x": X}, "@difference takes 3 arguments (x: float32[?], y: float32[?], float32[]), but 5 are given"),
])
def test_what_does_not_fit_is_named(module, given, named, message):
    with pytest.raises(drawloom.CallTypeError) as error:
        module.difference(*given, **named)
    assert str(error.value) == message


def test_without_names_there_is_nothing_to_name():
    with pytest.raises(drawloom.CallTypeError, match="@f has no argument 'x'; its arguments have no names"):
        drawloom.compile("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}")(x=X)


def test_wrong_shapes_name_the_argument(module):
    with pytest.raises(drawloom.CallError, match=r"argument 1 \(y\) of @difference takes float32\[\?\], but its shape is \[1, 2\]"):
        module.difference(X, Y[None], C)


def test_a_gradient_takes_the_names_of_its_function(module):
    gradient = drawloom.grad(module, "difference", wrt=[0, 1])
    assert gradient.argument_names == ["x", "y", "", ""]
    assert repr(gradient) == ("<drawloom function @difference_grad(x: float32[?], y: float32[?], argument 2: float32[], "
                              "cotangent of z: float32[?]) -> (z: float32[?], gradient of x: float32[?], gradient of y: float32[?])>")


def test_files_keep_names(module, tmp_path):
    module.save(tmp_path / "d.drawloom")
    loaded = drawloom.load(tmp_path / "d.drawloom").difference
    assert loaded.argument_names == ["x", "y", ""] and loaded.result_names == ["z"]


def test_kept_programs_have_the_names_of_their_own(tmp_path):
    for name in ("left", "right"):
        module = drawloom.compile(DIFFERENCE.replace('"x"', f'"{name}"'), cache=tmp_path)
        module.difference(X, Y, C)
        assert module.difference.argument_names == [name, "y", ""]


@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_files_for_every_target_keep_names(module, tmp_path, target):
    drawloom.compile(DIFFERENCE, target=target).save(tmp_path / "d.drawloom")
    loaded = drawloom.load(tmp_path / "d.drawloom", target=target).difference
    assert loaded.argument_names == ["x", "y", ""] and loaded.result_names == ["z"]


def test_an_argument_may_be_called_self():
    named = DIFFERENCE.replace('"x"', '"self"')
    assert drawloom.compile(named).difference(X, Y, C).tolist() == [-4, -5]
    named = named.replace(", %c: tensor<f32>", "")
    assert drawloom.compile(named)(y=Y, self=X).tolist() == drawloom.compile(named).difference(self=X, y=Y).tolist() == [-4, -5]


def test_a_name_that_two_have_is_refused_before_a_call():
    with pytest.raises(drawloom.CompileError, match='two arguments of @difference are named "x"'):
        drawloom.compile(DIFFERENCE.replace('"y"', '"x"'))


NPZ = """
func.func @difference(%a: tensor<2xf32> {drawloom.name = "x"}, %b: tensor<2xf32>NAME) -> tensor<2xf32> {
  %d = arith.subf %a, %b : tensor<2xf32>
  return %d : tensor<2xf32>
}
"""


@pytest.mark.parametrize("name, arrays, said", [
    (' {drawloom.name = "y"}', {"y": Y, "x": X}, "[-4, -5]"), ("", {"b": Y, "x": X}, "[-4, -5]"), (' {drawloom.name = "y"}', {"arr_0": X, "arr_1": Y}, "[-4, -5]"),
    (' {drawloom.name = "y"}', {"Y": Y, "X": X}, "@difference has no argument 'Y' "), (' {drawloom.name = "y"}', {"x": X}, "1 was given: argument 1 (y) is float32[2]"),
])
def test_arrays_of_a_file_go_by_their_names(tmp_path, name, arrays, said):
    (tmp_path / "d.mlir").write_text(NPZ.replace("NAME", name))
    np.savez(tmp_path / "in.npz", **arrays)
    done = subprocess.run([TOOL, tmp_path / "d.mlir", f"--input={tmp_path / 'in.npz'}", "--print"], capture_output=True, text=True)
    assert said in done.stdout + done.stderr
