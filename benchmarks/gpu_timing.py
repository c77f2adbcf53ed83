# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times on a GPU with CUDA's events. Only gpu_run.py on a device needs this."""

import ctypes
import os
import statistics

MEASUREMENTS, SECONDS = 7, 0.05


class Events:
    """CUDA's events on the default stream of the current device, of the driver itself."""

    def __init__(self):
        self.driver = ctypes.CDLL(os.environ.get("DRAWLOOM_LIBCUDA", "libcuda.so.1"))
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.call("cuEventCreate", ctypes.byref(event), 0)

    def call(self, name, *arguments):
        code = getattr(self.driver, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} gives {code}")

    def seconds(self, work):
        self.call("cuEventRecord", self.events[0], None)
        work()
        self.call("cuEventRecord", self.events[1], None)
        self.call("cuEventSynchronize", self.events[1])
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), *self.events)
        return milliseconds.value / 1e3


events = None


def microseconds(run):
    """The median over some measurements of many runs; run(times) puts them on the default stream."""
    global events
    events = events or Events()
    run(1)
    once = events.seconds(lambda: run(2)) / 2
    times = max(1, min(1000, int(SECONDS / max(once, 1e-6))))
    return statistics.median(events.seconds(lambda: run(times)) / times for _ in range(MEASUREMENTS)) * 1e6
