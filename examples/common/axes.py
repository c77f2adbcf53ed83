# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Curves in a frame, drawn with pillow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PIL import ImageDraw, ImageFont

INK, FAINT = (32, 32, 40), (222, 222, 228)
COLOURS = [(33, 90, 170), (206, 92, 48), (62, 140, 84), (136, 84, 160), (190, 150, 20), (20, 150, 160), (110, 110, 118)]


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def ticks(low: float, high: float, most: int = 9) -> list[float]:
    """Round numbers from low to high, no more than `most`."""
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(s for s in (size, 2 * size, 5 * size, 10 * size) if (high - low) / s <= most - 1 or s == 10 * size)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Axes:
    """A frame with round numbers at its sides and a name for each axis; `line` draws in its coordinates."""

    def __init__(self, draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], x_range: tuple[float, float],
                 y_range: tuple[float, float], title: str, x_name: str):
        self.draw, self.box, self.x, self.y = draw, box, x_range, y_range
        left, top, right, bottom = box
        draw.text((left, top - 28), title, INK, font(16))
        for value in ticks(*y_range):
            y = self.place(x_range[0], value)[1]
            draw.line((left, y, right, y), FAINT)
            draw.text((left - 8, y), f"{value:.4g}", INK, font(13), anchor="rm")
        for value in ticks(*x_range):
            x = self.place(value, y_range[0])[0]
            draw.line((x, bottom, x, bottom + 4), INK)
            draw.text((x, bottom + 8), f"{value:.4g}", INK, font(13), anchor="mt")
        draw.text(((left + right) / 2, bottom + 30), x_name, INK, font(14), anchor="mt")
        draw.line((left, top, left, bottom, right, bottom), INK)

    def place(self, x: float, y: float) -> tuple[float, float]:
        left, top, right, bottom = self.box
        return (left + (x - self.x[0]) / (self.x[1] - self.x[0]) * (right - left),
                bottom - (np.clip(y, *self.y) - self.y[0]) / (self.y[1] - self.y[0]) * (bottom - top))

    def line(self, xs: Sequence[float], ys: Sequence[float], colour: tuple[int, int, int], width: int = 2, dots: bool = False):
        points = [self.place(x, y) for x, y in zip(xs, ys)]
        self.draw.line(points, colour, width, joint="curve")
        for x, y in points if dots else ():
            self.draw.ellipse((x - 2.5, y - 2.5, x + 2.5, y + 2.5), colour)
