# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What layers do to rows alone: functions of a Program and its Values, which `rows.spec_of` makes programs of. Operands that may be absent are
None."""

from .tracing import Value

# By name: what is between the layers of a chain.
ACTIVATIONS = {"none": lambda x: x, **{name: getattr(Value, name) for name in
                                       ("relu", "leaky_relu", "elu", "silu", "gelu", "tanh", "sigmoid", "softplus")}}


def products(program, x, *factors):
    """x [N, D] times each of some matrices [D, O], which have a bias [O] or None behind them."""
    return [x.product(*one) for one in zip(factors[::2], factors[1::2])]


def gin_chain(program, rows, right, eps, *more):
    """Dense layers, pairs of w [in, out] and a bias or None, one after another, of rows + (1 + eps) right. Behind them are the names of the
    activations between layers, and behind the last."""
    *factors, activation, output = more
    x, count = (rows + (eps + 1.0) * right).to(rows.dtype), len(factors) // 2
    for i in range(count):
        x = ACTIVATIONS[activation if i + 1 < count else output](x.product(*factors[2 * i:2 * i + 2])).to(rows.dtype)
    return x


def hgt_out(program, m, x, w, bias, skip):
    """s (gelu(m) w + bias) + (1 - s) x with s = sigmoid(skip), skip [1], of rows; without x only what s multiplies."""
    out = m.gelu().to(m.dtype).product(w, bias)
    if x is not None:
        share = skip.sigmoid()
        out = share * out + (1.0 - share) * x
    return out.to(m.dtype)


def degree_scale(program, degree, l1, b1, l2, b2):
    """relu(degree l1 + b1) l2 + b2 of rows: degree [N, 1], l1, b1 and b2 [1, F], l2 [F, F]."""
    return (degree.product(l1) + b1).relu().product(l2) + b2
