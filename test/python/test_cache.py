# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache under processes that share it and are killed."""

import hashlib
import os
import random
import subprocess
import time

from runner import BUILD

PROGRAM = BUILD / "bin" / "embed-fit"


def start(folder):
    return subprocess.Popen([PROGRAM], env={**os.environ, "DRAWLOOM_CACHE": str(folder)}, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def entries(folder):
    """Not what a killed process was about to write."""
    return [f for f in folder.iterdir() if f.name.startswith("llvmcache-") and "-new-" not in f.name]


def assert_whole(path):
    line, _, payload = path.read_bytes().partition(b"\n")
    _, _, description, code, digest = line.split()
    assert len(payload) == int(description) + int(code)
    assert hashlib.sha256(payload).hexdigest() == digest.decode()


def test_killed_processes_leave_whole_entries_only(tmp_path):
    expected, _ = start(tmp_path / "reference").communicate()
    assert b"step 2000" in expected
    shared = tmp_path / "shared"
    draw = random.Random(0)
    for _ in range(8):
        running = [start(shared) for _ in range(8)]
        for process in running:
            time.sleep(draw.uniform(0, 0.15))
            process.kill()
        for process in running:
            process.communicate()
        if shared.exists():
            for entry in entries(shared):
                assert_whole(entry)
                entry.unlink()
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
