# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures that a run leaves behind."""

import numpy as np
import torch
from model import plain_rational
from PIL import Image, ImageDraw, ImageFont

INK, FAINT = (32, 32, 40), (205, 205, 212)
COLOURS = [(33, 90, 170), (206, 92, 48), (62, 140, 84), (136, 84, 160)]


def _font(size):
    return ImageFont.load_default(size)


class Axes:
    """A frame with numbers at its sides; `line` draws in its coordinates."""

    def __init__(self, draw, box, x_range, y_range, title, ticks=6):
        self.draw, self.box, self.x, self.y = draw, box, x_range, y_range
        left, top, right, bottom = box
        draw.text((left, top - 26), title, INK, _font(15))
        for part in np.linspace(0, 1, ticks):
            y = bottom - part * (bottom - top)
            draw.line((left, y, right, y), FAINT)
            draw.text((left - 6, y), f"{y_range[0] + part * (y_range[1] - y_range[0]):.3g}", INK, _font(12), anchor="rm")
            x = left + part * (right - left)
            draw.text((x, bottom + 6), f"{x_range[0] + part * (x_range[1] - x_range[0]):.4g}", INK, _font(12), anchor="mt")
        draw.line((left, top, left, bottom, right, bottom), INK)

    def line(self, xs, ys, colour, width=2):
        left, top, right, bottom = self.box
        points = [(left + (x - self.x[0]) / (self.x[1] - self.x[0]) * (right - left),
                   bottom - (np.clip(y, *self.y) - self.y[0]) / (self.y[1] - self.y[0]) * (bottom - top))
                  for x, y in zip(xs, ys)]
        self.draw.line(points, colour, width, joint="curve")


def write_curves(path, runs):
    """Losses and test accuracies over the steps; runs: {name: [history of each seed]}."""
    canvas = Image.new("RGB", (1060, 420), "white")
    draw = ImageDraw.Draw(canvas)
    steps = max(history[-1][0] for histories in runs.values() for history in histories)
    loss = Axes(draw, (60, 60, 500, 360), (0, steps), (0, 2.5), "loss of training")
    right = Axes(draw, (590, 60, 1030, 360), (0, steps), (80, 100), "accuracy on the test set, %")
    for i, (name, histories) in enumerate(runs.items()):
        draw.line((60 + 160 * i, 400, 84 + 160 * i, 400), COLOURS[i], 3)
        draw.text((92 + 160 * i, 392), name, COLOURS[i], _font(14))
        for history in histories:
            at, losses, _ = zip(*history)
            smooth = np.convolve(losses, np.ones(9) / 9, "valid") if len(losses) > 9 else losses
            loss.line(at[:len(smooth)], smooth, COLOURS[i], 1)
            known = [(step, 100 * value) for step, _, value in history if value is not None]
            right.line(*zip(*known), COLOURS[i], 2)
    canvas.save(path)


def write_activations(path, model):
    """The functions that the second rational of each layer has become, one line a group; what they were at first in grey."""
    canvas = Image.new("RGB", (40 + 260 * len(model.layers), 330), "white")
    draw = ImageDraw.Draw(canvas)
    x = torch.linspace(-4, 4, 161)
    for i, layer in enumerate(model.layers):
        block = layer.feed_forward
        with torch.no_grad():
            y = plain_rational(x[:, None].repeat(1, block.b2.shape[0]), block.a2, block.b2).numpy()
        axes = Axes(draw, (50 + 260 * i, 60, 270 + 260 * i, 280), (-4, 4), (-1, 4), f"layer {i + 1}")
        axes.line(x.numpy(), torch.nn.functional.silu(x).numpy(), (150, 150, 160), 3)
        for group in range(y.shape[1]):
            axes.line(x.numpy(), y[:, group], COLOURS[group % len(COLOURS)], 1)
    canvas.save(path)


def write_digits(path, model, pixels, labels, columns=18, rows=4):
    """Test pictures with what the model takes them for; mistakes in red."""
    size, gap = 40, 14
    canvas = Image.new("RGB", (columns * (size + gap) + gap, rows * (size + 2 * gap) + gap), "white")
    draw = ImageDraw.Draw(canvas)
    with torch.no_grad():
        found = model(pixels).argmax(1)
    # Mistakes first, so that they can be seen.
    order = torch.argsort((found == labels).int(), stable=True)[:columns * rows]
    for place, i in enumerate(order.tolist()):
        x, y = gap + place % columns * (size + gap), gap + place // columns * (size + 2 * gap)
        grey = ((1 - pixels[i]) * 127.5).byte().numpy()
        canvas.paste(Image.fromarray(grey).resize((size, size), Image.Resampling.NEAREST), (x, y))
        right = found[i] == labels[i]
        text = f"{found[i]}" if right else f"{found[i]} not {labels[i]}"
        draw.text((x + size / 2, y + size + 3), text, INK if right else (200, 30, 30), _font(11), anchor="mt")
    canvas.save(path)
