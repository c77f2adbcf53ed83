# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA tensors of torch, on two emulated GPUs: a process of its own has them, see emulated_torch.py."""

import json
import os
import re
import subprocess
import sys

import pytest

from support.emulated_driver import needs_driver
from support.runner import ROOT

CASES = ROOT / "test/python/on_gpus/torch_on_gpus.py"

pytestmark = needs_driver


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    done = subprocess.run([sys.executable, CASES], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                               "DRAWLOOM_CACHE": str(tmp_path_factory.mktemp("cache"))})
    found = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    assert done.returncode == 0, f"{list(found)}\n{done.stderr[-4000:]}"
    return found


@pytest.mark.parametrize("name", re.findall(r"@case\ndef (\w+)", CASES.read_text()))
def test_of_cuda_tensors(outcomes, name):
    assert outcomes[name] is None, outcomes[name]


def test_without_a_driver_the_error_says_so():
    text = """from on_gpus import emulated_torch
import os, torch, drawloom, drawloom.torch as dt
x = torch.ones(4, 4).cuda()
os.environ["DRAWLOOM_LIBCUDA"] = "/there/is/no/libcuda.so.1"
try:
    dt.fused_mlp(x, [x, x])
except drawloom.TargetError as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})
    assert "refused: " in done.stdout and "there is no CUDA driver" in done.stdout, done.stdout + done.stderr
