# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the structured suite: layers whose weights are known by how they are made, called from PyTorch. Rivals are the same
mathematics in eager PyTorch, as PEFT and the papers' authors compute it, under torch.compile, and in JAX.

"plain" is a frozen dense layer, ours against the library's product: what adapters cost is to be read beside it."""

import math

import numpy as np

from drawloom_bench.suites.case import TRAIN_RTOL, Case, jax_of, jax_run, normal, torch_of, torch_run


class Layer:
    """A method: `term()` of drawloom.structured, the leaves' shapes, which of them train, operations of a row of its forward pass, and
    the rivals' function of rows and leaves with torch or jax.numpy as `lib`."""

    def __init__(self, name, rows, inputs, outputs, term, shapes, trained, operations, formula):
        self.name, self.rows, self.inputs, self.outputs = name, rows, inputs, outputs
        self.term, self.shapes, self.trained = term, shapes, trained
        self.operations, self.formula = operations, formula


def lora(rows, inputs, outputs, rank):
    def term():
        from drawloom.structured import dense

        return (dense("w") + 2.0 * (dense("b") @ dense("a"))).T

    return Layer(f"LoRA {rank}, {rows} x {inputs} x {outputs}", rows, inputs, outputs, term,
                 {"w": (outputs, inputs), "b": (outputs, rank), "a": (rank, inputs)}, ("b", "a"),
                 2 * inputs * outputs + 2 * rank * (inputs + outputs), lambda lib, x, w, b, a: x @ w.T + (x @ a.T) @ b.T * 2.0)


def plain(rows, inputs, outputs):
    def term():
        from drawloom.structured import dense

        return dense("w").T

    return Layer(f"plain, {rows} x {inputs} x {outputs}", rows, inputs, outputs, term, {"w": (outputs, inputs)}, (),
                 2 * inputs * outputs, lambda lib, x, w: x @ w.T)


def monarch(rows, blocks):
    width = blocks * blocks

    def term():
        from drawloom.structured import block_diagonal, permute

        return (block_diagonal("r") @ permute([blocks, blocks], [1, 0]) @ block_diagonal("l") @ permute([blocks, blocks], [1, 0]))

    def formula(lib, x, r, l):
        inner = lib.einsum("tkp,kpq->tqk", x.reshape(-1, blocks, blocks), r)
        return lib.einsum("tqk,qks->tsq", inner, l).reshape(-1, width)

    return Layer(f"Monarch {width}, {rows} rows", rows, width, width, term, {"r": (blocks,) * 3, "l": (blocks,) * 3}, ("r", "l"),
                 4 * blocks ** 3, formula)


def kronecker(rows, left, right):
    def term():
        from drawloom.structured import dense, kronecker

        return kronecker(dense("c"), dense("d"))

    return Layer(f"Kronecker {left} x {right}, {rows} rows", rows, left * right, left * right, term,
                 {"c": (left, left), "d": (right, right)}, ("c", "d"), 2 * left * right * (left + right),
                 lambda lib, x, c, d: lib.einsum("tab,ac,bd->tcd", x.reshape(-1, left, right), c, d).reshape(-1, left * right))


def adapted(name, rows, width, term_of, shapes, operations, delta):
    """A frozen matrix and an adapter whose matrix PEFT makes in each forward pass."""
    def term():
        import drawloom.structured as structured

        return structured.dense("w") + term_of(structured)

    return Layer(f"{name}, {rows} x {width}", rows, width, width, term, {"w": (width, width), **shapes}, tuple(shapes),
                 2 * width * width + operations, lambda lib, x, w, **leaves: x @ w + x @ delta(lib, **leaves))


def lokr(rows, width, rank):
    factor = math.isqrt(width)
    while width % factor:
        factor -= 1
    other = width // factor
    return adapted("LoKr", rows, width, lambda s: s.kronecker(s.dense("c"), s.dense("a") @ s.dense("b")),
                   {"c": (factor, factor), "a": (other, rank), "b": (rank, other)}, 2 * width * (factor + 2 * rank),
                   lambda lib, c, a, b: lib.kron(c, a @ b))


def loha(rows, width, rank):
    shapes = {"a": (width, rank), "b": (rank, width), "c": (width, rank), "d": (rank, width)}
    return adapted("LoHa", rows, width, lambda s: s.hadamard(s.dense("a") @ s.dense("b"), s.dense("c") @ s.dense("d")), shapes,
                   2 * width * width, lambda lib, a, b, c, d: (a @ b) * (c @ d))


def case_of(layer, train, goal):
    def make(options):
        import jax.numpy as jnp
        import torch

        import drawloom.torch

        rng = np.random.default_rng(0)
        x, dy = normal(rng, layer.rows, layer.inputs), normal(rng, layer.rows, layer.outputs)
        arrays = {name: normal(rng, *shape, scale=shape[-1] ** -0.5) for name, shape in layer.shapes.items()}
        # What trains comes first.
        trained = layer.trained if train else ()
        names = sorted(arrays, key=lambda name: name not in trained)
        term, moving = layer.term(), 1 + len(trained)
        (tdy, *tgiven), (jdy, *jgiven) = (of([dy, x, *(arrays[name] for name in names)]) for of in (torch_of, jax_of))

        def by_name(function):
            return lambda x, *leaves: function(x, **dict(zip(names, leaves)))

        def torch_way(function):
            return torch_run(function, tgiven, tdy if train else None, moving)

        formula = by_name(lambda x, **leaves: layer.formula(torch, x, **leaves))
        in_jax = by_name(lambda x, **leaves: layer.formula(jnp, x, **leaves))
        return {"drawloom": torch_way(by_name(lambda x, **leaves: drawloom.torch.structured_linear(x, term, leaves))),
                "eager": torch_way(formula), "compile": torch_way(torch.compile(formula)),
                "jax": jax_run(in_jax, jgiven, jdy if train else None, moving)}

    data = 4 * layer.rows * (layer.inputs + layer.outputs) * (2 if train else 1)
    # A frozen base has no gradient: of its products there are two, of the others three.
    base = 2 * layer.inputs * layer.outputs if "w" in layer.shapes else 0
    operations = layer.rows * (2 * base + 3 * (layer.operations - base) if train else layer.operations)
    return Case(f"{layer.name}{', with gradients' if train else ''}", operations, data, make, goal, TRAIN_RTOL)


LAYERS = [(plain(2048, 2048, 2048), "0.97", "0.97"), (lora(2048, 2048, 2048, 16), "1.03", "1.03"), (plain(512, 2048, 2048), "0.97", "0.97"),
          (lora(512, 2048, 2048, 16), "1.03", "1.03"), (lora(4096, 512, 512, 16), "1.1", "1.1"), (monarch(1024, 64), "1.9", "1.8"),
          (kronecker(2048, 32, 64), "1.9", "1.8"), (lokr(1024, 1024, 8), "1.5", "1.5"), (loha(1024, 1024, 8), "1.5", "1.5")]
CASES = [case_of(layer, train, goals[train]) for layer, *goals in LAYERS for train in (False, True)]
