# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poisson's equation on the square [-1, 1]^2, with a solution that is known (section 3.4 of arXiv 2404.19756).

    u_xx + u_yy = f,   u = 0 on the border,   u = sin(pi x) sin(pi y) for the f below

A network n gives u = (1 - x^2)(1 - y^2) n(x, y), which is 0 on the border, whatever n is. The functions take x and y of any
library; where it has to know which, `library` says.
"""

import numpy as np


def solution(x, y, library=np):
    return library.sin(np.pi * x) * library.sin(np.pi * y)


def slopes(x, y, library=np):
    return np.pi * library.cos(np.pi * x) * library.sin(np.pi * y), np.pi * library.sin(np.pi * x) * library.cos(np.pi * y)


def source(x, y, library=np):
    return -2 * np.pi**2 * solution(x, y, library)


def u_of(x, y, n):
    return (1 - x**2) * (1 - y**2) * n


def slopes_of(x, y, n, firsts):
    """u_x and u_y from n and its derivatives along x and y."""
    border = (1 - x**2) * (1 - y**2)
    return border * firsts[0] - 2 * x * (1 - y**2) * n, border * firsts[1] - 2 * y * (1 - x**2) * n


def laplacian_of(x, y, n, firsts, laplacian):
    """u_xx + u_yy from n, its first derivatives and n_xx + n_yy."""
    return ((1 - x**2) * (1 - y**2) * laplacian - 4 * x * (1 - y**2) * firsts[0] - 4 * y * (1 - x**2) * firsts[1]
            - 2 * (2 - x**2 - y**2) * n)


def points(count, seed):
    return np.random.default_rng(seed).uniform(-1, 1, (count, 2))


def grid(extent):
    """Points of a picture, [extent^2, 2], from the top left."""
    ticks = np.linspace(-1, 1, extent)
    x, y = np.meshgrid(ticks, ticks[::-1])
    return np.stack([x.ravel(), y.ravel()], -1)
