# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training on several processes with torch's own engines; docs/scaling.md has the commands."""

import os
import pathlib
import socket
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("distributed_training.py")


@pytest.mark.parametrize("layers", ["fused", "structured"])
@pytest.mark.parametrize("engine", ["ddp", "fsdp"])
def test_two_processes_have_the_losses_of_one(engine, layers, tmp_path_factory):
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-addr=127.0.0.1",
                           f"--master-port={port}", SCRIPT, engine, layers], capture_output=True, text=True, timeout=600,
                          # What one process compiles serves the others.
                          env={**os.environ, "DRAWLOOM_CACHE": str(tmp_path_factory.getbasetemp() / "distributed")})
    assert done.returncode == 0, done.stderr[-3000:]
    losses = [float(word) for line in done.stdout.splitlines() if line.startswith("losses") for word in line.split()[1:]]
    assert len(losses) == 6 and losses[-1] < losses[0]
