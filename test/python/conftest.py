# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared set-up of the pytest suite; needs a build (DRAWLOOM_BUILD_DIR, else build/)."""

import os
import sys
import tempfile

import numpy as np
import pytest

from support.runner import BUILD, ROOT

# Another Triton than the installed one: a folder that pip installed one into (pip install --no-deps --target FOLDER
# triton==VERSION). Processes that tests start get it too.
if os.environ.get("DRAWLOOM_TRITON"):
    if not os.path.isdir(os.path.join(os.environ["DRAWLOOM_TRITON"], "triton")):
        raise pytest.UsageError(f"DRAWLOOM_TRITON: there is no package 'triton' in '{os.environ['DRAWLOOM_TRITON']}'")
    sys.path.insert(0, os.environ["DRAWLOOM_TRITON"])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ["DRAWLOOM_TRITON"], os.environ.get("PYTHONPATH")]))

# The block programs' templates and arguments.
sys.path.insert(0, str(ROOT / "test" / "block-programs"))
# What calls the driver, and what counts kernels.
sys.path.append(str(ROOT / "benchmarks"))


# The Python package of the build. Processes that tests start get it too, and what pytest imports tests and their helpers from.
sys.path.insert(0, str(BUILD / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(BUILD / "python"), str(ROOT / "test" / "python"), os.environ.get("PYTHONPATH")]))

# No test depends on what the user's cache holds: a run has one of its own, which the processes of pytest-xdist share (a
# fifth of the programs are those of another test), and which is removed with the process that made it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    RUN_CACHE = tempfile.TemporaryDirectory(prefix="drawloom-tests-")
    os.environ["DRAWLOOM_CACHE"] = RUN_CACHE.name


def pytest_sessionstart(session):
    if not (BUILD / "bin" / "drawloom-run").exists():
        pytest.exit(f"no drawloom-run in {BUILD}/bin; build first, or set DRAWLOOM_BUILD_DIR", returncode=3)


@pytest.fixture
def rng():
    return np.random.default_rng(20)
