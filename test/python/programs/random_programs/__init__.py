# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: a table of ops, a generator, oracles, a runner and a shrinker.

    graph.py        programs as data, and their MLIR text
    elementwise.py  rows of the table: functions of one element
    structured.py   rows: linalg
    shapes.py       rows: tensor
    control.py      rows: loops, conditions, calls
    families.py     rows: kan, loss, opt, block
    build.py        random programs from a seed
    oracle.py       what programs compute, in float64, and how far rounding may move that
    recurrences.py  random recurrences: linrec
    check.py        one program, compiled and interpreted, against the oracle
    shrink.py       the smallest part of a program that still fails
    fuzz.py         many programs in processes of their own: scripts/fuzz.sh programs
"""
