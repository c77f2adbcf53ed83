# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs whose GPU kernels are counted, checked and timed, as cases (gpu.py)."""

import functools

import numpy as np

import inputs
from drawloom_bench.programs import gpu as gpu_programs

RELATIONS, EDGES_OF_NODE, WIDTH, HEADS = 40, 6, 64, 4
# What a block owns, and pairs that are multiplied at a time.
ROWS_PER_BLOCK, TILE_ROWS = 256, 16
DTYPES = {"f32": "float32", "bf16": "bfloat16"}


def edges(rows):
    """source, target, relation: six edges a node, relations in harmonic shares."""
    rng = np.random.default_rng(3)
    share = 1 / np.arange(1, RELATIONS + 1)
    count = EDGES_OF_NODE * rows
    return (*rng.integers(0, rows, (2, count)), rng.choice(RELATIONS, count, p=share / share.sum()))


@functools.lru_cache(maxsize=8)
def arrays(rows):
    return inputs.graph_orders(*edges(rows), rows, RELATIONS, ROWS_PER_BLOCK, TILE_ROWS)


def shapes(model, rows):
    """Of the operands, with the space of their rows."""
    nodes = rows, HEADS, WIDTH // HEADS
    return {"RGCN": [((rows, WIDTH), "src"), ((RELATIONS, WIDTH, WIDTH), "all")],
            "GATv2": [(nodes, "src"), (nodes, "dst"), (nodes[1:], "all")]}[model]


def text(model, element, entry, rows):
    """As drawloom.jax.rgnn says it. Drawloom is asked where programs are compiled, and need not be where they run."""
    from drawloom import ops
    from drawloom.ops import graph_models, message_passing

    dtype, known = DTYPES[element], shapes(model, rows)
    function, options, absent = {"RGCN": (graph_models.rgcn, ("sum",), 4), "GATv2": (graph_models.gatv2, (0.2, False), 2)}[model]
    given = [message_passing.input_type(dtype, shape, space) for shape, space in known]
    kind = RELATIONS, ROWS_PER_BLOCK, message_passing.edges_per_pair([one.shape for one in arrays(rows)])
    spec = message_passing.spec_of(function, options, (*given, *[None] * absent), kind)
    types = [ops.Array(dtype, shape) for shape, _ in known] + [ops.Array("int32", one.shape) for one in arrays(rows)]
    if entry == "gradient":
        cotangent = spec.results(types)[0]
        spec = spec.vjp(range(len(known)), (0,))
        types.append(cotangent)
    return ops.text(spec, types)


def arguments(model, element, entry, rng, rows):
    """Scores of attention are of the order of 1, as is what a layer gives."""
    scale = {"RGCN": (1.0, WIDTH**-0.5), "GATv2": (1.0, 1.0, HEADS / WIDTH)}[model]
    out = [gpu_programs.store(inputs.normal(rng, *shape, scale=one), element) for (shape, _), one in zip(shapes(model, rows), scale)]
    out += arrays(rows)
    if entry == "gradient":
        out.append(gpu_programs.store(inputs.normal(rng, *shapes(model, rows)[0][0]), element))
    return out


def case(model, element, entry):
    # A pair's row times a matrix; of its gradients, that of rows and that of the matrix.
    def products(rows):
        return len(arrays(rows)[1]) * WIDTH * WIDTH * {"forward": 1, "gradient": 2}[entry] if model == "RGCN" else 0

    return gpu_programs.Case(
        f"graph {model} {entry}", element, "main", lambda rows: text(model, element, entry, rows),
        lambda rng, rows: arguments(model, element, entry, rng, rows), 1 << 14, 300, blocks=16, middle=5008,
        **{"fused" if element == "f32" else "products": products})


def cases():
    return [case(model, element, entry) for model in ("RGCN", "GATv2") for element in DTYPES for entry in ("forward", "gradient")]
