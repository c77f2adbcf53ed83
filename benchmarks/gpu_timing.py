# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times on a GPU with CUDA's events, and the rivals that torch offers. Only gpu_run.py on a device needs this."""

import ctypes
import os
import statistics
import warnings

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


def to_torch(torch, array, element):
    tensor = torch.from_numpy(array.copy() if array.ndim else array.reshape(1).copy()).cuda()
    return tensor.view(torch.bfloat16) if element == "bf16" and array.dtype == "uint16" else tensor


def rational(torch, x, a, b):
    """The formula of docs and papers: Horner, 1 + |Q|."""
    groups = a.shape[0]
    shape = x.shape
    x = x.reshape(shape[0], groups, -1)
    p = a[:, 5, None]
    for k in (4, 3, 2, 1, 0):
        p = p * x + a[:, k, None]
    q = b[:, 3, None]
    for k in (2, 1, 0):
        q = q * x + b[:, k, None]
    return (p / (1 + (q * x).abs())).reshape(shape)


def programs(torch, case, arguments):
    """What torch does for a case: a function without arguments, or None where there is no like program."""
    tensors = [to_torch(torch, array, case.element) for array in arguments]
    trains = case.entry == "train"
    if case.name.startswith("rational"):
        network, x, parameters = (lambda x, p: rational(torch, x, *p)), tensors[0], tensors[2 if trains else 1:]
    elif case.name.startswith("MLP"):
        per = 4 if "rational" in case.name else 2
        x, parameters = tensors[0], [t.to(tensors[0].dtype) for t in tensors[2 if trains else 1:]]

        def network(x, p):
            for i in range(0, len(p), per):
                x = torch.addmm(p[i + 1], x, p[i])
                if i + 2 < len(p):
                    x = rational(torch, x, p[i + 2], p[i + 3]) if per == 4 else torch.relu(x)
            return x
    elif case.name == "AdamW":
        parameter = torch.nn.Parameter(tensors[0])
        parameter.grad = tensors[1]
        optimizer = torch.optim.AdamW([parameter], lr=1e-3, weight_decay=0.01, fused=True)
        return {"torch fused": optimizer.step}
    else:
        return {}
    out = {}
    for name, function in (("torch", network), ("torch.compile", torch.compile(network))):
        if trains:
            leaves = [t.detach().requires_grad_() for t in (x, *parameters)]

            def step(function=function, leaves=leaves):
                torch.autograd.grad(function(leaves[0], leaves[1:]), leaves, tensors[1])
        else:
            def step(function=function):
                with torch.no_grad():
                    function(x, parameters)
        out[name] = step
    return out


def best_rival(case, arguments):
    """Name and microseconds of the fastest rival; ("", None) without torch or a like program."""
    try:
        import torch
    except ImportError:
        return "", None
    best = "", None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, step in programs(torch, case, arguments).items():
            try:
                def run(times, step=step):
                    for _ in range(times):
                        step()
                run(3)
                found = microseconds(run)
            except Exception as error:  # A rival that fails is no reason to stop.
                print(f"  {name} fails on {case.key}: {str(error).splitlines()[0][:120]}")
                continue
            if best[1] is None or found < best[1]:
                best = name, found
    torch.cuda.empty_cache()
    return best
