# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store on file systems of several kinds: what it says of them, bytes that come back, disks that get full, space that is free again."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import drawloom
from drawloom import _drawloom

MIB = 1 << 20
# A size, and what makes one on a file. tmpfs needs neither a file nor a right: any user may have one in mounts of his own.
KINDS = {"ext4": (64, ["mkfs.ext4", "-q", "-F"]), "xfs": (300, ["mkfs.xfs", "-q", "-f"]), "btrfs": (128, ["mkfs.btrfs", "-q", "-f"]),
         "tmpfs": (64, None)}
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def numbers(seed, count):
    return np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8)


def free(folder):
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def mount(kind, folder):
    size, make = KINDS[kind]
    disk, image = folder / "disk", folder / "image"
    disk.mkdir()
    if make:
        with image.open("wb") as file:
            file.truncate(size * MIB)
        subprocess.run([*make, image], check=True, capture_output=True)
    what = ["-o", "loop", image] if make else ["-t", "tmpfs", "-o", f"size={size}m", "none"]
    done = subprocess.run(["mount", *what, disk], capture_output=True, text=True)
    return disk, done.stderr.strip()


def fill(disk):
    """Takes nearly all space that is left, as another program may."""
    with (disk / "others").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for number in range(1 << 20):
            os.posix_fallocate(file.fileno(), number * MIB, MIB)


def use(disk, device, most):
    """What happens to a store there, where one has room for `most` bytes, but two have not: facts, for the test to compare."""
    found = {"probe": _drawloom.Store.probe([str(disk)], 20 * MIB, 8 * MIB, device)}

    def again():
        _drawloom.Store.open([str(disk)], most, 8 * MIB, 0, device, None).close()

    # One behind the other: each leaves its space to the next one.
    for _ in range(3):
        again()
    try:
        _drawloom.Store.open([str(disk)], 1 << 40, 8 * MIB, 0, device, None)
    except drawloom.StorageError as error:
        found["too much"] = str(error)
    store = _drawloom.Store.open([str(disk)], 20 * MIB, 8 * MIB, 0, device, None)
    # All of its space is written; when the disk is full for others, all of it again.
    records, right = [], 0
    for turn in range(2):
        arrays = [numbers(30 * turn + i, 2 * MIB - 9000 * i) for i in range(10)]
        records = [store.put(array.ctypes.data, array.nbytes, f"layer {i}", 10 - i, persistent=i % 3 == 0)
                   for i, array in enumerate(arrays)]
        store.finish()
        for record, array in list(zip(records, arrays))[::-1]:
            got = np.zeros_like(array)
            store.get(record, got.ctypes.data)
            right += np.array_equal(got, array)
            store.drop(record)
        if turn == 0:
            fill(disk)
            found["full"] = free(disk)
            try:
                _drawloom.Store.open([str(disk)], 16 * MIB, 8 * MIB, 0, device, None)
            except drawloom.StorageError as error:
                found["no room"] = str(error)
    found |= {"right": right, "names": sorted({*os.listdir(disk)} - {"lost+found"}), "statistics": store.statistics()}
    store.close()
    os.remove(disk / "others")
    again()
    return found


def main(kind, folder):
    disk, failure = mount(kind, pathlib.Path(folder))
    most = 2 * free(disk) // 3 // MIB * MIB
    found = {"skip": failure} if failure else {device: use(disk, device, most) for device in ("io_uring", "threads")}
    (pathlib.Path(folder) / "found").write_text(json.dumps(found))


@pytest.fixture(scope="module", params=KINDS)
def seen(request, tmp_path_factory):
    """The kind, and what was seen in a process that has mounts of its own: they are gone with it."""
    kind = request.param
    missing = [name for name in ("unshare", "mount", *(KINDS[kind][1] or [])[:1]) if not shutil.which(name, path=PATH)]
    if missing:
        pytest.skip(f"no {kind} here: {' and '.join(missing)} is not installed")
    if KINDS[kind][1] and os.geteuid() != 0:
        pytest.skip(f"no {kind} here: only root may mount one")
    folder = tmp_path_factory.mktemp(kind)
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run([*unshare, sys.executable, __file__, kind, folder], env={**os.environ, "PATH": PATH}, capture_output=True,
                          text=True, timeout=120)
    if done.stderr.startswith("unshare:"):
        pytest.skip(f"no {kind} here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "found").read_text())
    if "skip" in found:
        pytest.skip(f"no {kind} here: {found['skip']}")
    return kind, found


@pytest.mark.parametrize("device", ["io_uring", "threads"])
def test_bytes_come_back_also_when_the_disk_is_full_for_others(seen, device):
    found = seen[1][device]
    assert found["right"] == 20
    assert found["names"] == ["others"]
    # Space was taken at the beginning.
    assert found["full"] < 2 * MIB
    assert found["statistics"]["verified"] > 0 and found["statistics"]["failures"] == 0


@pytest.mark.parametrize("device", ["io_uring", "threads"])
def test_what_does_not_fit_is_refused_at_once(seen, device):
    kind, found = seen
    for key, asked in (("too much", "1.00 TiB"), ("no room", "16.00 MiB")):
        text = found[device][key]
        assert f"{asked} were asked for, but only " in text
        assert f"of its file system ({kind}) are free; ask for less, free some" in text


@pytest.mark.parametrize("device", ["io_uring", "threads"])
def test_the_probe_names_the_file_system_and_what_it_lacks(seen, device):
    kind, found = seen
    text = found[device]["probe"]
    assert text.startswith(f"device: {device}\n")
    assert f"20 MiB on {kind}" in text, text
    assert ("are in memory" in text) == (kind == "tmpfs"), text
    assert "O_DIRECT" not in text or kind == "tmpfs", text


if __name__ == "__main__":
    main(*sys.argv[1:])
