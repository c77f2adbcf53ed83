# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our runtime through ctypes (benchmarks/native/gpu_runner.cpp): bundles, and the launch plans of their functions."""

import ctypes
import json
import os

import numpy as np

from drawloom_bench import BenchError
from drawloom_bench.gpu import watch

LIBRARY = "libdrawloom_gpu.so"
KINDS = ["pointer", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]
# As plans number them: codegen/Program.h.
ELEMENTS = ["f64", "f32", "bf16", "f16", "i64", "i32", "i8", "i1"]
TYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i64": np.int64, "i32": np.int32,
         "i8": np.int8, "i1": np.bool_}
ALL = 1 << 30  # More steps than a plan has.


class RunError(BenchError):
    """What our runtime, or a tool, refused or found; the message says it whole."""


class Library:
    """The runtime's functions; an error is raised."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.drawloomGpuMessage.restype = ctypes.c_char_p
        address, size = watch.memory_of_kernel()
        self.library.drawloomGpuWatch(ctypes.c_void_p(address), ctypes.c_size_t(size))

    def __call__(self, name, *arguments):
        function = getattr(self.library, "drawloomGpu" + name)
        if function(*arguments):
            raise RunError(self.library.drawloomGpuMessage().decode())

    def run(self, runner, times=1, stream=None, first=0, last=ALL):
        """Puts steps of a runner on a stream, the default one where None."""
        self("Run", runner, ctypes.c_size_t(first), ctypes.c_size_t(last), times, stream)

    def device(self):
        name, capability = ctypes.c_char_p(), ctypes.c_int()
        self("Device", ctypes.byref(name), ctypes.byref(capability))
        return name.value.decode(), capability.value


class Entry:
    """A function of a bundle with its memory: arguments go up once, results come down when asked for. `given`, with
    addresses of all arguments and results, stands for memory that somebody else has; nothing is copied there or from there."""

    def __init__(self, library, folder, entry, arguments, given=None):
        self.library, self.runner, self.given = library, ctypes.c_void_p(), given
        arch = ctypes.c_char_p()
        watch.phase("loading kernels")
        library("Open", str(folder).encode(), ctypes.byref(self.runner), ctypes.byref(arch))
        try:
            self.prepare(json.loads((folder / "bundle.json").read_text()), arch.value.decode(), entry, arguments)
        except BaseException:
            self.close()
            raise

    def prepare(self, manifest, arch, entry, arguments):
        library, plan = self.library, next(one["plan"] for one in manifest["architectures"] if one["name"] == arch)
        grids = {kernel["name"]: kernel["grid"] for kernel in plan["kernels"]}
        found = next(one for one in plan["entries"] if one["name"] == entry)
        if len(arguments) != len(found["arguments"]):
            raise RunError(f"'{entry}' takes {len(found['arguments'])} arguments, not {len(arguments)}")
        arguments = [np.asarray(array, TYPES[ELEMENTS[kind["element"]]], order="C")
                     for array, kind in zip(arguments, found["arguments"])]
        watch.phase("copying arguments")
        self.results = [np.empty(kind["shape"], TYPES[ELEMENTS[kind["element"]]]) for kind in found["results"]]
        if self.given:
            memory = [ctypes.c_void_p(address) for address in self.given]
        else:
            memory = [self.allocate(array.nbytes) for array in (*arguments, *self.results)]
        self.inputs, self.outputs = memory[:len(arguments)], memory[len(arguments):]
        if not self.given:
            for memory, array in zip(self.inputs, arguments):
                self.upload(memory, array)
        self.bytes = sum(array.nbytes for array in [*arguments, *self.results])
        self.workspace_bytes = found["workspace_bytes"]
        self.workspace = self.allocate(self.workspace_bytes)
        self.steps, self.grids = [], []

        def address(kind, value):
            if kind == "workspace":
                return (self.workspace.value or 0) + value
            return {"argument": self.inputs, "result": self.outputs}[kind][value].value or 0

        for step in found["steps"]:
            self.steps.append(step.get("kernel", "product by cuBLASLt" if "product" in step else "copy"))
            self.grids.append(grids.get(step.get("kernel"), 0))
            if "product" in step:
                self.add_product(step["product"], step["workspace_bytes"], [address(*operand) for operand in step["operands"]])
                continue
            if "kernel" not in step:
                source, target = (address(*operand) for operand in step["operands"])
                library.library.drawloomGpuAddCopy(self.runner, ctypes.c_void_p(target), ctypes.c_void_p(source),
                                                   ctypes.c_size_t(step["copy_bytes"]))
                continue
            kinds, bits = [], []
            for kind, value in step["operands"]:
                if kind == "scalar":
                    kinds.append(KINDS.index(ELEMENTS[found["arguments"][value]["element"]]))
                    bits.append(int.from_bytes(arguments[value].tobytes(), "little"))
                else:
                    kinds.append(0)
                    bits.append(address(kind, value))
            library("AddLaunch", self.runner, step["kernel"].encode(), ctypes.c_int64(grids[step["kernel"]]),
                    ctypes.c_size_t(len(kinds)), (ctypes.c_int * len(kinds))(*kinds), (ctypes.c_uint64 * len(bits))(*bits))

    def add_product(self, product, workspace_bytes, operands):
        """A product by cuBLASLt; absent fields of the plan are 0."""
        given = iter(operands)
        pointers = [next(given) if name in ("left", "right", "result", "workspace") or product.get(name) else 0
                    for name in ("left", "right", "addend", "bias", "result", "workspace")]
        numbers = [product.get(name, 0) for name in ("m", "n", "k", "batch")]
        numbers += [KINDS.index(product[name]) for name in ("operands", "result")]
        numbers += [product.get(name, 0) for name in ("transpose_left", "transpose_right")]
        numbers += [product.get(f"{name}_{what}", 0) for what in ("stride", "batch") for name in ("left", "right", "addend", "result")]
        numbers += [product.get(name, 0) for name in ("addend", "bias", "relu")] + [workspace_bytes]
        self.library("AddProduct", self.runner, (ctypes.c_int64 * len(numbers))(*numbers), (ctypes.c_void_p * len(pointers))(*pointers))

    @property
    def launches(self):
        return sum(step != "copy" for step in self.steps)

    def allocate(self, size):
        memory = ctypes.c_void_p()
        self.library("Allocate", self.runner, ctypes.c_size_t(size), ctypes.byref(memory))
        return memory

    def upload(self, memory, array):
        self.library("Upload", self.runner, memory, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))

    def fetch(self, memory, array):
        self.library("Download", self.runner, array.ctypes.data_as(ctypes.c_void_p), memory, ctypes.c_size_t(array.nbytes))
        return array

    def run(self, times=1, stream=None, first=0, last=ALL):
        watch.phase("launching")
        self.library.run(self.runner, times, stream, first, last)

    def wait(self):
        watch.phase("waiting for kernels")
        self.library("Wait", self.runner)

    def download(self):
        """The results, after what was started has ended. The arrays are used again by the next call."""
        self.wait()
        for memory, array in zip(self.outputs, self.results):
            self.fetch(memory, array)
        watch.phase("comparing")
        return self.results

    def state(self):
        """The bytes of the workspace and of all results."""
        self.wait()
        workspace = self.fetch(self.workspace, np.empty(self.workspace_bytes, np.uint8)) if self.workspace_bytes else np.empty(0, np.uint8)
        return [workspace, *(self.fetch(memory, np.empty(array.nbytes, np.uint8)) for memory, array in zip(self.outputs, self.results))]

    def same_bits(self, runs):
        """The first of so many runs whose bits are others, or None. The emulator lets threads take turns in the first, and draws
        who goes on in the others, each by a seed of its own."""
        first = None
        for run in range(runs):
            os.environ["DRAWLOOM_EMULATOR_SEED"] = str(run)
            try:
                self.run()
                found = [array.tobytes() for array in self.download()]
            finally:
                del os.environ["DRAWLOOM_EMULATOR_SEED"]
            if first is None:
                first = found
            elif found != first:
                return run
        return None

    def close(self):
        """Gives back all memory and the kernels."""
        if self.runner:
            self.library.library.drawloomGpuClose(self.runner)
            self.runner = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
