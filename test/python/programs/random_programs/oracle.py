# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program computes, in torch's float64, and how far rounding may move that.

A program is evaluated several times: exactly (float64), with noise (each result moved at random by as much as its type rounds,
which its gradients are too), and in float32. How far the last ones come from the first says how large the errors of a right
compiler are; a tolerance is a fixed multiple of that.
"""

from __future__ import annotations

import torch

from .graph import OPS, Graph, Step

EPSILON = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
TINY = {"f64": 0.0, "f32": 2.0**-126, "f16": 2.0**-24, "bf16": 2.0**-126}
DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
          "i32": torch.int32, "i8": torch.int8, "i1": torch.bool, "index": torch.int64}

FACTOR = 12.0
"""How many times the errors of the other evaluations the error of compiled code may be."""


def program_epsilon(graph):
    """The rounding of a program's coarsest type."""
    return max((EPSILON[t.element] for t in graph.all_types() if t.is_float), default=0.0)


class Context:
    """One way of evaluating programs: "exact", "noise" or "float32". With `sums`, noise is also what adding one after another does."""

    def __init__(self, kind, seed=0, sums=False):
        self.kind, self.sums = kind, sums
        self.dtype = torch.float32 if kind == "float32" else torch.float64
        self.generator = torch.Generator().manual_seed(seed)
        # Which way roundings go that add up.
        self.direction = 1 - 2 * (seed % 2)
        self.distances: list[torch.Tensor] = []
        self._step: Step | None = None
        self._types: dict = {}

    def given(self, value, type):
        """An argument or a constant: exact."""
        return value.to(self.dtype) if type.is_float else value

    def kink(self, distance):
        """Notes how far the operands are from where the function jumps or bends."""
        self.distances.append(distance.detach().to(torch.float64))

    @property
    def attributes(self):
        return self._step.attributes

    @property
    def types(self):
        """The types of the step's results."""
        return [self._types[i] for i in self._step.results]

    @property
    def regions(self):
        return self._step.regions

    def round(self, value, type):
        if self.kind != "noise" or not type.is_float or not value.numel():
            return value
        def random():
            return 2 * torch.rand(value.shape, generator=self.generator, dtype=torch.float64) - 1
        value = value * (1 + EPSILON[type.element] * random())
        return value + TINY[type.element] * random() if TINY[type.element] > 1e-30 else value

    def sum(self, value, type, operands):
        """The result of a step that may have added up its operands' elements, as far as `sums` says; tolerances multiply by FACTOR."""
        if self.kind != "noise" or not self.sums or not type.is_float or not value.numel():
            return value
        terms = max((x.numel() for x in operands if torch.is_tensor(x)), default=0) / value.numel()
        return value * (1 + self.direction * sums(1.0, terms, EPSILON[type.element]) / FACTOR) if terms > 1 else value

    def apply(self, step, types, operands):
        """The results of one step. `types` has those of the graph's values."""
        outer = self._step, self._types
        self._step, self._types = step, types
        results = OPS[step.op].meaning(self, *operands)
        self._step, self._types = outer
        results = results if isinstance(results, (tuple, list)) else [results]
        assert len(results) == len(step.results), step.op
        rounded = []
        for result, at in zip(results, step.results):
            type = types[at]
            assert type.shape is None or tuple(result.shape) == tuple(map(int, type.shape)), (step.op, result.shape, type)
            assert result.dtype == (self.dtype if type.is_float else DTYPES[type.element]), (step.op, result.dtype, type)
            rounded.append(self.round(self.sum(result, type, operands), type))
        return rounded

    def run(self, graph: Graph, inputs):
        """The outputs of a graph."""
        values = dict(zip(graph.inputs, inputs))
        for step in graph.steps:
            values.update(zip(step.results, self.apply(step, graph.types, [values[i] for i in step.operands])))
        return [values[i] for i in graph.outputs]


def contexts(seed, noises=2, sums=False):
    return [Context("exact"), *(Context("noise", 1000 * seed + i, sums) for i in range(noises)), Context("float32")]


def derivatives(context, graph, arguments, wrt, direction=None, loss=True, cotangents=None):
    """(outputs, gradients for `wrt`, second): of the first output, a loss, or with cotangents; `second` are the products of the
    Hessian and `direction`."""
    inputs = [context.given(a, t) for a, t in zip(arguments, graph.input_types())]
    leaves = []
    for i in wrt:
        inputs[i] = inputs[i].clone().requires_grad_()
        leaves.append(inputs[i])
    outputs = context.run(graph, inputs)
    if not wrt:
        return outputs, [], []

    def pull(ys, gs):
        reached = [(y, g) for y, g in zip(ys, gs) if y.requires_grad]
        if not reached:
            return [torch.zeros_like(x) for x in leaves]
        found = torch.autograd.grad([y for y, _ in reached], leaves, [g for _, g in reached], create_graph=direction is not None,
                                    retain_graph=True, allow_unused=True)
        return [torch.zeros_like(x) if g is None else g for g, x in zip(found, leaves)]

    if loss:
        gradients = pull(outputs[:1], [torch.ones_like(outputs[0])])
    else:
        gradients = pull(outputs, [context.given(g, t) for g, t in zip(cotangents, graph.output_types())])
    second = []
    if direction is not None:
        second = pull(gradients, [d.to(context.dtype) for d in direction])
    return [y.detach() for y in outputs], [g.detach() for g in gradients], [s.detach() for s in second]


def moved(exact, others, epsilon):
    """For each value the largest distance of the other evaluations, those in float32 as if they had rounded by epsilon."""
    errors = []
    for i, value in enumerate(exact):
        error = 0.0
        if value.is_floating_point() and value.numel():
            for context, values in others:
                distance = float((values[i].to(torch.float64) - value).abs().max())
                distance *= epsilon / EPSILON["f32"] if context.kind == "float32" else 1
                error = max(error, distance)
        errors.append(error)
    return errors


def size(value):
    return float(value.abs().max()) if value.is_floating_point() and value.numel() else 0.0


def sums(size, terms, epsilon):
    """How far adding one after another may move a sum of elements of one sign, in float32 unless the type is wider: each of n sums
    rounds what it has by then, half of the whole on average, and all may go one way where elements are alike. torch adds halves."""
    return terms / 2 * min(epsilon, EPSILON["f32"]) * size


class Expected:
    """Values with tolerances."""

    def __init__(self, values, errors, epsilon, largest):
        """`largest`: how many elements the largest tensor has, which some of the values may be sums of."""
        self.values = values
        self.epsilon = epsilon
        # Below its normal numbers a type rounds by the same amount everywhere; that of gradients is in no evaluation.
        tiny = next(TINY[name] for name in EPSILON if EPSILON[name] == epsilon) if epsilon else 0.0
        self.tolerances = [FACTOR * (e + tiny + epsilon * size(v)) + sums(size(v), largest, epsilon) for v, e in zip(values, errors)]

    def finite(self):
        """Whether all values are numbers, none of them too large for any type."""
        return all(torch.isfinite(v).all() and (not v.numel() or float(v.abs().max()) < 1e4) for v in self.values if v.is_floating_point())

    def loose(self):
        """Whether rounding alone may hide what such a program gets wrong: the largest tolerance as a share of its value."""
        shares = [t / max(float(v.abs().max()), 1e-30) for v, t in zip(self.values, self.tolerances)
                  if v.is_floating_point() and v.numel() and (float(v.abs().max()) > 0 or t > 0)]
        return max(shares, default=0.0)

    def difference(self, results, epsilon=None, terms=0):
        """None, or what is wrong with results: torch tensors. With terms, of the interpreter: it rounds each op as the program does,
        or, with an epsilon, by that, and adds up to so many terms in float64 one after another, each of which rounds once more."""
        rounding = (epsilon or self.epsilon) + terms * EPSILON["f64"]
        for i, (value, tolerance, result) in enumerate(zip(self.values, self.tolerances, results)):
            if tuple(value.shape) != tuple(result.shape):
                return f"result {i}: shape {tuple(result.shape)}, expected {tuple(value.shape)}"
            if not value.numel():
                continue
            if not value.is_floating_point():
                if not torch.equal(value, result.to(value.dtype)):
                    at = int((value != result.to(value.dtype)).flatten().nonzero()[0])
                    return f"result {i}, element {at}: {result.flatten()[at]}, expected {value.flatten()[at]}"
                continue
            result = result.to(torch.float64)
            error = (result - value).abs().nan_to_num(nan=float("inf"))
            limit = tolerance * (rounding / self.epsilon if terms else 1)
            if float(error.max()) > limit:
                at = int(error.argmax())
                return (f"result {i}, element {at} of {value.numel()}: {float(result.flatten()[at]):.9g}, expected "
                        f"{float(value.flatten()[at]):.9g}, off by {float(error.max()):.3g} where {limit:.3g} is allowed")
        return None
