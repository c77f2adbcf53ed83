# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one command of all benchmarks: benchmarks/drawloom-bench NAME [options].

A benchmark is a module: its text is its help, `arguments(parser)` adds its options, and `main(options)` measures. A suite is a
module that has CASES instead, which suites/runner.py times.
"""

import argparse
import difflib
import importlib
import sys

from drawloom_bench import BenchError

# By group: its title, and by name (module, what it measures, how long it takes as it is).
GROUPS = {
    "Suites: Drawloom beside its rivals on this CPU, case by case": {
        "kan": ("suites.kan", "activations, narrow and wide MLPs, whole training steps", "10 min"),
        "kan-bases": ("suites.kan_bases", "layers with learnable functions on edges", "15 min"),
        "cells": ("suites.cells", "recurrent cells along the tokens", "10 min"),
        "recurrence": ("suites.recurrence", "linear recurrences, forward and with all gradients", "10 min"),
        "graph": ("suites.graph", "layers on graphs, beside torch_geometric", "30 min"),
        "structured": ("suites.structured", "layers whose weights are products and sums", "12 min"),
        "sparse": ("suites.sparse", "sparse weights, and rows with adapters of their own", "10 min"),
        "peft": ("suites.peft", "a step of each layer of PEFT, by Drawloom and by PEFT", "15 min"),
        "models": ("suites.models", "models in plain PyTorch, compiled", "15 min"),
        "framework": ("suites.framework", "training steps called through PyTorch and JAX", "3 min"),
        "before-after": ("suites.before_after", "two builds of Drawloom against each other, on the cases of suites", "5 min"),
    },
    "Timings: one thing each, on this CPU": {
        "block-programs": ("timings.block_programs", "the hand-written block programs beside PyTorch and MKL", "5 min"),
        "dense": ("timings.dense", "products of matrices beside OpenBLAS, oneDNN, libxsmm, MKL", "1 min"),
        "memory": ("timings.memory", "what a fused training step takes beyond its arguments and results", "10 s"),
        "overhead": ("timings.overhead", "what calls, imports and first calls cost", "1 min"),
        "first-steps": ("timings.first_steps", "how long models take to be compiled, nothing cached", "10 min"),
        "open-programs": ("timings.open_programs", "programs for any number of rows beside those for known ones", "3 min"),
        "open-recurrences": ("timings.open_recurrences", "the same of recurrences and convolutions", "10 min"),
        "graph-costs": ("timings.graph_costs", "layers on graphs: memory, threads, a hub, sorting, compiling", "10 min"),
        "graph-segments": ("timings.graph_segments", "rows times the matrix of their relation, beside torch.mm", "2 min"),
        "graph-completion": ("timings.graph_completion", "pykeen's R-GCN, trained with our messages and its own", "1 h"),
        "image": ("timings.image", "examples/image beside the same network in PyTorch", "2 min"),
        "image-torch": ("rivals.image_torch", "the network of examples/image in PyTorch alone", "1 min"),
        "soak": ("timings.soak", "memory under many calls and compilations on many threads", "5 min"),
    },
    "Offload: saved tensors and optimizer states on a disk": {
        "offload": ("offload.devices", "how fast offload stores and loads, beside fio and rivals", "10 min"),
        "offload-store": ("offload.store", "what a step waits for; two processes on one disk", "5 min"),
        "offload-hooks": ("offload.hooks", "hooks that have each saved tensor in a file of its own", "2 min"),
        "offload-memory": ("offload.memory", "what the C library keeps of what is freed", "5 min"),
        "offload-optimizer": ("offload.optimizer", "AdamW with its states on a disk", "5 min"),
        "offload-policy": ("offload.policy", "bytes written by our rule and by SSDTrain's", "1 min"),
        "offload-programs": ("offload.programs", "a compiled step that keeps to a part of its memory", "10 min"),
        "offload-training": ("offload.training", "training that does not fit in memory", "20 min"),
        "offload-faults": ("offload.faults", "what stores of tensors do where a disk fails", "10 min"),
    },
    "Counts: GPU code, for which no GPU is needed": {
        "gpu-kernels": ("counts.kernels", "what every kernel is made of, beside Triton's; docs/gpu-kernels.md", "1 h"),
        "gpu-recurrences": ("counts.recurrences", "recurrences beside flash-linear-attention; docs/gpu-recurrences.md", "1 h"),
        "gpu-mutations": ("counts.mutations", "broken kernels that the emulator reports; docs/gpu-emulator.md", "1 h"),
        "gpu-goals": ("counts.goals", "estimates at shapes for which rivals published times", "5 min"),
        "gpu-schedules": ("counts.schedules", "what the cost model predicts beside what ptxas makes of it", "20 min"),
        "gpu-triton": ("counts.triton", "what Triton makes of our programs", "30 min"),
        "gpu-fla": ("counts.fla", "the kernels of flash-linear-attention", "3 min"),
        "sass": ("counts.sass", "what machine code is made of", "1 s"),
    },
    "On a GPU": {
        "gpu": ("gpu.run", "checks and times all kernels; benchmarks/gpu.sh is the same", "10 min"),
    },
}
BENCHMARKS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def listing():
    lines = ["usage: benchmarks/drawloom-bench NAME [options]", "",
             "drawloom-bench NAME --help teaches. The minutes are those of a run without options; most have --quick, --only or --case.",
             "Figures to keep come from a machine that does nothing else."]
    for title, group in GROUPS.items():
        lines += ["", f"{title}:"] + [f"  {name:18}{what:74}{takes:>7}" for name, (_, what, takes) in group.items()]
    return "\n".join(lines)


def main(words):
    if not words or words[0] in ("-h", "--help"):
        print(listing())
        return 0
    name, *words = words
    if name not in BENCHMARKS:
        near = difflib.get_close_matches(name, BENCHMARKS, 1, 0.3)
        meant = f" did you mean '{near[0]}'?" if near else ""
        print(f"drawloom-bench: there is no benchmark '{name}';{meant} drawloom-bench --help lists all", file=sys.stderr)
        return 2
    module = importlib.import_module(f"drawloom_bench.{BENCHMARKS[name][0]}")
    program = module if hasattr(module, "main") else importlib.import_module("drawloom_bench.suites.runner")
    text = module.__doc__ if program is module else f"{module.__doc__}\n{program.__doc__}"
    parser = argparse.ArgumentParser(prog=f"drawloom-bench {name}", description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.set_defaults(parser=parser, name=name, module=module)
    program.arguments(parser)
    # Some hand on what stands behind --.
    at = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:at])
    options.rest = words[at + 1:]
    if options.rest and not hasattr(program, "REST"):
        parser.error("it takes nothing behind --")
    try:
        return program.main(options)
    except (BenchError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
