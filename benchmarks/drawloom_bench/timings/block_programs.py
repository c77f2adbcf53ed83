# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hand-written block programs beside PyTorch and MKL.

    drawloom-bench block-programs                     # all programs, one thread
    drawloom-bench block-programs mlp-forward csr     # some

Runs of Drawloom and of its rivals alternate, and the least time of each counts, so that a busy machine
disturbs all alike; the figures to quote are the ratios and the share of the roof,
which is what multiply-adds from registers reach, measured in the same runs.

Rivals get a tuned allocator (no memory goes back to the system between calls, huge
pages), which is worth up to 4x to them; --allocator=default shows what a user gets
who does not know that. They need a C++ compiler, for torch.compile.
"""

import pathlib
import sys
import tempfile
import warnings

import numpy as np
import torch

import dense
import inputs
import irregular
from drawloom_bench import options as common
from drawloom_bench import processes, timing
from drawloom_bench.report import tables
from drawloom_bench.rivals import block_programs as rivals
from drawloom_bench.suites.case import torch_of, torch_run

MLP_WIDTHS = (32, 64, 64, 64, 64, 16)


def mlp_flops(rows):
    return 2 * rows * sum(a * b for a, b in zip(MLP_WIDTHS, MLP_WIDTHS[1:]))


class Program:
    """One block program: its text, its arguments, its work, its rivals."""

    def __init__(self, module, entry, arguments, flops, rivals, target=""):
        self.module, self.entry, self.arguments, self.flops = module, entry, arguments, flops
        # Name -> callable, or (callable, callable to subtract).
        self.rivals, self.target = rivals, target


def ways(function, inputs, cotangent=None):
    """The rivals that all but MKL's programs have."""
    return {"eager": torch_run(function, inputs, cotangent), "compile": torch_run(torch.compile(function), inputs, cotangent)}


def group_rational_backward(rng):
    rows, groups, width = 8192, 8, 96
    arguments = inputs.group_rational(rng, rows, groups, width)
    x, dy, a, b = torch_of(arguments)
    x, dy = (t.reshape(rows, groups, width) for t in (x, dy))
    compiled = torch.compile(rivals.rational)
    # Backward alone: forward and backward together, less forward with all that it keeps.
    kept = [t.clone().requires_grad_() for t in (x, a, b)]
    alone = {"eager": lambda: rivals.rational(*kept), "compile": lambda: compiled(*kept)}
    return Program(dense.group_rational_backward(rows, groups, width, 64), "group_rational_backward", arguments,
                   60 * rows * groups * width,
                   {name: (both, alone[name]) for name, both in ways(rivals.rational, (x, a, b), dy).items()}, "5 x compile")


def mlp_forward(rng):
    rows = 1 << 17
    arguments = [inputs.normal(rng, rows, 32), *inputs.mlp_parameters(rng, MLP_WIDTHS)]
    x, *parameters = torch_of(arguments)
    return Program(dense.mlp_forward(rows), "mlp_forward", arguments, mlp_flops(rows),
                   ways(rivals.mlp, (x, *parameters)), "90 % of the roof")


def mlp_backward(rng):
    rows = 1 << 17
    arguments = [inputs.normal(rng, rows, 32), inputs.normal(rng, rows, 16), *inputs.mlp_parameters(rng, MLP_WIDTHS)]
    x, dy, *parameters = torch_of(arguments)
    # Forward (without its last layer), dX and dW. Rivals do the same work in forward and backward.
    flops = 3 * mlp_flops(rows) - 2 * rows * MLP_WIDTHS[-2] * MLP_WIDTHS[-1]
    return Program(dense.mlp_backward(rows, block_rows=2048), "mlp_backward", arguments, flops,
                   ways(rivals.mlp, (x, *parameters), dy), "87 % of the roof")


def gla(rng):
    heads, tokens = 8, 2048
    arguments = inputs.gla(rng, heads, [tokens])
    q, k, v, g, _, state = torch_of(arguments)
    # Both triangles of the scores, as a dense product computes them.
    flops = heads * tokens // 64 * 2 * 64**3 * 4
    return Program(irregular.gla(heads, tokens, 1), "gla", arguments, flops,
                   ways(rivals.gla, (q, k, v, g, state[0])), "2 x compile")


def rgcn(rng):
    nodes, edges, relations, width = 16384, 262144, 8, 64
    source, target, relation = inputs.random_graph(rng, nodes, edges, relations, empty=[5])
    target[: edges // 64] = 77  # a hub
    arguments, sizes = inputs.rgcn(rng, nodes, relations, source, target, relation)
    coefficient = inputs.mean_coefficients(target, relation, nodes)
    parts = []
    for r in range(relations):
        of = relation == r
        parts.append((torch.from_numpy(source[of]), torch.from_numpy(target[of]), torch.from_numpy(coefficient[of])[:, None]))
    x, w, w0, b = torch_of(arguments[:4])
    # A product for each (block of 16 nodes, relation) that has edges, and the sums.
    flops = 2 * nodes * width * width * relations + 2 * edges * width
    return Program(irregular.rgcn(**sizes), "rgcn", arguments, flops,
                   ways(rivals.rgcn, (x, w, w0, b, parts)))


def csr(rng):
    rows, stored, width = 16384, 262144, 64
    starts, columns = inputs.compressed_rows(rng, rows, rows, stored)
    arguments = [inputs.normal(rng, stored), starts, columns, inputs.normal(rng, rows, width)]
    values, starts, columns, x = torch_of(arguments)
    matrix = torch.sparse_csr_tensor(starts, columns, values, (rows, rows))
    return Program(irregular.csr(rows, rows, stored, width, 64), "csr", arguments, 2 * stored * width,
                   {"MKL": lambda: matrix @ x}, "2 x MKL")


def block_sparse(rng):
    blocks, size, width = 128, 32, 64
    stored = blocks * blocks // 10
    starts, columns = inputs.compressed_rows(rng, blocks, blocks, stored)
    for i in range(blocks):  # no block twice: MKL adds them up, but its format says otherwise
        count = starts[i + 1] - starts[i]
        columns[starts[i] : starts[i + 1]] = sorted(rng.choice(blocks, count, replace=False))
    arguments = [inputs.normal(rng, stored, size, size), starts, columns, inputs.normal(rng, blocks * size, width)]
    values, starts, columns, x = torch_of(arguments)
    matrix = torch.sparse_bsr_tensor(starts, columns, values, (blocks * size, blocks * size))
    return Program(irregular.block_sparse(blocks, blocks, stored, size, width), "block_sparse", arguments,
                   2 * stored * size * size * width, {"MKL": lambda: matrix @ x})


def lora(rng):
    rows, width, rank = 4096, 512, 16
    arguments = [inputs.normal(rng, rows, width), inputs.normal(rng, width, width, scale=0.05),
                 inputs.normal(rng, width, rank, scale=0.05), inputs.normal(rng, rank, width)]
    tensors = torch_of(arguments)
    return Program(dense.lora(rows, width, width, rank), "lora", arguments, 2 * rows * width * (width + 2 * rank),
                   ways(rivals.lora, tensors))


PROGRAMS = {
    "group-rational-backward": group_rational_backward,
    "mlp-forward": mlp_forward,
    "mlp-backward": mlp_backward,
    "gla": gla,
    "rgcn": rgcn,
    "lora": lora,
    "block-sparse": block_sparse,
    "csr": csr,
}


def rival_time(rival, runs):
    """Milliseconds; of a pair, the first less the second."""
    if isinstance(rival, tuple):
        return rival_time(rival[0], runs) - rival_time(rival[1], runs)
    return timing.least({"": rival}, runs)[""]


def drawloom_time(program, folder, runs, threads):
    """The figures of drawloom-run's last line, as a dictionary of strings."""
    out = processes.tool("drawloom-run", folder / "program.mlir", f"--entry={program.entry}", f"--threads={threads}",
               f"--benchmark={runs}", *(f"--input={folder / f'{i}.npy'}" for i in range(len(program.arguments))))
    return dict(pair.split("=") for pair in out.splitlines()[-1].removeprefix("benchmark: ").split())


def measure(name, options):
    """One row of the table."""
    program = PROGRAMS[name](np.random.default_rng(0))
    beside = {k: v for k, v in program.rivals.items() if k not in options.without}
    row = {"program": name, "gflop": program.flops * 1e-9, "target": program.target, "rivals_ms": dict.fromkeys(beside, float("inf")),
           "ms": float("inf"), "roof_gflops": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.mlir").write_text(program.module)
        for i, array in enumerate(program.arguments):
            np.save(folder / f"{i}.npy", array)
        for _ in range(options.rounds):
            ours = drawloom_time(program, folder, options.runs, options.threads)
            row["ms"] = min(row["ms"], float(ours["min_ms"]))
            row["roof_gflops"] = max(row["roof_gflops"], float(ours["gflops_roof"]))
            row["compile_s"] = float(ours["compile_s"])
            for key, rival in beside.items():
                row["rivals_ms"][key] = min(row["rivals_ms"][key], rival_time(rival, options.runs))
    row["gflops"] = row["gflop"] / row["ms"] * 1e3
    row["ratios"] = {key: ms / row["ms"] for key, ms in row["rivals_ms"].items()}
    return row


def line(row):
    rivals = "  ".join(f"{key} {ms:.2f} ms = {row['ratios'][key]:.2f} x" for key, ms in row["rivals_ms"].items())
    return (f"{row['program']:<24} {row['ms']:9.3f} ms  {row['gflops']:6.1f} GFLOP/s  {row['share_of_roof']:4.0%} of {row['roof_gflops']:.0f}"
            f"  compiled in {row['compile_s']:.2f} s  {rivals}" + (f"  (to reach: {row['target']})" if row["target"] else ""))


def arguments(parser):
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--threads", type=int, default=1, help="for Drawloom and its rivals (default: 1)")
    parser.add_argument("--runs", type=int, default=7, help="timed runs a round (default: 7)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of Drawloom, then each rival (default: 3)")
    parser.add_argument("--without", action="append", default=[], metavar="RIVAL", help="skip eager, compile or MKL")
    parser.add_argument("--allocator", choices=["tuned", "default"], default="tuned", help="malloc of the rivals")
    common.add_json(parser)


def main(options):
    unknown = [p for p in options.programs if p not in PROGRAMS]
    if unknown:
        options.parser.error(f"no program {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    if options.allocator == "tuned":
        processes.restart_with(processes.TUNED)
    warnings.filterwarnings("ignore", message="Sparse")
    torch.set_num_threads(options.threads)
    rows = []
    for name in options.programs or PROGRAMS:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        rows.append(measure(name, options))
    # The roof is the machine's, not a program's: the best measurement is the least disturbed.
    roof = max(row["roof_gflops"] for row in rows)
    for row in rows:
        row["roof_gflops"], row["share_of_roof"] = roof, row["gflops"] / roof
        print(line(row))
    about = {"torch": torch.__version__, "threads": options.threads, "allocator": options.allocator}
    tables.write_json(options.json, {"about": about, "programs": rows})
