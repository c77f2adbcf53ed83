# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the cost model of schedules predicts beside what ptxas makes of it, and how long compiling takes.

    python benchmarks/gpu_schedules.py [--only WORDS] [--rows 16,32] [--warps 4,8]

A line for each kernel and each schedule; a star marks the one that is chosen. Rows of 0 are those that are chosen. Needs a
build and ptxas; no GPU. Kernels below 100 instructions of PTX are left out.
"""

import argparse
import itertools
import json
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import gpu_kernels  # noqa: E402
import gpu_programs  # noqa: E402


def measure(case, arch, rows, warps):
    """By kernel: what was predicted, and registers, bytes of spills, milliseconds of LLVM and of ptxas."""
    with tempfile.TemporaryDirectory(prefix="drawloom-schedules-") as name:
        folder = pathlib.Path(name)
        program = folder / "program.mlir"
        program.write_text(case.text(case.rows))
        said = {key: value for key, value in (("rows", rows), ("warps", warps)) if value}
        (folder / "schedule.json").write_text(json.dumps({case.entry: said}))
        options = [f"--arch={arch}", f"--schedule={folder / 'schedule.json'}", program]
        predicted = json.loads(gpu_kernels.tool("drawloom-translate", "--mlir-to-schedules", *options))
        printed = gpu_kernels.tool("drawloom-translate", "--mlir-to-bundle", f"--bundle-dir={folder / 'bundle'}", *options)
        out = {}
        for line in printed.splitlines()[1:]:
            words = line.split()
            out[words[0]] = (predicted.get(words[0], {}), *(float(word) for word in words[4:6]), float(words[7]), float(words[8]))
        return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="cases with one of these words in their names, with commas between them")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--rows", default="0", help="rows of tiles to try")
    parser.add_argument("--warps", default="0,4,8", help="warps of blocks to try; 0: what is chosen")
    parser.add_argument("--least", type=float, default=20, help="leave out kernels that LLVM compiles in fewer milliseconds")
    options = parser.parse_args()
    print("| program | kernel | rows | warps | registers: predicted | ptxas | spilled: predicted B | ptxas B | shared B | blocks at once | "
          "clocks | bound | LLVM ms | ptxas ms |\n|" + " --- |" * 14)
    for case in gpu_programs.cases():
        if options.only and not any(word in case.key for word in options.only.split(",")):
            continue
        for rows, warps in itertools.product(*(map(int, text.split(",")) for text in (options.rows, options.warps))):
            try:
                kernels = measure(case, options.arch, rows, warps)
            except RuntimeError as error:
                print(f"| {case.key} | - | {rows} | {warps} | fails: {error} |", flush=True)
                continue
            for name, (said, registers, spills, llvm, ptxas) in kernels.items():
                it = said.get("predicted", {})
                if llvm < options.least or not it:
                    continue
                print(f"| {case.key} | {name} | {it.get('rows', '-')} | {it['warps']}{'' if warps else '*'} | {it['registers']} | "
                      f"{registers:.0f} | {4 * it['spilled']} | {spills:.0f} | {it['shared_bytes']} | {it['blocks_at_once']} | "
                      f"{it['clocks']} | {it['bound']} | {llvm:.0f} | {ptxas:.0f} |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(f"gpu_schedules.py: {error}")
