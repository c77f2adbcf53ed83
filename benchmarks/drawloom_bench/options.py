# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that several benchmarks have."""

import argparse
import pathlib

from drawloom_bench import BenchError

MIB, GIB = 1 << 20, 1 << 30


def add_json(parser):
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures to this file, too")


def add_only(parser, what):
    parser.add_argument("--only", default="", metavar="WORDS", help=f"{what} with one of these words in their names, with commas between them")


def chosen(options, those, name=lambda one: one.key):
    """Those that --only names, all where it is left out."""
    found = [one for one in those if any(word in name(one) for word in options.only.split(","))]
    if not found:
        raise BenchError(f"no case has '{options.only}' in its name; names are like '{name(next(iter(those)))}'")
    return found


def numbers(text):
    """For options: 1,16,100."""
    return [int(number) for number in text.split(",")]


def size(text):
    """For options: bytes of 2GiB or 512MiB."""
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", 1 << 10)):
        if text.endswith(unit):
            try:
                return round(float(text[:-3]) * factor)
            except ValueError:
                break
    raise argparse.ArgumentTypeError(f"'{text}' is no size; one is 2GiB or 512MiB")
