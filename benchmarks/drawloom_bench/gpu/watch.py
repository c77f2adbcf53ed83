# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A page of memory in a file, in which a worker writes what it is doing. It outlives the worker, however that ends."""

import ctypes
import mmap
import os

VARIABLE = "DRAWLOOM_GPU_WATCH"
PHASE, KERNEL = 64, 448  # Bytes: what Python does, then the last kernel that was launched.


class Page:
    def __init__(self, path):
        self.file = open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), PHASE + KERNEL)

    def write(self, start, size, text):
        self.memory[start:start + size] = text.encode()[:size - 1].ljust(size, b"\0")


page = Page(os.environ[VARIABLE]) if VARIABLE in os.environ else None


def create(path):
    path.write_bytes(bytes(PHASE + KERNEL))


def read(path):
    """The phase and the kernel that a worker wrote last; empty where it wrote none."""
    data = path.read_bytes()
    return tuple(part.split(b"\0")[0].decode(errors="replace") for part in (data[:PHASE], data[PHASE:]))


def phase(text):
    if page:
        page.write(0, PHASE, text)


def kernel(name):
    if page:
        page.write(PHASE, KERNEL, name)


def memory_of_kernel():
    """The address and size of the place for the kernel's name; nothing where nobody watches."""
    if not page:
        return None, 0
    return ctypes.addressof(ctypes.c_char.from_buffer(page.memory, PHASE)), KERNEL
