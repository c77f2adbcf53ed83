# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Solves Helmholtz's equation with a network that Drawloom computes, in JAX or in PyTorch.

The network is trained on the equation alone: its second derivatives are part of the loss, so that a training step takes
third ones. See README.md.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import pictures  # noqa: E402
import problem  # noqa: E402
from progress import Bar  # noqa: E402


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--framework", choices=["jax", "torch"], default="jax")
    parser.add_argument("--steps", type=int, default=2000, help="training steps (default: 2000)")
    parser.add_argument("--points", type=int, default=2048, help="points in a step (default: 2048)")
    parser.add_argument("--width", type=int, default=64, help="units in a layer (default: 64)")
    parser.add_argument("--layers", type=int, default=3, help="hidden layers (default: 3)")
    parser.add_argument("--rate", type=float, default=5e-3, help="Adam's rate at first; it falls to 0 (default: 0.005)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-rivals", action="store_true", help="do not time the same network without Drawloom")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("output/pinn"),
                        help="folder for the pictures (default: output/pinn)")
    parser.add_argument("--only-time", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for name in ("steps", "points", "width", "layers"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it is 1 or more")
    return options


def relative_error(trainer, points):
    known = problem.solution(*points.T)
    return float(np.linalg.norm(trainer.u(points) - known) / np.linalg.norm(known))


def train(trainer, options):
    """Gives the seconds of each step but the first, and [(step, relative error)]."""
    grid, bar = problem.grid(64), Bar(options.steps)
    history, seconds = [(0, relative_error(trainer, grid))], []
    for step in range(1, options.steps + 1):
        points = problem.points(options.points, options.seed, step)
        rate = options.rate * 0.5 * (1 + np.cos(np.pi * (step - 1) / options.steps))
        start = time.perf_counter()
        loss = trainer.step(points, step, rate)
        seconds.append(time.perf_counter() - start)
        if step % max(options.steps // 100, 1) == 0 or step == options.steps:
            history.append((step, relative_error(trainer, grid)))
        bar.show(step, f"loss {loss:.3g}  error {history[-1][1]:.2e}")
    return seconds[1:], history


def seconds_of(trainer, options, steps=15):
    """Of a step: the median; the first two are not counted."""
    seconds = []
    for step in range(1, steps + 3):
        points = problem.points(options.points, options.seed, step)
        start = time.perf_counter()
        trainer.step(points, step, options.rate)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[2:]))


def seconds_apart(name, arguments):
    """The same in a process of its own, where nothing else has threads; None where it fails. "" is Drawloom."""
    command = [sys.executable, __file__, *(sys.argv[1:] if arguments is None else arguments), "--only-time", name]
    done = subprocess.run(command, capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def main(arguments=None):
    options = parse(arguments)
    if options.framework == "jax":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        import in_jax as framework
    else:
        import in_torch as framework
    first = problem.first_parameters(options.width, options.layers, options.seed)
    if options.only_time is not None:
        maker = framework.rivals(first)[options.only_time] if options.only_time else lambda: framework.Trainer(first)
        print(seconds_of(maker(), options))
        return
    options.output.mkdir(parents=True, exist_ok=True)

    print(f"u_xx + u_yy + u = f with {options.layers} layers of {options.width} sines in {options.framework}, "
          f"{options.points} points a step")
    trainer = framework.Trainer(first)
    start = time.perf_counter()
    trainer.step(problem.points(options.points, options.seed, 0), 1, 0.0)
    print(f"compiled in {time.perf_counter() - start:.1f} s")
    trainer = framework.Trainer(first)
    seconds, history = train(trainer, options)

    points = problem.grid(181)
    shape = 181, 181
    known = problem.solution(*points.T).reshape(shape)
    caption = f"{options.framework}, {options.steps} steps: relative error {history[-1][1]:.2e}"
    pictures.write_solution(options.output / "solution.png", trainer.u(points).reshape(shape), known, caption)
    pictures.write_curve(options.output / "error.png", history, f"relative error in L2, {options.framework}")
    print(f"relative error in L2: {history[-1][1]:.2e}")
    print(f"pictures: {options.output / 'solution.png'}, {options.output / 'error.png'}")

    print(f"a step with Drawloom: {1e3 * np.median(seconds):.1f} ms")
    if not options.no_rivals:
        ours = seconds_apart("", arguments)
        for name in framework.rivals(first):
            theirs = seconds_apart(name, arguments)
            print(f"  {name}: " + (f"{1e3 * theirs:.1f} ms, {theirs / ours:.2f} times as long" if theirs else "failed"))


if __name__ == "__main__":
    main()
