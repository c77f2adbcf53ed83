# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fine-tunes a small language model by LoRA, DoRA or QLoRA on a CPU, with layers that Drawloom computes or as PEFT does: bits per byte of
held-out text before and after, time of a training step, text of its own. See README.md."""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import time
from dataclasses import dataclass, field

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import curves  # noqa: E402
import model as models  # noqa: E402
import text  # noqa: E402
from progress import Bar, Interrupt  # noqa: E402

# What two runs have to share for their figures to stand beside each other.
SETTINGS = ("model", "steps", "batch", "context", "rank", "alpha", "rate", "seed", "text", "threads")
MEASUREMENTS = 4      # of held-out text, in the course of a training
MEASURED = 32         # pieces of held-out text in a measurement


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0].replace("\n", " ") + ".", allow_abbrev=False)
    parser.add_argument("--method", choices=list(models.METHODS), default="lora", help="(default: lora)")
    parser.add_argument("--by", choices=list(models.BY), default="drawloom", help="who computes the adapted layers (default: drawloom)")
    parser.add_argument("--seeds", type=int, metavar="N", help="compare instead: train by both in turns, step by step, N seeds, and nothing else")
    parser.add_argument("--model", type=pathlib.Path, help="a GGUF file, or a folder of transformers' (default: the file that --fetch downloads)")
    parser.add_argument("--fetch", action="store_true", help=f"download {models.FILE} first, 93 MB, if it is not there")
    parser.add_argument("--steps", type=int, default=100, help="training steps (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=4, help="pieces of text in a step (default: %(default)s)")
    parser.add_argument("--context", type=int, default=128, help="tokens in a piece (default: %(default)s)")
    parser.add_argument("--rank", type=int, default=16, help="of the adapters (default: %(default)s)")
    parser.add_argument("--alpha", type=float, default=32, help="rank times the adapters' scale (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=1e-3, help="AdamW's highest rate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of adapters, batches and samples (default: %(default)s)")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the output folder, where there is one")
    parser.add_argument("--text", type=pathlib.Path, metavar="FILE", help="learn this in place of the King James Bible")
    parser.add_argument("--prompt", default="The computer", help="what samples begin with (default: '%(default)s')")
    parser.add_argument("--sample", type=int, default=60, help="tokens of a sample (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.7, help="of samples (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="(default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("output/finetune"),
                        help="folder for the picture, figures, checkpoints and the model (default: output/finetune)")
    options = parser.parse_args(arguments)
    for name in ("steps", "batch", "context", "rank", "sample", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it is 1 or more")
    for name in ("alpha", "rate", "temperature"):
        if not 0 < getattr(options, name) < math.inf:
            parser.error(f"--{name} is {getattr(options, name)}; it is more than 0")
    if options.seeds is not None and options.seeds < 1:
        parser.error(f"--seeds is {options.seeds}; it is 1 or more")
    if options.seeds is not None and options.resume:
        parser.error("--seeds keeps no checkpoints to --resume from")
    if options.fetch and options.model:
        parser.error("--fetch downloads the model that is used without --model")
    if not options.prompt:
        parser.error("--prompt is empty; it is one byte or more")
    return options


def settings_of(options):
    return {name: str(value) if isinstance(value := getattr(options, name), pathlib.Path) else value for name in SETTINGS}


@dataclass
class Text:
    """Tokens that are learnt and tokens that are held out, and how many bytes each token of the vocabulary stands for."""

    learnt: torch.Tensor
    held: torch.Tensor
    sizes: torch.Tensor

    def bytes(self, pieces):
        """Of what pieces [batch, context + 1] ask for: all but their first tokens."""
        return self.sizes[pieces[:, 1:]].sum().item()


def read(options, tokenizer):
    # Of bytes that stand for themselves a token has one character for each.
    sizes = torch.tensor([len(one) for one in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))])
    found = []
    for data in text.read(options.text, options.batch * options.context + 1):
        given = bytes(data.tolist())
        # A piece of a file may end within a character.
        ids = torch.tensor(tokenizer(given.decode(errors="ignore"), add_special_tokens=False, verbose=False)["input_ids"])
        if sizes[ids].sum() != len(given.decode(errors="ignore").encode()):
            raise models.ModelError("the model's tokens are not made of bytes, so bits per byte cannot be counted; take a model whose are, such "
                                    "as that of --fetch")
        if len(ids) < options.batch * options.context + 1:
            raise text.TextError(f"the text has {len(ids)} tokens in a part; --batch and --context need {options.batch * options.context + 1} "
                                 "there. Take a longer text or smaller numbers")
        found.append(ids)
    return Text(*found, sizes)


def batch_of(data, options, seed, step):
    """Pieces [batch, context + 1] from random places, the same whoever computes."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + step)
    first = torch.randint(len(data.learnt) - options.context, (options.batch, 1), generator=generator)
    return data.learnt[first + torch.arange(options.context + 1)]


def nats(model, pieces):
    """Mean nats of each token of pieces [batch, context + 1] but the first ones, which are given."""
    logits = model(input_ids=pieces[:, :-1], use_cache=False).logits
    return F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())


def bits(mean, data, pieces):
    """Bits per byte of nats per token."""
    return mean * pieces[:, 1:].numel() / math.log(2) / data.bytes(pieces)


def held_out_bits(model, data, options):
    """Of pieces from all over the held-out text."""
    first = torch.linspace(0, len(data.held) - options.context - 1, MEASURED).long()[:, None]
    pieces = data.held[first + torch.arange(options.context + 1)]
    with torch.no_grad():
        each = [nats(model, one).item() * one[:, 1:].numel() for one in pieces.split(options.batch)]
    return sum(each) / math.log(2) / data.bytes(pieces)


def rate_at(step, options):
    """A rise over the first tenth, then half a cosine down to a tenth."""
    rise = max(options.steps // 10, 1)
    if step <= rise:
        return options.rate * step / rise
    return options.rate * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - rise) / max(options.steps - rise, 1))))


@dataclass
class Run:
    """A training: the model, and for each step {"step", "bytes", "seconds", "loss", "held out"}; the last is None for most."""

    model: torch.nn.Module
    by: str
    optimizer: torch.optim.Optimizer
    history: list = field(default_factory=list)

    def step(self, data, options, pieces):
        models.computed_by(self.by)
        for group in self.optimizer.param_groups:
            group["lr"] = rate_at(len(self.history) + 1, options)
        start = time.perf_counter()
        self.optimizer.zero_grad()
        loss = nats(self.model, pieces)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(models.trained(self.model).values(), 1.0)
        self.optimizer.step()
        seconds = time.perf_counter() - start
        before = self.history[-1] if self.history else {"bytes": 0, "seconds": 0.0}
        self.history.append({"step": len(self.history) + 1, "bytes": before["bytes"] + data.bytes(pieces),
                             "seconds": before["seconds"] + seconds, "loss": bits(loss.item(), data, pieces), "held out": None})

    def measure(self, data, options):
        models.computed_by(self.by)
        return held_out_bits(self.model, data, options)


def start(options, base, codes, by, seed):
    model = models.adapted(base, codes, options.method, by, rank=options.rank, alpha=options.alpha, seed=seed)
    return Run(model, by, torch.optim.AdamW(models.trained(model).values(), lr=options.rate, weight_decay=0.0))


def save(path, run, settings):
    partial = path.with_suffix(".partial")
    adapter = {name: one.detach() for name, one in models.trained(run.model).items()}
    torch.save({"settings": settings, "adapter": adapter, "optimizer": run.optimizer.state_dict(), "history": run.history}, partial)
    os.replace(partial, path)


def load(path, run, settings):
    """Goes on from where the run that was kept had come; its settings have to be these."""
    kept = torch.load(path, weights_only=True)
    for name, value in settings.items():
        if kept["settings"].get(name) != value:
            raise models.ModelError(f"--resume: {path} is of a run with {name} {kept['settings'].get(name)}, not {value}. Give the same options, "
                                    "or another --output")
    with torch.no_grad():
        for name, one in models.trained(run.model).items():
            one.copy_(kept["adapter"][name])
    run.optimizer.load_state_dict(kept["optimizer"])
    run.history = kept["history"]


def train(options, data, run, interrupt, label, checkpoint=None):
    settings = {**settings_of(options), "method": options.method, "by": run.by}
    if checkpoint and options.resume and checkpoint.exists():
        load(checkpoint, run, settings)
        print(f"{label}: goes on from {checkpoint} after step {len(run.history)} of {options.steps}")
    every, bar, saved = max(options.steps // MEASUREMENTS, 1), Bar(options.steps, f"{label}  "), time.monotonic()
    known = None
    for step in range(len(run.history) + 1, options.steps + 1):
        if interrupt.asked:
            break
        run.step(data, options, batch_of(data, options, options.seed, step))
        if step % every == 0 or step == options.steps:
            known = run.history[-1]["held out"] = run.measure(data, options)
        now = run.history[-1]
        bar.show(step, f"{now['loss']:.3f} bits/byte" + (f", held out {known:.3f}" if known else "") + f", {now['seconds'] / step:.2f} s a step")
        if checkpoint and time.monotonic() - saved > 60:
            save(checkpoint, run, settings)
            saved = time.monotonic()
    if interrupt.asked and len(run.history) < options.steps:
        print(f"\n{label}: stopped after step {len(run.history)} of {options.steps}"
              + (f"; --resume goes on from {checkpoint}" if checkpoint and run.history else ""), file=sys.stderr)
    if checkpoint and run.history:
        save(checkpoint, run, settings)


def write(model, tokenizer, options):
    """What the model writes behind the prompt. It stays in train(), where it computes the same, as it has no dropout: in eval() bitsandbytes
    packs weights for good in a way that trains no more."""
    given = tokenizer(options.prompt, return_tensors="pt", add_special_tokens=False)
    torch.manual_seed(options.seed)
    with torch.no_grad():
        found = model.generate(input_ids=given["input_ids"], attention_mask=given["attention_mask"], max_new_tokens=options.sample, do_sample=True,
                               temperature=options.temperature, top_k=None, top_p=None, pad_token_id=tokenizer.pad_token_id or 0)
    return tokenizer.decode(found[0], skip_special_tokens=True)


def seconds_of(history):
    """Of a step: the median, without the first, which compiles."""
    each = [b["seconds"] - a["seconds"] for a, b in zip(history, history[1:])]
    return statistics.median(each) if each else history[0]["seconds"]


def rounded(history):
    return [{name: round(value, 5) if isinstance(value, float) else value for name, value in one.items()} for one in history]


def run(options, loaded, interrupt):
    base, tokenizer, codes, data = loaded
    path, name = options.output / "summary.json", f"{models.METHODS[options.method]} by {models.BY[options.by]}"
    kept = json.loads(path.read_text()) if path.exists() else {}
    found = kept.get("runs", {}) if kept.get("settings") == settings_of(options) else {}
    one = start(options, base, codes, options.by, options.seed)
    parameters = sum(each.numel() for each in models.trained(one.model).values())
    print(f"{name}: {parameters:,} parameters train beside {models.kept(one.model) / 1e6:.0f} MB that do not, in the layers that are adapted")
    models.computed_by(options.by)
    before, sample = one.measure(data, options), write(one.model, tokenizer, options)
    print(f"before: {before:.3f} bits per byte of held-out text; it writes:\n\n{sample}\n")
    train(options, data, one, interrupt, name, options.output / f"{options.method}-{options.by}.pt")
    if not one.history or one.history[-1]["held out"] is None:
        return
    after, written = one.history[-1]["held out"], write(one.model, tokenizer, options)
    print(f"\nafter {len(one.history)} steps: {after:.3f} bits per byte, {seconds_of(one.history):.2f} s a step; it writes:\n\n{written}\n")
    found[name] = {"parameters": parameters, "before": before, "after": after, "step, s": seconds_of(one.history), "sample before": sample,
                   "sample after": written, "history": rounded(one.history)}
    path.write_text(json.dumps({"settings": settings_of(options), "runs": found}, indent=1) + "\n")
    caption = f"rank {options.rank}, {options.batch} pieces of {options.context} tokens a step; before: {before:.3f} bits per byte"
    first = {"step": 0, "bytes": 0, "seconds": 0.0}
    curves.write(options.output / "curves.png", {name: [{**first, "loss": one["before"], "held out": one["before"]}, *one["history"]]
                                                 for name, one in found.items()}, caption)
    print(f"picture: {options.output / 'curves.png'}; figures: {path}")


def compare(options, loaded, interrupt):
    """The same training by Drawloom and by PEFT, from the same first values and on the same batches, in turns."""
    base, _, codes, data = loaded
    found, seconds = {name: [] for name in models.BY}, {name: [] for name in models.BY}
    for seed in range(options.seeds):
        runs = [start(options, base, codes, by, seed) for by in models.BY]
        bar = Bar(options.steps, f"{models.METHODS[options.method]}, seed {seed}  ")
        for step in range(1, options.steps + 1):
            for one in runs[::1 - 2 * (step % 2)]:
                if interrupt.asked:
                    return
                one.step(data, options, batch_of(data, options, seed, step))
            bar.show(step, ", ".join(f"{models.BY[one.by]} {one.history[-1]['loss']:.3f}" for one in runs) + " bits/byte")
        for one in runs:
            one.history[-1]["held out"] = one.measure(data, options)
            found[one.by].append(one.history)
            seconds[one.by].append(seconds_of(one.history))
    ends = {by: [one[-1]["held out"] for one in histories] for by, histories in found.items()}
    for by, values in ends.items():
        print(f"{models.METHODS[options.method]} by {models.BY[by]}: {statistics.mean(values):.4f} bits per byte of held-out text (seeds: "
              f"{', '.join(f'{value:.4f}' for value in values)}), {statistics.mean(seconds[by]):.3f} s a step")
    apart = max(abs(a["loss"] - b["loss"]) for pair in zip(*found.values()) for a, b in zip(*pair))
    print(f"losses of the same step and seed differ by {apart:.2g} at most; held-out text by "
          f"{max(abs(a - b) for a, b in zip(*ends.values())):.2g}")
    ratio = [b / a for a, b in zip(seconds["drawloom"], seconds["peft"])]
    print(f"PEFT takes {statistics.mean(ratio):.2f} times as long (seeds: {', '.join(f'{value:.2f}' for value in ratio)})")
    path = options.output / f"{options.method}-seeds.json"
    path.write_text(json.dumps({"settings": settings_of(options), "held out": ends, "step, s": seconds,
                                "histories": {by: [rounded(one) for one in histories] for by, histories in found.items()}}, indent=1) + "\n")
    print(f"figures: {path}")


def main(arguments=None):
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    try:
        if options.model is None:
            options.model = options.output / models.FILE
            if options.fetch and not options.model.exists():
                models.fetch(options.model)
        base, tokenizer, codes = models.load(options.model)
        loaded = base, tokenizer, codes, read(options, tokenizer)
        options.output.mkdir(parents=True, exist_ok=True)
        with Interrupt() as interrupt:
            (run if options.seeds is None else compare)(options, loaded, interrupt)
    except (text.TextError, models.ModelError) as error:
        sys.exit(f"finetune.py: error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
