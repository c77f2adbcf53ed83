# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/pinn: every way to write the residual gives the same one, the known solution has none, and a run trains."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from support.runner import ROOT

FOLDER = ROOT / "examples" / "pinn"
SMALL = ["--steps", "40", "--points", "256", "--width", "32", "--layers", "2", "--rate", "0.03", "--no-rivals"]


@pytest.fixture(scope="module", autouse=True)
def modules():
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def test_the_known_solution_solves_the_equation():
    import problem

    h, (x, y) = 1e-4, np.random.default_rng(0).uniform(-0.9, 0.9, (2, 50))
    u = problem.solution
    laplacian = (u(x + h, y) + u(x - h, y) + u(x, y + h) + u(x, y - h) - 4 * u(x, y)) / h**2
    assert np.abs(laplacian + problem.WAVE_NUMBER**2 * u(x, y) - problem.source(x, y)).max() < 1e-4


def test_all_ways_give_the_same_residual():
    import in_jax
    import in_torch
    import problem
    import torch

    first, points = problem.first_parameters(8, 2, 3), problem.points(32, 1, 1)
    tensors = [[torch.tensor(one) for one in group] for group in first]
    residuals = [way(in_jax.plain, first, points)
                 for way in (in_jax.at_each_point, in_jax.along_each_axis, in_jax.by_hand, in_jax.in_one_call)]
    residuals += [in_torch.by_autograd(network, tensors, torch.from_numpy(points)).detach().numpy()
                  for network in (in_torch.fused, in_torch.plain)]
    residuals.append(in_torch.by_hand(None, tensors, torch.from_numpy(points)).numpy())
    for one in residuals[1:]:
        np.testing.assert_allclose(one, residuals[0], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_a_run_trains_and_leaves_pictures(framework, tmp_path):
    done = subprocess.run([sys.executable, FOLDER / "pinn.py", "--framework", framework, "--output", tmp_path, *SMALL],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    losses = [float(line.split("loss ")[1].split()[0]) for line in done.stderr.splitlines() if "loss " in line]
    assert losses[-1] < 0.6 * losses[0]
    assert Image.open(tmp_path / "solution.png").size == (1176, 476)
    assert Image.open(tmp_path / "error.png").size == (720, 360)


def test_numbers_that_are_none_are_refused():
    done = subprocess.run([sys.executable, FOLDER / "pinn.py", "--width", "0"], capture_output=True, text=True)
    assert done.returncode == 2 and "--width is 0; it is 1 or more" in done.stderr
