# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The picture that the training of language models leaves behind."""

from __future__ import annotations

import pathlib

import numpy as np
from axes import COLOURS, INK, Axes, font
from PIL import Image, ImageDraw

SIZE = 1120, 600


def smooth(history):
    """[(an entry, the mean loss around it)], about sixty."""
    every = max(len(history) // 60, 1)
    parts = [history[i:i + every] for i in range(0, len(history), every)]
    return [(part[len(part) // 2], float(np.mean([one["loss"] for one in part]))) for part in parts]


def faint(colour):
    return tuple(255 - (255 - part) // 3 for part in colour)


def write(path: pathlib.Path, runs: dict[str, list[dict]], caption: str) -> None:
    """Bits per byte over the bytes read and over the seconds: training faint, held-out text strong. runs: {name: history}, a
    history being a list of {"step", "bytes", "seconds", "loss", "held out" or None}."""
    canvas = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(canvas)
    draw.text((60, 14), caption, INK, font(16))
    known = [one["held out"] for history in runs.values() for one in history if one["held out"] is not None]
    training = {name: smooth(history) for name, history in runs.items()}
    low = np.floor(10 * min(known + [mean for means in training.values() for _, mean in means]) - 0.5) / 10
    high = max(min(6.0, np.ceil(2 * max(known) + 0.5) / 2), low + 0.5)
    last = max(history[-1]["bytes"] for history in runs.values()) / 1e6
    longest = max(history[-1]["seconds"] for history in runs.values())
    panels = [(Axes(draw, (60, 86, 530, 490), (0, last), (low, high), "bits per byte", "text read, MB"),
               lambda one: one["bytes"] / 1e6),
              (Axes(draw, (620, 86, 1090, 490), (0, longest), (low, high), "bits per byte", "training, seconds"),
               lambda one: one["seconds"])]
    for axes, across in panels:
        for i, means in enumerate(training.values()):
            axes.line([across(one) for one, _ in means], [mean for _, mean in means], faint(COLOURS[i % len(COLOURS)]), 1)
        for i, history in enumerate(runs.values()):
            measured = [one for one in history if one["held out"] is not None]
            axes.line([across(one) for one in measured], [one["held out"] for one in measured], COLOURS[i % len(COLOURS)], 2, dots=True)
    x = 60
    for i, name in enumerate(runs):
        draw.line((x, 558, x + 24, 558), COLOURS[i % len(COLOURS)], 3)
        draw.text((x + 32, 558), name, COLOURS[i % len(COLOURS)], font(14), anchor="lm")
        x += 32 + int(draw.textlength(name, font(14))) + 28
    draw.text((60, 582), "strong: held-out text; faint: training", INK, font(13), anchor="lm")
    canvas.save(path)
