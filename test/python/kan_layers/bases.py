# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions on edges of Kolmogorov-Arnold layers by SciPy, PyWavelets and NumPy: what ours are compared with."""

import numpy as np
import pywt
from scipy import interpolate, special


def _spline(x, k, functions, order, numbers):
    knots = numbers[0]
    spline = interpolate.BSpline.basis_element(knots[k:k + order + 2], extrapolate=False)
    return np.nan_to_num(spline(x)) * (x < knots[k + order + 1])


def _uniform(x, k, functions, order, numbers):
    a, b = numbers[0]
    h = (b - a) / (functions - order)
    return _spline(x, k, functions, order, [a + (np.arange(functions + order + 1) - order) * h])


def _linear(x, k, functions, order, numbers):
    knots, unit = numbers[0], np.eye(functions)[k]
    inside = np.interp(x, knots, unit)
    first, last = (unit[1] - unit[0]) / (knots[1] - knots[0]), (unit[-1] - unit[-2]) / (knots[-1] - knots[-2])
    return np.where(x < knots[0], unit[0] + (x - knots[0]) * first, np.where(x > knots[-1], unit[-1] + (x - knots[-1]) * last, inside))


def _three_term(x, k, functions, order, numbers):
    a, b, c = numbers
    before, now = 0.0 * x, 1.0 + 0.0 * x
    for j in range(k):
        before, now = now, (a[j] * x + b[j]) * now - (c[j] * before if j else 0.0)
    return now


def _bump(shape):
    """Of the numbers of function k, by v = (x - center) / width."""
    return lambda x, k, functions, order, numbers: shape((x - _at(numbers[0], k)) / _at(numbers[1], k))


def _at(numbers, k):
    return numbers[0] if len(numbers) == 1 else numbers[k]


def _by_recurrence(polynomials):
    """F_1, F_2, ... or L_0, L_1, ... by their first two."""
    def value(x, k, functions, order, numbers):
        found = list(polynomials(x))
        while len(found) <= k:
            found.append(x * found[-1] + found[-2])
        return found[k]

    return value


def _wavelet(name):
    if name in ("mexh", "morl"):
        formula = {"mexh": lambda v: 2 / (np.sqrt(3) * np.pi**0.25) * (1 - v * v) * np.exp(-v * v / 2),
                   "morl": lambda v: np.cos(5 * v) * np.exp(-v * v / 2)}[name]
        # PyWavelets tabulates: the formula that is used here is the one that it has.
        table, places = pywt.ContinuousWavelet(name).wavefun(8)
        # Both are some ten operations in double precision on numbers of at most 1; the cosine's argument 5v, whose rounding it takes over, is
        # damped where it is large: 5v exp(-v^2/2) is at most 3.1.
        np.testing.assert_allclose(formula(places), table, rtol=0, atol=16 * 2.0**-53)
        return _bump(formula)
    raise AssertionError(name)


def _gaussian_derivative(v):
    return -v * np.exp(-v * v / 2)


def _sinc(v):
    return np.sinc(v / np.pi)


# By name: (value of function k, functions, order, the numbers of each parameter).
def _knots(count, low=-1.3, high=1.4):
    # Not of equal distances.
    s = np.linspace(0, 1, count)
    return low + (high - low) * (0.7 * s + 0.3 * s**2)


_centers, _widths = np.linspace(-1, 1, 5), np.array([0.4, 0.5, 0.6, 0.7, 0.8])

BASES = {
    "bspline": (_spline, 8, 3, [_knots(12)]),
    "uniform_bspline": (_uniform, 7, 2, [np.array([-0.8, 0.9])]),
    "piecewise_linear": (_linear, 6, None, [_knots(6, -0.7, 0.8)]),
    "bernstein": (lambda x, k, n, p, _: special.binom(n - 1, k) * x**k * (1 - x)**(n - 1 - k), 5, None, []),
    # y_k = sum_j (k+j)! / ((k-j)! j!) (x/2)^j.
    "bessel": (lambda x, k, n, p, _: sum(special.poch(k - j + 1, 2 * j) / special.factorial(j) * (x / 2)**j for j in range(k + 1)), 5, None, []),
    "chebyshev": (lambda x, k, n, p, _: special.eval_chebyt(k, x), 8, None, []),
    "chebyshev_second": (lambda x, k, n, p, _: special.eval_chebyu(k, x), 6, None, []),
    "fibonacci": (_by_recurrence(lambda x: (1.0 + 0 * x, x)), 6, None, []),
    "gegenbauer": (lambda x, k, n, p, q: special.eval_gegenbauer(k, q[0][0], x), 5, None, [np.array([0.7])]),
    "hermite": (lambda x, k, n, p, _: special.eval_hermite(k, x), 5, None, []),
    "hermite_e": (lambda x, k, n, p, _: special.eval_hermitenorm(k, x), 5, None, []),
    "jacobi": (lambda x, k, n, p, q: special.eval_jacobi(k, *q[0], x), 6, None, [np.array([0.5, -0.3])]),
    "laguerre": (lambda x, k, n, p, q: special.eval_genlaguerre(k, q[0][0], x), 5, None, [np.array([0.4])]),
    "legendre": (lambda x, k, n, p, _: special.eval_legendre(k, x), 7, None, []),
    "lucas": (_by_recurrence(lambda x: (2.0 + 0 * x, x)), 6, None, []),
    "monomial": (lambda x, k, n, p, _: x**k, 5, None, []),
    "three_term": (_three_term, 5, None, [np.array([1, 1.5, 0.7, 1.2, 1]), np.array([0.1, -0.2, 0, 0.3, 0]), np.array([0, 0.4, -0.5, 0.6, 0])]),
    "rational": (lambda x, k, n, p, q: x**k / (1 + abs(sum(b * x**(j + 1) for j, b in enumerate(q[0])))), 4, 3, [np.array([0.3, -0.4, 0.2])]),
    "fourier": (lambda x, k, n, p, _: np.cos((k + 1) * x) if k < n // 2 else np.sin((k - n // 2 + 1) * x), 10, None, []),
    "sine": (lambda x, k, n, p, q: np.sin(_at(q[0], k) * x + _at(q[1], k)), 5, None, [np.linspace(0.5, 4, 5), np.linspace(-1, 1, 5)]),
    "gaussian": (_bump(lambda v: np.exp(-v * v)), 5, None, [_centers, np.array([0.5])]),
    "inverse_multiquadric": (_bump(lambda v: 1 / np.sqrt(1 + v * v)), 5, None, [_centers, _widths]),
    "multiquadric": (_bump(lambda v: np.sqrt(1 + v * v)), 5, None, [_centers, _widths]),
    "relu_product": (lambda x, k, n, p, q: (_at(q[2], k) * np.maximum(x - q[0][k], 0) * np.maximum(q[1][k] - x, 0))**p, 5, 2,
                     [np.linspace(-1.2, 0.4, 5), np.linspace(-0.4, 1.2, 5), np.array([6.0])]),
    "sech_squared": (_bump(lambda v: 1 / np.cosh(v)**2), 5, None, [_centers, np.array([0.5])]),
    "gaussian_derivative": (_bump(_gaussian_derivative), 5, None, [_centers, _widths]),
    "mexican_hat": (_wavelet("mexh"), 5, None, [_centers, _widths]),
    "morlet": (_wavelet("morl"), 5, None, [_centers, _widths]),
    "shannon": (_bump(_sinc), 5, None, [_centers, _widths]),
}

def functions(name, x):
    """phi_k(x), [*x.shape, K], in double precision."""
    value, count, order, numbers = BASES[name]
    return np.stack([value(x, k, count, order, numbers) for k in range(count)], -1)
