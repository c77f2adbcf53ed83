# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of files larger than memory are those of NumPy; what is read is counted, and what is held is bounded."""

import gc
import os
import subprocess
import sys
import textwrap

import numpy
import pytest
import torch

import drawloom
from drawloom.torch import FeatureTable

ROWS, WIDTH = 5000, 12


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "features.npy"
    array = numpy.arange(ROWS * WIDTH, dtype=numpy.float32).reshape(ROWS, WIDTH)
    numpy.save(path, array)
    return path, array


def raw(tmp_path, array):
    path = tmp_path / "rows.bin"
    array.tofile(path)
    return path


@pytest.mark.parametrize("kind", [numpy.int32, numpy.int64])
def test_rows_in_any_order_and_named_twice_are_those_of_numpy(features, kind):
    path, array = features
    table = drawloom.FeatureTable(path)
    draw = numpy.random.default_rng(0)
    for count in (0, 1, 2, 50, 4000):
        for most in (1, 3, 100, ROWS):
            ids = draw.integers(0, most, count).astype(kind)
            numpy.testing.assert_array_equal(table[ids], array[ids])
    for part in (slice(None), slice(5, 900), slice(-3, None), slice(7, 3), slice(900, 5, -9)):
        numpy.testing.assert_array_equal(table[part], array[part])
    assert len(table) == ROWS and table.shape == array.shape and table.dtype == array.dtype


@pytest.mark.parametrize("shape,kind", [((2000,), numpy.uint8), ((700, 3), numpy.float16), ((300, 5, 7), numpy.float64),
                                        ((40, 70_001), numpy.uint8), ((9, 300_000), numpy.int16)])
def test_rows_of_any_length_and_type(tmp_path, shape, kind):
    # Shorter and longer than what one call reads, and than a page.
    array = numpy.random.default_rng(1).integers(0, 200, shape).astype(kind)
    numpy.save(tmp_path / "it.npy", array)
    ids = numpy.random.default_rng(2).integers(0, shape[0], 60)
    with_header = drawloom.FeatureTable(tmp_path / "it.npy")[ids]
    assert with_header.dtype == array.dtype
    numpy.testing.assert_array_equal(with_header, array[ids])
    if len(shape) > 1:
        path = raw(tmp_path, numpy.concatenate([numpy.zeros(5, numpy.uint8), array.view(numpy.uint8).ravel()]))
        numpy.testing.assert_array_equal(drawloom.FeatureTable(path, dtype=kind, shape=shape[1:], offset=5)[ids], array[ids])


def test_tensors_in_and_out(features):
    path, array = features
    x = FeatureTable(path)[torch.tensor([4, 0, 4])]
    assert x.dtype == torch.float32
    assert torch.equal(x, torch.from_numpy(array[[4, 0, 4]]))
    x += 1                                           # The rows are the caller's own.


def test_rows_are_read_once_and_neighbours_by_one_call(features):
    path, _ = features
    table = drawloom.FeatureTable(path, readers=1)
    table[[7, 8, 9, 10, 9, 8]]
    counts = table.counts()
    assert (counts["fetches"], counts["rows"], counts["rows_read"], counts["reads"]) == (1, 6, 4, 1)
    assert counts["bytes"] == 4 * WIDTH * 4
    # Within a page: what is between them is read along; beyond: two calls.
    table[[20, 22]]
    assert (table.counts()["reads"], table.counts()["bytes"]) == (2, (4 + 3) * WIDTH * 4)
    table[[0, ROWS - 1]]
    assert table.counts()["reads"] == 4


def test_what_is_held_is_bounded_and_given_back(features):
    path, array = features
    row = WIDTH * 4
    table = drawloom.FeatureTable(path, memory=100 * row)
    first, second, third = (table.fetch(numpy.arange(i, i + 40)) for i in (0, 100, 200))
    a, b = first.wait(), second.wait()
    assert table.counts()["held"] == 80 * row
    # The third has no room, and nobody but this caller can make some.
    with pytest.raises(drawloom.OutOfMemory, match="still hold 3840 of the table's 4800 bytes: give these back"):
        third.wait()
    del a, first
    gc.collect()
    numpy.testing.assert_array_equal(third.wait(), array[200:240])
    numpy.testing.assert_array_equal(b, array[100:140])
    assert table.counts()["most_held"] == 80 * row
    with pytest.raises(drawloom.CallError, match="101 rows of 48 bytes are more than the 4800 bytes"):
        table.fetch(numpy.arange(101))
    del b, second, third
    gc.collect()
    assert table.counts()["held"] == 0


def test_rows_outlive_the_table_and_fetches_may_be_forgotten(features):
    path, array = features
    table = drawloom.FeatureTable(path)
    x = table[[3, 2]]
    for i in range(50):
        table.fetch(numpy.arange(i, i + 400))        # Dropped while it waits, is read, or is there.
    del table
    gc.collect()
    numpy.testing.assert_array_equal(x, array[[3, 2]])


def test_batches_come_with_rows_that_were_begun_ahead(features):
    path, array = features
    table = FeatureTable(path)
    batches = [torch.randint(0, ROWS, (n,)) for n in (30, 0, 7, 100, 1)]
    begun = []

    def ids(batch):
        begun.append(batch)
        return batch

    for i, (batch, x) in enumerate(table.ahead(batches, ids, depth=2)):
        assert len(begun) == min(i + 3, len(batches))
        assert torch.equal(x, torch.from_numpy(array)[batch])
    assert i == len(batches) - 1
    assert list(table.ahead([], ids)) == []
    with pytest.raises(drawloom.CallError, match="depth is 0"):
        list(table.ahead(batches, ids, depth=0))


@pytest.mark.parametrize("ids,error,words", [
    ([0, 1, ROWS], drawloom.CallError, f"row {ROWS}, entry 2 of the numbers, is out of range: the table has {ROWS} rows"),
    ([5, -1], drawloom.CallError, "row -1, entry 1"),
    ([0.0], drawloom.CallTypeError, "numbers of rows are float64; they are int32 or int64"),
    ([[0]], drawloom.CallError, r"have the shape \[1, 1\]; they are a list"),
])
def test_wrong_numbers_are_named(features, ids, error, words):
    table = drawloom.FeatureTable(features[0])
    with pytest.raises(error, match=words):
        table.fetch(ids)
    assert table.counts()["fetches"] == 0


def test_wrong_files_are_named(features, tmp_path):
    path, array = features
    with pytest.raises(drawloom.FileError, match="nowhere.npy' cannot be read: No such file"):
        drawloom.FeatureTable(tmp_path / "nowhere.npy")
    with pytest.raises(drawloom.FileError, match="is no .npy file"):
        drawloom.FeatureTable(raw(tmp_path, array))
    with pytest.raises(drawloom.FileError, match="cannot be read: Is a directory"):
        drawloom.FeatureTable(tmp_path)
    numpy.save(tmp_path / "columns.npy", numpy.asfortranarray(array))
    with pytest.raises(drawloom.FileError, match="by columns; a table has rows of numbers, one after another"):
        drawloom.FeatureTable(tmp_path / "columns.npy")
    numpy.save(tmp_path / "words.npy", numpy.array([["a"], [None]], object), allow_pickle=True)
    with pytest.raises(drawloom.FileError, match="an array of object"):
        drawloom.FeatureTable(tmp_path / "words.npy")
    numpy.save(tmp_path / "short.npy", array)
    os.truncate(tmp_path / "short.npy", 1000)
    with pytest.raises(drawloom.FileError, match=f"it has 1000 bytes, but {ROWS} rows of 48 bytes behind 128 need 240128"):
        drawloom.FeatureTable(tmp_path / "short.npy")
    with pytest.raises(drawloom.CallError, match="shape=64"):
        drawloom.FeatureTable(path, dtype="float32")
    with pytest.raises(drawloom.FileError, match="has 240128 bytes behind 0, which are not rows of 20 bytes"):
        drawloom.FeatureTable(path, dtype="float32", shape=5)
    with pytest.raises(drawloom.CallError, match="cannot be read"):
        drawloom.FeatureTable(path, dtype="S", shape=7)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(drawloom.FileError, match="it is no file whose rows"):
        drawloom.FeatureTable(tmp_path / "fifo", dtype="float32", shape=7)
    with pytest.raises(drawloom.CallTypeError, match="memory is '1 GB'"):
        drawloom.FeatureTable(path, memory="1 GB")
    numpy.save(tmp_path / "wide.npy", numpy.zeros((2, 2), numpy.longdouble))
    with pytest.raises(drawloom.FileError, match="of which there are no tensors"):
        FeatureTable(tmp_path / "wide.npy")


def test_a_file_that_becomes_shorter_is_an_error_and_the_rest_can_be_read(tmp_path):
    array = numpy.arange(1000 * 8, dtype=numpy.int64).reshape(1000, 8)
    numpy.save(tmp_path / "it.npy", array)
    table = drawloom.FeatureTable(tmp_path / "it.npy")
    os.truncate(tmp_path / "it.npy", 500 * 64)
    with pytest.raises(drawloom.FileError, match="it has become shorter since it was opened"):
        table[[0, 999]]
    numpy.testing.assert_array_equal(table[[3]], array[[3]])


def in_a_child(text, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300, **options)


def test_a_table_is_not_read_in_a_forked_child(features):
    done = in_a_child(f"""
        import os, drawloom
        table = drawloom.FeatureTable({str(features[0])!r})
        under_way = table.fetch([1])
        table[[0]]
        child = os.fork()
        if child == 0:
            try:
                table[[0]]
            except drawloom.CallError as error:
                assert "was opened before this process was forked" in str(error)
                del under_way, table
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert under_way.wait()[0, 0] == {WIDTH}
        """)
    assert done.returncode == 0, done.stderr


def test_a_table_of_two_gigabytes_is_read_under_a_limit_of_memory(tmp_path):
    # The process may have 1 GiB of addresses beside what it starts with, of which each thread takes 72 MiB: a map of the file does not
    # fit. Rows are written at some places; the rest of the file has no blocks on the disk.
    rows, width = 1 << 20, 512
    path = tmp_path / "features.bin"
    written = numpy.random.default_rng(3).choice(rows, 3000, replace=False)
    with open(path, "wb") as file:
        file.truncate(rows * width * 4)
        for row in written:
            file.seek(int(row) * width * 4)
            file.write(numpy.full(width, row, numpy.float32).tobytes())
    numpy.save(tmp_path / "written.npy", written)
    done = in_a_child(f"""
        import resource, numpy, drawloom
        size = int(open("/proc/self/statm").read().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30),) * 2)
        try:
            numpy.memmap({str(path)!r}, "float32", "r", shape=({rows}, {width}))
        except OSError:
            pass
        else:
            raise SystemExit("the limit does not hold")
        written = numpy.load({str(tmp_path / "written.npy")!r})
        table = drawloom.FeatureTable({str(path)!r}, dtype="float32", shape={width}, memory="32 MiB", readers=4)
        draw = numpy.random.default_rng(4)
        batches = [numpy.concatenate([draw.choice(written, 2000), draw.integers(0, {rows}, 1000)]) for _ in range(40)]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        known = numpy.zeros({rows}, numpy.float32)
        known[written] = written
        for ids, x in table.ahead(batches, lambda ids: ids):
            assert x.shape == (3000, {width}) and (x == known[ids][:, None]).all()
        counts = table.counts()
        assert counts["rows"] == 120000 and counts["most_held"] <= 32 << 20, counts
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 80 << 10, grown     # KiB: the table's memory, and what compares.
        """)
    assert done.returncode == 0, done.stderr
