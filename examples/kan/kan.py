# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows Kolmogorov-Arnold networks of B-splines that Drawloom computes: functions are learnt while grids are refined, and an equation.

See README.md.
"""

import argparse
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import fit  # noqa: E402
import pde  # noqa: E402
import pictures  # noqa: E402
import problem  # noqa: E402
import times  # noqa: E402
from targets import targets  # noqa: E402

FIT = """Each edge of such a network has a function of its own, a sum of B-splines on a grid. A network with few edges can be exactly the
function that is learnt; what is left is the error of its splines, which falls with the fourth power of the distance of knots. So the grid is
made finer step by step: a finer spline begins as the coarser one, by least squares. Perceptrons of as many parameters learn the same points
beside it. The run ends with a table and with fit.png: the error on new points over the number of parameters.
"""
PDE = """u_xx + u_yy = f on a square: the network's own second derivatives are put into the equation, and what is left over is made small. So
a training step takes third derivatives. The solution is known; the run ends with a table of errors, with errors.png and solution.png.
--time asks another question: how long a step's loss and gradients take, beside the same network in JAX and in torch.compile.
"""


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    kinds = parser.add_subparsers(dest="what", required=True, metavar="fit | pde")
    first = kinds.add_parser("fit", help="learns functions while grids are refined", description=FIT, allow_abbrev=False)
    first.add_argument("--functions", nargs="+", choices=sorted(targets(2)), metavar="NAME",
                       help=f"which: {', '.join(f'{name} is {one.text}' for name, one in targets(100).items())} (default: all)".replace("%", "%%"))
    first.add_argument("--steps", type=int, default=200, help="iterations of L-BFGS for each grid (default: 200)")
    first.add_argument("--points", type=int, default=3000, help="points to learn from, and as many to test with (default: 3000)")
    first.add_argument("--dimensions", type=int, default=100, help="inputs of the function that has many (default: 100)")
    first.add_argument("--starts", type=int, default=3, help="beginnings, the best of which counts (default: 3)")
    second = kinds.add_parser("pde", help="solves Poisson's equation", description=PDE, allow_abbrev=False)
    second.set_defaults(base="silu")
    second.add_argument("--time", action="store_true", help="measure a step's time; do not train")
    second.add_argument("--steps", type=int, default=600, help="iterations of L-BFGS (default: 600)")
    second.add_argument("--points", type=int, help="points inside of the square (default: 2500, 10000 with --time)")
    second.add_argument("--width", type=int, default=10, help="units in a hidden layer (default: 10)")
    second.add_argument("--layers", type=int, default=1, help="hidden layers (default: 1)")
    second.add_argument("--grid", type=int, default=5, help="intervals of the splines' grid (default: 5)")
    second.add_argument("--order", type=int, default=5, help="degree of the splines, from 2 on; --time has always 3 (default: 5)")
    second.add_argument("--rounds", type=int, default=15, help="steps of each contender that --time measures (default: 15)")
    second.add_argument("--no-compile", action="store_true", help="do not time torch.compile, which compiles for a minute")
    for one in (first, second):
        one.add_argument("--quick", action="store_true", help="little of everything, to see that it runs; no figures to quote")
        one.add_argument("--no-rivals", action="store_true", help="Drawloom alone")
        one.add_argument("--seed", type=int, default=0)
        one.add_argument("--threads", type=int, default=1, help="threads (default: 1: the networks are small; --time has always one)")
        one.add_argument("--output", type=pathlib.Path, default=pathlib.Path("output/kan"), help="folder for the pictures (default: output/kan)")
    options = parser.parse_args(arguments)
    if options.what == "pde" and options.points is None:
        options.points = 10000 if options.time else 2500
    for name in ("steps", "points", "threads", "dimensions", "starts", "width", "layers", "grid", "rounds"):
        if getattr(options, name, 1) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; it is 1 or more")
    if options.what == "pde" and options.order < 2:
        parser.error(f"--order is {options.order}; it is 2 or more, since the second derivatives of broken lines are 0")
    if options.quick:
        options.steps, options.points, options.starts = min(options.steps, 20 if options.what == "fit" else 60), min(options.points, 300), 1
        options.dimensions = min(getattr(options, "dimensions", 1), 4)
        # What is compiled soonest: splines of low degree on few intervals, and nothing beside them.
        options.rounds, options.no_compile, options.order, options.grid, options.base = 3, True, 2, 3, None
    return options


def table(head, rows):
    """Columns under each other: the first on the left, numbers on the right."""
    rows = [head, *rows]
    sizes = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(one.ljust(size) if i == 0 else one.rjust(size) for i, (one, size) in enumerate(zip(row, sizes))).rstrip())


def fit_all(options):
    # Errors far below float32's rounding are what grids are refined for.
    torch.set_default_dtype(torch.float64)
    fits, rows = {}, []
    for name, target in fit.selected(options).items():
        _, curves = fit.learn(name, target, options)
        fits[name] = target.text, curves
        for kind, points in curves.items():
            for one in points:
                rows.append([name, kind, str(one.grid or "-"), str(one.parameters), f"{one.train:.1e}", f"{one.test:.1e}", f"{one.seconds:.1f}"])
    table(["function", "network", "grid", "parameters", "RMSE learnt", "RMSE new", "seconds"], rows)
    pictures.write_fits(options.output / "fit.png", fits)
    print(f"picture: {options.output / 'fit.png'}")


def pde_all(options):
    # A loss of fourth powers of small numbers ends early in float32.
    torch.set_default_dtype(torch.float64)
    runs = pde.learn(options)
    table(["network", "parameters", "L2", "H1", "seconds", "ms an iteration"],
          [[name, str(run.parameters), f"{run.curve[-1][2]:.1e}", f"{run.curve[-1][3]:.1e}", f"{run.curve[-1][0]:.1f}",
            f"{1e3 * run.curve[-1][0] / options.steps:.1f}"] for name, run in runs.items()])
    known = problem.solution(*problem.grid(pde.GRID).T).reshape(pde.GRID, pde.GRID)
    pictures.write_errors(options.output / "errors.png", runs)
    pictures.write_solutions(options.output / "solution.png", known, runs)
    print(f"pictures: {options.output / 'errors.png'}, {options.output / 'solution.png'}")


def pde_times(options):
    found, failed = times.measure(options)
    ours = found[0][2]
    print(f"loss and gradients of {options.points} points, widths 2, {'%d, ' % options.width * options.layers}1, grid {options.grid}, order 3, "
          f"float32, one thread: medians of {options.rounds} rounds")
    table(["", "ms", "times Drawloom's", "difference"], [[name, f"{one:.1f}", f"{one / ours:.2f}", f"{off:.0e}"] for name, off, one in found])
    for name, why in failed.items():
        print(f"{name} failed: {why}")


def main(arguments=None):
    options = parse(arguments)
    if options.what == "pde" and options.time:
        times.one_core()
        pde_times(options)
        return
    torch.set_num_threads(options.threads)
    options.output.mkdir(parents=True, exist_ok=True)
    (fit_all if options.what == "fit" else pde_all)(options)


if __name__ == "__main__":
    main()
