# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stores of tensors do where a disk fails: Drawloom's, DeepSpeed's aio_handle, TensorNVMe's DiskOffloader.

Each contender puts eight tensors of 4 MiB, then gets them, the last one first, and compares all bytes: in a process of its own for each
fault. The same library (benchmarks/native/offload_faults.c, preloaded) makes transfers short or fail in all of them, but for Drawloom's io_uring, which
makes no calls of functions; its own DRAWLOOM_OFFLOAD_FAULTS do it there. Disks that are full and files that lose their end are real: an
ext4 file system of 64 MiB on a loop device, which needs root.

PYTHON is one that has the package. Needs a C compiler, Debian's libaio-dev and liburing-dev.
"""

import argparse
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile

from drawloom_bench import BENCHMARKS, BenchError, processes
from drawloom_bench import options as common
from drawloom_bench.offload.common import add_folder
from drawloom_bench.options import MIB
from drawloom_bench.report import tables

CONTENDERS = "Drawloom, threads", "Drawloom, io_uring", "DeepSpeed", "TensorNVMe, aio", "TensorNVMe, uring"
COUNT, BYTES = 8, 4 * MIB
# What is preloaded ("KIND WHAT N"), or what is done to the disk.
FAULTS = {"none": "write short 1000000", "a write is short, once": "write short 3", "a read is short, once": "read short 3",
          "a write fails (EIO), once": "write error 3", "a read fails (EIO), once": "read error 3",
          "every write fails (EIO)": "write error 0", "every read fails (EIO)": "read error 0",
          "the disk has room for half": "half", "others fill the disk meanwhile": "filled", "the file loses its second half": "truncated"}
SECONDS = 60


class Drawloom:
    def __init__(self, folder, options, fault):
        from drawloom import _drawloom
        self.folder, device, rules = folder, options.here.split(", ")[1], None
        if device == "io_uring" and " " in fault:
            kind, what, number = fault.split()
            rules = f"op={kind};{f'nth={number};' if number != '0' else ''}do={'short 524288' if what == 'short' else 'errno EIO'}"
        self.store = _drawloom.Store.open([folder], 40 * MIB, 8 * MIB, 0, device, rules)
        self.records = {}

    def put(self, name, tensor):
        self.records[name] = self.store.put(tensor.data_ptr(), BYTES, name, 0)

    def get(self, name, tensor):
        self.store.get(self.records[name], tensor.data_ptr())

    def finish(self):
        self.store.finish()

    def truncate(self):
        for link in pathlib.Path("/proc/self/fd").iterdir():
            if os.path.realpath(link).startswith(self.folder + "/") and not link.is_dir():
                os.truncate(link, 20 * MIB)


class DeepSpeed:
    def __init__(self, folder, options, fault):
        from deepspeed.ops.op_builder import AsyncIOBuilder
        self.folder = folder
        self.handle = AsyncIOBuilder().load(verbose=False).aio_handle(MIB, 16, False, True, 1)
        self.buffer = None

    def said(self, result):
        # How many operations are complete.
        if result != 1:
            raise OSError(f"the call gives {result}")

    def locked(self, tensor):
        if self.buffer is None:
            self.buffer = self.handle.new_cpu_locked_tensor(tensor.numel(), tensor)
        return self.buffer

    def put(self, name, tensor):
        self.locked(tensor).copy_(tensor)
        self.said(self.handle.sync_pwrite(self.buffer, f"{self.folder}/{name}", 0))

    def get(self, name, tensor):
        self.locked(tensor).copy_(tensor)
        self.said(self.handle.sync_pread(self.buffer, f"{self.folder}/{name}", 0))
        tensor.copy_(self.buffer)

    def finish(self):
        pass

    def truncate(self):
        for path in pathlib.Path(self.folder).glob("tensor*"):
            os.truncate(path, BYTES // 2)


class TensorNvme:
    def __init__(self, folder, options, fault):
        from tensornvme import DiskOffloader
        self.folder, self.offloader, self.tensors = folder, DiskOffloader(folder, backend=options.here.split(", ")[1]), {}

    def put(self, name, tensor):
        # It frees the tensor's memory itself.
        self.tensors[name] = tensor.clone()
        self.offloader.async_write(self.tensors[name])
        self.offloader.sync_write_events()

    def get(self, name, tensor):
        self.offloader.async_read(self.tensors[name])
        self.offloader.synchronize()
        tensor.copy_(self.tensors[name])

    def finish(self):
        self.offloader.synchronize()

    def truncate(self):
        for path in pathlib.Path(self.folder).glob("offload-*"):
            os.truncate(path, COUNT * BYTES // 2)


def fill(folder, leave=0):
    """Takes all space of a file system but so many bytes."""
    with open(os.path.join(folder, "others"), "wb", buffering=0) as file:
        size = 0
        for chunk in (MIB, 4096):
            try:
                while os.statvfs(folder).f_bfree * os.statvfs(folder).f_frsize > leave:
                    os.posix_fallocate(file.fileno(), size, chunk)
                    size += chunk
            except OSError:
                pass


def here(options):
    """One contender and one fault, in this process: how many tensors come back right, wrong, and with an error."""
    import torch
    fault = FAULTS[options.fault]
    found = {"right": 0, "wrong": 0, "errors": []}

    def tried(call, *arguments):
        try:
            call(*arguments)
            return True
        except Exception as error:
            found["errors"].append(f"{type(error).__name__}: {error}")
            return False

    def contents(i):
        return torch.randint(0, 1 << 30, (BYTES // 4,), dtype=torch.int32, generator=torch.Generator().manual_seed(i))

    if fault == "half":
        fill(options.folder, leave=COUNT * BYTES // 2)
    contender = []
    kind = Drawloom if options.here.startswith("Drawloom") else DeepSpeed if options.here == "DeepSpeed" else TensorNvme
    if tried(lambda: contender.append(kind(options.folder, options, fault))):
        there = []
        for i in range(COUNT):
            if i == 1 and fault == "filled":
                fill(options.folder)
            if tried(contender[0].put, f"tensor{i}", contents(i)):
                there.append(i)
        tried(contender[0].finish)
        if fault == "truncated":
            contender[0].truncate()
        pathlib.Path(options.result).write_text(json.dumps(found))
        for i in reversed(there):
            # Memory that had something else before.
            tensor = torch.full((BYTES // 4,), -1, dtype=torch.int32)
            if tried(contender[0].get, f"tensor{i}", tensor):
                found["right" if torch.equal(tensor, contents(i)) else "wrong"] += 1
    pathlib.Path(options.result).write_text(json.dumps(found))
    # Ends of processes are another matter.
    os._exit(0)


def run(options, contender, fault, library):
    """What comes of it, in words, and more of it."""
    python = options.deepspeed if contender == "DeepSpeed" else options.tensornvme if contender.startswith("T") else sys.executable
    does = FAULTS[fault]
    with tempfile.TemporaryDirectory(prefix="drawloom-faults-", dir=options.folder) as base:
        folder, result = os.path.join(base, "disk"), os.path.join(base, "result")
        os.mkdir(folder)
        if does in ("half", "filled", "truncated"):
            image = os.path.join(base, "image")
            with open(image, "wb") as file:
                file.truncate(64 * MIB)
            subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", image], check=True)
            mounted = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, text=True)
            if mounted.returncode:
                return {"outcome": "not tried: " + mounted.stderr.strip()}
        environment = processes.environment()
        if " " in does and contender != "Drawloom, io_uring":
            environment |= {"LD_PRELOAD": library, "FAULT": does, "FAULT_FOLDER": folder}
            if contender.startswith("TensorNVMe"):
                code = "import tensornvme._C as it; print(it.__file__)"
                where = subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
                environment["FAULT_NEXT"] = where.stdout.split()[-1]
        try:
            command = processes.command("offload-faults", f"--here={contender}", f"--fault={fault}", f"--folder={folder}",
                                        f"--result={result}", python=python)
            done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {"outcome": f"hangs: no end after {SECONDS} s"}
        finally:
            if os.path.ismount(folder):
                subprocess.run(["umount", "-l", folder], check=True)
        said = [line for line in (done.stdout + done.stderr).replace(base, "FOLDER").splitlines() if line.strip() and "WARNING" not in line]
        found = json.loads(pathlib.Path(result).read_text().replace(base, "FOLDER")) if os.path.exists(result) else None
        if done.returncode < 0:
            wrote = "writes end without an error, then " if found and not found["errors"] else ""
            return {"outcome": f"{wrote}the process is killed by {signal.Signals(-done.returncode).name}", "said": said[-4:]}
        if done.returncode or not found:
            raise BenchError(f"{contender}, {fault}: {done.stderr[-3000:]}")
        error = f"error: {found['errors'][0]}" if found["errors"] else ""
        outcome = (f"wrong bytes, no error: {found['wrong']} of {COUNT} tensors" if found["wrong"] and not error
                   else f"wrong bytes of {found['wrong']} of {COUNT} tensors, and {error}" if found["wrong"] else error or "right bytes")
        return {"outcome": outcome, **found, "said": said[-4:]}


def version(python, package):
    code = f"import importlib.metadata as m, torch; print(m.version('{package}'), 'with torch', torch.__version__)"
    return subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")[-2]


def arguments(parser):
    parser.add_argument("--deepspeed", metavar="PYTHON", help="a Python with deepspeed")
    parser.add_argument("--tensornvme", metavar="PYTHON", help="a Python with tensornvme")
    add_folder(parser, required=False, default=tempfile.gettempdir())
    parser.add_argument("--here", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--fault", choices=FAULTS, help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    common.add_json(parser)


def main(options):
    if options.here:
        here(options)
    pythons = {"Drawloom": sys.executable, "DeepSpeed": options.deepspeed, "TensorNVMe": options.tensornvme}
    contenders = [one for one in CONTENDERS if pythons[one.split(", ")[0]]]
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "faults.so")
        source = BENCHMARKS / "native" / "offload_faults.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-Wl,--no-as-needed", "-laio", "-ldl"], check=True)
        found = {fault: {} for fault in FAULTS}
        tables.show_head("fault", *contenders)
        for fault in FAULTS:
            for contender in contenders:
                found[fault][contender] = run(options, contender, fault, library)
            tables.show([fault, *(found[fault][one]["outcome"] for one in contenders)])
    versions = {"Linux": platform.release()}
    for package, python in (("deepspeed", options.deepspeed), ("tensornvme", options.tensornvme)):
        if python:
            versions[package] = version(python, package)
    print("\n" + ", ".join(f"{name} {text}" for name, text in versions.items()))
    tables.write_json(options.json, {"versions": versions, "faults": found})
