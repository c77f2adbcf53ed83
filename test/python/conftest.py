# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared set-up of the pytest suite; needs a build (DRAWLOOM_BUILD_DIR, else build/)."""

import os
import sys

import numpy as np
import pytest

from runner import BUILD, ROOT

# The block programs' templates and arguments.
sys.path.insert(0, str(ROOT / "test" / "block-programs"))


# No test depends on what the user's cache holds.
os.environ["DRAWLOOM_CACHE"] = ""


def pytest_sessionstart(session):
    if not (BUILD / "bin" / "drawloom-run").exists():
        pytest.exit(f"no drawloom-run in {BUILD}/bin; build first, or set DRAWLOOM_BUILD_DIR", returncode=3)


@pytest.fixture
def rng():
    return np.random.default_rng(20)
