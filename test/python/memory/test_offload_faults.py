# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps whose disk fails at each transfer in turn: the bits of steps without offload, or an error and a step that can be repeated.
And steps whose process is killed at each transfer: nothing is left.

DRAWLOOM_OFFLOAD_EVERY=1 lets each transfer fail in each way, which takes minutes; without it each way meets some. DRAWLOOM_OFFLOAD_LOADS
says how many loads there are of which one in 10,000 fails (20,000, some minutes); without it they are few, and one in 40 fails.
"""

import gc
import os
import shutil
import subprocess
import sys

import pytest
import torch

import drawloom
from drawloom.torch._offload import Offload
from drawloom.torch._offload_store import DiskStore

WIDTH, LAYERS, STEPS = 512, 6, 3
EVERY = int(os.environ.get("DRAWLOOM_OFFLOAD_EVERY", "29"))
LOADS = int(os.environ.get("DRAWLOOM_OFFLOAD_LOADS", "0"))
ONCE = ["errno EIO", "errno EINTR", "short 512", "short 70001", "flip 4321", "drop", "torn 3", "stale", "swap", "twice", "reorder 3",
        "delay 3000"]


class Training:
    """Each layer saves two tensors of 1 MiB and is quick. Nothing stays but what the store has in its 8 MiB, so that a step writes some
    12 MiB and reads most of them."""

    def __init__(self):
        generator = torch.Generator().manual_seed(0)
        self.weights = [(1 + torch.randn(WIDTH, generator=generator) / 8).requires_grad_() for _ in range(LAYERS)]
        self.optimizer = torch.optim.SGD(self.weights, lr=0.1)
        self.batches = [torch.randn(WIDTH, WIDTH, generator=generator) for _ in range(STEPS)]

    def step(self, number, context):
        self.optimizer.zero_grad()
        with context:
            y = self.batches[number % STEPS]
            for weight in self.weights:
                y = torch.sin(y * weight)
            loss = y.square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, context):
        """The losses and the weights behind them, and how often a step had to be repeated."""
        losses, errors = [], []
        for number in range(STEPS):
            before = [weight.detach().clone() for weight in self.weights]
            for _ in range(4):
                try:
                    losses.append(self.step(number, context))
                    break
                except drawloom.StorageError as error:
                    errors.append(str(error))
                    assert "float32[512, 512]" in str(error)
                    assert all(map(torch.equal, self.weights, before)), "an error leaves weights as they were"
        return losses, [weight.detach() for weight in self.weights], errors


def on_disk(folder, faults, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_OFFLOAD_FAULTS", faults)
    store = DiskStore([str(folder)], 64 << 20, 16 << 20)
    return Offload(store, store.memory)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def expected(one_thread):
    return Training().run(torch.enable_grad())[:2]


@pytest.fixture(scope="module")
def transfers(one_thread, tmp_path_factory):
    """How many a training has where nothing fails."""
    store = DiskStore([str(tmp_path_factory.mktemp("right"))], 64 << 20, 16 << 20)
    spill = Offload(store, store.memory)
    Training().run(spill)
    count = len(store.trace())
    spill.close()
    assert count > 12 * STEPS
    return count


@pytest.mark.parametrize("action", ONCE)
def test_whichever_transfer_fails_steps_have_their_bits_or_can_be_repeated(action, expected, transfers, tmp_path, monkeypatch):
    for nth in range(1 + 9 * ONCE.index(action) % EVERY, transfers + 3, EVERY):
        spill = on_disk(tmp_path, f"nth={nth}; do={action}", monkeypatch)
        losses, weights, errors = Training().run(spill)
        assert losses == expected[0] and all(map(torch.equal, weights, expected[1])), nth
        # A step that failed has left no record.
        gc.collect()
        assert len(errors) <= 1 and spill._store.statistics()["records"] == 0, nth
        assert not errors or action in ("flip 4321", "drop", "torn 3", "stale", "swap"), "what fails with an error is tried again"
        spill.close()


def test_a_disk_that_is_full_in_the_middle_of_training_is_an_error_that_leaves_weights(expected, tmp_path, monkeypatch):
    for nth in (1, 2, 9, 30):
        spill = on_disk(tmp_path, f"op=write; nth={nth}; do=errno ENOSPC", monkeypatch)
        losses, weights, errors = Training().run(spill)
        # What was written before, or elsewhere, is right; a file that cannot grow is used where it was written before.
        assert losses == expected[0][:len(losses)]
        assert all("no room" in text or "No space left" in text for text in errors)
        assert errors or all(map(torch.equal, weights, expected[1]))
        spill.close()


def test_where_some_loads_fail_steps_have_their_bits_or_can_be_repeated(expected, tmp_path, monkeypatch):
    chance = 10_000 if LOADS else 40
    spill = on_disk(tmp_path, f"op=read; p=1/{chance},3; do=errno EIO | op=write; p=1/{chance},4; do=drop", monkeypatch)
    loads, turns, errors = 0, 0, []
    while turns < 4 or loads < LOADS:
        losses, weights, failed = Training().run(spill)
        assert losses == expected[0] and all(map(torch.equal, weights, expected[1]))
        errors += failed
        turns += 1
        loads = spill.report().read >> 20
    statistics = spill._store.statistics()
    print(f"{turns * STEPS} steps, {loads} loads of 1 MiB: {statistics['retries']} transfers repeated, "
          f"{statistics['mismatches']} checksums wrong, {len(errors)} errors")
    assert statistics["retries"] > 0 and errors
    spill.close()


KILLED = """
import os, signal, sys, time
import torch
from memory import test_offload_faults as faults
torch.set_num_threads(1)
folder = sys.argv[1]
free = lambda: os.statvfs(folder).f_bfree * os.statvfs(folder).f_frsize
before, number = free(), 0
while True:
    os.environ["DRAWLOOM_OFFLOAD_FAULTS"] = f"nth={number};do=kill" if number else "op=open;do=kill"
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        store = faults.DiskStore([folder], 24 << 20, 16 << 20)
        faults.Training().step(0, faults.Offload(store, store.memory))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    end = time.monotonic() + 1
    while free() < before and time.monotonic() < end:
        time.sleep(0.001)
    assert free() >= before, f"transfer {number}: space is gone"
    assert os.listdir(folder) == [], f"transfer {number}: there is a name"
    if status == 0:
        break
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"transfer {number}: {status}"
    number += 1
print(number)
"""


def test_a_step_that_is_killed_at_whichever_transfer_leaves_nothing(tmp_path):
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed, and space of a disk that others use cannot be counted")
    # A file system of its own, which is gone with the process.
    script = 'mount -t tmpfs -o size=64m none "$1" || exit 9; exec "$2" -c "$3" "$1"'
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run([*unshare, "sh", "-c", script, "sh", tmp_path, sys.executable, KILLED],
                          capture_output=True, text=True, timeout=120)
    if done.returncode == 9 or done.stderr.startswith("unshare:"):
        pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    # When the file is opened, and at each of 12 writes and of the reads, but those that memory made needless.
    assert int(done.stdout) > 10
