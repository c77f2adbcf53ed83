# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why a case fails: the same again in other ways. The way that mends it is the diagnosis."""

import copy
import hashlib
import json
import pathlib
import shutil
import tempfile

import numpy as np

from drawloom_bench import BenchError, processes
from drawloom_bench.gpu import checks, packed, runtime, watch
from drawloom_bench.gpu.driver import FAILED
from drawloom_bench.gpu.inventory import find_ptxas

ASSEMBLE_SECONDS = 60
NEW = np.uint8(0xFF)  # What new memory of the emulated driver holds.


def digest(data):
    return hashlib.sha256(data).hexdigest()


def rewritten(bundle, target, change):
    """A copy of a bundle in which change(kernel, folder of its architecture) has replaced or left out files of each kernel."""
    shutil.copytree(bundle, target)
    manifest = json.loads((target / "bundle.json").read_text())
    for one in manifest["architectures"]:
        for kernel in one["kernels"]:
            change(kernel, target, one["name"])
    kept = {kernel[kind] for one in manifest["architectures"] for kernel in one["kernels"] for kind in ("cubin", "ptx") if kind in kernel}
    manifest["files"] = [{"path": path, "bytes": (target / path).stat().st_size, "sha256": digest((target / path).read_bytes())}
                         for path in sorted(kept)]
    (target / "bundle.json").write_text(json.dumps(manifest))
    return target


def without_machine_code(kernel, folder, architecture):
    kernel.pop("cubin", None)


def assembled(ptxas, level):
    def change(kernel, folder, architecture):
        source, target = folder / kernel["ptx"], folder / kernel["ptx"].replace(".ptx", ".cubin")
        old = digest(source.read_bytes())
        target.unlink(missing_ok=True)
        processes.called(ptxas, f"-arch={architecture}", f"-O{level}", source, "-o", target, seconds=ASSEMBLE_SECONDS)
        kernel["cubin"] = kernel["ptx"].replace(".ptx", ".cubin")
        # The emulated driver finds what to run by the image.
        module = source.parent / f"{old}.mlir"
        if module.exists():
            shutil.copy(module, source.parent / f"{digest(target.read_bytes())}.mlir")
    return change


def ways(folder, size):
    """By name, how a case's bundle can be run otherwise: what makes the bundle, and the environment."""
    out = {"again": (None, {}), "one launch at a time": (None, {"DRAWLOOM_CUDA_BLOCKING": "1"}),
           "PTX assembled by the driver": (without_machine_code, {})}
    if ptxas := find_ptxas():
        for level in (0, 1):
            out[f"ptxas -O{level}"] = (assembled(ptxas, level), {})
    return out


# What is at fault where a way gives right results.
CULPRITS = {"again": "it does not fail every time", "one launch at a time": "the order of launches, or what runs beside them",
            "PTX assembled by the driver": "the assembler that made the pack's machine code", "ptxas -O0": "the assembler's optimisations",
            "ptxas -O1": "the assembler's optimisations"}


def says(record, ways, step):
    """One sentence."""
    right = [name for name, status in ways.items() if status == "ok"]
    named = next((record[name].get("kernel") for name in ("one launch at a time", "again") if isinstance(record.get(name), dict)
                  and record[name].get("kernel")), None)
    parts = []
    if "again" in right:
        parts.append(CULPRITS["again"])
    elif right:
        parts.append(f"right with {', '.join(right)}: {CULPRITS[right[0]]} is at fault")
    else:
        parts.append("wrong in every way: the code itself is, or the device")
    if step:
        parts.append(step)
    if named and not right:
        parts.append(f"one launch at a time it fails in {named}")
    return "; ".join(parts)


def explain(driver, item, record, setting_modules):
    """Runs a failed item again in all ways and writes one record of what that says."""
    folder = pathlib.Path(item.request["folder"])
    size = item.request.get("size", "small")
    with tempfile.TemporaryDirectory(dir=driver.folder.name) as name:
        found, details = {}, {}
        for number, (way, (change, environment)) in enumerate(ways(folder, size).items()):
            if driver.remaining() < 2 * ASSEMBLE_SECONDS / 60 or driver.dead:
                break
            again = copy.deepcopy(item)
            again.stage, again.environment = "diagnosis", {**item.environment, **environment}
            again.request["runs"] = min(item.request.get("runs", 2), 10)
            # A kernel that cannot be loaded may still run by another image.
            if again.request["do"] == "load":
                again.request.update(do="small", runs=2)
            try:
                if change:
                    again.request["bundle"] = str(rewritten(folder / size, pathlib.Path(name) / str(number), change))
                    again.environment.update(setting_modules([pathlib.Path(again.request["bundle"]), folder]))
                elif item.request["do"] == "load" and way == "again":
                    again.request.update(copy.deepcopy(item.request))
            except (OSError, BenchError) as error:
                found[way] = f"not possible: {str(error).splitlines()[0][:200]}"
                continue
            details[way] = driver.alone(again)
            found[way] = details[way]["status"]
            if found[way] in ("crash", "hang"):
                driver.check_device()
        step = None
        if size == "small" and item.request["do"] == "small" and (folder / "steps.npz").exists() and not driver.dead:
            stepped = copy.deepcopy(item)
            stepped.request["do"] = "steps"
            details["step by step"] = driver.alone(stepped)
            step = details["step by step"]["says"]
    kept = {way: {key: one[key] for key in ("status", "says", "code", "kernel", "phase") if key in one} for way, one in details.items()}
    return {"item": f"diagnosis/{item.name}", "status": "ok", "says": says(details, found, step)[:600],
            "seconds": round(sum(one["seconds"] for one in details.values()), 2), "data": {"ways": found, "details": kept}}


def to_explain(items, results):
    """Failed items whose case can be run in other ways."""
    return [item for item in items if results.get(item.name, {}).get("status") in FAILED and item.request["do"] in ("load", "small", "large")
            and item.stage != "sanitizer"]


# ---------------------------------------------------------------------------
# Step by step, in the worker
# ---------------------------------------------------------------------------


def record(request):
    """Where the pack is made, on the emulated driver: what each step changes of the workspace and the results, as an exclusive or with what
    was there. New memory of that driver holds ones."""
    folder, case = packed.details(request)
    with runtime.Entry(packed.library_of(request), folder / "small", case["entry"], packed.load(folder / "arguments.npz")) as entry:
        changes, before = {}, None
        for step in range(len(entry.steps)):
            entry.run(1, None, step, step + 1)
            state = entry.state()
            for i, part in enumerate(state):
                changes[f"{step}-{i}"] = part ^ (before[i] if before else NEW)
            before = state
    np.savez_compressed(folder / "steps.npz", **changes)
    return "ok", f"{len(entry.steps)} steps", {}


def numbers(part):
    """Bytes as numbers: of the types that there may be, the one that gives the most sensible ones."""
    best = None
    for view in (lambda p: p.view(np.float32).astype(np.float64), lambda p: checks.as_float64(p.view(np.uint16))):
        if part.size % 4:
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            found = view(part)
            sense = np.mean(np.isfinite(found) & ((found == 0) | ((np.abs(found) > 1e-12) & (np.abs(found) < 1e12))))
        if best is None or sense > best[0]:
            best = sense, found
    return best[1] if best else part.astype(np.float64)


def steps(request):
    """Runs step by step beside what the emulator had after each, and names the first step that leaves something else."""
    folder, case = packed.details(request)
    stored = np.load(folder / "steps.npz")
    # Sums in another order differ by this and less.
    tolerance = max(case["tolerance"] or 0, case["rounded"] or 0)
    right = {}
    with runtime.Entry(packed.library_of(request), pathlib.Path(request.get("bundle", folder / "small")), case["entry"],
                       packed.load(folder / "arguments.npz")) as entry:
        for step, name in enumerate(entry.steps):
            watch.phase(f"step {step}")
            entry.run(1, None, step, step + 1)
            for i, part in enumerate(entry.state()):
                change = stored[f"{step}-{i}"]
                right[i] = change ^ right.get(i, NEW)
                # What the emulated step did not change holds anything.
                wrote = change != 0
                if np.array_equal(part[wrote], right[i][wrote]):
                    continue
                found, expected = numbers(part), numbers(right[i])
                if found.shape != expected.shape:
                    expected = np.full(found.shape, np.nan)  # Not even numbers of the same type.
                words = wrote.reshape(found.size, -1).any(1)
                found, expected = found[words], expected[words]
                finite = expected[np.isfinite(expected)]
                scale = max(checks.largest(finite) if finite.size else 0, 1e-30)
                off = int(np.sum(~(np.abs(found - expected) / scale <= tolerance)))
                if off:
                    where = "the workspace" if i == 0 else f"result {i - 1}"
                    return "wrong", f"step {step} of {len(entry.steps)}, {name}, is the first that is wrong: {off} numbers of {where}", {"step": step}
    return "ok", f"all {len(entry.steps)} steps leave what the emulator's left", {}
