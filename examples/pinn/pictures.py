# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures that a run leaves behind."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

MARGIN, BAR, HEADER = 24, 14, 60
INK, FAINT = (32, 32, 40), (150, 150, 160)
# Colours at even distances: blue to red through white, and black to white through red.
SIGNED = np.array([(33, 60, 140), (92, 150, 210), (240, 240, 240), (226, 124, 88), (150, 24, 40)], float)
POSITIVE = np.array([(16, 14, 32), (92, 24, 94), (188, 52, 70), (244, 136, 50), (252, 244, 190)], float)


def colours(values, low, high, table):
    at = np.clip((values - low) / (high - low or 1), 0, 1) * (len(table) - 1)
    below = np.minimum(at.astype(int), len(table) - 2)
    part = (at - below)[..., None]
    return np.round(table[below] * (1 - part) + table[below + 1] * part).astype("uint8")


def _font(size):
    return ImageFont.load_default(size)


def _panel(canvas, draw, left, title, values, low, high, table, size):
    draw.text((left, HEADER - 22), title, INK, _font(14))
    picture = Image.fromarray(colours(values, low, high, table)).resize((size, size), Image.Resampling.BICUBIC)
    canvas.paste(picture, (left, HEADER))
    bar = colours(np.linspace(low, high, size)[None].repeat(BAR, 0), low, high, table)
    top = HEADER + size + 10
    canvas.paste(Image.fromarray(bar), (left, top))
    draw.text((left, top + BAR + 4), f"{low:.3g}", INK, _font(12))
    draw.text((left + size, top + BAR + 4), f"{high:.3g}", INK, _font(12), anchor="ra")


def write_solution(path, learnt, known, caption, size=360):
    """The solution that was learnt, the known one and their difference; each [n, n], the first row on top."""
    error = np.abs(learnt - known)
    canvas = Image.new("RGB", (3 * size + 4 * MARGIN, HEADER + size + 56), "white")
    draw = ImageDraw.Draw(canvas)
    draw.text((MARGIN, 10), caption, INK, _font(16))
    panels = [("learnt", learnt, -1, 1, SIGNED), ("known", known, -1, 1, SIGNED),
              ("|learnt - known|", error, 0, float(error.max()), POSITIVE)]
    for i, (title, values, low, high, table) in enumerate(panels):
        _panel(canvas, draw, MARGIN + i * (size + MARGIN), title, values, low, high, table, size)
    canvas.save(path)


def write_curve(path, history, caption, width=720, height=360):
    """The relative error over the steps, [(step, error)], with a logarithmic axis."""
    canvas = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(canvas)
    draw.text((MARGIN, 10), caption, INK, _font(16))
    steps, errors = np.array(history, float).T
    low, high = np.floor(np.log10(errors.min())), np.ceil(np.log10(errors.max()))
    left, right, top, bottom = 64, width - MARGIN, 48, height - 40

    def place(step, error):
        across = step / max(steps[-1], 1)
        up = (np.log10(error) - low) / (high - low or 1)
        return left + across * (right - left), bottom - up * (bottom - top)

    for power in np.arange(low, high + 1):
        y = place(0, 10.0**power)[1]
        draw.line([(left, y), (right, y)], FAINT)
        draw.text((left - 8, y), f"1e{int(power)}", INK, _font(12), anchor="rm")
    draw.line([place(*one) for one in zip(steps, errors)], (150, 24, 40), 2)
    draw.text((right, bottom + 10), f"step {int(steps[-1])}", INK, _font(12), anchor="ra")
    canvas.save(path)
