# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions. Each has what the C interface says of an error; all are caught as drawloom.Error."""


from __future__ import annotations

import functools
import sys


class Error(RuntimeError):
    """Something that Drawloom refused, or could not do.

    message     what went wrong
    location    "name:line:column" in the source, or ""
    phase       the phase that the compiler was in, or ""
    reproducer  a drawloom-run command that shows the same, or ""; text that is in no file is written to one for it
    """

    def __init__(self, message: str, location: str = "", phase: str = "", reproducer: str = "") -> None:
        self.message, self.location, self.phase, self.reproducer = message, location, phase, reproducer
        lines = [f"{location}: {message}" if location else message]
        if phase and location:
            lines.append(f"  in the compiler's phase '{phase}'")
        if reproducer:
            lines.append(f"  to see it outside of Python: {reproducer}")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str, str]]:
        return type(self), (self.message, self.location, self.phase, self.reproducer)


class CompileError(Error):
    """The program is wrong: its text, its types, a shape it is given."""


class TargetError(Error):
    """The target, or an instruction set, is unknown or not of this machine."""


class CallError(Error, ValueError):
    """A call does not fit: shapes, strides, memory that is shared."""

    # The message with the names of operands `so`, where it has some; see drawloom.ops.recurrences.says.
    of_operands: str | None = None


class CallTypeError(CallError, TypeError):
    """A call does not fit: the number of arguments, element types, objects that are no arrays."""


class OutOfMemory(Error, MemoryError):
    """The machine lacks the memory that a call needs."""


class Cancelled(Error):
    """A compilation was stopped."""


class FileError(Error, OSError):
    """A file of a compiled program, or a plugin, cannot be read or written, is damaged, or does not fit."""


class DeviceError(Error):
    """A GPU does not do what a call needs: it has no memory left, a kernel failed, perhaps one of an earlier call."""


class StorageError(Error, OSError):
    """A disk does not do what a call needs: it is full, a write or a read failed, or what was read is not what was written."""


@functools.cache
def _out_of_device_memory():
    # Also torch's own, which programs that try smaller batches wait for.
    theirs = getattr(sys.modules.get("torch"), "OutOfMemoryError", None)
    return type("DeviceOutOfMemory", (DeviceError, OutOfMemory, *([theirs] if theirs else [])), {"__module__": "drawloom"})


def out_of_device_memory(message: str) -> Error:
    """The exception where a framework's allocator has no memory of a GPU left; called by the extension module."""
    made: Error = _out_of_device_memory()(message)
    return made


# By DrawloomErrorCode.
_CLASSES = {1: CompileError, 2: TargetError, 3: CallError, 4: OutOfMemory, 6: Cancelled, 7: FileError, 8: DeviceError, 9: StorageError}


def make(code: int, message: str, location: str, phase: str, reproducer: str) -> Error:
    """The exception for an error of the C interface; called by the extension module."""
    return _CLASSES.get(code, Error)(message, location, phase, reproducer)
