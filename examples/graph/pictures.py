# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures that a run leaves behind."""

import numpy as np
import torch
from axes import COLOURS, INK, Axes, font
from PIL import Image, ImageDraw
from sklearn.manifold import TSNE

# Files that lexicographers keep nouns in (lexnames(5)).
TOPICS = {5: "animals", 6: "artefacts", 15: "places", 18: "people", 20: "plants", 26: "states"}


def write_curves(path, runs):
    """Losses and reciprocal ranks over the steps; runs: {name: [history of each seed]}."""
    canvas = Image.new("RGB", (1080, 440), "white")
    draw = ImageDraw.Draw(canvas)
    steps = max(history[-1][0] for histories in runs.values() for history in histories)
    every = [value for histories in runs.values() for history in histories for _, value, _ in history]
    ranks = [value for histories in runs.values() for history in histories for *_, value in history if value is not None]
    loss = Axes(draw, (60, 50, 510, 350), (0, steps), (0, max(every)), "loss of training", "steps")
    rank = Axes(draw, (600, 50, 1050, 350), (0, steps), (0, max(ranks, default=1.0) * 1.1), "mean reciprocal rank, validation", "steps")
    for i, (name, histories) in enumerate(runs.items()):
        draw.line((60 + 180 * i, 418, 84 + 180 * i, 418), COLOURS[i], 3)
        draw.text((92 + 180 * i, 409), name, COLOURS[i], font(14))
        for history in histories:
            at, losses, _ = zip(*history)
            loss.line(at, losses, COLOURS[i], 1)
            known = [(step, value) for step, _, value in history if value is not None]
            if known:
                rank.line(*zip(*known), COLOURS[i], 2, dots=True)
    canvas.save(path)


def write_map(path, model, data, most=300):
    """Rows of nouns of six topics, laid out in a plane so that near ones stay near (t-SNE)."""
    random = np.random.default_rng(0)
    chosen, topics = [], []
    for i, topic in enumerate(TOPICS):
        own = np.flatnonzero([file == topic for file in data.files])
        own = random.permutation(own)[:most]
        chosen.append(own)
        topics += [i] * len(own)
    chosen = np.concatenate(chosen)
    with torch.no_grad():
        rows = model(data.train)[torch.from_numpy(chosen)].numpy()
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9
    places = TSNE(perplexity=min(30, max(len(rows) // 4, 1)), init="pca", random_state=0).fit_transform(rows)
    places = (places - places.min(0)) / (np.ptp(places, axis=0) + 1e-9)
    canvas = Image.new("RGB", (1080, 860), "white")
    draw = ImageDraw.Draw(canvas)
    draw.text((24, 14), "Synsets as the network has them", INK, font(18))
    for i, name in enumerate(TOPICS.values()):
        draw.ellipse((24 + 120 * i, 48, 34 + 120 * i, 58), COLOURS[i])
        draw.text((40 + 120 * i, 44), name, COLOURS[i], font(14))
    # Of each topic those with most links have their names.
    links = np.bincount(data.train[[0, 2]].flatten().numpy(), minlength=data.nodes)[chosen]
    named = {at for i in range(len(TOPICS)) for at in sorted(np.flatnonzero(np.array(topics) == i), key=lambda at: -links[at])[:9]}
    for at, (place, topic) in enumerate(zip(places, topics)):
        x, y = 40 + 960 * place[0], 80 + 740 * place[1]
        draw.ellipse((x - 3, y - 3, x + 3, y + 3), COLOURS[topic])
        if at in named:
            # To the left where the picture ends.
            draw.text((x - 5 if x > 900 else x + 5, y - 7), data.words[chosen[at]], COLOURS[topic], font(11),
                      anchor="ra" if x > 900 else "la")
    canvas.save(path)
