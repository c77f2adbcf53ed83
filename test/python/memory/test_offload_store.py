# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store behind drawloom.torch.offload, as Python sees it."""

import gc
import re
import signal
import sys
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from drawloom import CallError, StorageError, _drawloom  # noqa: E402
from drawloom.torch import offload_probe  # noqa: E402
from drawloom.torch._offload_store import DiskStore  # noqa: E402

MIB = 1 << 20


def open_store(folder, faults, timeout=0):
    return _drawloom.Store.open([str(folder)], 64 * MIB, 8 * MIB, timeout, None, faults)


def put(store, array, **more):
    return store.put(array.ctypes.data, array.nbytes, "state", 0, **more)


def got(store, record, like):
    result = np.empty_like(like)
    store.get(record, result.ctypes.data)
    return result


def numbers(seed, count):
    return np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8)


class Interrupted(Exception):
    pass


@pytest.fixture
def interrupt():
    """Raises Interrupted in this thread after 0.2 seconds, as Ctrl-C does KeyboardInterrupt."""
    def handle(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handle)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_a_put_that_waits_for_the_disk_is_interrupted(tmp_path, interrupt):
    store = open_store(tmp_path, "op=write;do=delay 1000000")
    array = numbers(1, 40 * MIB)
    interrupt()
    start = time.monotonic()
    with pytest.raises(Interrupted):
        put(store, array)
    assert time.monotonic() - start < 2
    # What had begun is gone.
    assert store.statistics()["records"] == 0
    store.close()


def test_a_store_that_hangs_says_so_when_it_is_closed(tmp_path):
    store = open_store(tmp_path, "op=write;nth=1;do=never", timeout=200_000_000)
    record = put(store, numbers(1, MIB))
    with pytest.raises(StorageError, match="has not answered"):
        store.finish()
    store.drop(record)
    with pytest.raises(StorageError, match="cannot be given back, since a disk may still use it"):
        store.close()
    with pytest.raises(CallError, match="the store is closed: open another one"):
        store.drop(record)
    store.close()


def test_a_store_that_nobody_closed_is_not_waited_for_long_and_says_that_it_hangs(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: said.append(str(error.exc_value)))
    store = open_store(tmp_path, "op=write;nth=1;do=never")
    array = numbers(1, MIB)
    put(store, array)
    time.sleep(0.1)
    start = time.monotonic()
    del store
    gc.collect()
    assert time.monotonic() - start < 5
    assert len(said) == 1 and "cannot be given back" in said[0]


def test_arrays_outlive_the_end_of_their_store(tmp_path):
    store = open_store(tmp_path, None)
    array = numbers(1, MIB)
    lent = store.borrow(put(store, array), MIB)
    store.close()
    with pytest.raises(CallError, match="closed"):
        store.statistics()
    del store
    np.testing.assert_array_equal(lent, array)


def test_states_that_are_replaced_come_back_whatever_the_disk_does_once(tmp_path):
    for faults in (None, "op=write;nth=3;do=flip 7", "op=write;nth=2;do=drop", "op=read;nth=2;do=flip 7", "op=write;nth=1;do=errno EIO"):
        store = open_store(tmp_path, faults)
        states = [put(store, numbers(i, 3 * MIB), persistent=True) for i in range(4)]
        for step in range(1, 4):
            for i, old in enumerate(states):
                array = got(store, old, numbers(i, 3 * MIB))
                array += 1
                states[i] = put(store, array, persistent=True)
                store.replace(old, states[i])
        store.finish()
        known = store.statistics()
        assert known["records"] == 4
        assert known["verified"] >= 16 * 3 * MIB
        for i, record in enumerate(states):
            np.testing.assert_array_equal(got(store, record, numbers(i, 3 * MIB)), numbers(i, 3 * MIB) + 3)
        store.close()


def test_disk_store_replaces_states(tmp_path):
    store = DiskStore([str(tmp_path)], 64 * MIB, 32 * MIB)
    first, second = numbers(1, MIB), numbers(2, MIB)
    old = store.put(first.ctypes.data, MIB, "state", 0, persistent=True)
    new = store.put(second.ctypes.data, MIB, "state", 0, persistent=True)
    store.replace(old, new)
    store.finish()
    np.testing.assert_array_equal(np.frombuffer(store.borrow(new), np.uint8), second)
    with pytest.raises(CallError, match="there is no record"):
        store.get(old, first.ctypes.data)
    store.close()


def test_the_probe_says_what_offload_would_use(tmp_path):
    text = offload_probe(tmp_path, memory="64MiB", capacity="32MiB")
    assert re.match(r"device: (io_uring|threads)\n", text)
    assert "memory: 8 MiB for what is written, 8 MiB for what is read" in text
    assert f"folder '{tmp_path}': 32 MiB on " in text
    with pytest.raises(StorageError, match="there is no folder"):
        offload_probe(tmp_path / "none")
    with pytest.raises(CallError, match="memory is 1,048,576 bytes; it is 16,777,216 or more"):
        offload_probe(tmp_path, memory="1MiB")
