# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Estimates at the shapes for which rivals published times, by the counts of gpu-kernels.

Rationals are those of FlashKAT's layer, 1024 pictures of 197 tokens with 3072 channels in 8 groups; networks those of
tiny-cuda-nn's NeRF, of width 64 with four hidden layers and 2^20 rows. All are in bf16. Needs ptxas, no GPU; some
minutes, which arguments of that size take.
"""

import re

from drawloom_bench import options as common
from drawloom_bench.counts import kernels as gpu_kernels
from drawloom_bench.programs import gpu as gpu_programs
from drawloom_bench.report import tables


def without_first_result(text, entry):
    """A backward pass alone: what the forward pass returns is not computed."""
    begin, results = re.search(rf"(func\.func @{entry}\(.*?\) -> )\(tensor<[^>]*>, (.*)\) \{{\n", text).groups()
    text = re.sub(rf"func\.func @{entry}\(.*\n", lambda _: f"{begin}({results}) {{\n", text)
    return re.sub(r"  return %\w+, (.*) : tensor<[^>]*>, (.*)\n\}\s*$", r"  return \1 : \2\n}\n", text)


def cases():
    for entry in ("forward", "train"):
        case = gpu_programs.rational("bf16", entry, channels=3072)
        case.rows = case.counted = 1024 * 197
        if entry == "train":
            text = case.text
            case.text = lambda rows, text=text: without_first_result(text(rows), "train")
        yield case, "rational forward" if entry == "forward" else "rational backward"
    for entry, name in (("forward", "MLP 64 inference"), ("train", "MLP 64 training step")):
        case = gpu_programs.mlp("bf16", entry)
        case.rows = case.counted = 1 << 20
        yield case, name


def arguments(parser):
    parser.add_argument("--arch", default="sm_90a")
    common.add_only(parser, "programs")


def main(options):
    tables.show_head("program", "rows", "issue us", "tensor us", "shared us", "bytes us", "estimate us", "roof us", "spill B")
    for case, name in common.chosen(options, list(cases()), lambda one: one[1]):
        row = gpu_kernels.measure(case, [options.arch])[options.arch]
        given, cells = row.get("estimate"), ["-"] * 7
        if given:
            spills = sum(kernel["spills"] for kernel in row["kernels"].values())
            cells = [*(f"{given['us'][key]:.0f}" for key in ("issue", "tensor", "shared", "bytes", "sum")), f"{given['roof']:.0f}", spills]
        tables.show([name, case.rows, *cells])
