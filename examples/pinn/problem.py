# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The equation: Helmholtz's, on the square [-1, 1]^2, with a solution that is known.

    u_xx + u_yy + k^2 u = f,   u = 0 on the border,   u = sin(pi x) sin(4 pi y) for the f below

A network n gives u = (1 - x^2)(1 - y^2) n(x, y), which vanishes on the border, whatever n is.
"""

import numpy as np

WAVE_NUMBER = 1.0
ACROSS, UP = 1, 4


def solution(x, y, library=np):
    return library.sin(ACROSS * np.pi * x) * library.sin(UP * np.pi * y)


def source(x, y, library=np):
    return (WAVE_NUMBER**2 - np.pi**2 * (ACROSS**2 + UP**2)) * solution(x, y, library)


def border(x, y):
    return (1 - x**2) * (1 - y**2)


def laplacian(x, y, n, firsts, seconds):
    """u_xx + u_yy from n and its derivatives along x and along y."""
    slopes = -2 * x * (1 - y**2), -2 * y * (1 - x**2)
    bends = -2 * (1 - y**2), -2 * (1 - x**2)
    return sum(border(x, y) * nn + 2 * b * first + bb * n for b, bb, first, nn in zip(slopes, bends, firsts, seconds))


def first_parameters(width, layers, seed):
    """Weights [out, in] and biases for a network of sines (arXiv 2006.09661): uniform, of such a size that the values keep
    theirs from layer to layer; the first layer is larger, as high as the frequencies to be seen."""
    generator = np.random.default_rng(seed)
    widths = [2, *[width] * layers, 1]
    weights, biases = [], []
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        bound = 4.0 if i == 0 else np.sqrt(6 / inputs)
        weights.append(generator.uniform(-bound, bound, (outputs, inputs)).astype("float32"))
        biases.append(generator.uniform(-0.1, 0.1, outputs).astype("float32"))
    return weights, biases


def points(count, seed, step):
    """Where the equation is asked for in a step: the same for every framework."""
    return np.random.default_rng([seed, step]).uniform(-1, 1, (count, 2)).astype("float32")


def grid(extent):
    """Points of a picture, [extent^2, 2], from the top left."""
    ticks = np.linspace(-1, 1, extent, dtype="float32")
    x, y = np.meshgrid(ticks, ticks[::-1])
    return np.stack([x.ravel(), y.ravel()], -1)
