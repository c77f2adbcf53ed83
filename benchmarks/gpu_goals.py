# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Estimates at the shapes for which rivals published times, by the counts of benchmarks/gpu_kernels.py.

    python benchmarks/gpu_goals.py [--arch sm_90a]

Rationals are those of FlashKAT's layer, 1024 pictures of 197 tokens with 3072 channels in 8 groups; networks those of
tiny-cuda-nn's NeRF, of width 64 with four hidden layers and 2^20 rows. All are in bf16. Needs a build and ptxas, no GPU; some
minutes, which arguments of that size take.
"""

import argparse
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import gpu_kernels  # noqa: E402
import gpu_programs  # noqa: E402


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90a")
    options = parser.parse_args()
    print("| program | rows | issue us | tensor us | shared us | bytes us | estimate us | roof us | spill B |\n|" + " --- |" * 9)
    for case, name in cases():
        row = gpu_kernels.measure(case, [options.arch])[options.arch]
        if "estimate" not in row or row["estimate"] is None:
            print(f"| {name} | {case.rows} | " + " | ".join(["-"] * 7) + " |", flush=True)
            continue
        us = row["estimate"]["us"]
        print(f"| {name} | {case.rows} | " + " | ".join(f"{us[key]:.0f}" for key in ("issue", "tensor", "shared", "bytes", "sum"))
              + f" | {row['estimate']['roof']:.0f} | {sum(kernel['spills'] for kernel in row['kernels'].values())} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
