#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hand-written block programs, at any size.

The block level has static tiles, so a program is written for given sizes. Each
function below is one program as a template; the .mlir files beside this script
are what it prints at small sizes (`generate.py --write` renews them, a test
checks that they are up to date).
"""

import argparse
import pathlib
import sys

import dense
import irregular
import narrow

FOLDER = pathlib.Path(__file__).parent
HEADER = """\
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
"""



# What each checked-in file holds: the program at sizes that a reader can follow.
PROGRAMS = {
    "group-rational-backward": dense.group_rational_backward,
    "mlp-forward": dense.mlp_forward,
    "mlp-backward": dense.mlp_backward,
    "gla-chunk-loop": irregular.gla,
    "gla-steps": narrow.gla_steps,
    "rgcn-layer": irregular.rgcn,
    "rgcn-segments": narrow.rgcn_segments,
    "lora": dense.lora,
    "block-sparse-product": irregular.block_sparse,
    "csr-product": irregular.csr,
}


def text(name):
    """The checked-in text of a program."""
    return HEADER + PROGRAMS[name]()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the .mlir files beside this script")
    if not parser.parse_args().write:
        stale = [n for n in PROGRAMS if (FOLDER / f"{n}.mlir").read_text() != text(n)]
        if stale:
            sys.exit(f"not what generate.py writes: {', '.join(stale)}")
        return
    for name in PROGRAMS:
        (FOLDER / f"{name}.mlir").write_text(text(name))


if __name__ == "__main__":
    main()
