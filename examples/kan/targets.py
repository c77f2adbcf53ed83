# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions to be learnt: those of section 3.1 of the paper on Kolmogorov-Arnold networks (arXiv 2404.19756), on [-1, 1]^n."""

import dataclasses
from collections.abc import Callable

import torch
from torch import Tensor

PI = torch.pi


@dataclasses.dataclass(frozen=True)
class Target:
    """text   the formula
    widths    of a network of splines that can be the function: an outer function of a sum of inner ones, and so on
    grids     numbers of intervals to refine through. They end where a grid has more coefficients than there are points to fit
    """
    text: str
    widths: list[int]
    grids: list[int]
    function: Callable[[Tensor], Tensor]

    def __call__(self, x: Tensor) -> Tensor:
        return self.function(x)[:, None]


def of_four(x):
    a, b, c, d = x.unbind(1)
    return torch.exp((torch.sin(PI * (a**2 + b**2)) + torch.sin(PI * (c**2 + d**2))) / 2)


def targets(dimensions: int) -> dict[str, Target]:
    """By name; `dimensions` are those of the one that has many."""
    return {
        "bessel": Target("J0(20 x)", [1, 1], [3, 5, 10, 20, 50, 100, 200], lambda x: torch.special.bessel_j0(20 * x[:, 0])),
        "exp-sin": Target("exp(sin(pi x) + y^2)", [2, 1, 1], [3, 5, 10, 20, 50, 100],
                          lambda x: torch.exp(torch.sin(PI * x[:, 0]) + x[:, 1]**2)),
        "product": Target("x y", [2, 2, 1], [3, 5, 10, 20, 50], lambda x: x[:, 0] * x[:, 1]),
        "many": Target(f"exp(mean of sin^2(pi x/2)), n = {dimensions}", [dimensions, 1, 1], [3, 5, 10, 20],
                       lambda x: torch.exp((torch.sin(PI * x / 2)**2).mean(1))),
        "four": Target("exp((sin(pi(a^2+b^2)) + sin(pi(c^2+d^2)))/2)", [4, 4, 2, 1], [3, 5, 10, 20, 50], of_four),
    }
