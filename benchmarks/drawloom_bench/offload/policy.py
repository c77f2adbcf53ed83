# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that a training step writes by offload's rule, and by that of SSDTrain (arXiv 2408.10013), at equal peak memory.

    drawloom-bench offload-policy [--context 16384] [--json FILE]
    drawloom-bench offload-policy --folder DIR --context 2048 --memory 256MiB     # also runs it

Of a step of examples/lm, without its numbers (on torch's meta device), it records what autograd saves: storages, views of them, and in
which module. SSDTrain's rule has one boundary: what modules before it save goes to the SSD, what those behind it save stays in memory,
and so does what the last one saves. A tensor is written once for each shape, strides and type that it is saved in. Its boundary is
tried at each place where it can be, between layers, and then between any two modules, which is finer than it is used.
  equal peak    the bytes that stay there are the peak; offload has as many as its memory
  equal memory  both have so many bytes, a tenth of all that is saved, two tenths and so on: the boundary is the first that keeps to it
offload decides by storages, the oldest save first.
--folder: the step is run on numbers by offload with --memory, three times, and what the third wrote is held against the plan.
"""

import sys
import tempfile

import torch
from torch.nn import functional as F

from drawloom_bench import ROOT
from drawloom_bench import options as common
from drawloom_bench.offload.common import Goals, add_folder, need_room, progress, write
from drawloom_bench.options import GIB

SMALL = 64 << 10  # which both leave where it is here; SSDTrain's own limit, 8 Mi elements, is above most tensors of this model


class Record:
    """What a forward pass saves, in its order. saves: (storage, its bytes, view, the view's bytes, scope)."""

    def __init__(self, model, scopes):
        self.saves, self.scope, self.tensors = [], 0, []
        for module in scopes(model):
            module.register_forward_pre_hook(self.next)

    def next(self, *_):
        self.scope += 1

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if not (isinstance(tensor, torch.nn.Parameter) or isinstance(tensor._base, torch.nn.Parameter) or storage.nbytes() < SMALL):
            # Alive, so that none takes the place of another.
            self.tensors.append(tensor.detach())
            of, view = (storage._cdata, tensor._version), (tuple(tensor.shape), tensor.stride(), tensor.dtype)
            self.saves.append((of, storage.nbytes(), view, min(tensor.nbytes, storage.nbytes()), self.scope))
        return tensor.detach()

    def theirs(self, boundary):
        """(bytes that are written, bytes that stay), if scopes from the boundary on stay."""
        gone = {(of, view): count for of, _, view, count, scope in self.saves if scope < boundary}
        stays = {of: count for of, count, _, _, scope in self.saves if scope >= boundary}
        return sum(gone.values()), sum(stays.values())

    def ours(self, memory):
        from drawloom.torch._offload_plan import Entry, Pass
        known, entries = Pass(), {}
        for at, (of, count, *_) in enumerate(self.saves):
            entries.setdefault(of, Entry(None, count, at)).last = at
        known.entries = list(entries.values())
        goes = known.goes(memory)
        return sum(entry.size for entry, gone in zip(known.entries, goes) if gone)

    def all(self):
        return sum({of: count for of, count, *_ in self.saves}.values())


def made(options, device):
    import model as models

    import drawloom.torch as dt
    with torch.device(device):
        model = models.make("gla", dt.linrec, width=options.width, layers=options.layers, heads=4, seed=0)
        tokens = torch.randint(256, (1, options.context + 1))

    def loss():
        return F.cross_entropy(model(tokens[:, :-1])[0][0], tokens[0, 1:])

    return model, loss


def layers(model):
    return [one for child in model.children() for one in (child if isinstance(child, torch.nn.ModuleList) else [child])]


def modules(model):
    return [one for one in model.modules() if not list(one.children())]


def compare(options, name, scopes):
    model, loss = made(options, "meta")
    record = Record(model, scopes)
    with torch.autograd.graph.saved_tensors_hooks(record.pack, lambda tensor: tensor):
        loss()
    rows = []
    for boundary in sorted({scope for *_, scope in record.saves}):
        written, stays = record.theirs(boundary)
        if written:
            rows.append({"boundary": boundary, "peak": stays, "SSDTrain": written, "offload": record.ours(stays)})
    print(f"\nboundaries between {name}: {len(record.saves)} saves of {sum(one[3] for one in record.saves) / GIB:.2f} GiB, in storages of "
          f"{record.all() / GIB:.2f} GiB\n  {'peak':>10}{'SSDTrain writes':>18}{'offload':>12}{'':>8}")
    for row in rows[::max(1, len(rows) // 12)]:
        peak, theirs, ours = (row[name] / GIB for name in ("peak", "SSDTrain", "offload"))
        print(f"  {peak:>6.2f} GiB{theirs:>14.2f} GiB{ours:>8.2f} GiB{ours / theirs:>8.3f}")
    # A memory that somebody has ends within a module, as a rule: theirs has to end before.
    memories = []
    for share in range(10, 100, 10):
        memory = record.all() * share // 100
        written = min((row["SSDTrain"] for row in rows if row["peak"] <= memory), default=None)
        if written is not None:
            memories.append({"memory": memory, "SSDTrain": written, "offload": record.ours(memory)})
    print("  with a memory of " + ", ".join(f"{one['memory'] / GIB:.2f}" for one in memories) + " GiB, offload writes "
          + ", ".join(f"{one['offload'] / one['SSDTrain']:.2f}" for one in memories) + " of what SSDTrain does")
    return {"all": record.all(), "equal peak": rows, "equal memory": memories}


def run(options, goals):
    """The step on numbers."""
    import drawloom.torch as dt
    need_room(options.folder, 4 * GIB)
    _, loss = made(options, "cpu")
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="drawloom-offload-") as folder:
        spill, written = dt.offload(folder, options.memory), [0]
        for i in range(3):
            progress(f"step {i + 1} of 3")
            with spill:
                result = loss()
            spill._store.finish()
            result.backward()
            written.append(spill._store.statistics()["written"])
        last = spill._order._past[0]
        planned = sum(entry.size for entry, gone in zip(last.entries, last.goes(spill._limit)) if gone)
        report = spill.report()
        spill.close()
    steps = [after - before for before, after in zip(written, written[1:])]
    print(f"\non numbers, with a memory of {options.memory / GIB:.2f} GiB: {planned / GIB:.3f} GiB are planned, "
          f"{', '.join(f'{one / GIB:.3f}' for one in steps)} GiB were written; at most {report.peak / GIB:.3f} GiB were kept")
    goals.add("bytes written of those planned", 100 * steps[-1] / planned, least=99, most=101, unit=" %")
    return {"planned": planned, "written": steps, "peak": report.peak}


def arguments(parser):
    parser.add_argument("--context", type=int, default=16384, help="bytes of text in a step (%(default)s)")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    add_folder(parser, required=False, help="also run the step, with saved tensors in this folder")
    parser.add_argument("--memory", type=common.size, default=GIB, help="of this run (1GiB)")
    common.add_json(parser)


def main(options):
    sys.path.insert(0, str(ROOT / "examples" / "lm"))
    found, goals = {}, Goals()
    for scopes in (layers, modules):
        one = found[scopes.__name__] = compare(options, scopes.__name__, scopes)
        for kind in ("equal peak", "equal memory"):
            goals.add(f"bytes offload writes, x SSDTrain's at {kind}, at the most, between {scopes.__name__}",
                      max(row["offload"] / row["SSDTrain"] for row in one[kind]), most=1)
    if options.folder:
        found["run"] = run(options, goals)
    print()
    goals.show()
    write(options, found=found, goals=goals.found)
