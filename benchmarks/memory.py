# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that a fused training step takes beyond its arguments and results.

    scripts/bench.sh memory [--rows N]

The process's high-water mark before and after the first call of the step of the narrow MLP (32, 4 x 64, 16), whose
arguments and results are in memory by then, beside the bytes of one layer of all rows.
"""

import argparse
import pathlib
import re

import numpy as np

import embedded
import kan_programs


def resident(field):
    """Kilobytes: VmRSS, now, or VmHWM, the most so far."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1 << 17)
    parser.add_argument("--activation", choices=["relu", "rational"], default="relu")
    options = parser.parse_args()
    mlp = kan_programs.Mlp(options.rows, (32, 64, 64, 64, 64, 16), options.activation)
    step = embedded.Module(kan_programs.only(mlp.text(), "step")).step
    rng = np.random.default_rng(0)
    arguments = [rng.standard_normal(t.extents[: t.rank]).astype(embedded.ELEMENTS[t.element]) for t in step.types]
    run = step.bind(arguments)
    for array in step.results:
        array[...] = 0
    # Sets the mark to what is resident now (Linux's proc(5)).
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    run()
    grown = (resident("VmHWM") - before) / 1024
    given = sum(a.nbytes for a in [*run.keep, *step.results]) / 2**20
    layer = options.rows * 64 * 4 / 2**20
    print(f"| arguments and results | {given:.1f} MiB |\n| the call's high-water mark beyond them | {grown:.1f} MiB |\n"
          f"| one hidden layer of all rows | {layer:.1f} MiB |")


if __name__ == "__main__":
    main()
