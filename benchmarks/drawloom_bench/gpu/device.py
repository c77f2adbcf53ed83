# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA's driver and NVIDIA's management library through ctypes: images, launches, streams, graphs; clocks."""

import ctypes
import os
import threading
import time

import numpy as np

from drawloom_bench.gpu import watch

# Numbers of CUfunction_attribute and CUdevice_attribute.
FUNCTION = {"threads": 0, "shared_bytes": 1, "local_bytes": 3, "registers": 4}
DEVICE = {"multiprocessors": 16, "kilohertz": 13, "integrated": 18, "memory_kilohertz": 36, "bus_bits": 37, "l2_bytes": 38,
          "capability_major": 75, "capability_minor": 76, "registers_per_multiprocessor": 82, "ecc": 32,
          "shared_bytes_per_multiprocessor": 81, "shared_bytes_per_block": 97}
MOST_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
CAPTURE_GLOBAL = 0  # The strictest mode, which is what torch captures in.
JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6


class CudaError(RuntimeError):
    """A function of the driver failed; the message holds CUDA's name for why."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def torch_on_device(emulated):
    """torch where it can use the device, or why it cannot: a string."""
    if emulated:
        return "torch cannot use the emulated device"
    watch.phase("importing torch")
    try:
        import torch
    except ImportError as error:
        return f"Python has no torch ({error})"
    return torch if torch.cuda.is_available() else "torch finds no device"


class Cuda:
    """cuX(...) as cuda.X(...), in the primary context of the first device."""

    def __init__(self, library=None):
        self.library = ctypes.CDLL(library or os.environ.get("DRAWLOOM_LIBCUDA", "libcuda.so.1"))
        self.Init(0)
        context = ctypes.c_void_p()
        self.DevicePrimaryCtxRetain(ctypes.byref(context), 0)
        self.CtxSetCurrent(context)

    def __getattr__(self, name):
        function = getattr(self.library, "cu" + name)

        def call(*arguments):
            # Plain numbers would go as 32 bits.
            code = function(*(ctypes.c_uint64(a) if isinstance(a, int) and not isinstance(a, bool) else a for a in arguments))
            if code:
                raise CudaError(f"cu{name}: {self.describe(code)}", code)

        return call

    def describe(self, code):
        name = ctypes.c_char_p()
        self.library.cuGetErrorName(code, ctypes.byref(name))
        return f"{name.value.decode()} ({code})" if name.value else f"CUDA_ERROR_{code}"

    def number(self, name, *arguments):
        """What a function writes to its first parameter, an int."""
        value = ctypes.c_int()
        getattr(self, name)(ctypes.byref(value), *arguments)
        return value.value

    def attributes(self):
        return {name: self.number("DeviceGetAttribute", ctypes.c_int(number), ctypes.c_int(0)) for name, number in DEVICE.items()
                if not self.library.cuDeviceGetAttribute(ctypes.byref(ctypes.c_int()), number, 0)}

    def memory(self):
        """Bytes that are free, and all."""
        free, whole = ctypes.c_size_t(), ctypes.c_size_t()
        self.MemGetInfo_v2(ctypes.byref(free), ctypes.byref(whole))
        return free.value, whole.value

    # Memory

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.MemAlloc_v2(ctypes.byref(pointer), max(size, 1))
        return pointer.value

    def upload(self, array):
        array = np.ascontiguousarray(array)
        pointer = self.allocate(array.nbytes)
        if array.nbytes:
            self.MemcpyHtoD_v2(pointer, array.ctypes.data_as(ctypes.c_void_p), array.nbytes)
        return pointer

    def download(self, pointer, shape, kind):
        array = np.empty(shape, kind)
        if array.nbytes:
            self.MemcpyDtoH_v2(array.ctypes.data_as(ctypes.c_void_p), pointer, array.nbytes)
        return array

    def free(self, *pointers):
        for pointer in pointers:
            self.MemFree_v2(pointer)

    # Images and launches

    def load(self, image):
        """A module of a cubin's bytes or of PTX, which the driver assembles."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self.ModuleLoadDataEx(ctypes.byref(module), image + b"\0", ctypes.c_uint(2), options, values)
        except CudaError as error:
            raise CudaError(f"{error}: {log.value.decode(errors='replace')[:600]}" if log.value else str(error)) from None
        return module

    def function(self, module, name, shared=0):
        function = ctypes.c_void_p()
        self.ModuleGetFunction(ctypes.byref(function), module, name.encode())
        if shared > 48 << 10:
            self.FuncSetAttribute(function, ctypes.c_int(MOST_DYNAMIC_SHARED), ctypes.c_int(shared))
        return function

    def usage(self, function, threads, shared):
        """Registers, local bytes and so on of a loaded kernel, and how many of its blocks a multiprocessor holds."""
        out = {name: self.number("FuncGetAttribute", ctypes.c_int(number), function) for name, number in FUNCTION.items()
               if not self.library.cuFuncGetAttribute(ctypes.byref(ctypes.c_int()), number, function)}
        out["blocks"] = self.number("OccupancyMaxActiveBlocksPerMultiprocessor", function, ctypes.c_int(threads), shared)
        return out

    def launch(self, function, arguments, threads, blocks=1, shared=0, stream=None, name=""):
        """Arguments are values of ctypes, or numbers, which are addresses."""
        watch.kernel(name)
        values = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self.LaunchKernel(function, *map(ctypes.c_uint, (blocks, 1, 1, threads, 1, 1, shared)), stream, pointers, None)

    # Streams, events, graphs

    def wait(self, stream=None):
        self.StreamSynchronize(stream) if stream else self.CtxSynchronize()

    def stream(self):
        stream = ctypes.c_void_p()
        self.StreamCreate(ctypes.byref(stream), ctypes.c_uint(1))  # It does not wait for the default stream.
        return stream

    def event(self):
        event = ctypes.c_void_p()
        self.EventCreate(ctypes.byref(event), ctypes.c_uint(0))
        return event

    def seconds(self, work, stream):
        """Between two events around work(), which puts something on the stream."""
        events = [self.event(), self.event()]
        self.EventRecord(events[0], stream)
        work()
        self.EventRecord(events[1], stream)
        self.EventSynchronize(events[1])
        milliseconds = ctypes.c_float()
        self.EventElapsedTime(ctypes.byref(milliseconds), *events)
        for event in events:
            self.EventDestroy_v2(event)
        return milliseconds.value / 1e3

    def capture(self, stream, work):
        """A CUDA graph of what work() puts on the stream, ready to be launched."""
        self.StreamBeginCapture_v2(stream, ctypes.c_int(CAPTURE_GLOBAL))
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        try:
            work()
        finally:
            self.StreamEndCapture(stream, ctypes.byref(graph))
        self.GraphInstantiateWithFlags(ctypes.byref(executable), graph, 0)
        self.GraphDestroy(graph)
        return executable


class Clocks:
    """Samples the clocks of the first device while a block runs; `found` is what they were, None without NVML."""

    PERIOD = 0.01

    def __init__(self):
        self.found, self.samples, self.reasons = None, [], 0
        try:
            self.library = None if os.environ.get("DRAWLOOM_LIBCUDA") else ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self.library = None

    def read(self, name, *arguments):
        value = ctypes.c_ulonglong()
        return None if getattr(self.library, name)(self.device, *arguments, ctypes.byref(value)) else value.value

    def sample(self):
        while not self.stop:
            self.samples.append([self.read("nvmlDeviceGetClockInfo", 1), self.read("nvmlDeviceGetClockInfo", 2),
                                 self.read("nvmlDeviceGetTemperature", 0), self.read("nvmlDeviceGetPowerUsage")])
            self.reasons |= self.read("nvmlDeviceGetCurrentClocksThrottleReasons") or 0
            time.sleep(self.PERIOD)

    def __enter__(self):
        self.device, self.stop = ctypes.c_void_p(), False
        if self.library and not self.library.nvmlInit_v2() and not self.library.nvmlDeviceGetHandleByIndex_v2(
                0, ctypes.byref(self.device)):
            self.thread = threading.Thread(target=self.sample, daemon=True)
            self.thread.start()
        else:
            self.library = None
        return self

    def __exit__(self, *_):
        self.stop = True
        if not self.library:
            return
        self.thread.join()
        columns = [[value for value in column if value is not None] for column in zip(*self.samples)]
        if columns and columns[0]:
            clocks = sorted(columns[0])
            self.found = {"sm_mhz": [clocks[0], clocks[len(clocks) // 2], clocks[-1]],
                          "memory_mhz": max(columns[1], default=None), "celsius": max(columns[2], default=None),
                          "watts": max(columns[3], default=0) / 1e3, "throttle_reasons": self.reasons,
                          # A time whose clock fell by more than 3 % while it was taken is not to be compared.
                          "steady": clocks[0] >= 0.97 * clocks[-1]}
