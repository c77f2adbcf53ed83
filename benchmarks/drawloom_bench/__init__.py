# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Benchmarks of Drawloom. `benchmarks/drawloom-bench --help` lists them."""

import os
import pathlib
import sys

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
ROOT = BENCHMARKS.parent
BUILD = pathlib.Path(os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build"))
RESULTS = BENCHMARKS / "results"

# The build's package comes before an installed one. What is shared with tests comes last.
sys.path.insert(0, str(BUILD / "python"))
sys.path += [str(ROOT / "test" / "block-programs"), str(ROOT / "test" / "python")]


class BenchError(RuntimeError):
    """What a benchmark lacks or refuses; the message says all."""
