# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache under processes that share it and are killed."""

import hashlib
import os
import signal
import subprocess

import pytest
from runner import BUILD, SANITIZED, preload_library

PROGRAM = BUILD / "bin" / "embed-fit"


def start(folder, **environment):
    return subprocess.Popen([PROGRAM], env={**os.environ, "DRAWLOOM_CACHE": str(folder), **environment},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def entries(folder):
    """Not what a killed process was about to write."""
    return [f for f in folder.iterdir() if f.name.startswith("llvmcache-") and "-new-" not in f.name]


def assert_whole(path):
    line, _, payload = path.read_bytes().partition(b"\n")
    _, _, description, code, digest = line.split()
    assert len(payload) == int(description) + int(code)
    assert hashlib.sha256(payload).hexdigest() == digest.decode()


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer has a malloc of its own")
def test_killed_processes_leave_whole_entries_only(tmp_path):
    preload = {"LD_PRELOAD": preload_library(tmp_path)}
    expected, _ = start(tmp_path / "reference", **preload, PRELOAD_COUNT=str(tmp_path / "count")).communicate()
    assert b"step 2000" in expected
    allocations = int((tmp_path / "count").read_text())
    shared = tmp_path / "shared"
    left = 0
    # Training allocates next to nothing: the last ones are where the entry is written.
    killed = [{"PRELOAD_SIGNAL": "9", "PRELOAD_AT": str(allocations * part // 1000)}
              for part in (10, 300, 700, 900, 950, 980, 990, 993, 996, 998)]
    killed += [{"PRELOAD": moment, "PRELOAD_FOLDER": str(shared)} for moment in ("kill-write", "kill-link")]
    for _ in range(2):
        running = [start(shared, **preload, **where) for where in killed]
        for process in running:
            process.communicate()
            assert process.returncode in (0, -signal.SIGKILL)
            left += process.returncode == -signal.SIGKILL
        for entry in entries(shared):
            assert_whole(entry)
            entry.unlink()
    assert left >= len(killed)
    output, _ = start(shared).communicate()
    assert output == expected


def test_another_process_uses_what_the_first_kept(tmp_path):
    first, _ = start(tmp_path).communicate()
    (entry,) = entries(tmp_path)
    written = entry.stat().st_mtime_ns
    second, _ = start(tmp_path).communicate()
    assert second == first
    assert [e.stat().st_mtime_ns for e in entries(tmp_path)] == [written]


def test_processes_that_share_a_folder_compute_the_same(tmp_path):
    running = [start(tmp_path) for _ in range(8)]
    outputs = {process.communicate()[0] for process in running}
    assert len(outputs) == 1
    assert len(entries(tmp_path)) == 1
    assert_whole(entries(tmp_path)[0])
