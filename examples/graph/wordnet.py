# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicts links of WordNet by R-GCN and DistMult: one model of torch_geometric, computed by Drawloom under patch_pyg() and by
torch_geometric itself. Mean reciprocal ranks over several seeds, time, pictures. See README.md."""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import links  # noqa: E402
import pictures  # noqa: E402
from model import Links  # noqa: E402
from progress import Bar  # noqa: E402

import drawloom.torch  # noqa: E402

# Files that lexicographers keep nouns in (lexnames(5)).
TOPICS = {5: "animals", 6: "artefacts", 15: "places", 18: "people", 20: "plants", 26: "states"}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0].replace("\n", " "), allow_abbrev=False)
    parser.add_argument("--wordnet", type=pathlib.Path, default=pathlib.Path("/usr/share/wordnet"),
                        help="folder with data.noun and its like (default: that of Debian's package wordnet-base)")
    parser.add_argument("--steps", type=int, default=300, help="training steps (default: 300)")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each library (default: 1)")
    parser.add_argument("--width", type=int, default=64, help="channels of a node (default: 64)")
    parser.add_argument("--batch", type=int, default=8192, help="links in a step (default: 8192)")
    parser.add_argument("--negatives", type=int, default=512, help="random ends beside the right one (default: 512)")
    parser.add_argument("--rate", type=float, default=0.01, help="Adam's rate (default: 0.01)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="threads (default: %(default)s)")
    parser.add_argument("--no-rivals", action="store_true", help="train with Drawloom alone")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("output/graph"),
                        help="folder for the pictures (default: output/graph)")
    options = parser.parse_args(arguments)
    for name in ("steps", "seeds", "width", "batch", "negatives", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it is 1 or more")
    return options


def train(options, data, seed, label):
    """The model, [(step, loss, MRR on the validation links or None)], and the seconds that steps took."""
    torch.manual_seed(seed)
    steps = options.steps
    model = Links(data.nodes, len(data.relations), options.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    bar, history, known, seconds = Bar(steps, label), [], 0.0, 0.0
    for step in range(1, steps + 1):
        start = time.perf_counter()
        order = torch.randperm(data.train.shape[1])
        # What is to be predicted is no message.
        wanted, seen = data.train[:, order[:options.batch]], data.train[:, order[options.batch:]]
        optimizer.zero_grad()
        loss = model.loss(model(seen), wanted, options.negatives)
        loss.backward()
        optimizer.step()
        schedule.step()
        seconds += time.perf_counter() - start
        history.append((step, loss.item(), None))
        if step % max(steps // 10, 1) == 0:
            known = model.reciprocal_rank(data, data.validation)
            history[-1] = step, loss.item(), known
        bar.show(step, f"loss {loss.item():.3f}  MRR {known:.3f}")
    return model, history, seconds


def draw_map(path, model, data):
    """Where nouns of six topics lie."""
    with torch.no_grad():
        rows = model(data.train).numpy()
    topic = np.array([list(TOPICS).index(file) if file in TOPICS else -1 for file in data.files])
    links = np.bincount(data.train[[0, 2]].flatten().numpy(), minlength=data.nodes)
    pictures.write_map(path, "Synsets as the network has them", rows, list(TOPICS.values()), topic, data.words, links)


def main(arguments=None):
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    try:
        data = links.read(options.wordnet)
    except OSError as error:
        sys.exit(f"wordnet.py: cannot read WordNet: {error}. Install it (apt-get install wordnet-base), or say --wordnet=FOLDER")
    options.output.mkdir(parents=True, exist_ok=True)
    print(f"{data.nodes} synsets, {data.train.shape[1]} links of {len(data.relations)} relations to learn, "
          f"{data.test.shape[1]} to predict")
    runs, ranks, seconds = {}, {}, {}
    for name in ("Drawloom", *([] if options.no_rivals else ["torch_geometric"])):
        if name == "Drawloom":
            drawloom.torch.patch_pyg()
        else:
            drawloom.torch.unpatch_pyg()
        for seed in range(options.seeds):
            model, history, taken = train(options, data, seed, f"{name}, seed {seed}: ")
            runs.setdefault(name, []).append(history)
            ranks.setdefault(name, []).append(model.reciprocal_rank(data, data.test))
            seconds.setdefault(name, []).append(taken / options.steps)
            if name == "Drawloom" and seed == 0:
                draw_map(options.output / "synsets.png", model, data)
    drawloom.torch.unpatch_pyg()
    pictures.write_curves(options.output / "curves.png", runs, "mean reciprocal rank")
    for name, found in ranks.items():
        spread = f" ± {statistics.stdev(found):.4f}" if len(found) > 1 else ""
        print(f"{name:16} MRR {statistics.mean(found):.4f}{spread}, {1e3 * statistics.mean(seconds[name]):.0f} ms a step")
    if len(seconds) > 1:
        print(f"{statistics.mean(seconds['torch_geometric']) / statistics.mean(seconds['Drawloom']):.1f} times as fast as torch_geometric")
    print(f"pictures: {options.output / 'curves.png'}, {options.output / 'synsets.png'}")


if __name__ == "__main__":
    main()
