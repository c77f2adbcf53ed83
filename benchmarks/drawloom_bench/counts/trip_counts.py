# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often the loops of our kernels turn: as often as makes their memory accesses those that the emulator counted.

Machine code says by line numbers which op of the program an access is of, and so does the emulator. Each op of each kind
of access is one equation: bytes that stand in each loop, times how often it turns, are the bytes that were counted.
"""

import collections
import re

import numpy as np

KINDS = {"LDG": "load", "STG": "store", "LDS": "shared load", "STS": "shared store", "STSM": "shared store",
         "LDSM": "matrix load", "LDGSTS": "copy"}
# Of new weights.
ROUNDS = 50


def site(where, shared):
    """(kind, line) of one place of the emulator's counts, like `llvm.load at program.mlir:20:13`."""
    op, line = re.match(r"(\S+)(?:.*:(\d+):\d+)?", where).groups()
    if op == "nvvm.ldmatrix":
        kind = "matrix load"
    elif "cp.async" in op:
        kind = "copy"
    else:
        kind = ("shared " if shared else "") + ("store" if op.endswith(("store", "stmatrix")) else "load")
    return kind, int(line or 0)


def accesses(code, widths):
    """By (kind, line): bytes a lane, of matrix loads their number, in each loop; what is in none comes last."""
    out = collections.defaultdict(lambda: np.zeros(len(code.loops) + 1))
    for name, line, loop in zip(code.classes, code.lines, code.innermost()):
        group, _, width = (name or "").partition(".")
        if group in KINDS:
            out[KINDS[group], line][-1 if loop is None else loop] += widths[width] if width else 1
    return out


def parents(code):
    """The smallest loop around each loop, None for outer ones."""
    out = []
    for one in code.loops:
        around = [number for number, other in enumerate(code.loops)
                  if other is not one and other.first <= one.first and one.last <= other.last
                  and (other.first, other.last) != (one.first, one.last)]
        out.append(min(around, key=lambda number: code.loops[number].last - code.loops[number].first, default=None))
    return out


def fit(matrix, goal, weights, found, known):
    """Weighted least squares without negative numbers, one loop after another until nothing moves."""
    found = found.copy()
    for _ in range(2000):
        before = found.copy()
        for loop in np.flatnonzero(known):
            column = matrix[:, loop] * weights
            without = goal - matrix @ found + matrix[:, loop] * found[loop]
            found[loop] = max(column @ without / (column @ matrix[:, loop]), 0.0)
        if np.allclose(before, found, rtol=1e-9, atol=0):
            break
    return found


def turns(code, widths, counted, warps):
    """How often a warp enters each loop's body, on average. `counted` has by (kind, line) the bytes a lane (matrix loads:
    the number) of all `warps` together."""
    if not code.loops:
        return []
    static = accesses(code, widths)
    equations, rest = [], collections.defaultdict(lambda: [np.zeros(len(code.loops) + 1), 0.0])
    for key in {*static, *counted}:
        if key in static and key in counted:
            equations.append((static[key], counted[key] / warps))
        else:
            # Two merged ops may have either's line.
            rest[key[0]][0] += static.get(key, 0)
            rest[key[0]][1] += counted.get(key, 0) / warps
    equations += [(row, value) for row, value in rest.values() if row.any() and value]
    # An equation says how often the loop turns that has most of it; all count the same.
    equations = [(row[:-1] / row[:-1].max(), max(value - row[-1], 0.0) / row[:-1].max()) for row, value in equations
                 if value and row[:-1].any()]
    matrix, goal = np.array([row for row, _ in equations]), np.array([value for _, value in equations])
    found = np.ones(len(code.loops))
    known = matrix.any(axis=0) if len(matrix) else np.zeros(len(code.loops), bool)
    # Stores of copies that other threads have too, and what stands under conditions, happen less often than its loop turns. So the
    # sum of the absolute errors is made small, by least squares with weights, and not that of their squares.
    weights = np.ones(len(goal))
    for _ in range(ROUNDS if known.any() else 0):
        found = fit(matrix, goal, weights, found, known)
        weights = 1 / np.maximum(np.abs(goal - matrix @ found), 1e-4 * np.maximum(goal, 1.0))
    around = parents(code)
    for loop in sorted(range(len(code.loops)), key=lambda number: -code.loops[number].last + code.loops[number].first):
        if not known[loop]:
            found[loop] = found[around[loop]] if around[loop] is not None else 1.0
    return found.tolist()
