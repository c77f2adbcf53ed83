# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a pack: what a machine with a GPU needs, which has neither compiler nor LLVM.

    pack.json             what it was made of
    NN/                   a case: case.json; small/, middle/, full/ (bundles); arguments.npz, expected.npz (float64, of the interpreter),
                          emulated.npz (of the emulator), rounded.npz (of the CPU), steps.npz (after each step) for small/;
                          ttir.json.gz (the program at full size, for Triton)
    fragments/, probes/   instructions that are asked what they do
    products/             a case whose dense products are left to cuBLASLt
    libdrawloom_gpu.so    the runtime
    python/               the Python package as a wheel holds it, where --wheel names one
    benchmarks/, test/    these scripts
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

from drawloom_bench import BENCHMARKS, BUILD, ROOT, BenchError, processes
from drawloom_bench.gpu import cases, fragments, package, packed, probes
from drawloom_bench.gpu.runtime import LIBRARY, RunError

DRIVER = BUILD / "emulated-driver" / "libcuda.so.1"
MOST_BYTES = 60 << 20
SUFFIX = ".tar.gz"
# The runner must load where the C library is older than this machine's.
NEWEST_GLIBC = (2, 34)
PRODUCTS = "MLP 128 relu forward bf16"


def copy_runtime(folder):
    """The runtime as one library that needs libc and the driver only."""
    built = BUILD / "benchmarks" / LIBRARY
    if not built.exists():
        raise RunError(f"there is no '{built}'; build it: ninja -C {BUILD} DrawloomGpuRunner")
    needed = {tuple(map(int, version)) for version in re.findall(rb"GLIBC_(\d+)\.(\d+)", built.read_bytes())}
    if needed and max(needed) > NEWEST_GLIBC:
        raise RunError(f"'{built}' needs glibc {'.'.join(map(str, max(needed)))}: build it on a system that has "
                       f"{'.'.join(map(str, NEWEST_GLIBC))} or less, so that a machine with a GPU can load it")
    shutil.copy(built, folder)


def translate(program, folder, architecture, modules, *options):
    processes.tool("drawloom-translate", "--mlir-to-bundle", f"--arch={architecture}", f"--bundle-dir={folder}",
         *(["--bundle-modules"] if modules else []), *options, program, seconds=400)


def lighten(folder):
    """Leaves out of a bundle what our runtime does not read."""
    path = folder / "bundle.json"
    manifest = json.loads(path.read_text())
    kept = {kernel[kind] for one in manifest["architectures"] for kernel in one["kernels"] for kind in ("cubin", "ptx") if kind in kernel}
    for file in manifest["files"]:
        if file["path"] not in kept and not file["path"].endswith(".mlir"):
            (folder / file["path"]).unlink()
    for one in manifest["architectures"]:
        for kernel in one["kernels"]:
            kernel.pop("llir", None)
            kernel.pop("json", None)
    manifest["files"] = [file for file in manifest["files"] if (folder / file["path"]).exists()]
    path.write_text(json.dumps(manifest))


def bundle(case, rows, folder, architecture, modules, *options):
    program = folder.with_suffix(".mlir")
    program.write_text(case.text(rows))
    translate(program, folder, architecture, modules, "--line-info=false", *options)
    lighten(folder)
    return program


# Whose results the hardware may round in another way or another order than the emulator does.
LOOSE = re.compile(r"\.approx|\bmma\.|\bwgmma\.|\bred\.|\batom\.|\.ftz")


def exact(folder):
    """Whether the emulator's results are defined to be the hardware's, bit for bit: no approximation, no sum in an order that is
    not said."""
    return not any(LOOSE.search(path.read_text()) for path in folder.rglob("*.ptx"))


def export(case, path):
    """The program at full size for Triton; what it cannot say is no part of the pack."""
    from drawloom_bench.counts import triton as gpu_triton
    from drawloom_bench.gpu import rivals

    try:
        rivals.write_exported(path, gpu_triton.export(case.text(case.rows)))
    except gpu_triton.TritonError as error:
        print(f"no TTIR   {case.key}: {error}", flush=True)


def results(case, program, folder, targets):
    """The small size's arguments, and what each target makes of them."""
    arguments = cases.arguments(case, "small")
    np.savez_compressed(folder / "arguments.npz", *arguments)
    with tempfile.TemporaryDirectory() as name:
        files = []
        for i, array in enumerate(arguments):
            files.append(pathlib.Path(name) / f"{i}.npy")
            np.save(files[-1], array)
        for name, options in targets.items():
            processes.tool("drawloom-run", program, f"--entry={case.entry}", *options,
                 f"--output={folder / name}.npz", *(f"--input={path}" for path in files))
            if "--float64" in options:
                # Far below any tolerance, and half of the bytes.
                np.savez_compressed(folder / name, *(array.astype(np.float32) for array in packed.load(folder / f"{name}.npz")))


def describe(case, folder):
    (folder / "case.json").write_text(json.dumps({"key": case.key, "entry": case.entry, "element": case.element, "tolerance": case.tolerance,
                                                  "rounded": case.rounded, "exact": exact(folder / "small")}) + "\n")


def record_steps(folder, pack):
    """What memory holds after each step, of the emulated driver."""
    from drawloom_bench.gpu import driver, stages
    setting = stages.Setting(pack, "", True, 2, os.cpu_count() or 1, {})
    journal = driver.Journal(pack / "steps.jsonl")
    runner = driver.Driver(journal, 600, lambda stage: 1, lambda record: None, {"DRAWLOOM_LIBCUDA": str(DRIVER)})
    try:
        item = driver.Item("pack", "steps", {"do": "record", "pack": str(pack), "folder": str(folder)}, limit=600,
                           environment=stages.emulated_modules(setting, [folder]))
        record = runner.alone(item)
    finally:
        runner.close()
        journal.path.unlink()
    if record["status"] != "ok":
        raise RunError(f"on the emulated driver, {record['status']}: {record['says']}")


def pack_case(case, folder, architecture, modules, sizes, ttir):
    folder.mkdir()
    try:
        program = bundle(case, case.small, folder / "small", architecture, True)
        for size in sizes:
            if size != "small":
                bundle(case, cases.rows(case, size), folder / size, architecture, modules)
        results(case, program, folder, {"expected": ["--target=interpreter", "--float64"], "emulated": ["--target=emulator"],
                                        **({"rounded": ["--target=cpu"]} if case.rounded else {})})
        describe(case, folder)
        if DRIVER.exists() and len(json.loads((folder / "small" / "bundle.json").read_text())["architectures"][0]["kernels"]) > 1:
            record_steps(folder, folder.parent)
        if not modules:
            strip_modules(folder / "small")
        if ttir and not case.recurrence:  # Their rival is flash-linear-attention.
            export(case, folder / "ttir.json.gz")
    except BenchError as error:
        shutil.rmtree(folder)
        return str(error).splitlines()[0]
    for path in folder.glob("*.mlir"):
        path.unlink()
    return None


def strip_modules(folder):
    """Takes what the emulated driver runs out of a bundle."""
    path = folder / "bundle.json"
    manifest = json.loads(path.read_text())
    for file in manifest["files"]:
        if file["path"].endswith(".mlir"):
            (folder / file["path"]).unlink()
    manifest["files"] = [file for file in manifest["files"] if not file["path"].endswith(".mlir")]
    path.write_text(json.dumps(manifest))


def pack_products(case, folder, architecture, modules):
    """A case with its products left to the library, whoever is faster."""
    folder.mkdir()
    program = bundle(case, case.small, folder / "small", architecture, modules, "--dense-products=library")
    results(case, program, folder, {"expected": ["--target=interpreter", "--float64"]})
    describe(case, folder)
    program.unlink()


def pack_fragments(folder, architecture, modules):
    program = folder / "fragments.mlir"
    program.write_text(fragments.module(architecture))
    translate(program, folder / "fragments", architecture, modules)
    lighten(folder / "fragments")
    program.unlink()


def copy_scripts(folder):
    target = folder / BENCHMARKS.name
    shutil.copytree(BENCHMARKS / "drawloom_bench", target / "drawloom_bench", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("gpu.sh", "drawloom-bench"):
        shutil.copy(BENCHMARKS / name, target)
    (folder / "test" / "block-programs").mkdir(parents=True)
    for path in (ROOT / "test" / "block-programs").glob("*.py"):
        shutil.copy(path, folder / "test" / "block-programs")
    (folder / "test" / "python" / "on_gpus").mkdir(parents=True)
    for name in package.FILES:
        shutil.copy(ROOT / "test" / "python" / name, folder / "test" / "python" / name)


def copy_package(wheel, python, folder):
    """The package, for a machine with this version of Python."""
    with tempfile.TemporaryDirectory() as name:
        processes.called(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", f"--python-version={python}", "-d", name,
             "nanobind-backend")
        package.unpack(wheel, next(pathlib.Path(name).glob("*.whl")), folder)


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or None


def pack(folder, chosen, architecture="sm_90a", modules=False, sizes=cases.SIZES, ttir=True, wheel=None, python="3.12"):
    """Writes the pack; a line for each case that has no kernels. With `modules` the emulated driver can run it."""
    if folder.exists() and any(folder.iterdir()) and not (folder / LIBRARY).exists():
        raise RunError(f"'{folder}' holds other files; name an empty folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_runtime(folder)
    (folder / "pack.json").write_text(json.dumps({"commit": commit(), "architecture": architecture, "sizes": list(sizes)}) + "\n")
    pack_fragments(folder, architecture, modules)
    if architecture == "sm_90a" and not modules:
        probes.pack(folder / "probes")
    for number, case in enumerate(chosen):
        failed = pack_case(case, folder / f"{number:02}", architecture, modules, sizes, ttir)
        print(f"left out  {case.key}: {failed}" if failed else f"packed    {case.key}", flush=True)
        if case.key == PRODUCTS and not failed:
            pack_products(case, folder / "products", architecture, modules)
    copy_scripts(folder)
    if wheel:
        copy_package(wheel, python, folder / "python")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{size / 2**20:.1f} MiB in '{folder}'")


def archive(folder, path):
    """The pack as one file, which is what is carried."""
    part = path.with_name(path.name + ".part")
    with tarfile.open(part, "w:gz") as file:
        file.add(folder, arcname=path.name.removesuffix(SUFFIX))
    size = part.stat().st_size
    if size > MOST_BYTES:
        part.unlink()
        raise RunError(f"the pack has {size / 2**20:.1f} MiB, more than the {MOST_BYTES / 2**20:g} that can be carried; pack fewer cases with --only")
    part.replace(path)
    print(f"{size / 2**20:.1f} MiB in '{path}'")
