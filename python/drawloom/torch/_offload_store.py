# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where saved tensors go: what a store does, and two plain ones."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

from .._errors import StorageError

# What a store and its client measure time by: a clock that all processes of a machine share.
now = time.perf_counter_ns


class Store(Protocol):
    """Bytes that are put once and gotten in an order that is known at the end. Any thread may call; calls wait without the
    interpreter's lock. A record is whatever `put` returns."""

    #: Bytes of main memory that the store has at most, for what it writes, what it has read ahead, and what it lends.
    memory: int

    def put(self, address: int, size: int, site: str, due: int) -> Any:
        """A record of `size` bytes at `address`, which the caller may overwrite from here on. site: its type and shape, for messages. due:
        of two records, the one with the smaller number is likely to be gotten first."""

    def expect(self, records: Sequence[Any]) -> None:
        """The order of the gets to come. Replaces what was expected before; another order is slower and as right."""

    def get(self, record: Any, address: int) -> None:
        """Copies a record's bytes to `address`."""

    def borrow(self, record: Any) -> Any:
        """An object with the buffer interface: the record's bytes in memory of the store's, which begins at a page. They are lent as long as the
        object lives. None where the store has no memory for it. Who overwrites them does not ask for the record again."""

    def drop(self, record: Any) -> None:
        """The end of a record, once."""

    def finish(self) -> None:
        """Waits until all that was put is written; raises the first failure."""

    def statistics(self) -> dict[str, Any]:
        """At least {"written", "read"}: bytes to and from the folders since the store was opened."""

    def trace(self) -> list[tuple[str, int, int, int]]:
        """[("write" or "read", start, end, bytes)] of the latest transfers, by `now`."""

    def close(self) -> None:
        """Frees everything. Records are void."""


class MemoryStore:
    """Keeps records in main memory: for tests of what stands before a store."""

    def __init__(self, memory: int = 0) -> None:
        self.memory = memory
        self.records: dict[int, bytes] = {}
        self.expected: list[int] = []
        self.lent = 0
        self._count = self._written = self._read = 0

    def put(self, address: int, size: int, site: str, due: int) -> int:
        self._count += 1
        self._written += size
        self.records[self._count] = ctypes.string_at(address, size)
        return self._count

    def expect(self, records: Sequence[int]) -> None:
        self.expected = list(records)

    def get(self, record: int, address: int) -> None:
        data = self.records[record]
        self._read += len(data)
        ctypes.memmove(address, data, len(data))

    def borrow(self, record: int) -> Any:
        size = len(self.records[record])
        if self.lent + size > self.memory:
            return None
        whole = (ctypes.c_uint8 * (size + 4095))()
        # A part, which keeps the whole alive.
        lent = (ctypes.c_uint8 * size).from_buffer(whole, -ctypes.addressof(whole) % 4096)
        self.lent += size
        weakref.finalize(lent, self._return, size)
        self.get(record, ctypes.addressof(lent))
        return lent

    def _return(self, size: int) -> None:
        self.lent -= size

    def drop(self, record: int) -> None:
        del self.records[record]

    def finish(self) -> None:
        pass

    def statistics(self) -> dict[str, Any]:
        return {"written": self._written, "read": self._read}

    def trace(self) -> list[tuple[str, int, int, int]]:
        return []

    def close(self) -> None:
        self.records.clear()


class _File:
    """A file without a name in a folder: it is gone with the process."""

    def __init__(self, folder: str) -> None:
        self.folder, self.end = folder, 0
        try:
            self.descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"offload: no file can be made in '{folder}': {os.strerror(error.errno or 0)}. Name a folder on an SSD that "
                               "exists and may be written to") from error

    def transfer(self, call: Any, verb: str, memory: Any, offset: int, site: str) -> None:
        view = memoryview(memory).cast("B")
        while view:
            try:
                count = call(self.descriptor, [view], offset)
            except OSError as error:
                count, code = 0, error.errno
            else:
                code = errno.EIO
            if not count:
                raise StorageError(f"offload: a saved tensor {site} cannot be {verb} in '{self.folder}' at byte {offset}: {os.strerror(code or 0)}")
            view, offset = view[count:], offset + count


class FileStore:
    """Records in files without names, one in each folder, written and read when they are asked for."""

    memory = 0

    def __init__(self, folders: Sequence[str], capacity: int | None = None) -> None:
        self._files = [_File(folder) for folder in folders]
        self._capacity = capacity
        self._lock = threading.Lock()
        # By file and size, places of dropped records.
        self._free: dict[tuple[int, int], list[int]] = {}
        self._next = self._written = self._read = 0
        self._trace: list[tuple[str, int, int, int]] = []

    def _place(self, size: int, site: str) -> tuple[int, int]:
        """A file's number, and an offset in it."""
        with self._lock:
            for number in range(len(self._files)):
                if self._free.get((number, size)):
                    return number, self._free[number, size].pop()
            used = sum(file.end for file in self._files)
            if self._capacity is not None and used + size > self._capacity:
                raise StorageError(f"offload: a saved tensor {site} of {size:,} bytes does not fit: {used:,} of the capacity of {self._capacity:,} bytes "
                                   "are in use. Give a larger capacity, or more memory")
            self._next = (self._next + 1) % len(self._files)
            file = self._files[self._next]
            offset, file.end = file.end, file.end + size
            return self._next, offset

    def _transfer(self, writes: bool, record: tuple[int, int, int, str], address: int) -> None:
        number, offset, size, site = record
        start = now()
        self._files[number].transfer(os.pwritev if writes else os.preadv, "written" if writes else "read",
                                     (ctypes.c_uint8 * size).from_address(address), offset, site)
        with self._lock:
            self._trace.append(("write" if writes else "read", start, now(), size))
            del self._trace[:-65536]
            if writes:
                self._written += size
            else:
                self._read += size

    def put(self, address: int, size: int, site: str, due: int) -> tuple[int, int, int, str]:
        record = (*self._place(size, site), size, site)
        try:
            self._transfer(True, record, address)
        except StorageError:
            self.drop(record)
            raise
        return record

    def expect(self, records: Sequence[tuple[int, int, int, str]]) -> None:
        pass

    def get(self, record: tuple[int, int, int, str], address: int) -> None:
        self._transfer(False, record, address)

    def borrow(self, record: tuple[int, int, int, str]) -> None:
        pass

    def drop(self, record: tuple[int, int, int, str]) -> None:
        with self._lock:
            self._free.setdefault((record[0], record[2]), []).append(record[1])

    def finish(self) -> None:
        pass

    def statistics(self) -> dict[str, Any]:
        return {"written": self._written, "read": self._read}

    def trace(self) -> list[tuple[str, int, int, int]]:
        with self._lock:
            return list(self._trace)

    def close(self) -> None:
        for file in self._files:
            if file.descriptor >= 0:
                os.close(file.descriptor)
                file.descriptor = -1
