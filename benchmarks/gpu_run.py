# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs GPU kernels with arguments and expected results, and checks and times them where there is neither compiler nor LLVM.

benchmarks/gpu.sh calls this; see there. A pack holds one folder a case: case.json, small/ and full/ (bundles), arguments.npz,
expected.npz (float64, of the interpreter) and emulated.npz (of the emulator) for small/, ttir.json.gz (the program at full size
for Triton); fragments/ (gpu_fragments.py); and libdrawloom_gpu.so, the runtime.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = pathlib.Path(os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build"))
LIBRARY = "libdrawloom_gpu.so"
MOST_BYTES = 60 << 20
KINDS = ["pointer", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]
# As plans number them: codegen/Program.h.
ELEMENTS = ["f64", "f32", "bf16", "f16", "i64", "i32", "i8", "i1"]
TYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i64": np.int64, "i32": np.int32,
         "i8": np.int8, "i1": np.bool_}
# Bytes a second, multiply-adds a second in half precision and in f32, by what is in the device's name.
ROOFS = {"H200": (4.8e12, 494e12, 33.5e12), "H100": (3.35e12, 494e12, 33.5e12), "A100": (2.04e12, 156e12, 9.75e12)}


class RunError(RuntimeError):
    pass


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["no message"]
        raise RunError(f"{pathlib.Path(str(command[0])).name}: {lines[0][:300]}")


# ---------------------------------------------------------------------------
# Packing: on the machine that has the compiler
# ---------------------------------------------------------------------------


def copy_runtime(folder):
    """The runtime as one library that needs libc and the driver only."""
    built = BUILD / "benchmarks" / LIBRARY
    if not built.exists():
        raise RunError(f"there is no '{built}'; build it: ninja -C {BUILD} DrawloomGpuRunner")
    shutil.copy(built, folder)


def bundle(case, rows, folder, architectures, modules):
    program = folder.with_suffix(".mlir")
    program.write_text(case.text(rows))
    call(BUILD / "bin" / "drawloom-translate", "--mlir-to-bundle", f"--arch={','.join(architectures)}",
         f"--bundle-dir={folder}", *(["--bundle-modules"] if modules else []), "--line-info=false", program, timeout=400)
    if not modules:
        # Not needed to launch; readers check only the files that they read.
        for path in folder.rglob("*.llir"):
            path.unlink()
    return program


# Whose results the hardware may round in another way or another order than the emulator does.
LOOSE = re.compile(r"\.approx|\bmma\.|\bwgmma\.|\bred\.|\batom\.|\.ftz")


def exact(bundle_folder):
    """Whether the emulator's results are defined to be the hardware's, bit for bit: no approximation, no sum in an order that is
    not said."""
    return not any(LOOSE.search(path.read_text()) for path in bundle_folder.rglob("*.ptx"))


def export(case, path):
    """The program at full size for Triton; what it cannot say is no part of the pack."""
    import gpu_rivals
    import gpu_triton
    try:
        gpu_rivals.write_exported(path, gpu_triton.export(case.text(case.rows)))
    except gpu_triton.TritonError as error:
        print(f"no TTIR   {case.key}: {error}", flush=True)


def pack_fragments(folder, architectures, modules):
    import gpu_fragments
    program = folder / "fragments.mlir"
    program.write_text(gpu_fragments.module())
    call(BUILD / "bin" / "drawloom-translate", "--mlir-to-bundle", f"--arch={','.join(architectures)}",
         f"--bundle-dir={folder / 'fragments'}", *(["--bundle-modules"] if modules else []), program, timeout=400)


def pack_case(case, folder, architectures, modules, full):
    folder.mkdir()
    try:
        program = bundle(case, case.small, folder / "small", architectures, modules)
        if full:
            bundle(case, case.rows, folder / "full", architectures, False)
    except (RunError, subprocess.TimeoutExpired) as error:
        shutil.rmtree(folder)
        return str(error).splitlines()[0]
    arguments = case.arguments(np.random.default_rng(7), case.small)
    np.savez_compressed(folder / "arguments.npz", *arguments)
    with tempfile.TemporaryDirectory() as name:
        files = []
        for i, array in enumerate(arguments):
            files.append(pathlib.Path(name) / f"{i}.npy")
            np.save(files[-1], array)
        for name, options in (("expected", ["--target=interpreter", "--float64"]), ("emulated", ["--target=emulator"]),
                              *([("rounded", ["--target=cpu"])] if case.rounded else [])):
            call(BUILD / "bin" / "drawloom-run", program, f"--entry={case.entry}", *options,
                 f"--output={folder / name}.npz", *(f"--input={path}" for path in files))
    if not case.recurrence:  # Their rival is flash-linear-attention.
        export(case, folder / "ttir.json.gz")
    (folder / "case.json").write_text(json.dumps({"key": case.key, "entry": case.entry, "element": case.element,
                                                  "tolerance": case.tolerance, "rounded": case.rounded,
                                                  "exact": exact(folder / "small")}) + "\n")
    return None


def pack(folder, cases, architectures, modules, full=False):
    """Writes the pack; a line for each case that has no kernels. With `modules` the emulated driver can run it, without `full`
    it has no kernels of full size and no scripts."""
    if folder.exists() and any(folder.iterdir()) and not (folder / LIBRARY).exists():
        raise RunError(f"'{folder}' holds other files; name an empty folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_runtime(folder)
    pack_fragments(folder, architectures, modules)
    for number, case in enumerate(cases):
        failed = pack_case(case, folder / f"{number:02}", architectures, modules, full)
        print(f"left out  {case.key}: {failed}" if failed else f"packed    {case.key}", flush=True)
    if full:
        for name in ("gpu.sh", "gpu_run.py", "gpu_timing.py", "gpu_rivals.py", "gpu_fragments.py", "gpu_programs.py",
                     "gpu_recurrence_cells.py", "kan_programs.py"):
            (folder / "benchmarks").mkdir(exist_ok=True)
            shutil.copy(HERE / name, folder / "benchmarks")
        (folder / "test" / "block-programs").mkdir(parents=True)
        for path in (ROOT / "test" / "block-programs").glob("*.py"):
            shutil.copy(path, folder / "test" / "block-programs")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{size / 2**20:.1f} MiB in '{folder}'")
    # Modules are for the emulated driver, which is where the pack is written.
    if size > MOST_BYTES and not modules:
        raise RunError(f"the pack has {size / 2**20:.1f} MiB, more than the {MOST_BYTES >> 20} that can be carried")


# ---------------------------------------------------------------------------
# Running
# ---------------------------------------------------------------------------


class Library:
    """The runtime's functions; an error is raised."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.drawloomGpuMessage.restype = ctypes.c_char_p

    def __call__(self, name, *arguments):
        function = getattr(self.library, "drawloomGpu" + name)
        if function(*arguments):
            raise RunError(self.library.drawloomGpuMessage().decode())

    def device(self):
        name, capability = ctypes.c_char_p(), ctypes.c_int()
        self("Device", ctypes.byref(name), ctypes.byref(capability))
        return name.value.decode(), capability.value


class Entry:
    """A function of a bundle with its memory: arguments go up once, results come down when asked for."""

    def __init__(self, library, folder, entry, arguments):
        self.library, self.runner = library, ctypes.c_void_p()
        arch = ctypes.c_char_p()
        library("Open", str(folder).encode(), ctypes.byref(self.runner), ctypes.byref(arch))
        manifest = json.loads((folder / "bundle.json").read_text())
        plan = next(one["plan"] for one in manifest["architectures"] if one["name"] == arch.value.decode())
        grids = {kernel["name"]: kernel["grid"] for kernel in plan["kernels"]}
        found = next(one for one in plan["entries"] if one["name"] == entry)
        if len(arguments) != len(found["arguments"]):
            raise RunError(f"'{entry}' takes {len(found['arguments'])} arguments, not {len(arguments)}")
        arguments = [np.asarray(array, TYPES[ELEMENTS[kind["element"]]], order="C")
                     for array, kind in zip(arguments, found["arguments"])]
        self.inputs = [self.allocate(array.nbytes) for array in arguments]
        for memory, array in zip(self.inputs, arguments):
            library("Upload", self.runner, memory, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        self.results = [np.empty(kind["shape"], TYPES[ELEMENTS[kind["element"]]]) for kind in found["results"]]
        self.outputs = [self.allocate(array.nbytes) for array in self.results]
        self.bytes = sum(array.nbytes for array in [*arguments, *self.results])
        workspace = self.allocate(found["workspace_bytes"])
        self.launches = 0

        def address(kind, value):
            if kind == "workspace":
                return (workspace.value or 0) + value
            return {"argument": self.inputs, "result": self.outputs}[kind][value].value or 0

        for step in found["steps"]:
            if "product" in step:
                self.launches += 1
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
            self.launches += 1
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

    def allocate(self, size):
        memory = ctypes.c_void_p()
        self.library("Allocate", self.runner, ctypes.c_size_t(size), ctypes.byref(memory))
        return memory

    def run(self, times=1):
        self.library("Run", self.runner, times)

    def download(self):
        """The results, after what was started has ended. The arrays are used again by the next call."""
        self.library("Wait", self.runner)
        for memory, array in zip(self.outputs, self.results):
            self.library("Download", self.runner, array.ctypes.data_as(ctypes.c_void_p), memory, ctypes.c_size_t(array.nbytes))
        return self.results

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.library.drawloomGpuClose(self.runner)


def as_float64(array, element):
    if element == "bf16" and array.dtype.itemsize == 2:
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def largest(array):
    return np.max(np.abs(array))


def rms(array):
    """The root of the mean square."""
    return np.sqrt(np.mean(array**2))


def error_of(results, expected, size):
    """The size of the error of the worst result, as a share of the expected numbers' own; infinite where something is not
    finite."""
    def one(result, expected):
        if result.shape != expected.shape:
            return float("inf")
        if not expected.size:
            return 0.0
        error = size(result - expected)
        return float(error / max(size(expected), 1e-30)) if np.isfinite(error) else float("inf")
    return max(one(*pair) for pair in zip(results, expected, strict=True))


def same_bits(entry, runs):
    """The first of so many runs whose bits are others, or None. The emulator lets threads take turns in the first, and draws
    who goes on in the others, each by a seed of its own."""
    first = None
    for run in range(runs):
        os.environ["DRAWLOOM_EMULATOR_SEED"] = str(run)
        try:
            entry.run()
            found = [array.tobytes() for array in entry.download()]
        finally:
            del os.environ["DRAWLOOM_EMULATOR_SEED"]
        if first is None:
            first = found
        elif found != first:
            return run
    return None


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def note(self, ok, what):
        self.passed, self.failed = self.passed + ok, self.failed + (not ok)
        print(f"{'ok  ' if ok else 'FAIL'}  {what}", flush=True)


def load(path):
    """The arrays of a file; of one result there is but one."""
    stored = np.load(path)
    if not hasattr(stored, "files"):
        return [stored]
    with stored:
        return [stored[name] for name in stored.files]


def check(library, folder, tally, runs, emulated):
    """A case's small bundle against the interpreter, networks in half precision against a CPU too, against itself, and where
    numbers are defined to agree (on the emulated driver all are) bit for bit against the emulator."""
    case = json.loads((folder / "case.json").read_text())
    arguments, expected, tolerance = load(folder / "arguments.npz"), load(folder / "expected.npz"), case["tolerance"]
    try:
        with Entry(library, folder / "small", case["entry"], arguments) as entry:
            differs = same_bits(entry, runs)
            results = [as_float64(result, case["element"]) for result in entry.download()]
            error = error_of(results, expected, largest)
            if case["rounded"]:
                rounded = [as_float64(array, case["element"]) for array in load(folder / "rounded.npz")]
                other = error_of(results, rounded, rms)
            same = [result.tobytes() == e.tobytes() for result, e in zip(entry.results, load(folder / "emulated.npz"), strict=True)]
    except (RunError, ValueError) as error:
        tally.note(False, f"{case['key']}: {error}")
        return
    if tolerance is not None:
        tally.note(error <= tolerance, f"{case['key']}: largest error {error:.1e}, tolerance {tolerance:.0e}")
    if case["rounded"]:
        tally.note(other <= case["rounded"], f"{case['key']}: rms error {other:.1e} from a CPU's results, tolerance {case['rounded']:.0e}")
    tally.note(differs is None, f"{case['key']}: " + (f"the same bits in {runs} runs" if differs is None
                                                      else f"run {differs + 1} has other bits than the first"))
    if case["exact"] or emulated:
        tally.note(all(same), f"{case['key']}: " + ("the bits of the emulator" if all(same) else
                                                    f"result {same.index(False)} has other bits than the emulator's"))


def check_triton(path, key, tally):
    """Without a GPU the rival is compiled, not run."""
    import gpu_rivals
    try:
        found = gpu_rivals.check_exported(path)
    except Exception as error:  # Triton raises what it likes.
        tally.note(False, f"{key}: Triton: {(str(error).splitlines() or [type(error).__name__])[0][:200]}")
        return
    if found:
        tally.note(True, f"{key}: Triton compiles {found[0]}, {found[1]} bytes")


def time_case(library, folder, case, device, folders):
    """One line of the table: medians of 7 measurements with CUDA events, microseconds."""
    import gpu_rivals
    import gpu_timing
    arguments = case.arguments(np.random.default_rng(7), case.rows)
    with Entry(library, folder / "full", case.entry, arguments) as entry:
        ours = gpu_timing.microseconds(entry.run)
        differs = same_bits(entry, 3)
        rivals = gpu_rivals.times(case, arguments, folder / "ttir.json.gz", folders, gpu_timing.microseconds,
                                  lambda text: print(f"  {text}", flush=True))
        print(table_line(case, entry.launches, entry.bytes, ours, rivals, device), flush=True)
        return differs


TABLE = "| program | rows | launches | us | rivals, us | fastest rival / ours | share of the roof |\n|" + " --- |" * 7


def table_line(case, launches, moved, ours, rivals, device):
    roof = next((values for part, values in ROOFS.items() if part in device), None)
    share = "-"
    if roof:
        least = max(moved / roof[0], case.products(case.rows) / roof[1], case.fused(case.rows) / roof[2]) * 1e6
        share = f"{100 * least / ours:.0f} %"
    # Another function is shown, but no rival.
    same = [us for name, us in rivals.items() if not name.startswith("GELU")]
    return (f"| {case.key} | {case.rows} | {launches} | {ours:.1f} | "
            + (", ".join(f"{name} {us:.1f}" for name, us in rivals.items()) or "-")
            + f" | {f'{min(same) / ours:.2f}' if same else '-'} | {share} |")


def packs_itself(options):
    """Whether there is nothing to run yet: neither was a pack named nor is this script part of one."""
    return not options.folder and not (ROOT / LIBRARY).exists()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=pathlib.Path, metavar="FOLDER", help="write what a GPU machine needs")
    parser.add_argument("--folder", type=pathlib.Path, help="the pack to run (default: where this script was packed)")
    parser.add_argument("--emulated", action="store_true", help="check on the emulated driver of the build "
                        "folder; no times. With --pack: a pack that can do that")
    parser.add_argument("--quick", action="store_true", help="some cases")
    parser.add_argument("--only", default="", help="cases with one of these words in their names, with commas between them")
    parser.add_argument("--runs", type=int, help="runs whose bits are compared (default: 100, emulated 2)")
    parser.add_argument("--flashkat", type=pathlib.Path, default=os.environ.get("DRAWLOOM_FLASHKAT"), metavar="FOLDER",
                        help="a checkout of github.com/OSU-STARLAB/FlashKAT, a rival (default: $DRAWLOOM_FLASHKAT)")
    parser.add_argument("--fla", type=pathlib.Path, default=os.environ.get("DRAWLOOM_FLA"), metavar="FOLDER",
                        help="a folder that the package flash-linear-attention was installed into (pip install --target), a rival "
                             "(default: $DRAWLOOM_FLA, or what Python finds)")
    options = parser.parse_args()
    sys.path.append(str(HERE))
    import gpu_rivals
    folders = gpu_rivals.Folders(options.flashkat, options.fla)
    try:
        folders.check()
    except gpu_rivals.RivalError as error:
        raise RunError(error) from None
    import gpu_programs
    import gpu_recurrence_cells
    cases = [case for case in [*gpu_programs.cases(), *gpu_recurrence_cells.timed()] if (not options.quick or case.quick)
             and any(word in case.key for word in options.only.split(","))]
    if options.pack:
        pack(options.pack, cases, ["sm_80", "sm_90a"], options.emulated, True)
        return 0
    temporary = tempfile.TemporaryDirectory(prefix="drawloom-gpu-") if options.emulated and packs_itself(options) else None
    folder = options.folder or (pathlib.Path(temporary.name) / "pack" if temporary else ROOT)
    tally = Tally()
    if options.emulated:
        driver = BUILD / "emulated-driver" / "libcuda.so.1"
        if not driver.exists():
            raise RunError(f"there is no '{driver}'; build it (ninja -C build EmulatedDriver), or say where a build is with "
                           "DRAWLOOM_BUILD_DIR")
        if temporary:
            pack(folder, cases, ["sm_90a"], True)
        os.environ["DRAWLOOM_LIBCUDA"] = str(driver)
        os.environ["DRAWLOOM_EMULATED_MODULES"] = ":".join(
            str(path) for path in [*sorted(folder.glob("*/small/sm_90a")), folder / "fragments" / "sm_90a"])
    if not (folder / LIBRARY).exists():
        raise RunError(f"'{folder}' is no pack; make one with benchmarks/gpu.sh --pack FOLDER")
    library = Library(folder / LIBRARY)
    device, capability = library.device()
    print(f"{device}, capability {capability // 10}.{capability % 10}")
    packed = {json.loads(path.read_text())["key"]: path.parent for path in sorted(folder.glob("*/case.json"))}
    chosen = [case for case in cases if case.key in packed]
    import gpu_fragments
    tables = gpu_fragments.check(library, folder / "fragments", tally)
    if not options.emulated:
        golden = HERE / "results" / f"gpu-fragments-{re.sub('[^A-Za-z0-9]+', '-', device)}.json"
        gpu_fragments.write(golden, device, tables)
        print(f"the fragments' layouts are in '{golden}'")
    for case in chosen:
        check(library, packed[case.key], tally, options.runs or (2 if options.emulated else 100), options.emulated)
        if options.emulated and (packed[case.key] / "ttir.json.gz").exists():
            check_triton(packed[case.key] / "ttir.json.gz", case.key, tally)
    if not options.emulated:
        print(f"\n{TABLE}")
        for case in chosen:
            try:
                differs = time_case(library, packed[case.key], case, device, folders)
                if differs is not None:
                    tally.note(False, f"{case.key}: at full size run {differs + 1} has other bits than the first")
            except RunError as error:
                tally.note(False, f"{case.key} at full size: {error}")
    if not chosen:
        tally.note(False, "no case was run")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RunError, OSError) as error:
        print(f"gpu_run.py: {error}", file=sys.stderr)
        print("0 passed, 1 failed")
        sys.exit(1)
