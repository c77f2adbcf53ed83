# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tools write: behind links, with the rights of what was there, and never in the place of a device or a pipe."""

import os
import stat
import subprocess
import threading

import numpy as np
import pytest

from support.runner import BUILD

TEXT = """func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}"""

OPTIONS = {"save": "f.drawloom", "output": "f.npz", "report": "f.json"}
each_option = pytest.mark.parametrize("option", OPTIONS)


@pytest.fixture
def source(tmp_path):
    (tmp_path / "source").mkdir()
    path = tmp_path / "source" / "f.mlir"
    path.write_text(TEXT)
    return path


def start(source, option, path):
    return subprocess.run([BUILD / "bin/drawloom-run", source, "--random", f"--{option}={path}"], capture_output=True, text=True)


@each_option
def test_rights_are_kept(tmp_path, source, option):
    path = tmp_path / OPTIONS[option]
    path.write_bytes(b"")
    path.chmod(0o600)
    done = start(source, option, path)
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size > 0 and stat.S_IMODE(path.stat().st_mode) == 0o600


@each_option
@pytest.mark.parametrize("exists", [True, False])
def test_links_are_followed(tmp_path, source, option, exists):
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / OPTIONS[option]
    link = tmp_path / OPTIONS[option]
    link.symlink_to(f"elsewhere/{OPTIONS[option]}")
    if exists:
        target.write_bytes(b"")
    done = start(source, option, link)
    assert done.returncode == 0, done.stderr
    assert link.is_symlink() and target.stat().st_size > 0
    assert os.listdir(tmp_path / "elsewhere") == [target.name]


@each_option
def test_pipes_are_written_to(tmp_path, source, option):
    path = tmp_path / OPTIONS[option]
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    done = start(source, option, path)
    reader.join(timeout=20)
    assert done.returncode == 0 and len(read[0]) > 0, done.stderr
    assert stat.S_ISFIFO(path.lstat().st_mode)


@each_option
def test_devices_stay_devices(tmp_path, source, option):
    path = tmp_path / OPTIONS[option]
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        path.open("wb").close()
    except PermissionError:
        pytest.skip("devices are made by root, on file systems that have them")
    done = start(source, option, path)
    assert done.returncode == 1 and "No space left on device" in done.stderr
    assert stat.S_ISCHR(path.lstat().st_mode) and sorted(os.listdir(tmp_path)) == sorted([path.name, "source"])


def test_shapes_alone_are_enough_to_save(tmp_path, source):
    source.write_text(TEXT.replace("tensor<8x", "tensor<?x"))
    path = tmp_path / "f.drawloom"
    command = [BUILD / "bin/drawloom-run", source, f"--save={path}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "give its extents with --shape=0:..." in done.stderr and not path.exists()
    subprocess.run([*command, "--shape=0:5"], check=True)
    x = np.arange(5, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    subprocess.run([BUILD / "bin/drawloom-run", path, f"--input={tmp_path}/x.npy", f"--output={tmp_path}/y.npy"], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 2 * x)
