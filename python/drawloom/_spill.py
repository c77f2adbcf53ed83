# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that may be used, and disks for what does not fit in it."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Union

from . import (
    _drawloom,
    _library,  # noqa: F401  First: it loads the extension module.
)
from ._errors import CallError, CallTypeError

Folders = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

_UNITS = {"": 1, "B": 1, **{f"{letter}B": 1000 ** (i + 1) for i, letter in enumerate("KMGTP")},
          **{f"{letter}iB": 1024 ** (i + 1) for i, letter in enumerate("KMGTP")}}
# Of a folder that nothing is said about, at most this much.
_MOST_RESERVED = 64 << 30


def size_of(what: str, size: int | str) -> int:
    """Bytes of 4096, "512MiB" or "1.5 GB"."""
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
        if not found or found[2] not in _UNITS:
            raise CallError(f"{what} is '{size}'; it is a number of bytes, or a text such as '512MiB', '1.5GB' or '2TiB'")
        return round(float(found[1]) * _UNITS[found[2]])
    if isinstance(size, bool) or not isinstance(size, int):
        raise CallTypeError(f"{what} is of type {type(size).__name__}; it is a number of bytes, or a text such as '512MiB'")
    if size < 0:
        raise CallError(f"{what} is {size}; it is 0 or more bytes")
    return size


def folders_of(what: str, given: Folders) -> list[str]:
    """The folders' names, at least one."""
    listed = [given] if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(listed, Sequence) or not all(isinstance(one, (str, os.PathLike)) for one in listed):
        raise CallTypeError(f"{what} is {given!r}; it is a folder of a local disk, or a list of some")
    if not listed:
        raise CallError(f"{what} is an empty list; it names one folder at least")
    return [os.fspath(one) for one in listed]


def capacity_of(folders: Sequence[str]) -> int:
    """Half of the space that is free, where each has as much as the others and several may be on one disk."""
    on_disk = collections.Counter(os.stat(folder).st_dev for folder in folders)
    shares = (status.f_bavail * status.f_frsize // (2 * on_disk[os.stat(folder).st_dev])
              for folder, status in zip(folders, map(os.statvfs, folders)))
    return min(*shares, _MOST_RESERVED) * len(folders)


class Spill:
    """Folders for values of programs that leave memory. The store is opened when a program with such values is called."""

    def __init__(self, folders: Folders, memory: int) -> None:
        self.folders = folders_of("spill", folders)
        self.memory = memory
        self._lock = threading.Lock()
        # Of this process: a child of fork has none of its parent's.
        self._stores: dict[int, _drawloom.Store] = {}

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Calls that this thread makes meanwhile find the store."""
        with self._lock:
            store = self._stores.get(os.getpid())
            if store is None:
                for folder in self.folders:
                    if not os.path.isdir(folder):
                        raise CallError(f"spill is '{folder}', which is no folder of this machine")
                store = self._stores[os.getpid()] = _drawloom.Store.open(
                    self.folders, capacity_of(self.folders), _drawloom.store_share(self.memory), 0, None,
                    os.environ.get("DRAWLOOM_OFFLOAD_FAULTS") or None)
        _drawloom.use_store(store)
        try:
            yield
        finally:
            _drawloom.use_store(None)
