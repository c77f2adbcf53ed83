# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels beside others: streams, graphs, memory of ours and of torch's, products by cuBLASLt. Everything that runs elsewhere in the
default stream alone."""

import ctypes
import json
import pathlib

import numpy as np

from drawloom_bench.gpu import checks, packed, runtime
from drawloom_bench.gpu.device import Cuda, torch_on_device

REPEATS = 20


class Setup:
    """The small bundle of a case, and the bits that it gives in the default stream."""

    def __init__(self, request):
        self.request, self.cuda = request, Cuda()
        self.library = packed.library_of(request)
        self.folder, self.case = packed.details(request)
        self.arguments = packed.load(self.folder / "arguments.npz")
        with self.open() as entry:
            entry.run()
            self.bits = [array.tobytes() for array in entry.download()]

    def open(self, **options):
        return runtime.Entry(self.library, self.folder / "small", self.case["entry"], self.arguments, **options)

    def forget(self, entry):
        """Overwrites the results, so that old ones are not taken for new ones."""
        for memory, array in zip(entry.outputs, entry.results):
            entry.upload(memory, np.full(array.nbytes, 0xA5, np.uint8))

    def same(self, entry):
        return [array.tobytes() for array in entry.download()] == self.bits


def verdict(rights, what):
    """Of a list of booleans."""
    wrong = len(rights) - sum(rights)
    return ("wrong", f"{wrong} of {len(rights)} times other bits: {what}", {}) if wrong else ("ok", f"{len(rights)} times the same bits: {what}", {})


def other_stream(setup):
    cuda, stream, rights = setup.cuda, setup.cuda.stream(), []
    with setup.open() as entry:
        for _ in range(REPEATS):
            setup.forget(entry)
            entry.run(1, stream)
            cuda.wait(stream)
            rights.append(setup.same(entry))
    return verdict(rights, "on a stream that does not wait for the default one")


def two_streams(setup):
    streams = [setup.cuda.stream(), setup.cuda.stream()]
    with setup.open() as one, setup.open() as two:
        rights = []
        for _ in range(REPEATS):
            for entry in (one, two):
                setup.forget(entry)
            for _ in range(3):
                for entry, stream in zip((one, two), streams):
                    entry.run(1, stream)
            for stream in streams:
                setup.cuda.wait(stream)
            rights += [setup.same(one), setup.same(two)]
    return verdict(rights, "two at once, each on a stream of its own")


def graph(setup):
    cuda, stream, rights = setup.cuda, setup.cuda.stream(), []
    with setup.open() as entry:
        entry.run(1, stream)
        cuda.wait(stream)
        executable = cuda.capture(stream, lambda: entry.run(1, stream))
        for _ in range(REPEATS):
            setup.forget(entry)
            cuda.GraphLaunch(executable, stream)
            cuda.wait(stream)
            rights.append(setup.same(entry))
        cuda.GraphExecDestroy(executable)
    return verdict(rights, "captured once, replayed")


def graph_beside_eager(setup):
    cuda, streams, rights = setup.cuda, [setup.cuda.stream(), setup.cuda.stream()], []
    with setup.open() as captured, setup.open() as eager:
        captured.run(1, streams[0])
        cuda.wait(streams[0])
        executable = cuda.capture(streams[0], lambda: captured.run(1, streams[0]))
        for _ in range(REPEATS):
            for entry in (captured, eager):
                setup.forget(entry)
            cuda.GraphLaunch(executable, streams[0])
            eager.run(1, streams[1])
            for stream in streams:
                cuda.wait(stream)
            rights += [setup.same(captured), setup.same(eager)]
        cuda.GraphExecDestroy(executable)
    return verdict(rights, "replays beside calls on another stream")


def memory(setup):
    """All memory comes back when a function is closed."""
    setup.open().close()
    before = setup.cuda.memory()[0]
    for _ in range(REPEATS):
        with setup.open() as entry:
            entry.run()
    lost = before - setup.cuda.memory()[0]
    return ("wrong" if lost > 0 else "ok", f"{max(lost, 0)} bytes of the device are lost by opening and closing {REPEATS} times", {"lost": lost})


def products(setup):
    """The same program with its dense products left to NVIDIA's library, which torch brings."""
    folder = pathlib.Path(setup.request["pack"]) / "products"
    case = json.loads((folder / "case.json").read_text())
    data = {}
    if not setup.request["emulated"]:
        import torch  # Its libraries are then where ours look for them.
        data["torch"] = torch.__version__
    expected = packed.load(folder / "expected.npz")
    found = checks.Verdict()
    with runtime.Entry(setup.library, folder / "small", case["entry"], packed.load(folder / "arguments.npz")) as entry:
        entry.run()
        results = [checks.as_float64(result) for result in entry.download()]
        steps = entry.steps
    count = sum(step == "product by cuBLASLt" for step in steps)
    found.data.update(data, steps=steps)
    found.note(count > 0, f"{count} of {len(steps)} steps are products by cuBLASLt")
    found.compare(results, expected, checks.largest, case["tolerance"], "float64")
    return found.result()


# ---------------------------------------------------------------------------
# With torch
# ---------------------------------------------------------------------------


class Tensors:
    """The arguments of a case as torch's tensors on the device, bytes, and tensors for the results."""

    def __init__(self, setup, torch):
        self.setup, self.torch = setup, torch
        with setup.open() as entry:
            # As the plan has them: a scalar too has bytes.
            self.inputs = [torch.from_numpy(np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy()).cuda() if array.nbytes else None
                           for array in map(np.asarray, setup.arguments)]
            self.outputs = [torch.zeros(array.nbytes, dtype=torch.uint8, device="cuda") for array in entry.results]
        self.entry = setup.open(given=[0 if t is None else t.data_ptr() for t in (*self.inputs, *self.outputs)])

    def same(self):
        return [t.cpu().numpy().tobytes() for t in self.outputs] == self.setup.bits


def torch_stream(setup, torch):
    """torch's current stream alone orders what torch and we put on it; nothing waits in between."""
    tensors, rights = Tensors(setup, torch), []
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for _ in range(REPEATS):
                kept = [t.clone() for t in tensors.inputs]
                for t in (*tensors.inputs, *tensors.outputs):
                    t.fill_(0xA5)
                for t, k in zip(tensors.inputs, kept):
                    t.copy_(k)
                tensors.entry.run(1, ctypes.c_void_p(stream.cuda_stream))
                doubled = [t.clone() for t in tensors.outputs]
                stream.synchronize()
                rights.append([t.cpu().numpy().tobytes() for t in doubled] == setup.bits)
    return verdict(rights, "between torch's kernels, on its default stream and another one")


def torch_graph(setup, torch):
    """A graph of torch's with our kernels in it, replayed beside eager calls of both."""
    tensors, rights = Tensors(setup, torch), []
    other = Tensors(setup, torch)
    kept = [t.clone() for t in tensors.inputs]
    tensors.entry.run(1)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for t, k in zip(tensors.inputs, kept):
            t.copy_(k)
        tensors.entry.run(1, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        copies = [t.clone() for t in tensors.outputs]
    for _ in range(REPEATS):
        for t in (*tensors.inputs, *tensors.outputs, *copies, *other.outputs):
            t.fill_(0xA5)
        captured.replay()
        other.entry.run(1, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        torch.randn(1 << 20, device="cuda").sum()
        torch.cuda.synchronize()
        rights += [[t.cpu().numpy().tobytes() for t in copies] == setup.bits, other.same()]
    return verdict(rights, "in a graph of torch's, beside eager calls")


def torch_dlpack(setup, torch):
    """Memory goes through DLPack and outlives the tensor that it came from; new tensors of torch's must not get it meanwhile."""
    tensors, rights = Tensors(setup, torch), []
    for _ in range(REPEATS):
        views = [torch.from_dlpack(t.clone()) for t in (*tensors.inputs, *tensors.outputs)]
        with setup.open(given=[view.data_ptr() for view in views]) as entry:
            torch.full((1 << 20,), 165, dtype=torch.uint8, device="cuda")
            torch.cuda.synchronize()
            entry.run()
            entry.wait()
            rights.append([view.cpu().numpy().tobytes() for view in views[len(tensors.inputs):]] == setup.bits)
    return verdict(rights, "in memory that came through DLPack")


OURS = {"other stream": other_stream, "two streams": two_streams, "graph": graph, "graph beside calls": graph_beside_eager, "memory": memory,
        "products by cuBLASLt": products}
TORCH = {"current stream": torch_stream, "graph": torch_graph, "DLPack": torch_dlpack}


def item(request):
    if request["subject"] in OURS and not request["torch"]:
        return OURS[request["subject"]](Setup(request))
    torch = torch_on_device(request["emulated"])
    if isinstance(torch, str):
        return "skipped", torch, {}
    torch.zeros(1, device="cuda")
    return TORCH[request["subject"]](Setup(request), torch)
