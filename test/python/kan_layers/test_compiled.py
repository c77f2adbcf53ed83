# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kan, loss and opt ops and their gradients: compiled code against the interpreter.

Random arguments in [-1, 1), each type with its own tolerance.
"""

import pytest

from support.runner import optimize, tool

TYPES = ["f32", "f64", "bf16", "f16"]


def compare(tmp_path, text, *options):
    path = tmp_path / "program.mlir"
    # The interpreter runs the ops themselves, the compiler what they are expanded to.
    path.write_text(optimize(text, "--differentiate"))
    tool("drawloom-run", path, "--random", "--seed=3", "--threads=2", "--compare=interpreter", *options)


def value_and_gradients(op, signature, inputs, result, wrt=None):
    """@run: the value of an op and its gradients for a random cotangent."""
    wrt = list(range(len(inputs))) if wrt is None else wrt
    arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(inputs))
    names = ", ".join(f"%x{i}" for i in range(len(inputs)))
    results = ", ".join([result, *(inputs[i] for i in wrt)])
    return f"""
func.func private @value({arguments}) -> {result} {{
  %y = {op.format(names)} : {signature.format(*inputs, y=result)}
  return %y : {result}
}}
func.func @run({arguments}, %g: {result}) -> ({results}) {{
  %r:{1 + len(wrt)} = ad.vjp @value({names}) cotangents(%g) wrt {wrt} : ({', '.join(inputs)}) -> ({results})
  return {', '.join(f'%r#{i}' for i in range(1 + len(wrt)))} : {results}
}}
"""


ACTIVATIONS = ["relu {}", "leaky_relu {} {{slope = 0.2}}", "elu {} {{alpha = 0.5}}", "silu {}", "gelu {}", 'gelu {} {{approximate = "tanh"}}',
               "tanh {}", "sigmoid {}", "softplus {} {{beta = 3.0}}", "sine {} {{omega = 5.0}}", "sinpi {}", "cospi {}",
               "square {}", "snake {} {{alpha = 2.0}}"]


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("op", ACTIVATIONS)
def test_activation(tmp_path, op, element):
    kind = f"tensor<5x24x{element}>"
    compare(tmp_path, value_and_gradients("kan." + op, "{0}", [kind], kind))


@pytest.mark.parametrize("shape", ["1", "0x4", "3x1x7"])
def test_activation_of_odd_shape(tmp_path, shape):
    kind = f"tensor<{shape}xf32>"
    compare(tmp_path, value_and_gradients("kan.silu {}", "{0}", [kind], kind))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("form", ["abs_terms", "abs_sum", "abs_sum_eps"])
def test_rational(tmp_path, form, element):
    x, a, b = f"tensor<9x48x{element}>", f"tensor<1x6x{element}>", f"tensor<2x4x{element}>"
    compare(tmp_path, value_and_gradients(f"kan.rational {{}} form({form})", "{0}, {1}, {2}", [x, a, b], x))


@pytest.mark.parametrize("rows, channels, groups", [(1, 24, (8, 1)), (0, 8, (1, 1)), (7, 6, (6, 2)), (130, 64, (1, 8))])
def test_rational_of_odd_shape(tmp_path, rows, channels, groups):
    x, a, b = f"tensor<{rows}x{channels}xf32>", f"tensor<{groups[0]}x6xf32>", f"tensor<{groups[1]}x4xf32>"
    compare(tmp_path, value_and_gradients("kan.rational {}", "{0}, {1}, {2}", [x, a, b], x))


@pytest.mark.parametrize("element", TYPES)
def test_frequency_encode(tmp_path, element):
    compare(tmp_path, value_and_gradients("kan.frequency_encode {} {{octaves = 3}}", "{0} -> {y}",
                                          [f"tensor<7x2x{element}>"], f"tensor<7x12x{element}>"))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("tables", [(2, 3, 64, 2), (3, 2, 100, 1)])
def test_grid_encode(tmp_path, tables, element):
    d, levels, entries, features = tables
    x = f"tensor<9x{d}xf{64 if element == 'f64' else 32}>"
    t = f"tensor<{levels}x{entries}x{features}x{element}>"
    compare(tmp_path, value_and_gradients("kan.grid_encode {} {{base_resolution = 2, growth = 2.3}}", "{0}, {1} -> {y}",
                                          [x, t], f"tensor<9x{levels * features}x{element}>"))


@pytest.mark.parametrize("rows", [0, 1, 200])
def test_grid_encode_rows(tmp_path, rows):
    x, t = f"tensor<{rows}x2xf32>", "tensor<3x100x2xf32>"
    compare(tmp_path, value_and_gradients("kan.grid_encode {} {{base_resolution = 4, finest_resolution = 16}}",
                                          "{0}, {1} -> {y}", [x, t], f"tensor<{rows}x6xf32>"))


def test_grid_encode_has_the_same_bits_for_any_number_of_threads(tmp_path):
    text = optimize(value_and_gradients("kan.grid_encode {} {{base_resolution = 4, finest_resolution = 64}}",
                                        "{0}, {1} -> {y}", ["tensor<500x2xf32>", "tensor<5x256x2xf32>"],
                                        "tensor<500x10xf32>"), "--differentiate")
    path = tmp_path / "program.mlir"
    path.write_text(text)
    printed = {tool("drawloom-run", path, "--random", "--print", f"--threads={threads}") for threads in (1, 2, 3)}
    assert len(printed) == 1


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("rows", [0, 1, 37])
@pytest.mark.parametrize("op", ["mse {}", "huber {} {{delta = 0.3}}"])
def test_loss(tmp_path, op, rows, element):
    kind = f"tensor<{rows}x5x{element}>"
    loss = "tensor<f64>" if element == "f64" else "tensor<f32>"
    compare(tmp_path, value_and_gradients("loss." + op, "{0} -> {y}", [kind, kind], loss))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("rows, classes", [(0, 3), (1, 1), (9, 10)])
def test_cross_entropy(tmp_path, rows, classes, element):
    loss = "tensor<f64>" if element == "f64" else "tensor<f32>"
    compare(tmp_path, value_and_gradients("loss.softmax_cross_entropy {}", "{0}, {1} -> {y}",
                                          [f"tensor<{rows}x{classes}x{element}>", f"tensor<{rows}xi32>"], loss, [0]),
            f"--random-integers=0:{classes}")


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_softmax(tmp_path, op, element):
    kind = f"tensor<6x10x{element}>"
    compare(tmp_path, value_and_gradients(f"loss.{op} {{}}", "{0}", [kind], kind))


@pytest.mark.parametrize("params, state", [("f32", "f32"), ("f64", "f64"), ("bf16", "f32"), ("f16", "f32"), ("f16", "f16")])
def test_adamw(tmp_path, params, state):
    """The second moment is not negative: the square of an argument."""
    p, s = f"tensor<5x7x{params}>", f"tensor<5x7x{state}>"
    compare(tmp_path, f"""
func.func @run(%p: {p}, %g: {p}, %m: {s}, %root: {s}, %lr: f32) -> ({p}, {s}, {s}) {{
  %v = arith.mulf %root, %root : {s}
  %t = arith.constant 3 : i64
  %0:3 = opt.adamw params(%p) grads(%g) first(%m) second(%v) lr(%lr : f32) step(%t : i64) : {p} moments {s}
  return %0#0, %0#1, %0#2 : {p}, {s}, {s}
}}""")


@pytest.mark.parametrize("params, state", [("f32", "f32"), ("f64", "f64"), ("bf16", "f32"), ("f16", "f16")])
def test_sgd(tmp_path, params, state):
    p, s = f"tensor<35x{params}>", f"tensor<35x{state}>"
    compare(tmp_path, f"""
func.func @run(%p: {p}, %g: {p}, %m: {s}, %lr: tensor<f32>) -> ({p}, {s}) {{
  %0:2 = opt.sgd params(%p) grads(%g) buffers(%m) lr(%lr : tensor<f32>) weight_decay [0.1] {{momentum = 0.9, nesterov}}
      : {p} buffers {s}
  return %0#0, %0#1 : {p}, {s}
}}""")
