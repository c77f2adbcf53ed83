# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of the kan suite as MLIR text: forward, gradients, whole training steps."""

ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def f32(*shape):
    return f"tensor<{'x'.join(str(n) for n in (*shape, 'f32'))}>"


def rational(rows, channels, groups=8):
    """@forward: x, a, b -> y. @train: x, dy, a, b -> y, dx, da, db. Denominator 1 + |b1 x + ...|."""
    x, a, b = f32(rows, channels), f32(groups, 6), f32(groups, 4)
    return f"""
func.func @forward(%x: {x}, %a: {a}, %b: {b}) -> {x} {{
  %y = kan.rational %x, %a, %b form(abs_sum) : {x}, {a}, {b}
  return %y : {x}
}}
func.func @train(%x: {x}, %dy: {x}, %a: {a}, %b: {b}) -> ({x}, {x}, {a}, {b}) {{
  %y, %dx, %da, %db = ad.vjp @forward(%x, %a, %b) cotangents(%dy) wrt [0, 1, 2] : ({x}, {a}, {b}) -> ({x}, {x}, {a}, {b})
  return %y, %dx, %da, %db : {x}, {x}, {a}, {b}
}}
"""


class Mlp:
    """Dense layers with biases; hidden ones have an activation, "relu" or "rational" (8 groups, degrees 5 and 4)."""

    def __init__(self, rows, widths, activation="relu", encode=None, loss="mse"):
        self.rows, self.widths, self.activation, self.loss = rows, widths, activation, loss
        # (type of the input, ops that make %x0 of %x)
        self.input, self.encode = encode or (f32(rows, widths[0]), "")
        self.shapes = []
        for i, (n, m) in enumerate(zip(widths, widths[1:])):
            self.shapes += [(n, m), (m,)]
            if activation == "rational" and i + 2 < len(widths):
                self.shapes += [(8, 6), (8, 4)]
        self.types = [f32(*shape) for shape in self.shapes]
        self.names = [f"%p{i}" for i in range(len(self.types))]

    def network(self):
        body, last, at = self.encode, "%x0" if self.encode else "%x", 0
        for i, (n, m) in enumerate(zip(self.widths, self.widths[1:])):
            x, y, w, b = f32(self.rows, n), f32(self.rows, m), f32(n, m), f32(m)
            body += f"""
  %e{i} = tensor.empty() : {y}
  %c{i} = linalg.broadcast ins(%p{at + 1} : {b}) outs(%e{i} : {y}) dimensions = [0]
  %z{i} = linalg.matmul ins({last}, %p{at} : {x}, {w}) outs(%c{i} : {y}) -> {y}"""
            last, at = f"%z{i}", at + 2
            if i + 2 < len(self.widths):
                if self.activation == "relu":
                    body += f"\n  %h{i} = kan.relu %z{i} : {y}"
                else:
                    body += f"\n  %h{i} = kan.rational %z{i}, %p{at}, %p{at + 1} form(abs_sum) : {y}, {f32(8, 6)}, {f32(8, 4)}"
                    at += 2
                last = f"%h{i}"
        return body + "\n", last

    def text(self):
        y, types = f32(self.rows, self.widths[-1]), ", ".join(self.types)
        parameters = ", ".join(f"{n}: {t}" for n, t in zip(self.names, self.types))
        names, count = ", ".join(self.names), len(self.names)
        body, last = self.network()
        target = y if self.loss == "mse" else f"tensor<{self.rows}xi32>"
        grads = range(2, 2 + count)

        def group(prefix):
            return (", ".join(f"%{prefix}{i}: {t}" for i, t in enumerate(self.types)),
                    ", ".join(f"%{prefix}{i}" for i in range(count)))

        (ms, m), (vs, v) = group("m"), group("v")
        loss = f"loss.mse %y, %t : {y} -> tensor<f32>" if self.loss == "mse" else \
            f"loss.softmax_cross_entropy %y, %t : {y}, {target} -> tensor<f32>"
        new = [f"%{k}#{i}" for k in "nqr" for i in range(count)]
        return f"""
func.func @forward(%x: {self.input}, {parameters}) -> {y} {{{body}  return {last} : {y}
}}
func.func @train(%x: {self.input}, %dy: {y}, {parameters}) -> ({y}, {self.input}, {types}) {{
  %y, %g:{count + 1} = ad.vjp @forward(%x, {names}) cotangents(%dy) wrt {list(range(count + 1))}
    : ({self.input}, {types}) -> ({y}, {self.input}, {types})
  return %y, {", ".join(f"%g#{i}" for i in range(count + 1))} : {y}, {self.input}, {types}
}}
func.func private @loss(%x: {self.input}, %t: {target}, {parameters}) -> tensor<f32> {{
  %y = call @forward(%x, {names}) : ({self.input}, {types}) -> {y}
  %l = {loss}
  return %l : tensor<f32>
}}
func.func @gradients(%x: {self.input}, %t: {target}, {parameters}) -> (tensor<f32>, {types}) {{
  %l, %g:{count} = ad.value_and_grad @loss(%x, %t, {names}) wrt {list(grads)}
    : ({self.input}, {target}, {types}) -> (tensor<f32>, {types})
  return %l, {", ".join(f"%g#{i}" for i in range(count))} : tensor<f32>, {types}
}}
func.func @step(%x: {self.input}, %t: {target}, %rate: f32, %step: i64, {parameters}, {ms}, {vs})
    -> (tensor<f32>, {types}, {types}, {types}) {{
  %l, %g:{count} = ad.value_and_grad @loss(%x, %t, {names}) wrt {list(grads)}
    : ({self.input}, {target}, {types}) -> (tensor<f32>, {types})
  %n:{count}, %q:{count}, %r:{count} = opt.adamw params({names}) grads({", ".join(f"%g#{i}" for i in range(count))})
    first({m}) second({v}) lr(%rate : f32) step(%step : i64) weight_decay [0.0]
    {{beta1 = {ADAM["beta1"]}, beta2 = {ADAM["beta2"]}, epsilon = {ADAM["epsilon"]:.1e}}} : {types}
  return %l, {", ".join(new)} : tensor<f32>, {types}, {types}, {types}
}}
"""


def only(text, *entries):
    """The same with every other function private, so that it is not compiled by itself."""
    for name in ("forward", "train", "gradients", "step"):
        if name not in entries:
            text = text.replace(f"func.func @{name}(", f"func.func private @{name}(")
    return text
