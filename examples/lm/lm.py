# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a byte-level language model whose tokens are mixed by a linear recurrence that Drawloom computes, and a Transformer of
the same size beside it: bits per byte of held-out text, time of a training step, text of their own. See README.md."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import pathlib
import statistics
import sys
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import curves  # noqa: E402
import model as models  # noqa: E402
import reference  # noqa: E402
import text  # noqa: E402
from progress import Bar, Interrupt  # noqa: E402

import drawloom  # noqa: E402
import drawloom.torch.linrec as linrec  # noqa: E402

NAMES = {"gla": "GLA", "retnet": "RetNet", "mamba2": "Mamba-2", "gdn": "Gated DeltaNet", "kda": "Kimi delta attention",
         "rwkv7": "RWKV-7", "gru": "diagonal GRU", "lstm": "diagonal LSTM", "transformer": "Transformer"}
# What two runs have to share for their figures to stand beside each other.
SETTINGS = ("steps", "batch", "context", "width", "layers", "heads", "rate", "seed", "text")
TIMED = (*SETTINGS, "threads")
MEASUREMENTS = 16  # of held-out text, in the course of a training


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0].replace("\n", " ") + ".", allow_abbrev=False)
    parser.add_argument("--model", choices=list(models.MIXERS), default="gla", help="what mixes the tokens (default: gla)")
    parser.add_argument("--steps", type=int, default=1200, help="training steps (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=2, help="pieces of text in a step (default: %(default)s)")
    parser.add_argument("--context", type=int, default=512, help="bytes in a piece (default: %(default)s)")
    parser.add_argument("--width", type=int, default=256, help="channels of a token, a multiple of 4 x heads (default: %(default)s)")
    parser.add_argument("--layers", type=int, default=4, help="(default: %(default)s)")
    parser.add_argument("--heads", type=int, default=4, help="(default: %(default)s)")
    parser.add_argument("--rate", type=float, default=2e-3, help="AdamW's highest rate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of first parameters and batches (default: %(default)s)")
    parser.add_argument("--reference", action="store_true", help="compute the recurrence in plain torch (reference.py), without Drawloom")
    parser.add_argument("--seeds", type=int, metavar="N",
                        help="compare instead: train with Drawloom and with reference.py, N seeds each, and nothing else")
    parser.add_argument("--no-rivals", action="store_true", help="no Transformer, no times of others")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoints in the output folder, where there are any")
    parser.add_argument("--offload", type=pathlib.Path, metavar="FOLDER",
                        help="keep what the backward pass needs in this folder on an SSD, as far as it exceeds --memory")
    parser.add_argument("--offload-optimizer", action="store_true", help="keep the optimizer's states there, too")
    parser.add_argument("--memory", default="1GiB", help="of what --offload keeps in main memory (default: %(default)s)")
    parser.add_argument("--recompute", action="store_true", help="keep each layer's input alone for the backward pass, which computes the rest again")
    parser.add_argument("--text", type=pathlib.Path, metavar="FILE", help="learn this in place of the King James Bible")
    parser.add_argument("--prompt", default="In the beginning ", help="what samples begin with (default: '%(default)s')")
    parser.add_argument("--sample", type=int, default=500, help="bytes of a sample (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.7, help="of samples (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="(default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("output/lm"),
                        help="folder for the picture, figures and checkpoints (default: output/lm)")
    options = parser.parse_args(arguments)
    for name in ("steps", "batch", "context", "width", "layers", "heads", "sample", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it is 1 or more")
    for name in ("rate", "temperature"):
        if not 0 < getattr(options, name) < math.inf:
            parser.error(f"--{name} is {getattr(options, name)}; it is more than 0")
    if options.seeds is not None and options.seeds < 1:
        parser.error(f"--seeds is {options.seeds}; it is 1 or more")
    if options.width % (4 * options.heads):
        parser.error(f"--width is {options.width}; it is a multiple of {4 * options.heads}, 4 times --heads")
    if options.model == "transformer" and (options.seeds is not None or options.reference):
        parser.error("the Transformer has no recurrence: --seeds and --reference compare those of the other models")
    if options.seeds is not None and options.resume:
        parser.error("--seeds keeps no checkpoints to --resume from")
    if options.offload_optimizer and not options.offload:
        parser.error("--offload-optimizer needs --offload, which names the folder")
    if not options.prompt:
        parser.error("--prompt is empty; it is one byte or more")
    return options


def settings_of(options, names=SETTINGS):
    return {name: str(value) if isinstance(value := getattr(options, name), pathlib.Path) else value for name in names}


def batch_of(data, options, seed, step):
    """Pieces [batch, context + 1] from random places, the same for every model."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + step)
    first = torch.randint(len(data) - options.context, (options.batch, 1), generator=generator)
    return data[first + torch.arange(options.context + 1)].long()


def bits(model, pieces):
    """Mean bits per byte of pieces [batch, context + 1], whose first bytes are given."""
    logits, _ = model(pieces[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten()) / math.log(2)


def held_out_bits(model, data, options, most=None):
    """Of all of the held-out text, in pieces behind each other, or of so many bytes from all over it."""
    pieces = (len(data) - 1) // options.context // options.batch * options.batch
    at = torch.arange(pieces).view(-1, options.batch, 1) * options.context + torch.arange(options.context + 1)
    if most is not None:
        batches = max(most // (options.batch * options.context), 1)
        at = at[torch.linspace(0, len(at) - 1, min(batches, len(at))).long()]
    with torch.no_grad():
        return statistics.mean(bits(model, data[one].long()).item() for one in at)


def optimizer_of(model, rate, spill=None):
    """spill: where states are; None: in main memory."""
    # Matrices decay; norms, biases, decays of heads, embeddings and short convolutions do not.
    matrices = [layer.weight for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    known = {id(one) for one in matrices}
    others = [one for one in model.parameters() if id(one) not in known]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    if spill:
        return drawloom.torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), offload=spill)
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), fused=True)


def rate_at(step, options):
    """A rise over the first twentieth, then half a cosine down to a tenth."""
    rise = max(options.steps // 20, 1)
    if step <= rise:
        return options.rate * step / rise
    return options.rate * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - rise) / max(options.steps - rise, 1))))


def step_of(model, optimizer, pieces, spill=None):
    optimizer.zero_grad()
    with spill or contextlib.nullcontext():
        loss = bits(model, pieces)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def save(path, model, optimizer, history, settings):
    partial = path.with_suffix(".partial")
    torch.save({"settings": settings, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "history": history}, partial)
    os.replace(partial, path)


def load(path, model, optimizer, settings):
    """The history that was reached; the settings have to be those of the checkpoint."""
    kept = torch.load(path, weights_only=True)
    for name, value in settings.items():
        if kept["settings"].get(name) != value:
            raise text.TextError(f"--resume: {path} is of a run with {name} {kept['settings'].get(name)}, not {value}. Give the same "
                                 "options, or another --output")
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    return kept["history"]


def train(options, data, kind, ops, seed, interrupt, label, checkpoint=None):
    """The model, and for each step {"step", "bytes", "seconds", "loss", "held out"}; the last is None for most."""
    learnt, held = data
    model = models.make(kind, ops, width=options.width, layers=options.layers, heads=options.heads, seed=seed)
    model.recomputes = options.recompute
    spill = drawloom.torch.offload(options.offload, memory=options.memory) if options.offload else None
    optimizer, history = optimizer_of(model, options.rate, spill if options.offload_optimizer else None), []
    settings = {**settings_of(options), "model": kind, "reference": ops is reference}
    if checkpoint and options.resume and checkpoint.exists():
        history = load(checkpoint, model, optimizer, settings)
        print(f"{label}: goes on from {checkpoint} after step {len(history)} of {options.steps}")
    every, bar, saved = max(options.steps // MEASUREMENTS, 1), Bar(options.steps, f"{label}  "), time.monotonic()
    seconds, known = (history[-1]["seconds"] if history else 0.0), None
    for step in range(len(history) + 1, options.steps + 1):
        if interrupt.asked:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, options)
        start = time.perf_counter()
        loss = step_of(model, optimizer, batch_of(learnt, options, seed, step), spill)
        seconds += time.perf_counter() - start
        history.append({"step": step, "bytes": step * options.batch * options.context, "seconds": seconds, "loss": loss, "held out": None})
        if step % every == 0:
            known = history[-1]["held out"] = held_out_bits(model, held, options, 16384)
        bar.show(step, f"{loss:.2f} bits/byte" + (f", held out {known:.2f}" if known else "")
                 + f", {1e-3 * history[-1]['bytes'] / seconds:.1f} kB/s")
        if checkpoint and time.monotonic() - saved > 60:
            save(checkpoint, model, optimizer, history, settings)
            saved = time.monotonic()
    if spill:
        print(f"\n{spill.report()}")
        spill.trace(options.output / "offload.json")
        spill.picture(options.output / "offload.png")
        print(f"where the last steps' time went: {options.output / 'offload.png'}; in a browser, ui.perfetto.dev shows "
              f"{options.output / 'offload.json'}")
    if interrupt.asked:
        print(f"\n{label}: stopped after step {len(history)} of {options.steps}"
              + (f"; --resume goes on from {checkpoint}" if checkpoint and history else ""), file=sys.stderr)
    if history:
        history[-1]["held out"] = held_out_bits(model, held, options)
        if checkpoint:
            save(checkpoint, model, optimizer, history, settings)
    if spill:
        spill.close()
    return model, history


def write(model, options):
    """Bytes after the prompt, one at a time from what the model remembers; and the seconds of each."""
    generator, memory, found = torch.Generator().manual_seed(options.seed), None, list(options.prompt.encode())
    with torch.no_grad():
        for one in found[:-1]:
            _, memory = model(torch.tensor([[one]]), memory)
        start = time.perf_counter()
        for _ in range(options.sample):
            logits, memory = model(torch.tensor([[found[-1]]]), memory)
            share = torch.softmax(logits[0, -1] / options.temperature, -1)
            found.append(torch.multinomial(share, 1, generator=generator).item())
        return bytes(found), (time.perf_counter() - start) / options.sample


def printable(sample):
    return "".join(c if c.isprintable() or c == "\n" else "\N{MIDDLE DOT}" for c in sample.decode(errors="replace"))


def seconds_in_turns(makers, options, learnt, rounds=9):
    """Of a training step of each: the median over rounds in which each has its turn; two rounds before are not counted."""
    runs = {name: (model := make(), optimizer_of(model, 1e-4)) for name, make in makers.items()}
    seconds = {name: [] for name in makers}
    for step in range(rounds + 2):
        for name, (model, optimizer) in runs.items():
            start = time.perf_counter()
            step_of(model, optimizer, batch_of(learnt, options, 0, step))
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(found[2:]) for name, found in seconds.items()}


def make_of(options, kind, ops, seed=0):
    return lambda: models.make(kind, ops, width=options.width, layers=options.layers, heads=options.heads, seed=seed)


def figures_of(model, history, options):
    sample, each = write(model, options)
    return {"parameters": models.parameters(model), "bits per byte": history[-1]["held out"], "steps": len(history),
            "seconds": history[-1]["seconds"], "step, ms": 1e3 * statistics.median(
                b["seconds"] - a["seconds"] for a, b in zip(history, history[1:])) if len(history) > 1 else None,
            "decoding, ms a byte": 1e3 * each, "sample": printable(sample),
            "history": [{name: round(value, 4) if isinstance(value, float) and name != "loss" else value for name, value in one.items()}
                        for one in history]}


def table(found):
    print(f"\n{'':24}{'parameters':>12}{'bits per byte':>15}{'steps':>8}{'step, ms':>10}{'seconds':>9}{'decoding, ms a byte':>21}")
    for name, one in found.items():
        print(f"{name:24}{one['parameters']:>12,}{one['bits per byte']:>15.3f}{one['steps']:>8}{one['step, ms'] or math.nan:>10.0f}"
              f"{one['seconds']:>9.0f}{one['decoding, ms a byte']:>21.2f}")


def run(options, data, interrupt):
    path = options.output / "summary.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    found = kept.get("models", {}) if kept.get("settings") == settings_of(options, TIMED) else {}
    ours = NAMES[options.model] + (" in plain torch" if options.reference else "")
    trainings = {ours: (options.model, reference if options.reference else linrec)}
    if not options.no_rivals and options.model != "transformer":
        rival = found.get(NAMES["transformer"])
        if rival and rival["steps"] == options.steps:
            print(f"the Transformer was trained with these settings before; its figures are in {path}")
        else:
            trainings[NAMES["transformer"]] = "transformer", linrec
    for name, (kind, ops) in trainings.items():
        if interrupt.asked:
            break
        stem = kind + ("-reference" if ops is reference else "")
        model, history = train(options, data, kind, ops, options.seed, interrupt, name, options.output / f"{stem}.pt")
        if not history:
            continue
        found[name] = figures_of(model, history, options)
        print(f"\n{name}, {models.parameters(model):,} parameters, writes:\n\n{found[name]['sample']}\n")
    if not found:
        return
    found = {name: found[name] for kind in NAMES.values() for name in (kind, f"{kind} in plain torch") if name in found}
    table(found)
    if not options.no_rivals and options.model != "transformer" and not interrupt.asked:
        times = seconds_in_turns({"Drawloom": make_of(options, options.model, linrec),
                                  "plain torch": make_of(options, options.model, reference),
                                  "Transformer": make_of(options, "transformer", linrec)}, options, data[0])
        print(f"\na training step of {NAMES[options.model]} with Drawloom: {1e3 * times['Drawloom']:.0f} ms ({options.threads} threads)")
        print(f"  its recurrence in plain torch: {1e3 * times['plain torch']:.0f} ms, "
              f"{times['plain torch'] / times['Drawloom']:.2f} times as long")
        print(f"  the Transformer: {1e3 * times['Transformer']:.0f} ms, {times['Transformer'] / times['Drawloom']:.2f} times as long")
        found[ours]["step in turns, ms"] = {name: 1e3 * value for name, value in times.items()}
    path.write_text(json.dumps({"settings": settings_of(options, TIMED), "models": found}, indent=1) + "\n")
    caption = f"{options.layers} layers of {options.width} channels, {options.batch} pieces of {options.context} bytes a step"
    curves.write(options.output / "curves.png", {name: one["history"] for name, one in found.items()}, caption)
    print(f"picture: {options.output / 'curves.png'}; figures: {path}")


def compare(options, data, interrupt):
    """The same model with Drawloom and in plain torch, from the same first parameters and on the same batches."""
    found = {"Drawloom": [], "plain torch": []}
    seconds = {name: [] for name in found}
    for seed in range(options.seeds):
        for name, ops in (("Drawloom", linrec), ("plain torch", reference)):
            _, history = train(options, data, options.model, ops, seed, interrupt, f"{NAMES[options.model]}, {name}, seed {seed}")
            if interrupt.asked:
                return
            found[name].append(history[-1]["held out"])
            seconds[name] += [b["seconds"] - a["seconds"] for a, b in zip(history, history[1:])]
    for name, values in found.items():
        spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
        print(f"{NAMES[options.model]}, {name}: {statistics.mean(values):.4f}{spread} bits per byte of held-out text "
              f"(seeds: {', '.join(f'{value:.4f}' for value in values)})")
    apart = max(abs(a - b) for a, b in zip(*found.values()))
    print(f"the same seed differs by {apart:.4f} at most")
    summary = {"settings": settings_of(options, TIMED), "model": options.model, "bits per byte": found}
    if options.steps > 1:
        times = {name: statistics.median(values) for name, values in seconds.items()}
        print(f"a step: {1e3 * times['Drawloom']:.0f} ms with Drawloom, {1e3 * times['plain torch']:.0f} ms in plain torch, "
              f"{times['plain torch'] / times['Drawloom']:.2f} times as long")
        summary["step, ms"] = {name: 1e3 * value for name, value in times.items()}
    path = options.output / f"{options.model}-seeds.json"
    path.write_text(json.dumps(summary, indent=1) + "\n")
    print(f"figures: {path}")


def main(arguments=None):
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    try:
        data = text.read(options.text, options.batch * options.context + 1)
        options.output.mkdir(parents=True, exist_ok=True)
        with Interrupt() as interrupt:
            (run if options.seeds is None else compare)(options, data, interrupt)
    except (text.TextError, models.SizeError, drawloom.Error) as error:
        sys.exit(f"lm.py: error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
