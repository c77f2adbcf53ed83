# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hand-written block programs against NumPy float64, in the interpreter and on the CPU.

A case is a program at some sizes, its arguments, and what the oracle says. The
interpreter computes in float64 too, so it may differ by rounding of float64 only.
"""

import numpy as np
import pytest

import dense
import generate
import inputs
import irregular
import narrow
from programs import oracles
from support.runner import assert_close, run

INTERPRETER_TOLERANCE = 1e-11
CPU_TOLERANCE = 2e-5
# Of the largest number: what is rounded to bf16 on the way is off by 2^-9 of itself.
BF16_TOLERANCE = 1e-2


class Case:
    """`expected` is for arguments as they are stored: rounding these is no error of the program."""

    def __init__(self, module, entry, arguments, expected, tolerance=CPU_TOLERANCE):
        self.module, self.entry, self.arguments, self.expected = module, entry, arguments, expected
        self.tolerance = tolerance

    def run(self, **options):
        return [inputs.as_numbers(a) for a in run(self.module, self.entry, self.arguments, **options)]


def rational(rows=32, groups=2, width=24, block_rows=16, tile_rows=1):
    rng = np.random.default_rng(1)
    arguments = inputs.group_rational(rng, rows, groups, width)
    return Case(dense.group_rational_backward(rows, groups, width, block_rows, tile_rows), "group_rational_backward",
                arguments, oracles.group_rational_backward(*arguments))


def mlp_forward(rows=128, widths=dense.WIDTHS):
    rng = np.random.default_rng(2)
    arguments = [inputs.normal(rng, rows, widths[0]), *inputs.mlp_parameters(rng, widths)]
    return Case(dense.mlp_forward(rows, widths), "mlp_forward", arguments, oracles.mlp_forward(*arguments))


def mlp_backward(rows=256, widths=dense.WIDTHS):
    rng = np.random.default_rng(3)
    arguments = [inputs.normal(rng, rows, widths[0]), inputs.normal(rng, rows, widths[-1]),
                 *inputs.mlp_parameters(rng, widths)]
    return Case(dense.mlp_backward(rows, widths), "mlp_backward", arguments, oracles.mlp_backward(*arguments))


def gla(lengths=(70, 0, 130), heads=2, gate=1 / 16):
    arguments = inputs.gla(np.random.default_rng(4), heads, lengths, gate=gate)
    return Case(irregular.gla(heads, sum(lengths), len(lengths)), "gla", arguments, oracles.gla(*arguments))


def gla_steps(lengths=(65, 0, 1), heads=1, gate=1 / 16):
    q, k, v, *rest = inputs.gla(np.random.default_rng(4), heads, lengths, gate=gate)
    arguments = [*map(inputs.as_bf16, (q, k, v)), *rest]
    expected = oracles.gla(*map(inputs.as_numbers, arguments))
    return Case(narrow.gla_steps(heads, sum(lengths), len(lengths)), "gla_steps", arguments, expected, BF16_TOLERANCE)


def gla_that_forgets():
    """One gate in seven is exp(-inf): differences of their sums would not be numbers."""
    case = gla_steps(lengths=(20,), gate=3.0)
    gates = case.arguments[3]
    gates[np.random.default_rng(10).random(gates.shape) < 1 / 7] = -np.inf
    case.expected = oracles.gla(*map(inputs.as_numbers, case.arguments))
    return case


def rgcn(nodes=48, relations=3, source=None, target=None, relation=None):
    rng = np.random.default_rng(5)
    if source is None:
        # Relation 1 is empty, node 7 takes half of the edges.
        source, target, relation = inputs.random_graph(rng, nodes, 100, relations, empty=[1], hub=7)
    arguments, sizes = inputs.rgcn(rng, nodes, relations, source, target, relation)
    expected = oracles.rgcn_edges(*arguments[:4], source, target, relation,
                                  inputs.mean_coefficients(target, relation, nodes))
    return Case(irregular.rgcn(**sizes), "rgcn", arguments, expected)


def rgcn_segments(edges=400, **graph):
    rng = np.random.default_rng(9)
    nodes, relations = 128, 4
    ends = inputs.random_graph(rng, nodes, edges, relations, **graph)
    arguments, sizes = inputs.rgcn_segments(rng, nodes, relations, *ends)
    dense = [inputs.as_numbers(a) for a in arguments[:4]]
    expected = oracles.rgcn_edges(*dense, *ends, inputs.mean_coefficients(*ends[1:], nodes, exact=True))
    return Case(narrow.rgcn_segments(**sizes), "rgcn_segments", arguments, expected, BF16_TOLERANCE)


def lora():
    rng = np.random.default_rng(6)
    arguments = [inputs.normal(rng, 128, 96), inputs.normal(rng, 96, 128, scale=0.1),
                 inputs.normal(rng, 96, 16, scale=0.1), inputs.normal(rng, 16, 128)]
    return Case(dense.lora(), "lora", arguments, oracles.lora(*arguments))


def block_sparse(starts=(0, 2, 2, 5, 9)):
    rng = np.random.default_rng(7)
    columns = rng.integers(0, 5, 9).astype(np.int32)
    arguments = [inputs.normal(rng, 9, 32, 32, scale=0.2), np.array(starts, np.int32), columns, inputs.normal(rng, 160, 64)]
    return Case(irregular.block_sparse(), "block_sparse", arguments, oracles.block_sparse(*arguments))


def csr(skew=False):
    rng = np.random.default_rng(8)
    starts, columns = inputs.compressed_rows(rng, 64, 48, 200, skew)
    arguments = [inputs.normal(rng, 200), starts, columns, inputs.normal(rng, 48, 64)]
    return Case(irregular.csr(), "csr", arguments, oracles.csr(*arguments))


CASES = {
    "group-rational": rational,
    "group-rational-one-block": lambda: rational(rows=16),
    "group-rational-wide": lambda: rational(rows=32, groups=3, width=96),
    "group-rational-tiles-of-rows": lambda: rational(tile_rows=8),
    "mlp-forward": mlp_forward,
    "mlp-forward-narrow": lambda: mlp_forward(widths=(8, 16, 1)),
    "mlp-backward": mlp_backward,
    "mlp-backward-one-layer": lambda: mlp_backward(widths=(32, 16)),
    "gla-packed-with-empty": gla,
    "gla-whole-chunks": lambda: gla(lengths=(128,), heads=1),
    "gla-shorter-than-a-chunk": lambda: gla(lengths=(1, 3, 63)),
    "gla-all-empty-but-one": lambda: gla(lengths=(0, 65, 0)),
    # Products of 64 such gates leave the range of float32; those of 16 do not.
    "gla-strong-gates": lambda: gla(lengths=(128,), heads=1, gate=3.0),
    "gla-steps-packed-with-empty": gla_steps,
    "gla-steps-whole-chunks-of-two-heads": lambda: gla_steps(lengths=(64,), heads=2),
    "gla-steps-that-forget": gla_that_forgets,
    "rgcn-empty-relation-and-hub": rgcn,
    "rgcn-self-loops-and-duplicates": lambda: rgcn(
        source=np.array([3, 3, 3, 5, 47]), target=np.array([3, 3, 4, 5, 0]), relation=np.array([0, 0, 0, 2, 1])),
    "rgcn-full-tiles-of-edges": lambda: rgcn(
        source=np.arange(16) % 48, target=np.repeat([1, 30], 8), relation=np.zeros(16, int)),
    "rgcn-no-edges": lambda: rgcn(source=np.zeros(0, int), target=np.zeros(0, int), relation=np.zeros(0, int)),
    # More than one tile of segments, and of a relation with few edges less than one.
    "rgcn-segments": rgcn_segments,
    "rgcn-segments-empty-relation-and-hub": lambda: rgcn_segments(empty=[1], hub=7),
    "lora": lora,
    "block-sparse": block_sparse,
    "block-sparse-empty-rows": lambda: block_sparse(starts=(0, 0, 9, 9, 9)),
    "csr": csr,
    "csr-skewed": lambda: csr(skew=True),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]()


def test_interpreter_agrees_with_numpy(case):
    assert_close(case.run(target="interpreter"), case.expected, INTERPRETER_TOLERANCE)


def test_cpu_agrees_with_numpy(case):
    assert_close(case.run(), case.expected, case.tolerance)


def test_a_hundred_runs_on_one_two_and_three_threads_have_the_same_bits(case):
    case.run(options=["--check-bits=100"])


@pytest.mark.parametrize("name", generate.PROGRAMS)
def test_checked_in_program_is_what_the_template_says(name):
    assert (generate.FOLDER / f"{name}.mlir").read_text() == generate.text(name)
