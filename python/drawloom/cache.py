# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache of compiled programs: a folder that any number of processes share, and that outlives them.

It is $DRAWLOOM_CACHE, else drawloom in $XDG_CACHE_HOME or ~/.cache; an empty $DRAWLOOM_CACHE means no cache. It may be
removed at any time: what is missing or damaged is compiled again. Its programs run in this process, so what belongs to
another user, or others may write to, is not used.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

from . import _library
from ._errors import Error, FileError

__all__ = ["Info", "Statistics", "clear", "export", "folder", "import_", "info", "statistics", "verify"]

_PREFIX = "llvmcache-"
_UNFINISHED = "-new-"
_Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Info:
    """folder: where the programs are kept, or None; entries: how many; bytes: that they take."""

    folder: str | None
    entries: int
    bytes: int


@dataclass(frozen=True)
class Statistics:
    """What this process has done for the programs that it was asked for: compiled so many, in so many seconds; loaded others from
    the folder; remembered others; and failed to compile others."""

    compiled: int
    seconds: float
    loaded: int
    remembered: int
    failed: int


def statistics() -> Statistics:
    """How many programs this process has compiled, loaded and remembered so far. What a loop costs shows in the difference."""
    counts = [one.statistics() for one in _library.all_compilers()]
    return Statistics(*(sum(column) for column in zip(*counts))) if counts else Statistics(0, 0.0, 0, 0, 0)


def folder() -> str | None:
    """Where compiled programs are kept, or None where none are."""
    given = os.environ.get("DRAWLOOM_CACHE")
    if given is not None:
        return given or None
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "drawloom")


def _entries(where):
    if where is None or not os.path.isdir(where):
        return []
    return sorted(os.path.join(where, name) for name in os.listdir(where) if name.startswith(_PREFIX) and _UNFINISHED not in name)


def _unfinished(where):
    """What a process writes at this moment, or was writing when it was killed."""
    if where is None or not os.path.isdir(where):
        return []
    return [os.path.join(where, name) for name in os.listdir(where) if name.startswith(_PREFIX) and _UNFINISHED in name]


def info(where: _Path | None = None) -> Info:
    """How much is in the cache, or in the folder given."""
    where = os.fspath(where or folder() or "") or None
    sizes = []
    for path in _entries(where):
        try:
            sizes.append(os.path.getsize(path))
        except FileNotFoundError:  # Another process may remove it at any time.
            pass
    return Info(where, len(sizes), sum(sizes))


def clear(where: _Path | None = None) -> int:
    """Removes the compiled programs; gives their number. Programs that are loaded stay loaded."""
    count = 0
    for path in _unfinished(where or folder()):
        try:
            os.remove(path)
        except FileNotFoundError:
            pass
    for path in _entries(where or folder()):
        try:
            os.remove(path)
            count += 1
        except FileNotFoundError:
            pass
    return count


def _damage(path):
    """Why an entry cannot be used, or None."""
    if not os.path.isfile(path) or os.path.islink(path):
        return "is no regular file"
    try:
        with open(path, "rb") as file:
            key, first, payload = file.readline(256), file.readline(256), file.read()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if key != b"drawloom-cache 1 " + os.path.basename(path)[len(_PREFIX):].encode() + b"\n":
        return "is the entry of another program, or no entry"
    words = first.split()
    if len(words) != 5 or words[0] != b"drawloom-artifact" or not first.endswith(b"\n"):
        return "is no compiled program"
    if len(payload) != int(words[2]) + int(words[3]):
        return f"has {len(payload)} bytes behind its first lines, not {int(words[2]) + int(words[3])}: it is cut off, or something was added"
    if hashlib.sha256(payload).hexdigest().encode() != words[4]:
        return "is damaged: its checksum is another one"
    return None


def verify(where: _Path | None = None) -> Mapping[str, str]:
    """Reads every entry and compares its checksum. Gives {path: what is wrong} for those that cannot be used; such an
    entry is compiled again when it is next wanted."""
    found = {path: _damage(path) for path in _entries(where or folder())}
    return {path: damage for path, damage in found.items() if damage}


def export(path: _Path, where: _Path | None = None) -> int:
    """Writes the compiled programs that are whole into one file, for `import_` on another machine; gives their number.

    Programs for this machine's own instruction set serve processors with the same features; compile with isa="avx2" or
    the like for those that serve any.
    """
    where = where or folder()
    good = [entry for entry in _entries(where) if _damage(entry) is None]
    directory = os.path.dirname(os.path.abspath(path))
    # Whoever reads `path` finds all of it or nothing, also when the disk is full.
    try:
        handle, temporary = tempfile.mkstemp(dir=directory, prefix=".drawloom-")
    except OSError as error:
        raise FileError(f"the cache cannot be exported to '{path}': {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
            for entry in good:
                archive.add(entry, arcname=os.path.basename(entry))
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise FileError(f"the cache cannot be exported to '{path}': {error.strerror}") from error
        raise
    return len(good)


def import_(path: _Path, where: _Path | None = None) -> int:
    """Takes the compiled programs of a file that `export` wrote; gives their number. Entries that are here stay. The file is
    looked at as a whole first: one that is damaged adds nothing. Also drawloom.cache.__dict__["import"]."""
    where = where or folder()
    if where is None:
        raise Error("there is no cache: DRAWLOOM_CACHE is empty")
    # What others may write to is not used.
    os.makedirs(where, mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=where, prefix=".import-") as staging:
        names = []
        try:
            with tarfile.open(path) as archive:
                for member in archive:
                    # A name from elsewhere is not trusted to stay in the folder.
                    key = member.name[len(_PREFIX):]
                    if not member.isfile() or not member.name.startswith(_PREFIX) or not key.isalnum():
                        raise Error(f"'{path}' holds '{member.name}', which is no compiled program: it was not made by drawloom.cache.export")
                    with open(os.open(os.path.join(staging, member.name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                        content = archive.extractfile(member)
                        assert content is not None  # It is a file.
                        file.write(content.read())
                    damage = _damage(os.path.join(staging, member.name))
                    if damage:
                        raise Error(f"'{path}': the entry '{member.name}' {damage}")
                    names.append(member.name)
        except (tarfile.TarError, EOFError) as error:
            raise Error(f"'{path}' is no exported cache, or is damaged: {error}") from error
        except OSError as error:
            raise FileError(f"'{path}' cannot be imported: {error.strerror or error}") from error
        count = 0
        for name in names:
            if not os.path.exists(os.path.join(where, name)):
                os.replace(os.path.join(staging, name), os.path.join(where, name))
                count += 1
        return count


# Under the name that says it best, which Python's grammar keeps for itself: getattr(drawloom.cache, "import").
globals()["import"] = import_
