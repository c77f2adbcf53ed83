# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A store of saved tensors (drawloom.torch._offload_store.Store) in main memory: for tests of what stands before a store."""

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any


class MemoryStore:
    def __init__(self, memory: int = 0) -> None:
        self.memory = memory
        self.records: dict[int, bytes] = {}
        self.expected: list[int] = []
        self.lent = 0
        self._count = self._written = self._read = 0

    def put(self, address: int, size: int, site: str, due: int, persistent: bool = False) -> int:
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

    def replace(self, old: int, by: int) -> None:
        assert by in self.records
        self.drop(old)

    def finish(self) -> None:
        pass

    def statistics(self) -> dict[str, Any]:
        return {"written": self._written, "read": self._read}

    def trace(self) -> list[tuple[str, int, int, int]]:
        return []

    def close(self) -> None:
        self.records.clear()
