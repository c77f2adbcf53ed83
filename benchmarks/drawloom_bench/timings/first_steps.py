# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long first steps of the models suite take, with empty caches and without imports: seconds."""

import argparse
import json
import tempfile

from drawloom_bench import options as common
from drawloom_bench import processes, timing
from drawloom_bench.programs.models import MODELS
from drawloom_bench.report import tables
from drawloom_bench.suites import models


def first_step(name, backend):
    import torch

    import drawloom.torch  # noqa: F401

    torch.set_num_threads(1)
    # What the first use of a backend imports is no part of a model's compilation.
    torch.compile(lambda x: x + 1, backend=models.BACKENDS[backend])(torch.ones(3))
    return timing.once(models.step_of(*models.parts(name), models.BACKENDS[backend]))


def arguments(parser):
    parser.add_argument("--case", action="append", choices=MODELS, metavar="NAME", help="only these models")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    common.add_json(parser)


def main(options):
    if options.one:
        print(json.dumps(first_step(*options.one)))
        return
    rows = []
    for name in options.case or MODELS:
        row = {"case": name}
        for backend in ("drawloom", "torch.compile"):
            with tempfile.TemporaryDirectory() as folder:
                printed = processes.run_again("first-steps", "--one", name, backend, TORCHINDUCTOR_CACHE_DIR=f"{folder}/inductor",
                                              DRAWLOOM_CACHE=f"{folder}/drawloom", **processes.threads(1))
            row[backend] = json.loads(printed.splitlines()[-1])
        rows.append(row)
        print(f"{name:<16} drawloom {row['drawloom']:6.2f} s   torch.compile {row['torch.compile']:6.2f} s   "
              f"{row['torch.compile'] / row['drawloom']:.2f} x", flush=True)
    tables.write_json(options.json, rows)
