# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that a fused training step takes beyond its arguments and results.

The process's high-water mark before and after the first call of the step of the narrow MLP (32, 4 x 64, 16), whose
arguments and results are in memory by then, beside the bytes of one layer of all rows.
"""

import numpy as np

from drawloom_bench import embedded, memory
from drawloom_bench.programs import kan as kan_programs


def arguments(parser):
    parser.add_argument("--rows", type=int, default=1 << 17)
    parser.add_argument("--activation", choices=["relu", "rational"], default="relu")


def main(options):
    mlp = kan_programs.Mlp(options.rows, (32, 64, 64, 64, 64, 16), options.activation)
    step = embedded.Module(kan_programs.only(mlp.text(), "step")).step
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(t.extents[: t.rank]).astype(embedded.ELEMENTS[t.element]) for t in step.types]
    run = step.bind(given)
    for array in step.results:
        array[...] = 0
    memory.set_mark()
    before = memory.resident("VmRSS")
    run()
    grown = (memory.resident("VmHWM") - before) / 2**20
    taken = sum(a.nbytes for a in [*run.keep, *step.results]) / 2**20
    layer = options.rows * 64 * 4 / 2**20
    print(f"| arguments and results | {taken:.1f} MiB |\n| the call's high-water mark beyond them | {grown:.1f} MiB |\n"
          f"| one hidden layer of all rows | {layer:.1f} MiB |")
