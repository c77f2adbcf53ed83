# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example examples/kan, in small: its formulas are what they say, every way to write the loss gives the same one, runs leave pictures."""

import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from support.runner import ROOT

FOLDER = ROOT / "examples" / "kan"


@pytest.fixture
def modules(monkeypatch):
    names = ("fit", "models", "pde", "pictures", "problem", "progress", "rivals", "targets", "times", "axes")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "common"))
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in names:
        sys.modules.pop(name, None)
    # Other examples have modules of these names, too.
    sys.modules.update(before)


def run(*arguments):
    return subprocess.run([sys.executable, FOLDER / "kan.py", *map(str, arguments)], capture_output=True, text=True, timeout=600)


def picture(path):
    with Image.open(path) as one:
        return min(one.size), len(one.getcolors(1 << 20))


X, Y = np.random.default_rng(0).uniform(-0.9, 0.9, (2, 50))


def by_differences(f, x, y, h=1e-4):
    """f, its slopes and its Laplacian."""
    at = f(x, y)
    firsts = [(f(x + h, y) - f(x - h, y)) / (2 * h), (f(x, y + h) - f(x, y - h)) / (2 * h)]
    return at, firsts, (f(x + h, y) + f(x - h, y) + f(x, y + h) + f(x, y - h) - 4 * at) / h**2


def test_the_known_solution_solves_the_equation(modules):
    import problem

    _, firsts, laplacian = by_differences(problem.solution, X, Y)
    assert np.abs(laplacian - problem.source(X, Y)).max() < 1e-4
    assert np.abs(np.array(firsts) - problem.slopes(X, Y)).max() < 1e-6


def test_derivatives_of_u_follow_from_those_of_the_network(modules):
    import problem

    def n(x, y):
        return np.exp(x) * np.sin(2 * y)

    _, firsts, laplacian = by_differences(lambda x, y: problem.u_of(x, y, n(x, y)), X, Y)
    given = n(X, Y), [n(X, Y), 2 * np.exp(X) * np.cos(2 * Y)], -3 * n(X, Y)
    assert np.abs(np.array(problem.slopes_of(X, Y, *given[:2])) - firsts).max() < 1e-6
    assert np.abs(problem.laplacian_of(X, Y, *given) - laplacian).max() < 1e-4


def test_all_ways_give_the_same_loss_and_gradients(modules):
    pytest.importorskip("jax")
    import argparse

    import problem
    import rivals
    import times

    points = problem.points(64, 1).astype("float32")
    network = times.network_of(argparse.Namespace(seed=1, width=10, layers=1, grid=5))
    ours = times.with_drawloom(points, network)()
    for way in rivals.IN_JAX.values():
        assert times.difference(ours, rivals.in_jax(way, points, network)()) < 1e-4


def test_finer_grids_learn_more_and_a_picture_is_left(tmp_path):
    done = run("fit", "--quick", "--functions", "bessel", "exp-sin", f"--output={tmp_path}")
    assert done.returncode == 0, done.stderr[-2000:]
    rows = re.findall(r"^(\S+) +(splines|perceptrons) +(\S+) +(\d+) +(\S+) +(\S+)", done.stdout, re.M)
    assert len(rows) == 8
    coarse, fine = (float(row[5]) for row in rows if row[:2] == ("exp-sin", "splines"))
    assert fine < 0.5 * coarse
    size, colours = picture(tmp_path / "fit.png")
    assert size > 300 and colours > 8


def test_an_equation_is_solved_and_pictures_are_left(tmp_path):
    done = run("pde", "--quick", f"--output={tmp_path}")
    assert done.returncode == 0, done.stderr[-2000:]
    losses = [float(one) for one in re.findall(r" splines  step .* loss (\S+)", done.stderr)]
    assert losses[-1] < 0.5 * losses[0]
    assert "perceptron" in done.stdout
    for name in ("errors", "solution"):
        size, colours = picture(tmp_path / f"{name}.png")
        assert size > 300 and colours > 8


@pytest.mark.parametrize("arguments, words", [(("fit", "--steps=0"), "it is 1 or more"), (("pde", "--order=1"), "it is 2 or more"),
                                              (("fit", "--functions", "none"), "invalid choice"), ((), "required: fit | pde")])
def test_arguments_that_cannot_be_are_refused(arguments, words):
    done = run(*arguments)
    assert done.returncode == 2 and words in done.stderr
