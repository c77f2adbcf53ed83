# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a Kolmogorov-Arnold Transformer on handwritten digits, with feed-forward blocks that Drawloom computes, and the
same model in plain torch beside it: accuracy over several seeds, time of a training step, pictures. See README.md."""

import argparse
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import pictures  # noqa: E402
from model import KolmogorovArnoldTransformer  # noqa: E402
from progress import Bar  # noqa: E402

import drawloom.torch  # noqa: E402


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0].replace("\n", " "), allow_abbrev=False)
    parser.add_argument("--epochs", type=int, default=40, help="passes over the training set (default: 40)")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each model (default: 3)")
    parser.add_argument("--batch", type=int, default=128, help="pictures in a step (default: 128)")
    parser.add_argument("--depth", type=int, default=4, help="layers (default: 4)")
    parser.add_argument("--width", type=int, default=64, help="channels of a token, a multiple of 8 (default: 64)")
    parser.add_argument("--rate", type=float, default=2e-3, help="AdamW's rate at first; it falls to 0 (default: 0.002)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="threads (default: %(default)s)")
    parser.add_argument("--no-rivals", action="store_true", help="train with Drawloom alone")
    parser.add_argument("--no-compile", action="store_true", help="do not time torch.compile, which compiles for some minutes")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("output/kat"),
                        help="folder for the pictures (default: output/kat)")
    options = parser.parse_args(arguments)
    for name in ("epochs", "seeds", "batch", "depth", "width", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it is 1 or more")
    if options.width % 8:
        parser.error(f"--width is {options.width}; it is a multiple of 8, the number of groups")
    return options


def digits():
    """(training pictures, labels), (test pictures, labels); pixels in [-1, 1]."""
    data = load_digits()
    pixels = torch.tensor(data.images / 8 - 1, dtype=torch.float32)
    labels = torch.tensor(data.target)
    order = torch.tensor(np.random.default_rng(0).permutation(len(labels)))
    test, train = order[:360], order[360:]
    return (pixels[train], labels[train]), (pixels[test], labels[test])


def make(options, seed, plain):
    torch.manual_seed(seed)
    model = KolmogorovArnoldTransformer(width=options.width, hidden=4 * options.width, depth=options.depth, plain=plain)
    optimizer = torch.optim.AdamW if plain else drawloom.torch.optim.AdamW
    # Coefficients move slowly and do not decay: they are shared by many channels.
    tables = [p for name, p in model.named_parameters() if name.rsplit(".", 1)[-1] in ("a1", "b1", "a2", "b2")]
    known = {id(p) for p in tables}
    others = [p for p in model.parameters() if id(p) not in known]
    return model, optimizer([{"params": others, "weight_decay": 0.05},
                             {"params": tables, "weight_decay": 0.0, "lr": 0.1 * options.rate}], lr=options.rate)


def step_of(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def train(options, data, seed, plain, label):
    """The model, and [(step, loss, accuracy on the test set or None)]."""
    (x, y), test = data
    model, optimizer = make(options, seed, plain)
    steps = options.epochs * (len(y) // options.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    generator, bar, history, step, known = torch.Generator().manual_seed(seed), Bar(steps, label), [], 0, 0.0
    for _ in range(options.epochs):
        # Batches are all of one size.
        order = torch.randperm(len(y), generator=generator)
        for batch in order[:len(y) // options.batch * options.batch].split(options.batch):
            loss = step_of(model, optimizer, x[batch], y[batch])
            schedule.step()
            step += 1
            history.append((step, loss, None))
            bar.show(step, f"loss {loss:.3f}  accuracy {100 * known:.1f} %")
        known = accuracy(model, *test)
        history[-1] = step, loss, known
    return model, history


def seconds_of(options, data, plain, compiled, steps=12):
    """Of a training step: the median; three steps before are not counted."""
    (x, y), _ = data
    model, optimizer = make(options, 0, plain)
    run = torch.compile(model) if compiled else model
    seconds = []
    for _ in range(steps + 3):
        start = time.perf_counter()
        step_of(run, optimizer, x[:options.batch], y[:options.batch])
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[3:])


def main(arguments=None):
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    options.output.mkdir(parents=True, exist_ok=True)
    data = digits()
    kinds = {"Drawloom": False} if options.no_rivals else {"Drawloom": False, "plain torch": True}
    runs, model = {}, None
    for name, plain in kinds.items():
        histories = []
        for seed in range(options.seeds):
            trained, history = train(options, data, seed, plain, f"{name}, seed {seed}  ")
            histories.append(history)
            if model is None:
                model = trained
        runs[name] = histories
        final = [history[-1][2] for history in histories]
        spread = f" (from {100 * min(final):.2f} to {100 * max(final):.2f})" if len(final) > 1 else ""
        print(f"{name}: accuracy {100 * statistics.mean(final):.2f} %{spread} on 360 digits that were not learnt")

    pictures.write_curves(options.output / "training.png", runs)
    pictures.write_activations(options.output / "activations.png", model)
    pictures.write_digits(options.output / "digits.png", model, *data[1])
    print(f"pictures: {', '.join(str(options.output / name) for name in ('training.png', 'activations.png', 'digits.png'))}")

    ours = seconds_of(options, data, False, False)
    print(f"a training step with Drawloom: {1e3 * ours:.1f} ms ({options.threads} threads)")
    if not options.no_rivals:
        if not options.no_compile:
            both = seconds_of(options, data, False, True)
            print(f"  with Drawloom in torch.compile: {1e3 * both:.1f} ms")
            ours = min(ours, both)
        for name, compiled in (("torch", False),) if options.no_compile else (("torch", False), ("torch.compile", True)):
            theirs = seconds_of(options, data, True, compiled)
            print(f"  {name}: {1e3 * theirs:.1f} ms, {theirs / ours:.2f} times as long")


if __name__ == "__main__":
    main()
