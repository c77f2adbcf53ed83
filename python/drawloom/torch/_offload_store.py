# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where saved tensors go: what a store does, and the runtime's."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any, Protocol

from .. import _drawloom
from .._errors import CallError
from .._spill import capacity_of

# What a store and its client measure time by: a clock that all processes of a machine share.
now = time.perf_counter_ns


class Store(Protocol):
    """Bytes that are put once and gotten in an order that is known at the end. Any thread may call; calls wait without the
    interpreter's lock. A record is whatever `put` returns."""

    #: Bytes of main memory that the store has at most, for what it writes, what it has read ahead, and what it lends.
    memory: int

    def put(self, address: int, size: int, site: str, due: int, persistent: bool = False) -> Any:
        """A record of `size` bytes at `address`, which the caller may overwrite from here on. site: its type and shape, for messages. due:
        of two records, the one with the smaller number is likely to be gotten first. persistent: it cannot be computed again, so that memory
        keeps it until it has been read back."""

    def expect(self, records: Sequence[Any]) -> None:
        """The order of the gets to come. Replaces what was expected before; another order is slower and as right."""

    def get(self, record: Any, address: int) -> None:
        """Copies a record's bytes to `address`."""

    def borrow(self, record: Any) -> Any:
        """An object with the buffer interface: the record's bytes in memory of the store's, which begins at a page. They are lent as long as the
        object lives. None where the store has no memory for it. Who overwrites them does not ask for the record again."""

    def drop(self, record: Any) -> None:
        """The end of a record, once."""

    def replace(self, old: Any, by: Any) -> None:
        """Ends `old` once `by`, which is persistent, has been read back. Waits for nothing."""

    def finish(self) -> None:
        """Waits until all that was put is written, and what is persistent read back; raises the first failure."""

    def statistics(self) -> dict[str, Any]:
        """At least {"written", "read"}: bytes to and from the folders since the store was opened."""

    def trace(self) -> list[tuple[str, int, int, int]]:
        """[("write" or "read", start, end, bytes)] of the latest transfers, by `now`."""

    def close(self) -> None:
        """Frees everything. Records are void."""


# What a store and what it serves have at least, each.
LEAST = 8 << 20


def memory_of(budget: int) -> int:
    """The store's part."""
    if budget < 2 * LEAST:
        raise CallError(f"offload: memory is {budget:,} bytes; it is {2 * LEAST:,} or more: half of that is what is being written and read")
    return _drawloom.store_share(budget)


class DiskStore:
    """The protocol of `Store` over the runtime's store, whose files have their space from the beginning on. `memory` is its part of a
    budget: a quarter within bounds.

    What cannot be computed again is put as persistent: memory has the bytes until they were read back from the disk and are right. A new
    version of it replaces the old one, so that one version at least is verified at each moment:

        new = store.put(address, size, site, due, persistent=True)
        store.replace(old, new)     # from here on only `new` is used
    """

    def __init__(self, folders: Sequence[str], capacity: int | None, budget: int) -> None:
        self.memory = memory_of(budget)
        self._store = _drawloom.Store.open(list(folders), capacity_of(folders) if capacity is None else capacity, self.memory, 0, None,
                                           os.environ.get("DRAWLOOM_OFFLOAD_FAULTS") or None)
        self._sizes: dict[int, int] = {}

    @staticmethod
    def probe(folders: Sequence[str], capacity: int | None, budget: int) -> str:
        """What such a store would use, and why not something better."""
        return _drawloom.Store.probe(list(folders), capacity_of(folders) if capacity is None else capacity, memory_of(budget), None)

    def put(self, address: int, size: int, site: str, due: int, persistent: bool = False) -> int:
        record: int = self._store.put(address, size, site, due, persistent)
        self._sizes[record] = size
        return record

    def expect(self, records: Sequence[int]) -> None:
        self._store.expect(list(records))

    def get(self, record: int, address: int) -> None:
        self._store.get(record, address)

    def borrow(self, record: int) -> Any:
        return self._store.borrow(record, self._sizes[record])

    def drop(self, record: int) -> None:
        del self._sizes[record]
        self._store.drop(record)

    def replace(self, old: int, by: int) -> None:
        """Drops `old` once `by`, which is persistent, is verified; waits for nothing. Where `by` fails, `finish` says so."""
        self._store.replace(old, by)
        self._sizes.pop(old, None)

    def finish(self) -> None:
        self._store.finish()

    def statistics(self) -> dict[str, Any]:
        return dict(self._store.statistics())

    def trace(self) -> list[tuple[str, int, int, int]]:
        return [(event["name"], round(1000 * event["ts"]), round(1000 * (event["ts"] + event["dur"])), event["args"]["bytes"])
                for event in json.loads(self._store.trace())["traceEvents"] if event["name"] in ("write", "read")]

    def close(self) -> None:
        self._store.close()
