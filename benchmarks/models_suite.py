# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the models suite: training steps of models that are written in plain PyTorch (models_torch.py), compiled by
torch.compile(model, backend="drawloom"), by torch.compile alone, and not compiled. A step is the loss and the gradients of all parameters.

Operations are those of products and attention, as torch.utils.flop_counter counts them; bytes are those of parameters and arguments. As a
program, `benchmarks/models_suite.py` measures how long the first step takes, everything compiled, with nothing in any cache."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from kan_suite import TRAIN_RTOL, Case
from models_torch import MODELS

# Angles of NeRF reach 5,000, where neighbours in float32 are 5e-4 apart; each layer of SIREN multiplies them by 30. Gradients of eager execution
# differ from those in float64 by 2e-3 and 2.5e-4; two ways to round differ by twice that at most.
RTOL = {"nerf": 5e-3, "siren": 5e-4}
BACKENDS = {"drawloom": "drawloom", "torch.compile": "inductor", "eager": None}


def parts(name):
    """(module, arguments, loss), the same ones each time."""
    import torch

    torch.manual_seed(0)
    return MODELS[name]()


def step_of(module, arguments, loss, backend):
    import torch

    function = torch.compile(module, backend=backend) if backend else module

    def step():
        value = loss(function(*arguments))
        parameters = list(module.parameters())
        return [value, *torch.autograd.grad(value, parameters, allow_unused=True)]

    return step


def operations_of(name):
    from torch.utils.flop_counter import FlopCounterMode

    module, arguments, loss = parts(name)
    with FlopCounterMode(display=False) as counter:
        step_of(module, arguments, loss, None)()
    return counter.get_total_flops(), 4 * sum(one.numel() for one in (*module.parameters(), *arguments))


class Model(Case):
    def __init__(self, name):
        self.name, self.goal, self.rtol = name, "1.0", RTOL.get(name, TRAIN_RTOL)
        self.counted = None

    @property
    def operations(self):
        self.counted = self.counted or operations_of(self.name)
        return self.counted[0]

    @property
    def bytes(self):
        return (self.operations, self.counted[1])[1]

    def make(self, options):
        import torch

        import drawloom.torch  # noqa: F401

        torch._dynamo.reset()
        return {backend: (lambda step: lambda: [one for one in step() if one is not None])(step_of(*parts(self.name), used))
                for backend, used in BACKENDS.items()}


CASES = [Model(name) for name in MODELS]


def first_step(name, backend):
    """Seconds of a first step, without the imports."""
    import torch

    import drawloom.torch  # noqa: F401

    torch.set_num_threads(1)
    # What the first use of a backend imports is no part of a model's compilation.
    torch.compile(lambda x: x + 1, backend=BACKENDS[backend])(torch.ones(3))
    step = step_of(*parts(name), BACKENDS[backend])
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description="How long first steps take, with empty caches: seconds.")
    parser.add_argument("--case", action="append", choices=MODELS, metavar="name", help="only these models")
    parser.add_argument("--json", metavar="file", help="write the figures here too")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(first_step(*options.one))
        return
    rows = []
    for name in options.case or MODELS:
        row = {"case": name}
        for backend in ("drawloom", "torch.compile"):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "DRAWLOOM_CACHE": f"{folder}/drawloom", "OMP_NUM_THREADS": "1"}
                row[backend] = float(subprocess.run([sys.executable, __file__, "--one", name, backend], env=environment, check=True,
                                                    capture_output=True, text=True).stdout.split()[-1])
        rows.append(row)
        print(f"{name:<16} drawloom {row['drawloom']:6.2f} s   torch.compile {row['torch.compile']:6.2f} s   "
              f"{row['torch.compile'] / row['drawloom']:.2f} x", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
