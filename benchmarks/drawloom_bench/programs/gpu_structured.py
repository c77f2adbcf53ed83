# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structured weights whose GPU kernels are counted, checked and timed, as cases (gpu.py)."""

import functools

import numpy as np

import inputs
from drawloom_bench.programs import gpu as gpu_programs

WIDTH, RANK, SIDE, BLOCK, GROUP = 768, 16, 32, 32, 64
DTYPES = {"f32": "float32", "bf16": "bfloat16"}


@functools.lru_cache
def places(side, share):
    """A mask [side, side] with this share of ones, at random."""
    return np.random.default_rng(5).random((side, side)) < share


def arrays_of(mask):
    """Those of drawloom.structured.Pattern: starts of rows, columns, starts of columns, rows, order."""
    rows, columns = np.nonzero(mask)
    order = np.lexsort((rows, columns))
    starts = (np.concatenate([[0], np.cumsum(mask.sum(axis))]) for axis in (1, 0))
    row_starts, column_starts = starts
    return [np.asarray(one, np.int32) for one in (row_starts, columns, column_starts, rows[order], order)]


class Model:
    """A term as drawloom.structured says it, its leaves by name as functions of a generator, which of them train, the width of x and y,
    and the multiply-adds of a row's product."""

    def __init__(self, name, elements, term, leaves, trained, width, operations):
        self.name, self.elements, self.term, self.leaves = name, elements, term, leaves
        self.trained, self.width, self.operations = trained, width, operations


def dense_leaf(*shape, scale):
    return lambda rng: inputs.normal(rng, *shape, scale=scale)


LORA = {"a": dense_leaf(WIDTH, RANK, scale=WIDTH**-0.5), "b": dense_leaf(RANK, WIDTH, scale=RANK**-0.5)}
CODES = {"codes": lambda rng: rng.integers(-128, 128, (WIDTH, WIDTH // 2)).astype(np.int8),
         "scales": dense_leaf(WIDTH, WIDTH // GROUP, scale=WIDTH**-0.5)}
PATTERN = "at_row_starts", "at_columns", "at_column_starts", "at_rows", "at_order"


def lora_of(base):
    return lambda s: base(s) + s.dense("a") @ s.dense("b")


def sparse(name, elements, side, block, share):
    mask = places(side, share)
    count, width = int(mask.sum()), side * block
    values = dense_leaf(count, block, block, scale=(share * width)**-0.5)
    known = {name: (lambda rng, one=one: one) for name, one in zip(PATTERN, arrays_of(mask))}
    return Model(name, elements, lambda s: s.sparse("values", "at"), {"values": values, **known}, ("values",), width, count * block * block)


def monarch(s):
    turn = s.permute([SIDE, SIDE], [1, 0])
    return s.block_diagonal("left") @ turn @ s.block_diagonal("right") @ turn


MODELS = [
    Model("LoRA 16", ("f32", "bf16"), lora_of(lambda s: s.dense("w")), {"w": dense_leaf(WIDTH, WIDTH, scale=WIDTH**-0.5), **LORA}, ("a", "b"),
          WIDTH, WIDTH * (WIDTH + 2 * RANK)),
    Model("NF4 and LoRA 16", ("bf16",), lora_of(lambda s: s.quantized("codes", "scales", format="nf4", packing="high_first")), {**CODES, **LORA},
          ("a", "b"), WIDTH, WIDTH * (WIDTH + 2 * RANK)),
    Model("Monarch", ("bf16",), monarch, {name: dense_leaf(SIDE, SIDE, SIDE, scale=SIDE**-0.5) for name in ("left", "right")},
          ("left", "right"), SIDE * SIDE, 2 * SIDE**3),
    sparse("CSR 95 %", ("f32",), 1024, 1, 0.05),
    sparse("BSR 75 %", ("bf16",), WIDTH // BLOCK, BLOCK, 0.25),
]


def arguments(model, element, entry, rng, rows):
    """x, the leaves in the order of the op, and for a gradient the cotangent."""
    def stored(array):
        return array if array.dtype.kind == "i" else gpu_programs.store(array, element)

    out = [inputs.normal(rng, rows, model.width), *(make(rng) for make in model.leaves.values())]
    if entry == "gradient":
        out.append(inputs.normal(rng, rows, model.width))
    return [stored(one) for one in out]


def text(model, element, entry, rows):
    """As drawloom.jax.structured_linear says it. Drawloom is asked where programs are compiled, and need not be where they run."""
    from drawloom import ops, structured
    from drawloom.ops import structured as op

    known = op.known(model.term(structured))
    assert list(known[1]) == list(model.leaves), known[1]
    spec = op.spec(f"[{known[0]}]", "0", "auto")
    types = [ops.Array({"i1": "int8", "i4": "int32"}.get(one.dtype.str[1:], DTYPES[element]), one.shape)
             for one in arguments(model, element, "forward", np.random.default_rng(0), rows)]
    if entry == "gradient":
        cotangent = spec.results(types)[0]
        trained = [1 + list(model.leaves).index(name) for name in model.trained]
        spec = spec.vjp([0, *trained], (0,))
        types.append(cotangent)
    return ops.text(spec, types)


def case(model, element, entry):
    # A gradient's terms: rows times the matrix, and for what trains once more.
    def products(rows):
        trained = sum(np.prod(model.leaves[name](np.random.default_rng(0)).shape) for name in model.trained)
        return rows * int(model.operations + (trained if entry == "gradient" else 0))

    return gpu_programs.Case(
        f"weights {model.name} {entry}", element, "main", lambda rows: text(model, element, entry, rows),
        lambda rng, rows: arguments(model, element, entry, rng, rows), 1 << 13, 64, blocks=16, middle=1008,
        **{"fused" if element == "f32" else "products": products})


def cases():
    return [case(model, element, entry) for model in MODELS for element in model.elements for entry in ("forward", "gradient")]
