# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch and JAX write alike: a rational activation and its gradients in closed form."""


def rational(x, a, b):
    """P(x) / (1 + |b1 x + ... + b4 x^4|); a[..., 6] and b[..., 4] broadcast against x."""
    p = a[..., 5]
    for k in (4, 3, 2, 1, 0):
        p = p * x + a[..., k]
    q = b[..., 3]
    for k in (2, 1, 0):
        q = q * x + b[..., k]
    return p / (1 + abs(q * x))


def rational_closed_form(xp, x, dy, a, b):
    """y, dx, da, db by hand: what a user writes who does not trust autograd with ten sums. `xp` is torch or jax.numpy."""
    shape, groups = x.shape, a.shape[0]
    x, dy = (t.reshape(shape[0], groups, -1) for t in (x, dy))
    a, b = a[None, :, None], b[None, :, None]
    p, dp = a[..., 5], 0.0
    for k in (4, 3, 2, 1, 0):
        dp = dp * x + p
        p = p * x + a[..., k]
    q, dq = b[..., 3], 0.0
    for k in (2, 1, 0):
        dq = dq * x + q
        q = q * x + b[..., k]
    q, dq = q * x, dq * x + q
    inverse = 1 / (1 + abs(q))
    y = p * inverse
    g = dy * inverse
    h = g * y * xp.sign(q)
    powers = [xp.ones_like(x)]
    for _ in range(5):
        powers.append(powers[-1] * x)
    da = xp.stack([(g * t).sum((0, 2)) for t in powers], 1)
    db = xp.stack([-(h * t).sum((0, 2)) for t in powers[1:5]], 1)
    return y.reshape(shape), (g * dp - h * dq).reshape(shape), da, db
