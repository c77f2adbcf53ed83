# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of one relation after another, each times its relation's matrix, for the segment tables of FASTEN (github.com/Deep-Learning-Profiling-Tools/fasten).

    git clone https://github.com/Deep-Learning-Profiling-Tools/fasten
    drawloom-bench graph-segments --tables fasten/test/datasets_csv
    drawloom-bench graph-segments --tables fasten/test/datasets_csv --only AIFB,MUTAG --json segments.json
    drawloom-bench graph-segments --tables fasten/test/datasets_csv --count

A table says where each relation's rows begin and end. "in order": rows lie in that order. "by number": each row is one of a table of as
many nodes, as in a layer on a graph. The rival is a loop of torch.mm over relations, into parts of one result, behind an indexing of the
rows where they go by number. Results are compared; both write memory that is there already; turns alternate, and the least counts.

With --count the kernels for an H200, in bf16 and in order, are counted (docs/gpu-kernels.md says how) beside FASTEN's own model: that rows are
read and written once, and each matrix read once, at the device's bandwidth.
"""

import csv
import pathlib
import tempfile

import numpy as np
import torch

import drawloom
from drawloom import _drawloom, ops
from drawloom.ops import message_passing
from drawloom.torch import Graph
from drawloom_bench import BenchError, timing
from drawloom_bench import options as common
from drawloom_bench.report import tables


def segments(path):
    with path.open() as file:
        return [(int(row["Start"]), int(row["End"])) for row in csv.DictReader(file)]


def program(graph, rows, relations, width, by_number):
    """A function of (x, w, *arrays)."""
    def build(program, x, w):
        if not by_number:
            return program.linear(x, w)
        return message_passing.sum_pairs(program, program.linear(program.traverse(lambda row: row, [x], [("dst_rel", "sum")]), w))

    shapes = [((rows, width), "src"), ((relations, width, width), "all")]
    inputs = [message_passing.input_type("float32", shape, space) for shape, space in shapes]
    spec = message_passing.spec_of(build, (), inputs, graph._kind)
    types = [ops.Array("float32", shape) for shape, _ in shapes] + [ops.Array("int32", tuple(one.shape)) for one in graph.arrays]
    return drawloom.compile(ops.text(spec, types)).main


def measure(name, table, width, by_number, runs):
    rows, relations = table[-1][1], len(table)
    torch.manual_seed(0)
    x, w, y = torch.randn(rows, width), torch.randn(relations, width, width), torch.empty(rows, width)
    place = torch.arange(rows)
    kind = torch.repeat_interleave(torch.arange(relations), torch.tensor([end - begin for begin, end in table]))
    number = torch.randperm(rows) if by_number else place
    graph = Graph(number, place, kind, num_src=rows, num_dst=rows, num_relations=relations)
    function, out = program(graph, rows, relations, width, by_number), torch.empty(rows, width)

    def ours():
        function(x, w, *graph.arrays, out=out)

    def loop():
        for matrix, (begin, end) in zip(w, table):
            torch.mm(x[number[begin:end]] if by_number else x[begin:end], matrix, out=y[begin:end])

    own, rival = timing.least({"ours": ours, "theirs": loop}, runs).values()
    error = float((out - y).abs().max() / y.abs().max())
    if not error < 1e-5:
        raise BenchError(f"{name}: results differ by {error}")
    what = "by number" if by_number else "in order"
    print(f"{name:10} {rows:8} rows {relations:4} relations  {what:9}  {own:8.2f} ms   torch.mm {rival:8.2f} ms   {rival / own:5.2f} x", flush=True)
    return {"table": name, "rows": rows, "relations": relations, "order": what, "milliseconds": own, "torch.mm": rival}


def count(name, table, width, rows_per_block=1024, tile_rows=64):
    """Counts of the one kernel; no GPU is needed, but ptxas and nvdisasm are."""
    import inputs
    from drawloom_bench.counts import kernels as gpu_kernels
    from drawloom_bench.programs import gpu as gpu_programs

    rows, relations = table[-1][1], len(table)
    place = np.arange(rows)
    kind = np.repeat(np.arange(relations), [end - begin for begin, end in table])
    *arrays, _ = _drawloom.build_graph(place, place, kind, rows, rows, relations, rows_per_block, tile_rows)
    shapes = [((rows, width), "src"), ((relations, width, width), "all")]
    spec = message_passing.spec_of(lambda program, x, w: program.linear(x, w), (),
                                   [message_passing.input_type("bfloat16", shape, space) for shape, space in shapes],
                                   (relations, rows_per_block, (1, 1)))
    text = ops.text(spec, [ops.Array("bfloat16", shape) for shape, _ in shapes] + [ops.Array("int32", one.shape) for one in arrays])
    case = gpu_programs.Case(
        name, "bf16", "main", lambda rows: text,
        lambda rng, rows: [*(gpu_programs.store(inputs.normal(rng, *shape), "bf16") for shape, _ in shapes), *arrays],
        rows, rows, products=lambda rows: rows * width * width, blocks=24, middle=rows)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "sm_90a").mkdir()
        manifest, times = gpu_kernels.compile_bundle(case, rows, "sm_90a", folder / "sm_90a")
        row = {"kernels": {one["name"]: gpu_kernels.count_kernel(one, folder / "sm_90a", times) for one in manifest["kernels"]},
               "grids": {one["name"]: one["grid"] for one in manifest["plan"]["kernels"]},
               "bytes": gpu_kernels.entry_bytes(manifest["plan"], "main"), "tensor_ideal": case.products(rows) // (16 * 8 * 16)}
        estimate = gpu_kernels.estimate(case, "sm_90a", row, gpu_kernels.sampled(case, folder, row))["us"]
    model = (2 * 2 * rows * width + 2 * relations * width * width) / gpu_kernels.machine("H200")["memory_bytes_per_second"] * 1e6
    kernel, = row["kernels"].values()
    print(f"{name:10} {rows:8} rows {relations:4} relations  instructions of the loop {kernel['loop']:4}  spills {kernel['spills']}  estimate "
          f"{estimate['sum']:6.1f} us  FASTEN's bytes {model:6.1f} us  {100 * model / estimate['sum']:3.0f} %", flush=True)
    return {"table": name, "loop": kernel["loop"], "spills": kernel["spills"], "estimate_us": estimate["sum"], "bytes_us": model}


def arguments(parser):
    parser.add_argument("--tables", type=pathlib.Path, required=True, help="the folder of the tables")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--count", action="store_true", help="the kernels for a GPU, counted")
    common.add_only(parser, "tables")
    common.add_json(parser)


def main(options):
    torch.set_num_threads(1)
    paths = sorted(options.tables.glob("*.csv"))
    if not paths:
        raise BenchError(f"'{options.tables}' has no tables")
    those = {path.stem: segments(path) for path in common.chosen(options, paths, lambda path: path.stem)}
    if options.count:
        found = [count(name, table, options.width) for name, table in those.items()]
    else:
        found = [measure(name, table, options.width, by_number, options.runs) for name, table in those.items() for by_number in (False, True)]
    tables.write_json(options.json, found)
