# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of test_linear_recurrences.py on the shapes of flash-linear-attention's tests.

    PYTHONPATH=build/python:test/python .venv/bin/python test/python/recurrences/shapes.py [--model NAME...] [--shape NAME...]
        [--schedule NAME...] [--type TYPE...] [--oracle] [--append FILE]

Each model is computed for each shape by each schedule in f32, f16 and bf16; initial states and cotangents of final ones are random, and
all results and gradients count. Two steps lead to an expected value where a loop over tokens in torch would take hours:

1. `--oracle`: the program compiled for f64 is compared with the model token by token in torch, float64, whose gradients are autograd's
   (references.py), for all tokens and the whole sizes of keys and values, but one sequence and one head (two where heads
   are grouped), which have nothing to do with others.
2. Without it: programs for f32, f16 and bf16 are compared with the one for f64, for all sequences and heads, and so are those for
   GPUs (`--type emulated`), but the emulator runs large shapes with one sequence and one head (two where heads are grouped, or the
   model has a number for each head, whose gradient is the rest of many terms), heads of 512 for 48 tokens, for decays of one strength.

The measure is flash-linear-attention's, RMS(error) / RMS(expected); the last lines are a table of the largest for each model and schedule.
"""

import argparse
import dataclasses
import functools
import json
import math
import time

import torch
import torch.nn.functional as F

from recurrences import references as reference
from recurrences import test_linear_recurrences as models
from support import runner

# Of f16: what flash-linear-attention asks of its own kernels at the strictest (gated linear attention: 0.004 for outputs and states,
# 0.005 for gradients). Of bf16: what it asks of each kind of model and result (limit_in_bf16). f32 as on small shapes. f64 against the loop
# in torch: a gradient of one number for a head is the rest of 10^5 terms of either sign, which rounds by some hundred units of 10^-16.
RESULTS, GRADIENTS = 4e-3, 5e-3
ORACLE = 1e-12
SCHEDULES = ("resident", "segments", "materialised")
NORMALIZERS = (0.1, 1.0, 10.0)
# Tokens at a time.
CHUNK = {"emulated": 16}


@dataclasses.dataclass(frozen=True)
class Shape:
    """B sequences of T tokens, or packed ones; H heads with keys and values of D. q and k have `grouped` heads."""
    B: int
    T: int
    H: int
    D: int
    starts: tuple[int, ...] | None = None
    grouped: int | None = None

    @property
    def name(self):
        if self.starts:
            return "packed-" + "-".join(map(str, self.starts))
        return f"{self.B}x{self.T}x{self.H}x{self.D}" + (f"-grouped-{self.grouped}" if self.grouped else "")

    def alone(self):
        """One sequence, or the packed ones, of one head."""
        groups = 2 if self.grouped else 1
        return dataclasses.replace(self, B=1, H=groups, grouped=1 if self.grouped else None)

    def schedules(self):
        """Packed sequences are side by side already."""
        return SCHEDULES[:1] if self.starts else SCHEDULES

    def segments(self, schedule, chunk):
        chunks = math.ceil(self.T / chunk)
        return {"resident": 1, "segments": min(chunks, 2 + chunks % 3), "materialised": chunks}[schedule]


def packed(starts, H, D):
    return Shape(1, starts[-1], H, D, starts=starts)


SHAPES = {shape.name: shape for shape in (
    Shape(1, 63, 1, 64), Shape(2, 1024, 4, 60), Shape(2, 1024, 8, 128), Shape(4, 2048, 8, 64), Shape(1, 128, 4, 256),
    Shape(1, 64, 2, 320), Shape(1, 128, 4, 512),
    packed((0, 15), 4, 60), packed((0, 0, 16), 4, 60), packed((0, 256, 500, 1000), 4, 64),
    packed((0, 15, 100, 300, 1200, 2000), 4, 100),
    Shape(2, 256, 4, 60, grouped=2), Shape(2, 256, 8, 64, grouped=2), Shape(1, 128, 8, 128, grouped=4), Shape(1, 64, 2, 32, grouped=1))}

# What the emulator takes seconds for.
SMALL = ["1x63x1x64", "packed-0-15", "packed-0-0-16", "1x64x2x32-grouped-1"]

# Inputs whose heads the op can share between heads of values. In other models what is made of them has all heads, as has Mamba-2 one.
GROUPED = {
    "linear_attention": ("q", "k"), "retention": ("q", "k"), "lightning_attention": ("q", "k"), "simple_gla": ("q", "k"),
    "gated_linear_attention": ("q", "k"), "hgrn2": ("q",), "rwkv6": ("r", "k"), "delta_rule": ("q", "k"), "gated_delta_rule": ("q", "k"),
    "kimi_delta_attention": ("q", "k"), "identity_plus_low_rank": ("q", "k"), "diagonal_plus_low_rank": ("q", "k"), "rwkv7": ("r",)}

# As flash-linear-attention's tests have it, slots write by an input of its own: where strong decays make every 1 - exp(g) nearly 1, slots
# are nearly equal, and the gradient of q is what their differences leave of it.
MODELS = {**models.MODELS, "gated_slot_attention": models.Model(
    lambda d: {**models.MODELS["gated_slot_attention"].inputs(d), "write": d.tokens(d.H, 8)},
    lambda q, k, v, g, keys, values, write: (lambda o, keys, values: (o, keys.mT, values))(
        *reference.gated_slot_attention(q, k, v, g.exp(), keys.mT, values, models.scale(q), write)),
    models.slots)}

# How inputs become those that a type of 16 bits has: what makes decays, states, and what is not a token's stays in f32.
KEPT = models.STATES | {"g", "dt", "delta", "w", "f", "a_log", "gamma", "slope", "d", "b_share", "d_share", "bound", "share"}


class Draw(models.Draw):
    """Log-decays are logsigmoid(U) / normalizer, U between 0 and 1."""

    def __init__(self, shape, normalizer):
        self.normalizer = normalizer
        super().__init__(shape.B, shape.T, shape.H, shape.D, shape.D, N=len(shape.starts) - 1 if shape.starts else None)

    def decays(self, *shape):
        return F.logsigmoid(torch.from_numpy(self.rng.random((self.B, self.T, *shape)))) / self.normalizer


# What is one number for each head.
OF_A_HEAD = {"gamma", "slope", "a_log", "b_share", "d_share"}

# Models that make log-decays of an input themselves: that of which the decays are the draw's. Those that are not here and have no `g`
# (RetNet and lightning attention by heads, Mamba, HGRN2, RWKV-7) have the decays of their formulas.
FROM_DECAYS = {"hgrn": ("f", lambda g: g - torch.log(-torch.expm1(g))), "rwkv6": ("w", lambda g: (-g).log())}


def inputs_of(name, shape, normalizer, element):
    """A model's inputs in float64, with numbers that the type has."""
    draw = Draw(shape, normalizer)
    inputs = MODELS[name].inputs(draw)
    if name in FROM_DECAYS:
        gate, of = FROM_DECAYS[name]
        inputs[gate] = of(draw.decays(*inputs[gate].shape[2:]))
    if shape.grouped:
        for x in GROUPED[name]:
            inputs[x] = inputs[x][:, :, :shape.grouped].contiguous()
    if element == "f64":
        return inputs
    return {x: t.to(torch.float32 if x in KEPT else models.TORCH[element]).double() for x, t in inputs.items()}


def loop(name, shape):
    """The model token by token, for each packed sequence and each head by itself."""
    def model(**inputs):
        if shape.grouped:
            inputs = {x: reference.per_head(t, shape.H) if x in GROUPED[name] else t for x, t in inputs.items()}
        return MODELS[name].reference(**inputs)
    return models.by_sequence(model, shape.starts) if shape.starts else model


def program(name, shape, element, schedule="resident"):
    """The model with linrec.scan, compiled for a type, or "emulated"."""
    # Segments are of steps, of which a token of Gated DeltaProduct has several.
    times = 2 if name == "gated_delta_product" else 1
    starts = shape.starts
    chunk = CHUNK.get(element, 32)
    segments = None if starts else dataclasses.replace(shape, T=times * shape.T).segments(schedule, chunk)
    # Of heads so large a GPU may have no memory for 16 tokens at a time.
    given = None if element == "emulated" and shape.D > 256 else chunk
    how = "emulated f32" if element == "emulated" else element
    return functools.partial(MODELS[name].scan, models.scanner(how, starts, chunk=given, segments=segments))


def ratios(found, expected):
    assert found.keys() == expected.keys()
    return {x: models.ratio(found[x], expected[x]) for x in expected}


@functools.lru_cache(maxsize=4)
def expected(name, shape, normalizer, element):
    """The inputs, and what the program for f64 makes of them."""
    inputs = inputs_of(name, shape, normalizer, element)
    return inputs, models.everything(program(name, shape, "f64"), inputs)


def limit(name, inputs, element, result):
    if element in ("f32", "emulated"):
        return models.COMPILED
    if element == "bf16":
        return models.limit_in_bf16(name, inputs, result)
    return RESULTS if result.startswith("result") else GRADIENTS


def check_oracle(name, shape, normalizer=1.0):
    """Ratios of the program for f64 to the loop over tokens, for one head of one sequence; raises where one is too large."""
    shape = shape.alone()
    inputs, found = expected(name, shape, normalizer, "f64")
    errors = ratios(found, models.everything(loop(name, shape), inputs))
    assert max(errors.values()) <= ORACLE, (name, shape.name, normalizer, errors)
    return errors


def check(name, shape, schedule, element, normalizer=1.0):
    """Ratios of a program to the one for f64; raises where one is beyond its limit."""
    if element == "emulated" and shape.name not in SMALL:
        shape = shape.alone()
        if shape.D > 320:
            shape = dataclasses.replace(shape, T=48)
        if OF_A_HEAD & MODELS[name].inputs(Draw(shape, normalizer)).keys():
            shape = dataclasses.replace(shape, H=2)
    inputs, wanted = expected(name, shape, normalizer, "f32" if element == "emulated" else element)
    errors = ratios(models.everything(program(name, shape, element, schedule), inputs), wanted)
    beyond = {x: f"{e:.3g}" for x, e in errors.items() if not e <= limit(name, inputs, element, x)}
    assert not beyond, (name, shape.name, schedule, element, normalizer, beyond)
    return errors


def has_normalizer(name):
    return name in FROM_DECAYS or "g" in MODELS[name].inputs(Draw(Shape(1, 1, 1, 1), 1.0))


def cases(arguments):
    """(model, shape, schedule, type, normalizer) in the order in which the expected values serve several."""
    for name in arguments.model:
        for shape in map(SHAPES.get, arguments.shape):
            if shape.grouped and name not in GROUPED:
                continue
            for normalizer in arguments.normalizer if has_normalizer(name) else (1.0,):
                if arguments.oracle:
                    yield name, shape, "oracle", "f64", normalizer
                    continue
                for element in arguments.type:
                    if element == "emulated" and shape.name not in SMALL and normalizer != 1.0:
                        continue
                    # What 16 bits round has nothing to do with how strong decays are.
                    if element in ("f16", "bf16") and normalizer != 1.0:
                        continue
                    for schedule in shape.schedules():
                        if schedule in arguments.schedule:
                            yield name, shape, schedule, element, normalizer


def table(largest):
    """Lines of a table of the largest ratio of each model and column."""
    columns = sorted({c for _, c in largest}, key=lambda c: (["f64", "f32", "f16", "bf16", "emulated"].index(c[0]), c[1]))
    lines = ["| model | " + " | ".join(" ".join(c) for c in columns) + " |", "| --- |" + " --- |" * len(columns)]
    for name in MODELS:
        row = [largest.get((name, c)) for c in columns]
        if any(x is not None for x in row):
            lines.append(f"| {name} | " + " | ".join("" if x is None else f"{x:.1e}" for x in row) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--shape", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--schedule", nargs="+", choices=SCHEDULES, default=SCHEDULES)
    parser.add_argument("--type", nargs="+", choices=("f32", "f16", "bf16", "emulated"), default=("f32", "f16", "bf16"))
    parser.add_argument("--normalizer", nargs="+", type=float, choices=NORMALIZERS, default=NORMALIZERS)
    parser.add_argument("--oracle", action="store_true", help="the program for f64 against a loop over tokens")
    parser.add_argument("--append", help="a file that gets each case's largest ratio, a line of JSON")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    largest, failed = {}, []
    listed = list(cases(arguments))
    for i, (name, shape, schedule, element, normalizer) in enumerate(listed):
        if i and listed[i - 1][:2] != (name, shape):
            models.compiled.cache_clear()
        began = time.perf_counter()
        try:
            errors = check_oracle(name, shape, normalizer) if arguments.oracle else check(name, shape, schedule, element, normalizer)
        except (AssertionError, models.drawloom.Error, RuntimeError, runner.ToolError) as error:
            failed.append(str(error))
            print("FAILED", name, shape.name, schedule, element, normalizer, error, flush=True)
            continue
        worst = max(errors, key=errors.get)
        column = element, schedule
        largest[name, column] = max(largest.get((name, column), 0), errors[worst])
        seconds = time.perf_counter() - began
        print(f"{i + 1}/{len(listed)} {name} {shape.name} {schedule} {element} {normalizer}: {errors[worst]:.2e} ({worst}), "
              f"{seconds:.1f} s", flush=True)
        if arguments.append:
            with open(arguments.append, "a") as file:
                print(json.dumps([name, shape.name, schedule, element, normalizer, errors[worst], worst, seconds]), file=file)
    print(table(largest))
    print(f"{len(listed) - len(failed)} of {len(listed)} within their limits")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
