# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures that a run leaves behind."""

import numpy as np
from axes import COLOURS, INK, Axes, font
from PIL import Image, ImageDraw
from sklearn.manifold import TSNE


def write_curves(path, runs, measure):
    """Losses and a measure on what is kept to validate, over the steps; runs: {name: [history of each seed]}."""
    canvas = Image.new("RGB", (1080, 440), "white")
    draw = ImageDraw.Draw(canvas)
    steps = max(history[-1][0] for histories in runs.values() for history in histories)
    every = [value for histories in runs.values() for history in histories for _, value, _ in history]
    measured = [value for histories in runs.values() for history in histories for *_, value in history if value is not None]
    loss = Axes(draw, (60, 50, 510, 350), (0, steps), (0, max(every)), "loss of training", "steps")
    good = Axes(draw, (600, 50, 1050, 350), (0, steps), (0, max(measured, default=1.0) * 1.1), f"{measure}, validation", "steps")
    for i, (name, histories) in enumerate(runs.items()):
        draw.line((60 + 180 * i, 418, 84 + 180 * i, 418), COLOURS[i], 3)
        draw.text((92 + 180 * i, 409), name, COLOURS[i], font(14))
        for history in histories:
            at, losses, _ = zip(*history)
            loss.line(at, losses, COLOURS[i], 1)
            known = [(step, value) for step, _, value in history if value is not None]
            if known:
                good.line(*zip(*known), COLOURS[i], 2, dots=True)
    canvas.save(path)


def write_map(path, title, rows, kinds, kind, names, links, most=300):
    """Rows of nodes, laid out in a plane so that near ones stay near (t-SNE). `kind` says which of `kinds` (or none, -1) each node is of:
    of each kind some are drawn, and those with most links named."""
    random = np.random.default_rng(0)
    chosen = np.concatenate([random.permutation(np.flatnonzero(kind == i))[:most] for i in range(len(kinds))])
    if len(chosen) < 3:
        print(f"{path.name} is not drawn: it would show {len(chosen)} of these: {', '.join(kinds)}")
        return
    rows, kind, links = rows[chosen], kind[chosen], links[chosen]
    rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)
    places = TSNE(perplexity=min(30, max(len(rows) // 4, 1)), init="pca", random_state=0).fit_transform(rows)
    places = (places - places.min(0)) / (np.ptp(places, axis=0) + 1e-9)
    canvas = Image.new("RGB", (1080, 860), "white")
    draw = ImageDraw.Draw(canvas)
    draw.text((24, 14), title, INK, font(18))
    for i, name in enumerate(kinds):
        draw.ellipse((24 + 120 * i, 48, 34 + 120 * i, 58), COLOURS[i])
        draw.text((40 + 120 * i, 44), name, COLOURS[i], font(14))
    named = {at for i in range(len(kinds)) for at in sorted(np.flatnonzero(kind == i), key=lambda at: -links[at])[:9]}
    for at, (place, own) in enumerate(zip(places, kind)):
        x, y = 40 + 960 * place[0], 80 + 740 * place[1]
        draw.ellipse((x - 3, y - 3, x + 3, y + 3), COLOURS[own])
        if at in named:
            # To the left where the picture ends.
            draw.text((x - 5 if x > 900 else x + 5, y - 7), names[chosen[at]], COLOURS[own], font(11), anchor="ra" if x > 900 else "la")
    canvas.save(path)
