# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is: the machine, and whether every image of a bundle can be loaded onto its device. Nothing is launched here."""

import importlib.metadata
import json
import pathlib
import platform
import shutil
import subprocess
import time

from drawloom_bench.gpu import runtime, watch
from drawloom_bench.gpu.device import Cuda, CudaError
from drawloom_bench.gpu.runtime import RunError

PACKAGES = ["torch", "triton", "numpy", "jax", "flash-linear-attention"]
TOOLS = ["gcc", "nvcc", "ptxas", "nvdisasm", "cuobjdump", "compute-sanitizer", "ncu", "nvidia-smi"]
QUERY = ("name,driver_version,clocks.max.sm,clocks.max.mem,clocks.sm,power.limit,ecc.mode.current,mig.mode.current,persistence_mode,"
         "compute_mode,pstate,temperature.gpu,memory.total,vbios_version")


def find_ptxas():
    """The assembler on the path, or of the installed Triton."""
    found = shutil.which("ptxas")
    if not found:
        try:
            path = importlib.metadata.distribution("triton").locate_file("triton/backends/nvidia/bin/ptxas")
            found = str(path) if pathlib.Path(path).exists() else None
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def ask_smi():
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return dict(zip(QUERY.split(","), (word.strip() for word in done.stdout.split("\n")[0].split(",")))) if not done.returncode else None


def inventory(request):
    """The machine: host first, so that it is told even where the device fails."""
    pack = pathlib.Path(request["pack"])
    data = {"pack": json.loads((pack / "pack.json").read_text()), "glibc": platform.libc_ver()[1], "python": platform.python_version(),
            "machine": platform.platform(), "processors": request["processors"],
            "packages": {name: version for name in PACKAGES if (version := version_of(name))},
            "tools": {name: path for name in TOOLS if (path := shutil.which(name))}, "ptxas": find_ptxas(), "nvidia-smi": ask_smi()}
    watch.phase("opening the device")
    name, capability = runtime.Library(pack / runtime.LIBRARY).device()
    cuda = Cuda()
    free, whole = cuda.memory()
    data.update(device=name, capability=capability, driver=cuda.number("DriverGetVersion"), attributes=cuda.attributes(),
                free_bytes=free, bytes=whole)
    packages = ", ".join(f"{name} {version}" for name, version in data["packages"].items())
    return "ok", f"{name}, capability {capability / 10}, CUDA {data['driver'] / 1000:g}, {whole >> 30} GiB; {packages or 'no packages'}", data


def load_images(request):
    """Each kernel as a cubin, and as PTX that the driver assembles: registers, local bytes, blocks that fit; seconds of assembling."""
    cuda, folder = Cuda(), pathlib.Path(request["folder"])
    out, refused, not_assembled = {}, [], []
    for size in request["sizes"]:
        manifest = json.loads((folder / size / "bundle.json").read_text())
        for kernel in (kernel for one in manifest["architectures"] for kernel in one["kernels"]):
            name = f"{size}/{kernel['name']}"
            found = out[name] = {}
            for kind in ("cubin", "ptx"):
                watch.phase(f"loading a {kind}")
                watch.kernel(name)
                path = folder / size / kernel[kind]
                if not path.exists():
                    raise RunError(f"the pack has no '{path.relative_to(request['pack'])}': it was not carried whole; pack it again")
                start = time.monotonic()
                try:
                    module = cuda.load(path.read_bytes())
                    function = cuda.function(module, kernel["name"], kernel["shared_bytes"])
                    found[kind] = cuda.usage(function, kernel["threads"], kernel["shared_bytes"])
                    found[kind]["seconds"] = round(time.monotonic() - start, 3)
                    cuda.ModuleUnload(module)
                except CudaError as error:
                    found[kind] = str(error)
                    (refused if kind == "cubin" else not_assembled).append(f"{name}: {error}")
    data = {"kernels": out}
    if refused and not_assembled:
        raise RunError(f"neither machine code nor PTX can be loaded: {refused[0]}; {not_assembled[0]}")
    if refused or not_assembled:
        what = f"machine code is refused: {refused[0]}" if refused else f"the driver does not assemble PTX: {not_assembled[0]}"
        return "wrong", f"{len(refused or not_assembled)} of {len(out)} kernels: {what}", data
    spilled = sum(found["cubin"].get("local_bytes", 0) > 0 for found in out.values())
    return "ok", f"{len(out)} kernels as machine code and from PTX" + (f", {spilled} with local memory" if spilled else ""), data
