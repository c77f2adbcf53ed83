# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulated libcuda.so.1 through ctypes, with arrays of NumPy."""

import ctypes
import hashlib

import numpy as np
import pytest

from drawloom_bench.gpu.device import Cuda, CudaError  # noqa: F401 (tests take both from here)
from support.runner import BUILD

LIBRARY = BUILD / "emulated-driver" / "libcuda.so.1"

# A library with sanitizers in it cannot be loaded into a Python without.
SANITIZED = "DRAWLOOM_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()
needs_driver = pytest.mark.skipif(SANITIZED, reason="the emulated driver is built with sanitizers")

INVALID_VALUE, OUT_OF_MEMORY = 1, 2
NO_BINARY_FOR_GPU, NOT_READY, LAUNCH_FAILED = 209, 600, 719

ARENA = (
    "llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>\n"
)


class Driver(Cuda):
    """Calls `cuX(...)` as `driver.X(...)`; anything but CUDA_SUCCESS is raised."""

    def __init__(self):
        super().__init__(str(LIBRARY))

    def reset(self):
        self.library.cuDevicePrimaryCtxReset_v2(0)

    def alloc(self, size):
        pointer = ctypes.c_uint64()
        self.MemAlloc_v2(ctypes.byref(pointer), size)
        return pointer.value

    def download(self, pointer, like):
        array = np.empty_like(like)
        self.MemcpyDtoH_v2(array.ctypes.data_as(ctypes.c_void_p), pointer, array.nbytes)
        return array

    def load(self, image):
        module = ctypes.c_void_p()
        self.ModuleLoadData(ctypes.byref(module), image)
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.ModuleGetFunction(ctypes.byref(function), module, name.encode())
        return function

    def launch(self, function, arguments, threads, grid=(1, 1, 1), shared=0, stream=None):
        """`arguments` are ctypes values; the two scratch pointers are added."""
        values = [*arguments, ctypes.c_uint64(0), ctypes.c_uint64(0)]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        self.LaunchKernel(function, *grid, threads, 1, 1, shared, stream, pointers, None)

    def stream(self):
        stream = ctypes.c_void_p()
        self.StreamCreate(ctypes.byref(stream), 0)
        return stream


def install(folder, image, text):
    """Makes the kernels of `text` those of the image."""
    (folder / (hashlib.sha256(image).hexdigest() + ".mlir")).write_text(text)
    return image
