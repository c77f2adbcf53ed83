# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first example (examples/image) against the same network in PyTorch, eager and under torch.compile.

What stands behind -- goes to all three, such as --threads=1.
"""

import subprocess

from drawloom_bench import processes

REST = "of drawloom-image and image-torch"


def arguments(parser):
    parser.add_argument("--steps", type=int, default=200)


def main(options):
    more = [f"--steps={options.steps}", *options.rest]
    for name, words in (("Drawloom", [processes.built("drawloom-image"), *more]), ("PyTorch, eager", processes.command("image-torch", *more)),
                        ("PyTorch, torch.compile", processes.command("image-torch", "--compile", *more))):
        print(f"==> {name}", flush=True)
        done = subprocess.run(words, check=False, env=processes.environment())
        if done.returncode:
            return done.returncode
