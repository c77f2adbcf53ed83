# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a process whose torch was built without CUDA the devices cuda:0 and cuda:1, on the emulated driver. It is to be imported before
torch: this looks for devices once.

The kernels of what is compiled for GPUs here are made known to the driver.
"""

import contextlib
import ctypes
import os
import sys
import tempfile

from support import emulated_kernels
from support.emulated_driver import LIBRARY, NOT_READY, Driver
from support.runner import BUILD

assert "torch" not in sys.modules
os.environ.update(DRAWLOOM_LIBCUDA=str(LIBRARY), DRAWLOOM_EMULATED_DEVICES="2")
# The driver says where it looked for machine code, before it finds PTX.
os.environ.setdefault("DRAWLOOM_EMULATOR_LOG", os.devnull)
device_library = ctypes.CDLL(str(BUILD / "test/emulated-torch/libEmulatedTorch.so"))
device_library.emulatedTorchAllocations.restype = ctypes.c_int64

import torch  # noqa: E402

torch.cuda._lazy_init = lambda: None

from drawloom import _library  # noqa: E402

_folder = tempfile.TemporaryDirectory(prefix="drawloom-kernels-")
_build = _library.build
# The compiler's target of each program that was compiled for a GPU.
compiled = []


def _build_with_modules(compiler, sources, shapes):
    target = next(options[0] for options, one in _library._compilers.items() if one is compiler)
    if target.startswith("cuda"):
        # What cannot be compiled, the call itself says.
        emulated_kernels.install(sources, f"{_folder.name}/{len(compiled)}")
        compiled.append(target)
    return _build(compiler, sources, shapes)


_library.build = _build_with_modules


driver = Driver()
DEVICES, EMULATED, MANY_ROWS = 2, True, 37


class Stream:
    """A stream of its own, the current one of its device meanwhile."""

    def __init__(self, device=0):
        self.device = device
        with on_device(device):
            self.handle = driver.stream()

    def __enter__(self):
        device_library.emulatedTorchSetStream(self.device, self.handle)
        return self

    def __exit__(self, *_):
        device_library.emulatedTorchSetStream(self.device, None)

    def is_busy(self):
        return driver.library.cuStreamQuery(self.handle) == NOT_READY

    def capture(self, step):
        """(what gives the results again, the results of a step that is captured)."""
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        driver.StreamBeginCapture_v2(self.handle, 2)  # Relaxed: a backward pass runs on a thread of autograd's.
        results = step()
        driver.StreamEndCapture(self.handle, ctypes.byref(graph))
        driver.GraphInstantiateWithFlags(ctypes.byref(executable), graph, 0)
        return lambda: driver.GraphLaunch(executable, self.handle), results


class on_device:  # noqa: N801
    """The current device of torch meanwhile."""

    current = 0

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.before, on_device.current = on_device.current, self.device
        device_library.emulatedTorchSetDevice(self.device)

    def __exit__(self, *_):
        on_device.current = self.before
        device_library.emulatedTorchSetDevice(self.before)


@contextlib.contextmanager
def deferred():
    """Work is done when somebody waits for it, and not before."""
    os.environ["DRAWLOOM_EMULATED_DEFER"] = "1"
    try:
        yield
    finally:
        del os.environ["DRAWLOOM_EMULATED_DEFER"]


def allocations():
    """How often torch's allocator was asked for memory."""
    return device_library.emulatedTorchAllocations()


@contextlib.contextmanager
def no_memory():
    """torch's allocator has none."""
    device_library.emulatedTorchSetLimit(0)
    try:
        yield
    finally:
        device_library.emulatedTorchSetLimit(ctypes.c_size_t(-1))


@contextlib.contextmanager
def failing_kernels():
    os.environ["DRAWLOOM_EMULATED_FAULT"] = "late-failure"
    try:
        yield
    finally:
        del os.environ["DRAWLOOM_EMULATED_FAULT"]
        driver.reset()
