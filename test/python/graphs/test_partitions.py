# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that two and four processes share (drawloom.torch.partitioned). The cases are those of partition_cases.py."""

import os
import pathlib
import socket
import subprocess
import sys

import pytest

import drawloom

torch = pytest.importorskip("torch")
from drawloom.torch.partitioned import Partition  # noqa: E402

SCRIPT = pathlib.Path(__file__).with_name("partition_cases.py")


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_compute_what_one_does(processes, tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={processes}", "--master-addr=127.0.0.1",
                           f"--master-port={port}", SCRIPT], capture_output=True, text=True, timeout=600,
                          # What one process compiles serves the others.
                          env={**os.environ, "DRAWLOOM_CACHE": str(tmp_path_factory.getbasetemp() / "distributed")})
    assert done.returncode == 0 and "done" in done.stdout, done.stderr[-3000:]


def test_without_processes_the_error_names_what_makes_them():
    with pytest.raises(drawloom.CallError, match="there is no process group; torch.distributed.init_process_group makes one"):
        Partition(torch.zeros(2, 1, dtype=torch.long), None, torch.zeros(1, dtype=torch.long))


def test_rows_of_other_nodes_are_refused(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        part = Partition(torch.tensor([[0, 2], [1, 1]]), None, torch.zeros(3, dtype=torch.long))
        assert part.sent == 0 and part.sources.tolist() == [0, 2]
        with pytest.raises(drawloom.CallError, match=r"x has the shape \[2, 4\]; it has a row for each of the process's 3 nodes"):
            part.gather(torch.ones(2, 4))
    finally:
        torch.distributed.destroy_process_group()
