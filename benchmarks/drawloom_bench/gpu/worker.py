# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does one item: python -m drawloom_bench.gpu.worker REQUEST RESULT, files of JSON. driver.py starts it, ends it when its time is over, and finds out
what it did when it ends without a result.

A request has `do`, one of WORK, and what that needs; a function of WORK gives (status, sentence, data).
"""

import json
import pathlib
import sys

import numpy as np

from drawloom_bench.gpu import cases, checks, diagnose, fragments, inventory, package, packed, probes, rivals, runtime, streams, timing, watch
from drawloom_bench.gpu.device import Cuda


def alive(request):
    """Whether the device takes memory, writes it and gives it back."""
    cuda = Cuda()
    ones = np.ones(1024, np.uint32)
    pointer = cuda.upload(ones)
    same = (cuda.download(pointer, ones.shape, ones.dtype) == ones).all()
    return "ok" if same else "wrong", "memory is read as it was written" if same else "memory is not read as it was written", {}


def small(request):
    """A case's small bundle against the interpreter, networks in half precision against a CPU too, against itself, and where
    numbers are defined to agree (on the emulated driver all are) bit for bit against the emulator."""
    folder, case = packed.details(request)
    bundle = pathlib.Path(request.get("bundle", folder / "small"))
    arguments, expected, tolerance = packed.load(folder / "arguments.npz"), packed.load(folder / "expected.npz"), case["tolerance"]
    verdict = checks.Verdict()
    with runtime.Entry(packed.library_of(request), bundle, case["entry"], arguments) as entry:
        runs = request["runs"]
        differs = entry.same_bits(runs)
        results = [checks.as_float64(result) for result in entry.download()]
        if tolerance is not None:
            verdict.compare(results, expected, checks.largest, tolerance, "float64")
        if case["rounded"]:
            rounded = [checks.as_float64(array) for array in packed.load(folder / "rounded.npz")]
            verdict.compare(results, rounded, checks.rms, case["rounded"], "a CPU's results")
        verdict.note(differs is None, f"the same bits in {runs} runs" if differs is None else
                     f"run {differs + 1} has other bits than the first")
        if case["exact"] or request["emulated"]:
            emulated = packed.load(folder / "emulated.npz")
            other = [i for i, (result, e) in enumerate(zip(entry.results, emulated, strict=True)) if result.tobytes() != e.tobytes()]
            verdict.note(not other, f"result {other[0]} has other bits than the emulator's" if other else "the bits of the emulator")
            if other and "worst" not in verdict.data:
                verdict.data["worst"] = checks.worst(results, [checks.as_float64(array) for array in emulated])
    return verdict.result()


def large(request):
    """A case's bundle of the middle or full size against what torch computes in float64 on the device, and against itself."""
    size, case = request["size"], cases.find(request["key"])
    bundle = pathlib.Path(request.get("bundle", pathlib.Path(request["folder"]) / size))
    watch.phase("making arguments")
    arguments = cases.arguments(case, size)
    verdict = checks.Verdict()
    with runtime.Entry(packed.library_of(request), bundle, case.entry, arguments) as entry:
        differs = entry.same_bits(request["runs"])
        results = entry.download()
        verdict.data["blocks"] = max(entry.grids, default=0)
    watch.phase("importing torch")
    try:
        import torch

        from drawloom_bench.gpu import reference
    except ImportError as error:
        return "skipped", f"Python has no torch to compare with ({error})", {}
    watch.phase("computing the reference")
    device = "cuda" if torch.cuda.is_available() and not request["emulated"] else "cpu"
    torch.set_num_threads(request["threads"])
    # Where a rounding crosses a ReLU's zero a gradient jumps: no bound from float64.
    if case.tolerance is not None:
        right = reference.reference(case, arguments, cases.rows(case, size), device)
        how = checks.largest, case.tolerance, f"float64 on {device}"
    else:
        right = reference.rounded(case, arguments, device)
        how = checks.rms, case.rounded, f"torch in {case.element} on {device}"
    # What is not compared would take gigabytes as float64.
    verdict.compare([checks.as_float64(result) for result in right.pick(results)], right.expected, *how)
    verdict.note(differs is None, f"the same bits in {request['runs']} runs" if differs is None else
                 f"run {differs + 1} has other bits than the first")
    return verdict.result()


def times(request):
    """A case's own times."""
    size, case = request["size"], cases.find(request["key"])
    watch.phase("making arguments")
    cuda = Cuda()
    arguments = cases.arguments(case, size)
    with runtime.Entry(packed.library_of(request), pathlib.Path(request["folder"]) / size, case.entry, arguments) as entry:
        stream = cuda.stream()
        found = timing.measure(cuda, stream, lambda: entry.run(1, stream), timing.capture_with(cuda, stream), **request["measure"])
        rows = cases.rows(case, size)
        found.update(rows=rows, launches=entry.launches, bytes=entry.bytes, products=case.products(rows), fused=case.fused(rows), full=size == "full")
    return "ok", timing.says(found), found


WORK = {"alive": alive, "inventory": inventory.inventory, "load": inventory.load_images, "fragments": fragments.item, "probe": probes.item,
        "small": small, "large": large, "times": times, "streams": streams.item, "rival": rivals.item, "steps": diagnose.steps,
        "record": diagnose.record, "package": package.run}


def main():
    request, target = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    watch.phase("starting")
    try:
        status, says, data = WORK[request["do"]](request)
        result = {"status": status, "says": says, "data": data}
    except Exception as error:  # Whatever happens becomes a result, with its place in the log.
        import traceback
        traceback.print_exc()
        # The runtime's errors say all; of Python's own the kind belongs to it.
        text = str(error) if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"
        result = {"status": "crash", "error": type(error).__name__, "says": (text.splitlines() or [type(error).__name__])[0]}
    # Whole or not at all.
    part = target.with_suffix(".part")
    part.write_text(json.dumps(result))
    part.replace(target)


if __name__ == "__main__":
    main()
