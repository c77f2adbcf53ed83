# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences that two and four processes share (drawloom.torch.context_parallel). The cases are those of context_parallel_cases.py."""

import os
import pathlib
import pickle
import socket
import subprocess
import sys

import pytest
import torch

import drawloom
from drawloom.torch import context_parallel, linrec
from recurrences import context_parallel_cases

SCRIPT = pathlib.Path(__file__).with_name("context_parallel_cases.py")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """{number of processes: {case: what went wrong}}"""
    folder = tmp_path_factory.mktemp("context_parallel")
    found = {}
    for processes in context_parallel_cases.CASES:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        done = subprocess.run([sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={processes}", "--master-addr=127.0.0.1",
                               f"--master-port={port}", SCRIPT, "--file", folder / str(processes)], capture_output=True, text=True,
                              # What one process compiles serves the others.
                              timeout=600, env={**os.environ, "DRAWLOOM_CACHE": str(folder / "cache")})
        assert done.returncode == 0, done.stderr[-3000:]
        found[processes] = pickle.loads((folder / str(processes)).read_bytes())
    return found


@pytest.mark.parametrize("processes, case", [(count, case) for count, cases in context_parallel_cases.CASES.items() for case in cases])
def test_processes_compute_what_one_does(outcomes, processes, case):
    assert outcomes[processes][case] is None, outcomes[processes][case]


def test_without_processes_the_error_names_what_makes_them():
    x = torch.ones(1, 4, 2, 8)
    for call in (lambda: context_parallel.linear_recurrence(x, x, x), lambda: context_parallel.sequence_split().__enter__(),
                 lambda: context_parallel.shift_from_previous(x, 1)):
        with pytest.raises(drawloom.CallError, match="there is no process group; torch.distributed.init_process_group makes one"):
            call()
    assert linrec.chunk_linear_attn(x, x, x)[0].shape == x.shape


def test_compiled_models_are_split_also_if_they_were_compiled_before(tmp_path, monkeypatch):
    """torch.compile sees what the context changes."""
    counts, agree = [], context_parallel._agree
    monkeypatch.setattr(context_parallel, "_agree", lambda *arguments: counts.append(agree(*arguments)) or counts[-1])
    x = torch.randn(1, 16, 2, 8)
    compiled = torch.compile(lambda x: 2 * linrec.chunk_retention(x, x, x)[0], backend="eager")
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        whole = compiled(x)
        for calls in (1, 2):
            with context_parallel.sequence_split():
                assert torch.equal(compiled(x), whole)
            assert torch.equal(compiled(x), whole) and counts == [[16]] * calls
    finally:
        torch.distributed.destroy_process_group()
