# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a process whose torch was built without CUDA the devices cuda:0 and cuda:1, on the emulated driver. It is to be imported before
torch: this looks for devices once.

The kernels of what is compiled for GPUs here are made known to the driver.
"""

import ctypes
import os
import sys
import tempfile

import emulated_kernels
from emulated_driver import LIBRARY
from runner import BUILD

assert "torch" not in sys.modules
os.environ.update(DRAWLOOM_LIBCUDA=str(LIBRARY), DRAWLOOM_EMULATED_DEVICES="2")
device_library = ctypes.CDLL(str(BUILD / "test/emulated-torch/libEmulatedTorch.so"))
device_library.emulatedTorchAllocations.restype = ctypes.c_int64

import torch  # noqa: E402

torch.cuda._lazy_init = lambda: None

from drawloom import _library  # noqa: E402

_folder = tempfile.TemporaryDirectory(prefix="drawloom-kernels-")
_build = _library.build
# The text of each program that was compiled for a GPU.
compiled = []


def _build_with_modules(compiler, sources, shapes):
    target = next(options[0] for options, one in _library._compilers.items() if one is compiler)
    if target.startswith("cuda"):
        # What cannot be compiled, the call itself says.
        emulated_kernels.install(sources, f"{_folder.name}/{len(compiled)}")
        compiled.append((target, sources[0][1].decode()))
    return _build(compiler, sources, shapes)


_library.build = _build_with_modules


class Stream:
    """A stream of its own, the current one of its device meanwhile."""

    def __init__(self, driver, device=0):
        self.device = device
        with on_device(device):
            self.handle = driver.stream()

    def __enter__(self):
        device_library.emulatedTorchSetStream(self.device, self.handle)
        return self

    def __exit__(self, *_):
        device_library.emulatedTorchSetStream(self.device, None)


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
