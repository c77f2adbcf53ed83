# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures that a run leaves behind, drawn with pillow."""

import numpy as np
from axes import COLOURS, FAINT, INK, font, ticks
from PIL import Image, ImageDraw

# Colours at even distances: blue to red through white, and black to white through red.
SIGNED = np.array([(33, 60, 140), (92, 150, 210), (240, 240, 240), (226, 124, 88), (150, 24, 40)], float)
POSITIVE = np.array([(16, 14, 32), (92, 24, 94), (188, 52, 70), (244, 136, 50), (252, 244, 190)], float)
PAPER = (150, 150, 158)


class LogAxes:
    """A frame whose y axis is logarithmic, and whose x axis is where `log_x` says so."""

    def __init__(self, draw, box, xs, ys, title, x_name, log_x=True):
        self.draw, self.box, self.log_x = draw, box, log_x
        xs, ys = np.asarray(xs, float), np.asarray(ys, float)
        across = np.log10(xs) if log_x else xs
        room = 0.06 * (across.max() - across.min() or 1)
        self.x = (across.min() - room, across.max() + room) if log_x else (0.0, across.max() or 1.0)
        self.y = np.floor(np.log10(ys.min())), np.ceil(np.log10(ys.max()))
        if self.y[0] == self.y[1]:
            self.y = self.y[0], self.y[1] + 1
        left, top, right, bottom = box
        draw.text((left, top - 26), title, INK, font(15))
        for power in np.arange(self.y[0], self.y[1] + 1):
            y = self.place(xs.min(), 10.0**power)[1]
            draw.line((left, y, right, y), FAINT)
            draw.text((left - 8, y), f"1e{int(power)}", INK, font(12), anchor="rm")
        for value in self.x_ticks():
            x = self.place(value, 10.0**self.y[0])[0]
            draw.line((x, bottom, x, bottom + 4), INK)
            draw.text((x, bottom + 7), f"{value:g}", INK, font(12), anchor="mt")
        draw.text(((left + right) / 2, bottom + 25), x_name, INK, font(13), anchor="mt")
        draw.line((left, top, left, bottom, right, bottom), INK)

    def x_ticks(self):
        if not self.log_x:
            return ticks(*self.x, most=6)
        # Finer ones where there would be less than three.
        for parts in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), np.arange(1, 10, 0.5)):
            found = [part * 10.0**power for power in range(-3, 9) for part in parts]
            found = [one for one in found if self.x[0] <= np.log10(one) <= self.x[1]]
            if len(found) >= 3:
                break
        return found

    def place(self, x, y):
        left, top, right, bottom = self.box
        across = np.log10(x) if self.log_x else x
        return (left + (across - self.x[0]) / (self.x[1] - self.x[0]) * (right - left),
                bottom - (np.log10(y) - self.y[0]) / (self.y[1] - self.y[0]) * (bottom - top))

    def line(self, xs, ys, colour, width=2, dots=False):
        points = [self.place(x, y) for x, y in zip(xs, ys)]
        self.draw.line(points, colour, width, joint="curve")
        for x, y in points if dots else ():
            self.draw.ellipse((x - 3.5, y - 3.5, x + 3.5, y + 3.5), colour)

    def slope(self, x, y, power, colour):
        """A dashed line of this power of x from (x, y) on, to where it leaves the frame."""
        low = 10.0**self.y[0]
        end = min(10.0**self.x[1], x * (low / y)**(1 / power))
        ends = np.geomspace(x, end, 41)
        for a, b in zip(ends[:-1:2], ends[1::2]):
            self.draw.line([self.place(a, y * (a / x)**power), self.place(b, y * (b / x)**power)], colour, 2)


def legend(draw, x, y, entries):
    """entries: (text, colour, dashed)."""
    for text, colour, dashed in entries:
        for part in ((0, 10), (16, 26)) if dashed else ((0, 26),):
            draw.line((x + part[0], y, x + part[1], y), colour, 3)
        draw.text((x + 34, y), text, colour, font(14), anchor="lm")
        x += 34 + int(draw.textlength(text, font(14))) + 30


def write_fits(path, fits):
    """Errors over parameters, a panel for each function. fits: {name: (formula, {what it is called: its points})}."""
    columns = min(3, len(fits))
    rows = -(-len(fits) // columns)
    wide, high, top = 390, 340, 80
    canvas = Image.new("RGB", (columns * wide + 20, top + rows * high), "white")
    draw = ImageDraw.Draw(canvas)
    draw.text((24, 14), "error (RMSE) on points that were not learnt, over the number of parameters N", INK, font(17))
    names = list(dict.fromkeys(name for _, curves in fits.values() for name in curves))
    legend(draw, 24, 52, [*((name, COLOURS[i], False) for i, name in enumerate(names)), ("N^-4", PAPER, True)])
    for place, (formula, curves) in enumerate(fits.values()):
        left, up = place % columns * wide + 62, top + place // columns * high + 34
        every = [point for points in curves.values() for point in points]
        axes = LogAxes(draw, (left, up, left + wide - 84, up + high - 92), [one.parameters for one in every], [one.test for one in every],
                       formula, "parameters")
        first = curves["splines"][0]
        axes.slope(first.parameters, first.test, -4, PAPER)
        for name, points in curves.items():
            axes.line([one.parameters for one in points], [one.test for one in points], COLOURS[names.index(name)], dots=True)
    canvas.save(path)


def colours(values, low, high, table):
    at = np.clip((values - low) / (high - low or 1), 0, 1) * (len(table) - 1)
    below = np.minimum(at.astype(int), len(table) - 2)
    part = (at - below)[..., None]
    return np.round(table[below] * (1 - part) + table[below + 1] * part).astype("uint8")


def _panel(canvas, draw, left, top, size, title, values, low, high, table):
    draw.text((left, top - 24), title, INK, font(15))
    canvas.paste(Image.fromarray(colours(values, low, high, table)).resize((size, size), Image.Resampling.BICUBIC), (left, top))
    bar = colours(np.linspace(low, high, size)[None].repeat(12, 0), low, high, table)
    canvas.paste(Image.fromarray(bar), (left, top + size + 10))
    draw.text((left, top + size + 26), f"{low:.2g}", INK, font(12))
    draw.text((left + size, top + size + 26), f"{high:.2g}", INK, font(12), anchor="ra")


def write_solutions(path, known, runs, size=300):
    """The known solution, then for each run what was learnt and how far it is off."""
    errors = {name: np.abs(run.u - known) for name, run in runs.items()}
    canvas = Image.new("RGB", (24 + (1 + len(runs)) * (size + 24), 2 * (size + 90) + 20), "white")
    draw = ImageDraw.Draw(canvas)
    _panel(canvas, draw, 24, 50, size, "u = sin(pi x) sin(pi y), known", known, -1, 1, SIGNED)
    for i, (name, run) in enumerate(runs.items(), 1):
        left = 24 + i * (size + 24)
        _panel(canvas, draw, left, 50, size, f"{name}: learnt", run.u, -1, 1, SIGNED)
        # Each has a scale of its own: the errors are of different sizes.
        _panel(canvas, draw, left, 140 + size, size, f"{name}: |learnt - known|", errors[name], 0, float(errors[name].max()), POSITIVE)
    canvas.save(path)


def write_errors(path, runs):
    """The errors in L2 and H1 over the iterations and over the seconds."""
    canvas = Image.new("RGB", (1060, 460), "white")
    draw = ImageDraw.Draw(canvas)
    draw.text((24, 14), "relative errors of u: L2 strong, H1 faint", INK, font(17))
    legend(draw, 24, 52, [(f"{name}, {run.parameters} parameters", COLOURS[i], False) for i, (name, run) in enumerate(runs.items())])
    every = np.array([one for run in runs.values() for one in run.curve])
    for left, column, name in ((66, 1, "iterations of L-BFGS"), (590, 0, "seconds")):
        axes = LogAxes(draw, (left, 110, left + 440, 400), every[:, column], every[:, 2:], "relative error", name, log_x=False)
        for i, run in enumerate(runs.values()):
            curve = np.array(run.curve)
            axes.line(curve[:, column], curve[:, 3], tuple(255 - (255 - part) // 3 for part in COLOURS[i]))
            axes.line(curve[:, column], curve[:, 2], COLOURS[i])
    canvas.save(path)
