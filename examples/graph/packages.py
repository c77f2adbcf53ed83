# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells the sections of Debian's packages by R-GCN on sampled batches: one model of torch_geometric, computed by Drawloom under
patch_pyg() and by torch_geometric itself. Accuracy over several seeds, time, pictures. See README.md."""

from __future__ import annotations

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import index  # noqa: E402
import pictures  # noqa: E402
from model import Classes  # noqa: E402
from progress import Bar  # noqa: E402
from sampling import Batches, Neighbours  # noqa: E402

import drawloom.torch  # noqa: E402

# What the picture shows.
SECTIONS = ("python", "perl", "games", "sound", "fonts", "science")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0].replace("\n", " "), allow_abbrev=False)
    parser.add_argument("--index", type=pathlib.Path, help="a file like Packages of a Debian archive (default: what apt-cache dumpavail says)")
    parser.add_argument("--epochs", type=int, default=5, help="times that all packages are learnt from (default: 5)")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each library (default: 1)")
    parser.add_argument("--width", type=int, default=64, help="channels of a package (default: 64)")
    parser.add_argument("--batch", type=int, default=1024, help="packages of a batch (default: 1024)")
    parser.add_argument("--fanout", type=int, default=10, help="edges to a package that are sampled (default: 10)")
    parser.add_argument("--rate", type=float, default=0.01, help="Adam's rate (default: 0.01)")
    parser.add_argument("--workers", type=int, default=0,
                        help="processes that sample batches and sort their edges, where there are processors for them (default: none)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="threads (default: %(default)s)")
    parser.add_argument("--no-rivals", action="store_true", help="train with Drawloom alone, on words and edges")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("output/graph"),
                        help="folder for the pictures, and for the words of packages (default: output/graph)")
    options = parser.parse_args(arguments)
    for name in ("epochs", "seeds", "width", "batch", "fanout", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it is 1 or more")
    if options.workers < 0:
        parser.error(f"--workers is {options.workers}; it is 0 or more")
    return options


def accuracy(model, data, words, nodes):
    """Of the packages whose section is told, on all edges; and the rows that it is told from."""
    edges = torch.from_numpy(np.stack([data.source, data.target]))
    with torch.no_grad():
        model.eval()
        rows = model.rows(words[:], edges, torch.from_numpy(data.relation))
        told = model.last(rows[torch.from_numpy(nodes)]).argmax(1).numpy()
    model.train()
    return float((told == data.section[nodes]).mean()), rows


def train(options, data, words, seed, label, sorts):
    """The model, [(step, loss, accuracy on the validation packages or None)], and the seconds that epochs took."""
    torch.manual_seed(seed)
    relations = 2 * len(index.RELATIONS)
    model = Classes(index.WORDS, relations, options.width, len(data.sections))
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    neighbours = Neighbours(data, relations, options.fanout, sorts=sorts)
    section = torch.from_numpy(data.section)
    steps = options.epochs * -(-len(data.train) // options.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    bar, history, known, seconds = Bar(steps, label), [], 0.0, 0.0
    for epoch in range(options.epochs):
        batches = Batches(neighbours, data.train, options.batch, seed * options.epochs + epoch)
        loader = torch.utils.data.DataLoader(batches, batch_size=None, num_workers=options.workers)
        start = time.perf_counter()
        # While a batch is learnt from, the words of the next two are read.
        for batch, x in words.ahead(loader, lambda batch: batch.nodes):
            optimizer.zero_grad()
            found = model(x, batch.edge_index if batch.graph is None else batch.graph, batch.edge_type)[:batch.count]
            loss = F.cross_entropy(found, section[batch.nodes[:batch.count]])
            loss.backward()
            optimizer.step()
            schedule.step()
            history.append((len(history) + 1, loss.item(), None))
            bar.show(len(history), f"loss {loss.item():.3f}  accuracy {known:.3f}")
        seconds += time.perf_counter() - start
        known, _ = accuracy(model, data, words, data.validation)
        history[-1] = *history[-1][:2], known
    return model, history, seconds


def main(arguments=None):
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    try:
        data = index.read(options.index)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"packages.py: cannot read an index of packages: {error}. Fetch one (apt-get update), or say --index=FILE")
    options.output.mkdir(parents=True, exist_ok=True)
    np.save(options.output / "words.npy", data.words)
    words = drawloom.torch.FeatureTable(options.output / "words.npy", memory="1 GiB")
    print(f"{len(data.names)} packages of {len(data.sections)} sections, {len(data.source) // 2} edges of {len(index.RELATIONS)} relations, "
          f"{len(data.train)} packages to learn from")
    alone = index.without_edges(data)
    runs, shares, seconds = {}, {}, {}
    for name in ("Drawloom", *([] if options.no_rivals else ["torch_geometric", "words alone"])):
        if name == "torch_geometric":
            drawloom.torch.unpatch_pyg()
        else:
            drawloom.torch.patch_pyg()
        known = alone if name == "words alone" else data
        for seed in range(options.seeds):
            model, history, taken = train(options, known, words, seed, f"{name}, seed {seed}: ", sorts=name != "torch_geometric")
            share, rows = accuracy(model, known, words, data.test)
            runs.setdefault(name, []).append(history)
            shares.setdefault(name, []).append(share)
            seconds.setdefault(name, []).append(taken / options.epochs)
            if name == "Drawloom" and seed == 0:
                kind = np.array([SECTIONS.index(section) if section in SECTIONS else -1 for section in data.sections])[data.section]
                pictures.write_map(options.output / "packages.png", "Packages as the network has them", rows.numpy(), SECTIONS, kind,
                                   data.names, np.bincount(data.source, minlength=len(data.names)))
    drawloom.torch.unpatch_pyg()
    pictures.write_curves(options.output / "packages-curves.png", runs, "accuracy")
    for name, found in shares.items():
        spread = f" ± {statistics.stdev(found):.4f}" if len(found) > 1 else ""
        print(f"{name:16} accuracy {statistics.mean(found):.4f}{spread}, {statistics.mean(seconds[name]):.1f} s an epoch")
    if len(seconds) > 1:
        print(f"{statistics.mean(seconds['torch_geometric']) / statistics.mean(seconds['Drawloom']):.1f} times as fast as torch_geometric")
    print(f"pictures: {options.output / 'packages-curves.png'}, {options.output / 'packages.png'}")


if __name__ == "__main__":
    main()
