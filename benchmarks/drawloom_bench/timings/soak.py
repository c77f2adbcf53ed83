# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory under many calls and compilations on many threads (benchmarks/native/soak.cpp); fails where the process grows."""

import subprocess

from drawloom_bench import processes


def arguments(parser):
    parser.add_argument("calls", nargs="?", type=int, default=100000, help="(default: %(default)s)")
    parser.add_argument("compilations", nargs="?", type=int, default=1000, help="(default: %(default)s)")
    parser.add_argument("threads", nargs="?", type=int, default=8, help="(default: %(default)s)")


def main(options):
    numbers = map(str, (options.calls, options.compilations, options.threads))
    return subprocess.run([processes.built("drawloom-soak"), *numbers], check=False).returncode
