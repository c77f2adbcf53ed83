# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What people do without offload: hooks that have each saved tensor in a file of its own. Timed beside offload's, or for examples/lm.

    drawloom-bench offload-hooks time --folder DIR [--json FILE]
    drawloom-bench offload-hooks lm --folder DIR --hooks files -- --steps=4 --context=2048 --no-rivals

time    A function that saves a tensor of 1 MiB and computes nothing, 256 of them in a pass, and their backward pass, by turns with offload
        and with hooks; one right behind the other, and with 3 ms of spinning between two, which do not count: then the disk keeps up, and
        caches have lost what a hook needs. "pack" and "unpack" are what a call takes longer than without hooks, without what the store
        waited for the disk. "beyond" is both without the copy: of offload's, a copy with checksum and a checksum that is compared,
        as drawloom-offload-bench measures them; of the others', two plain copies. "own": without all that calls of the store take.
lm      examples/lm/lm.py, with what follows --, and these hooks around each forward pass.

files   torch's tutorial on hooks: torch.save to a file, torch.load from there, deleted with what autograd holds. Through the page cache.
mapped  a file that is mapped into memory, without a name: the kernel writes it when memory is short, and reads it page by page.
Parameters, and tensors of less than 1000 elements, stay where they are in both.
"""

import contextlib
import os
import statistics
import sys
import tempfile
import time
import uuid

import torch

from drawloom_bench import ROOT, processes
from drawloom_bench import options as common
from drawloom_bench.offload.common import Goals, add_folder, need_room, progress, spin, spread, write
from drawloom_bench.offload.devices import Process
from drawloom_bench.options import GIB, MIB

REST = "of examples/lm/lm.py"
COUNT, PAUSES = 256, (0.0, 0.003)


def stays(tensor):
    return tensor.numel() < 1000 or isinstance(tensor, torch.nn.Parameter) or isinstance(tensor._base, torch.nn.Parameter)


class SavedFile:
    """Deleted with this object."""

    def __init__(self, folder, tensor):
        self.name = os.path.join(folder, uuid.uuid4().hex)
        torch.save(tensor, self.name)

    def __del__(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.name)


def files(folder):
    return torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: tensor if stays(tensor) else SavedFile(folder, tensor),
        lambda packed: torch.load(packed.name) if isinstance(packed, SavedFile) else packed)


def map_copy(folder, tensor):
    """The bytes that a tensor spans, in a file that has no name any more."""
    name = os.path.join(folder, uuid.uuid4().hex)
    count = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride())) + 1
    copy = torch.from_file(name, shared=True, size=count, dtype=tensor.dtype)
    os.unlink(name)
    copy.copy_(tensor.detach().as_strided((count,), (1,)))
    return copy.as_strided(tensor.shape, tensor.stride())


def mapped(folder):
    return torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: tensor.detach() if stays(tensor) else map_copy(folder, tensor), lambda packed: packed)


HOOKS = {"files": files, "mapped": mapped}


class Save(torch.autograd.Function):
    """Saves x, and notes how long it takes to have it back."""

    pause, unpacked = 0.0, []

    @staticmethod
    def forward(ctx, token, x):
        ctx.save_for_backward(x)
        return token.clone()

    @staticmethod
    def backward(ctx, grad):
        spin(Save.pause)
        start = time.perf_counter()
        saved = ctx.saved_tensors
        Save.unpacked.append(time.perf_counter() - start)
        del saved
        return grad, None


def a_pass(context, pause):
    """Seconds of all packs, and of all unpacks."""
    Save.pause = pause
    Save.unpacked.clear()
    token, xs, packed = torch.zeros(1, requires_grad=True), [torch.full((MIB // 4,), float(i)) for i in range(COUNT)], 0.0
    with context:
        for i in range(COUNT):
            spin(pause)
            x, xs[i] = xs[i], None
            start = time.perf_counter()
            token = Save.apply(token, x)
            packed += time.perf_counter() - start
            del x
    token.backward()
    return packed, sum(Save.unpacked)


def copies_of(folder):
    """Microseconds of a MiB: a copy with a checksum, a checksum, a plain copy."""
    process = Process("copy", [processes.built("drawloom-offload-bench"), "copy", folder, str(COUNT * MIB)])
    copy, check = (statistics.median(process.run(kind, 1, 0)[0] for _ in range(9)) for kind in ("put", "get"))
    process.end()
    source, target, plain = torch.ones(COUNT, MIB // 4), torch.zeros(COUNT, MIB // 4), []
    for _ in range(9):
        start = time.perf_counter()
        for one, other in zip(source, target):
            other.copy_(one)
        plain.append(time.perf_counter() - start)
    return [1e6 * seconds / COUNT for seconds in (copy, check, statistics.median(plain))]


def measure(options):
    import drawloom.torch as dt

    torch.set_num_threads(1)
    need_room(options.folder, 2 * GIB)
    rows, goals = {}, Goals()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        copy, check, plain = copies_of(folder)
        print(f"a MiB: copied with its checksum {copy:.0f} us, summed {check:.0f} us, copied {plain:.0f} us")
        spill = dt.offload(folder, memory="32MiB", capacity="1GiB", trim=False)
        ways = {"without": contextlib.nullcontext, "offload": lambda: spill,
                **{name: lambda make=make: make(folder) for name, make in HOOKS.items()}}
        for make in ways.values():
            a_pass(make(), 0.0)
        for pause in PAUSES:
            # Microseconds for each tensor that left memory: packs, unpacks, and what calls of the store took.
            found = {name: [] for name in ways}
            for turn in range(options.rounds):
                progress(f"round {turn + 1} of {options.rounds}, {1e3 * pause:.0f} ms between two")
                for name in [*ways, *reversed(ways)]:
                    before, called = spill._store.statistics(), spill.report().stall
                    packs, unpacks = a_pass(ways[name](), pause)
                    after, called, count = spill._store.statistics(), spill.report().stall - called, COUNT
                    if name == "offload":
                        packs -= after["put_stall"] - before["put_stall"]
                        unpacks -= after["get_stall"] - before["get_stall"]
                        called -= sum(after[kind] - before[kind] for kind in ("put_stall", "get_stall"))
                        count = after["puts"] - before["puts"]
                    found[name].append([1e6 * seconds / count for seconds in (packs, unpacks, called)])
            base = [statistics.median(kind) for kind in zip(*found.pop("without"))]
            print(f"{1e3 * pause:.0f} ms between two tensors; without hooks {base[0]:.0f} us and {base[1]:.0f} us")
            for name, turns in found.items():
                pack, unpack = ([one[i] - base[i] for one in turns] for i in range(2))
                row = {"pack, us": pack, "unpack, us": unpack,
                       "beyond, us": [a + b - (copy + check if name == "offload" else 2 * plain) for a, b in zip(pack, unpack)]}
                if name == "offload":
                    row["own, us"] = [a + b - one[2] for a, b, one in zip(pack, unpack, turns)]
                    goals.add(f"pack and unpack of 1 MiB beyond the copy, {1e3 * pause:.0f} ms between two",
                              statistics.median(row["beyond, us"]), most=30, unit=" us")
                rows[f"{name}, {1e3 * pause:.0f} ms between"] = row
                shown = (f"{kind.partition(',')[0]} {spread(figures, 0)} us" for kind, figures in row.items())
                print(f"  {name:8} " + "; ".join(shown))
        spill.close()
    goals.show()
    copies = {"with checksum, us": copy, "checksum, us": check, "plain, us": plain}
    write(options, rows=rows, copies=copies, goals=goals.found)


def train(options):
    """examples/lm, with the hooks where it has offload's context."""
    sys.path.insert(0, str(ROOT / "examples" / "lm"))
    import lm

    from drawloom.torch._offload import return_memory
    # As offload does: else the C library keeps much of what is freed.
    return_memory()
    step = lm.step_of
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        lm.step_of = lambda model, optimizer, pieces, spill=None: step(model, optimizer, pieces, HOOKS[options.hooks](folder))
        lm.main(options.rest)


def arguments(parser):
    parser.add_argument("what", choices=("time", "lm"))
    add_folder(parser)
    parser.add_argument("--hooks", choices=list(HOOKS), default="files", help="of lm (%(default)s)")
    parser.add_argument("--rounds", type=int, default=4)
    common.add_json(parser)


def main(options):
    {"time": measure, "lm": train}[options.what](options)
