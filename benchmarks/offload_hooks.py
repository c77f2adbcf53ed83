# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What people do without offload: hooks that have each saved tensor in a file of its own. Timed beside offload's, or for examples/lm.

    python benchmarks/offload_hooks.py time --folder DIR [--json FILE]
    python benchmarks/offload_hooks.py lm --folder DIR --hooks files -- --steps=4 --context=2048 --no-rivals

time    A function that saves a tensor of 1 MiB and computes nothing, 256 of them in a pass, and their backward pass, by turns with offload
        and with hooks. Between two there is a pause, not counted, in which the disk can do its work. "pack" and "unpack" are what a call
        takes longer than without hooks. "beyond" is without the copy: of offload's, a copy with checksum and a checksum that is compared,
        as drawloom-offload-bench measures them; of the others', two plain copies. Tensors that offload keeps in memory do not count.
lm      examples/lm/lm.py, with what follows --, and these hooks around each forward pass.

files   torch's tutorial on hooks: torch.save to a file, torch.load from there, deleted with what autograd holds. Through the page cache.
mapped  a file that is mapped into memory, without a name: the kernel writes it when memory is short, and reads it page by page.
Parameters, and tensors of less than 1000 elements, stay where they are in both.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import sys
import tempfile
import time
import uuid

import torch
from offload import Process
from offload_common import BUILD, GIB, MIB, ROOT, Goals, need_room, progress, spread, write

COUNT, PAUSE = 256, 0.003


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
    return torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach() if stays(tensor) else map_copy(folder, tensor), lambda packed: packed)


HOOKS = {"files": files, "mapped": mapped}


class Save(torch.autograd.Function):
    """Saves x, and notes how long it takes to have it back."""

    unpacked = []

    @staticmethod
    def forward(ctx, token, x):
        ctx.save_for_backward(x)
        return token.clone()

    @staticmethod
    def backward(ctx, grad):
        time.sleep(PAUSE)
        start = time.perf_counter()
        x, = ctx.saved_tensors
        Save.unpacked.append(time.perf_counter() - start)
        return grad, None


def a_pass(context, first):
    """Microseconds of the first tensors' packs and unpacks, without the pauses."""
    Save.unpacked.clear()
    token, xs, packed = torch.zeros(1, requires_grad=True), [torch.full((MIB // 4,), float(i)) for i in range(COUNT)], []
    with context:
        for i in range(COUNT):
            time.sleep(PAUSE)
            x, xs[i] = xs[i], None
            start = time.perf_counter()
            token = Save.apply(token, x)
            packed.append(time.perf_counter() - start)
            del x
    token.backward()
    return [1e6 * one for one in packed[:first]], [1e6 * one for one in Save.unpacked[::-1][:first]]


def copies_of(folder):
    """Microseconds of a MiB: a copy with a checksum, a checksum, a plain copy."""
    program = BUILD / "bin" / "drawloom-offload-bench"
    if not program.exists():
        sys.exit(f"offload_hooks.py: there is no {program}; build it by scripts/build.sh drawloom-offload-bench")
    process = Process("copy", [program, "copy", folder, str(COUNT * MIB)])
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
    sys.path.insert(0, str(BUILD / "python"))
    import drawloom.torch as dt
    torch.set_num_threads(1)
    need_room(options.folder, 2 * GIB, "free some, or name another folder")
    first = COUNT // 2
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        spill = dt.offload(folder, memory="96MiB", capacity="1GiB", trim=False)
        ways = {"without": contextlib.nullcontext, "offload": lambda: spill, **{name: lambda make=make: make(folder) for name, make in HOOKS.items()}}
        for make in ways.values():
            a_pass(make(), first)
        found = {name: ([], []) for name in ways}
        for turn in range(options.rounds):
            progress(f"round {turn + 1} of {options.rounds}")
            for name in [*ways, *reversed(ways)]:
                before = spill._store.statistics()
                for all_of_them, now in zip(found[name], a_pass(ways[name](), first)):
                    all_of_them.append(statistics.median(now))
                if name == "offload":
                    after = spill._store.statistics()
                    waited = [1e6 * (after[kind] - before[kind]) / COUNT for kind in ("put_stall", "get_stall")]
        spill.close()
        copy, check, plain = copies_of(folder)
    base, rows, goals = [statistics.median(one) for one in found.pop("without")], {}, Goals()
    print(f"a MiB: copied with its checksum {copy:.0f} us, summed {check:.0f} us, copied {plain:.0f} us; without hooks {base[0]:.0f} us and {base[1]:.0f} us; "
          f"offload waited {waited[0]:.1f} us and {waited[1]:.1f} us for the disk")
    for name, (packs, unpacks) in found.items():
        packs, unpacks = [one - base[0] for one in packs], [one - base[1] for one in unpacks]
        beyond = [a + b - (copy + check if name == "offload" else 2 * plain) for a, b in zip(packs, unpacks)]
        rows[name] = {"pack, us": packs, "unpack, us": unpacks, "beyond, us": beyond}
        print(f"{name:8} pack {spread(packs, 0)} us, unpack {spread(unpacks, 0)} us, both beyond the copy {spread(beyond, 0)} us")
    goals.add("offload: pack and unpack of 1 MiB beyond the copy", statistics.median(rows["offload"]["beyond, us"]), most=30, unit=" us")
    goals.show()
    write(options.json, options, rows=rows, copies={"with checksum, us": copy, "checksum, us": check, "plain, us": plain}, waited=waited, goals=goals.found)


def train(options):
    """examples/lm, with the hooks where it has offload's context."""
    sys.path[:0] = [str(BUILD / "python"), str(ROOT / "examples" / "lm")]
    import lm
    step = lm.step_of
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        lm.step_of = lambda model, optimizer, pieces, spill=None: step(model, optimizer, pieces, HOOKS[options.hooks](folder))
        lm.main(options.arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("time", "lm"))
    parser.add_argument("--folder", required=True, help="a folder on the disk; there is no default")
    parser.add_argument("--hooks", choices=list(HOOKS), default="files", help="of lm (%(default)s)")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("arguments", nargs="*", help="of lm, behind --")
    options = parser.parse_args()
    {"time": measure, "lm": train}[options.what](options)


if __name__ == "__main__":
    main()
