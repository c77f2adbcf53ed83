# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache under processes that share it and are killed."""

import hashlib
import os
import shutil
import signal
import stat
import subprocess

import pytest

from support.runner import BUILD, SANITIZED, preload_library

PROGRAM = BUILD / "bin" / "embed-fit"


def start(folder, **environment):
    return subprocess.Popen([PROGRAM], env={**os.environ, "DRAWLOOM_CACHE": str(folder), **environment},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def entries(folder):
    """Not what a killed process was about to write."""
    return [f for f in folder.iterdir() if f.name.startswith("llvmcache-") and "-new-" not in f.name]


def assert_whole(path):
    key, line, payload = path.read_bytes().split(b"\n", 2)
    assert key == b"drawloom-cache 1 " + path.name.removeprefix("llvmcache-").encode()
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


def program(number):
    return f"""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %c = arith.constant dense<{number}.0> : tensor<4xf32>
  %y = arith.mulf %x, %c : tensor<4xf32>
  return %y : tensor<4xf32>
}}"""


def run(tmp_path, number, umask=0o022):
    """Runs a program with the cache; gives its result and what was said."""
    source = tmp_path / f"{number}.mlir"
    source.write_text(program(number))
    done = subprocess.run([BUILD / "bin/drawloom-run", source, "--random", f"--cache={tmp_path}/cache", "--compare=interpreter"],
                          capture_output=True, text=True, timeout=60, umask=umask)
    assert done.returncode == 0 and "passed" in done.stdout, done.stderr
    return done.stderr


@pytest.mark.parametrize("umask", [0, 0o002, 0o077])
def test_nobody_else_can_write_what_is_kept(tmp_path, umask):
    assert run(tmp_path, 2, umask) == ""
    (entry,) = entries(tmp_path / "cache")
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700 and stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert run(tmp_path, 2, umask) == ""


def test_an_entry_under_another_name_is_not_used(tmp_path):
    run(tmp_path, 2)
    (two,) = entries(tmp_path / "cache")
    run(tmp_path, 3)
    (three,) = set(entries(tmp_path / "cache")) - {two}
    shutil.copy(two, three)
    assert "is not used: it is the entry of another program, or no entry" in run(tmp_path, 3)
    # It was replaced.
    assert run(tmp_path, 3) == "" and run(tmp_path, 2) == ""


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_not_used(tmp_path, mode):
    run(tmp_path, 2)
    (entry,) = entries(tmp_path / "cache")
    entry.chmod(mode)
    assert "is not used: others than its owner may write to it" in run(tmp_path, 2)
    assert run(tmp_path, 2) == "" and stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_a_folder_that_others_may_write_is_not_used(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    said = run(tmp_path, 2)
    assert said.count("remark:") == 1
    assert f"the cache '{tmp_path}/cache' is not used: others than its owner may write to it; 'chmod go-w' forbids it" in said
    assert entries(tmp_path / "cache") == []


def test_what_belongs_to_others_is_not_used(tmp_path):
    run(tmp_path, 2)
    (entry,) = entries(tmp_path / "cache")
    try:
        os.chown(entry, 65534, -1)
    except PermissionError:
        pytest.skip("only root gives files away")
    assert "is not used: it belongs to another user" in run(tmp_path, 2)
    os.chown(tmp_path / "cache", 65534, -1)
    assert "is not used: it belongs to another user" in run(tmp_path, 2)


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_an_entry_that_is_no_file_is_not_used(tmp_path, kind):
    run(tmp_path, 2)
    (entry,) = entries(tmp_path / "cache")
    entry.rename(tmp_path / "entry")
    if kind == "pipe":
        os.mkfifo(entry, 0o600)
    elif kind == "link":
        entry.symlink_to(tmp_path / "entry")
    else:
        entry.mkdir(0o700)
    said = run(tmp_path, 2)
    assert "is not used: it is a link" in said if kind == "link" else "is not used: it is no regular file" in said
