# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of files that are larger than memory."""

from __future__ import annotations

import collections
import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Union

import numpy

from . import _drawloom
from ._errors import CallError, CallTypeError, FileError

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def _bytes_of(given: Any) -> int:
    """512, "512 MiB" and the like."""
    if isinstance(given, str):
        number, unit = given[:-3].strip(), given[-3:]
        if unit in _UNITS and number.replace(".", "", 1).isdecimal():
            given = int(float(number) * _UNITS[unit])
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise CallTypeError(f"FeatureTable: memory is {given!r}; it is a number of bytes, or '512 MiB' and the like")
    return given


class Rows:
    """Rows that are being read."""

    def __init__(self, fetch: Any, finish: Callable[[Any], Any]) -> None:
        self._fetch, self._finish = fetch, finish

    def wait(self) -> Any:
        """The array [M, ...] of the rows, in the order of their numbers. Its memory is the table's until the array, and this, are gone."""
        return self._finish(self._fetch.wait())


class FeatureTable:
    """The rows of an array [N, ...] in a file, which may be larger than memory: read by number, ahead of use.

    path    a .npy file, as numpy.save writes it; or, where `dtype` is given, a file of rows alone
    dtype   the type of what is in a file of rows
    shape   of a row, of a file of rows: a number of columns, or a tuple
    offset  bytes in front of the first row, of a file of rows
    memory  how many bytes of rows there are at most, of all fetches together that are being read or used: 64 MiB, "64 MiB", or a number
    readers threads, each of which has one read under way

        table = drawloom.FeatureTable("features.npy")
        rows = table.fetch(ids)                 # begins to read, and returns at once
        x = rows.wait()                         # numpy.load("features.npy")[ids]
        for batch, x in table.ahead(batches, lambda batch: batch.n_id):
            ...                                 # while the rows of the next two batches are read

    drawloom.torch.FeatureTable gives tensors. Rows that a fetch names twice are read once, in the order of the file; nothing else is kept
    but what the system keeps of any file.
    """

    def __init__(self, path: Union[str, os.PathLike[str]], *, dtype: Any = None, shape: Union[int, tuple[int, ...], None] = None,
                 offset: int = 0, memory: Union[int, str] = "64 MiB", readers: int = 8) -> None:
        self.path = os.fspath(path)
        if dtype is None:
            if shape is not None or offset != 0:
                raise CallError("FeatureTable: shape and offset are of files of rows, whose dtype is given; a .npy file says them itself")
            (self.dtype, whole), offset = self._header(self.path)
            rows, own = whole[0], tuple(whole[1:])
        else:
            self.dtype = numpy.dtype(dtype)
            if shape is None:
                raise CallError("FeatureTable: a file of rows says nothing of their shape; give the number of columns, as shape=64")
            own = (shape,) if isinstance(shape, int) else tuple(shape)
            if self.dtype.hasobject or self.dtype.itemsize == 0 or self.dtype.subdtype or any(one < 1 for one in own):
                raise CallError(f"FeatureTable: rows of {self.dtype} with the shape {list(own)} cannot be read")
            try:
                size = os.path.getsize(self.path) - offset
            except OSError as error:
                raise FileError(f"'{self.path}' cannot be read: {error.strerror}") from None
            row = self.dtype.itemsize * math.prod(own)
            if size < 0 or size % row:
                raise FileError(f"'{self.path}' has {size} bytes behind {offset}, which are not rows of {row} bytes")
            rows = size // row
        self.shape = (rows, *own)
        self._row_bytes = self.dtype.itemsize * math.prod(own)
        self._table = _drawloom.Table.open(self.path, offset, rows, self._row_bytes, _bytes_of(memory), readers)

    @staticmethod
    def _header(path):
        """((type, shape), bytes in front of the first row) of a .npy file."""
        try:
            with open(path, "rb") as file:
                version = numpy.lib.format.read_magic(file)
                read = {(1, 0): numpy.lib.format.read_array_header_1_0, (2, 0): numpy.lib.format.read_array_header_2_0}.get(version)
                if read is None:
                    raise ValueError(f"its format is {'.'.join(map(str, version))}")
                shape, fortran, dtype = read(file)
                offset = file.tell()
        except OSError as error:
            raise FileError(f"'{path}' cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise FileError(f"'{path}' is no .npy file: {error}; of a file of rows alone give dtype and shape") from None
        if dtype.hasobject or not shape or 0 in shape[1:] or (fortran and len(shape) > 1):
            order = ", by columns" if fortran else ""
            raise FileError(f"'{path}' has an array of {dtype}, {list(shape)}{order}; a table has rows of numbers, one after another")
        return (dtype, shape), offset

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}: {list(self.shape)} of {self.dtype})"

    def __len__(self) -> int:
        return self.shape[0]

    # What a framework's table has in their place.
    def _numbers(self, ids: Any) -> Any:
        return numpy.asarray(ids)

    def _array(self, rows: Any) -> Any:
        return rows

    def fetch(self, ids: Any) -> Rows:
        """Begins to read the rows of these numbers, int32 or int64, and returns at once. Fetches are read in the order in which they were
        begun, each as soon as there is memory for it."""
        numbers = self._numbers(ids)
        if numbers.size == 0 and isinstance(ids, (list, tuple)):
            numbers = numbers.astype(numpy.int64)
        if numbers.dtype not in (numpy.int32, numpy.int64):
            raise CallTypeError(f"FeatureTable: numbers of rows are {numbers.dtype}; they are int32 or int64")
        if numbers.ndim != 1:
            raise CallError(f"FeatureTable: numbers of rows have the shape {list(numbers.shape)}; they are a list")
        shape = (numbers.size, *self.shape[1:])
        started = _drawloom.fetch(self._table, numpy.ascontiguousarray(numbers), self._row_bytes)
        return Rows(started, lambda found: self._array(found.view(self.dtype).reshape(shape)))

    def __getitem__(self, ids: Any) -> Any:
        """The rows of these numbers, or of a slice."""
        if isinstance(ids, slice):
            ids = numpy.arange(*ids.indices(len(self)))
        return self.fetch(ids).wait()

    def ahead(self, batches: Iterable[Any], ids: Callable[[Any], Any], depth: int = 2) -> Iterator[tuple[Any, Any]]:
        """(batch, the rows of ids(batch)) for each of the batches, while rows of the next `depth` are read. The table's memory holds the
        rows of depth + 1 batches, and of those that are in use still."""
        if depth < 1:
            raise CallError(f"FeatureTable: depth is {depth}; it is 1 or more")
        under_way: collections.deque[tuple[Any, Rows]] = collections.deque()
        for batch in batches:
            under_way.append((batch, self.fetch(ids(batch))))
            if len(under_way) > depth:
                yield self._next(under_way)
        while under_way:
            yield self._next(under_way)

    @staticmethod
    def _next(under_way):
        batch, rows = under_way.popleft()
        return batch, rows.wait()

    def counts(self) -> dict[str, Any]:
        """What the table has done since it was opened: `fetches`; `rows` that they asked for, and `rows_read`, different ones of a fetch;
        `reads`, calls of the system, and their `bytes`; bytes of rows `held` now, and `most_held`; `seconds_waited` for rows."""
        return self._table.counts()
