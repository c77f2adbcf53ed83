# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What layers on graphs cost beside time on one thread: memory, a second thread, a hub, the sorting of edges, compilation.

Each layer of the graph suite has its gradients computed on the suite's graph. Memory is the process's high-water mark beyond the
arguments, the graph and the results of the step. The hub has a sixth of the edges. Times are the least of seven.
"""

import ctypes
import gc
import time

import numpy as np
import torch

from drawloom.torch import Graph, nn
from drawloom_bench import memory, timing
from drawloom_bench.report import tables
from drawloom_bench.suites import graph as graph_suite

HUB, RUNS = graph_suite.EDGES // 6, 7


def least(function):
    return timing.least({"": function}, RUNS)[""]


def hub_edges():
    source, target, relation = graph_suite.edges()
    target = target.copy()
    target[np.random.default_rng(5).permutation(len(target))[:HUB]] = 777
    return source, target, relation


def row(name):
    module = graph_suite.layer(name, nn)
    parameters = [one for one in module.parameters() if one.requires_grad]
    x, dy = (torch.randn(graph_suite.NODES, graph_suite.WIDTH, requires_grad=wanted) for wanted in (True, False))

    def step(function):
        return torch.autograd.grad(function(x), [x, *parameters], dy, allow_unused=True)

    whole = graph_suite.caller(name, module)
    first = time.perf_counter()
    results = step(whole)
    first = time.perf_counter() - first
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    memory.set_mark()
    before = memory.resident("VmRSS")
    results = step(whole)
    # The rows that the layer gives are results, too.
    given = sum(one.nbytes for one in results if one is not None) + dy.nbytes
    beyond = memory.resident("VmHWM") - before - given
    del results
    times = {threads: None for threads in (1, 2)}
    for threads in times:
        torch.set_num_threads(threads)
        times[threads] = least(lambda: step(whole))
    hub = graph_suite.caller(name, module, hub_edges())
    hubs = least(lambda: step(hub))
    torch.set_num_threads(1)
    tables.show([name, f"{beyond / 2**20:.0f}", f"{times[1]:.0f}", f"{times[2]:.0f}", f"{times[1] / times[2]:.2f}", f"{hubs / times[2]:.2f}", f"{first:.1f}"])


def arguments(parser):
    parser.add_argument("--layer", action="append", choices=list(graph_suite.LAYERS), metavar="NAME", help="only this layer")


def main(options):
    torch.set_num_threads(1)
    source, target, relation = graph_suite.edges()
    orders = least(lambda: Graph(source, target, relation, num_src=graph_suite.NODES, num_relations=graph_suite.RELATIONS))
    print(f"both orders of {graph_suite.EDGES} edges: {orders:.1f} ms, {orders * 1e6 / graph_suite.EDGES:.0f} ns an edge")
    tables.show_head("with gradients", "memory, MiB", "1 thread, ms", "2 threads, ms", "ratio", "with a hub", "first call, s")
    for name in options.layer or graph_suite.LAYERS:
        row(name)
