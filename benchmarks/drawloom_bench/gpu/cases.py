# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of a pack and their arguments at each size."""

import numpy as np

from drawloom_bench.programs import gpu as gpu_programs
from drawloom_bench.programs import gpu_recurrences

SIZES = ["small", "middle", "full"]
# First comes what is worth most where time is short.
WORTH = ["MLP 64 relu train bf16", "MLP 64 relu forward bf16", "GLA 128x256", "scalar gate 128x256", "gated delta rule 128x128",
         "rational forward bf16", "rational backward bf16", "GLA 64x64", "MLP 64 rational", "MLP 128", "AdamW", "GLA steps",
         "RGCN segments", "graph", "MLP 32", "MLP 16", "rational", "LoRA", "block-sparse", "CSR", "RGCN", "GLA"]


def worth(key):
    """The place of a case in the order of worth; f32 programs with a twin in half precision come last."""
    place = next((i for i, start in enumerate(WORTH) if key.startswith(start)), len(WORTH))
    return key.endswith(" f32") and key.startswith(("MLP", "rational")), place, key


def all_cases():
    return sorted([*gpu_programs.cases(), *gpu_recurrences.timed()], key=lambda case: worth(case.key))


def find(key):
    return next(case for case in all_cases() if case.key == key)


def rows(case, size):
    return {"small": case.small, "middle": case.middle, "full": case.rows}[size]


class Generator:
    """NumPy's generator, but for many normal numbers, which repeat after a prime number of them: drawing a thousand million takes
    longer than all that is done with them."""

    PERIOD = 4194301

    def __init__(self, seed):
        self.real = np.random.default_rng(seed)

    def standard_normal(self, shape, dtype=np.float64):
        size = int(np.prod(shape, dtype=np.int64))
        if size <= self.PERIOD:
            return self.real.standard_normal(shape, dtype)
        return np.resize(self.real.standard_normal(self.PERIOD, dtype), shape)

    def __getattr__(self, name):
        return getattr(self.real, name)


def arguments(case, size):
    return case.arguments(np.random.default_rng(7) if size == "small" else Generator(7), rows(case, size))
