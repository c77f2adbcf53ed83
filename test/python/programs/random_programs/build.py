# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs from a seed.

A Builder adds steps to a graph and evaluates each at once, exactly and with rounding errors. A step is rejected if its results are
huge or no numbers, if rounding has moved them far (the program is badly conditioned), or where an operand is so near a kink, a
jump or a tie that rounding may take it to the other side. So tolerances need no exceptions.
"""

from __future__ import annotations

import torch

from .graph import FLOATS, OPS, Extent, Graph, Step, Type
from .oracle import DTYPES, EPSILON, Context, contexts, moved

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 23, 31, 32, 33, 47, 63, 64, 65, 127, 128, 129]
MOST = 4096          # elements of a tensor
LARGEST = 1000.0     # size of a float
CONDITION = 200.0    # errors of a value from rounding, as a multiple of one rounding,
SHARE = 0.02         # and as a share of the value


class Rejected(Exception):
    """The op does not fit here."""


class Builder:
    def __init__(self, rng, element="f32", differentiable=True, gpu=False, opened=False, evaluations=None):
        self.rng = rng
        self.element, self.differentiable, self.gpu, self.opened = element, differentiable, gpu, opened
        self.graph = Graph()
        self.epsilon = EPSILON[element]  # of the coarsest type so far
        self.contexts: list[Context] = evaluations if evaluations is not None else contexts(rng.randrange(2**31))
        self.values: list[list] = [[] for _ in self.contexts]  # of each context, by the number of the value
        self.arguments: list[torch.Tensor] = []
        self.recent: list[int] = []
        self.depth = 0
        self.extents = self._extents()

    def _extents(self):
        empty = self.rng.random() < 0.02
        choose = [self.rng.choice(EXTENTS) for _ in range(3)] + [self.rng.choice(EXTENTS[:8])]
        if empty:
            choose[self.rng.randrange(3)] = 0
        if self.opened:
            choose[0] = Extent(choose[0], "n")
        return choose

    # Values

    def type(self, value):
        return self.graph.types[value]

    def exact(self, value):
        return self.values[0][value]

    def _define(self, type, evaluations):
        value = self.graph.new(type)
        for values, evaluation in zip(self.values, evaluations):
            values.append(evaluation)
        return value

    def argument(self, type, data=None):
        """A new argument of the program, with random data of the type."""
        data = self.random(type) if data is None else data
        value = self._define(type, [c.given(data, type) for c in self.contexts])
        self.graph.inputs.append(value)
        self.arguments.append(data)
        self.recent.append(value)
        return value

    def random(self, type, low=None, high=None):
        """Random data: floats away from zero and exact in the type, integers small."""
        shape, n = tuple(map(int, type.shape or ())), type.count()
        if type.is_float:
            data = torch.tensor([self.rng.choice((-1, 1)) * self.rng.uniform(0.25, 1.25) for _ in range(n)], dtype=torch.float64)
            return data.to(DTYPES[type.element]).to(torch.float64).reshape(shape)
        if type.element == "i1":
            low, high = 0, 1
        low, high = (-9 if low is None else low), (9 if high is None else high)
        return torch.tensor([self.rng.randint(low, high) for _ in range(n)], dtype=torch.int64).to(DTYPES[type.element]).reshape(shape)

    def fresh(self, type, **options):
        """A value of a type that depends on nothing else."""
        if type.shape is None:
            tensor = self.argument(Type((), type.element), self.random(Type((), type.element), **options))
            return self.add("tensor.extract", [tensor], [type])
        return self.argument(type, self.random(type, **options))

    def constant(self, x, type):
        return self.add("arith.constant", [], [type], {"value": x})

    def like(self, type, fresh=0.3):
        """A value of this very type."""
        known = [v for v in self.recent if self.type(v) == type]
        if not known or self.rng.random() < fresh:
            return self.fresh(type)
        return self.rng.choice(known[-4:])

    def tensor(self, ranks=(1, 2, 3), element=None, fresh=0.15, where=None):
        """A tensor of one of these ranks, of floats unless `element` says otherwise."""
        wanted = FLOATS if element is None else (element,)
        known = [v for v in self.recent if (t := self.type(v)).shape is not None and t.rank in ranks and t.element in wanted
                 and (where is None or where(t))]
        if known and self.rng.random() >= fresh:
            # Mostly what was made last, so that programs are deep.
            return known[max(len(known) - 1 - int(self.rng.expovariate(0.7)), 0)]
        for _ in range(10):
            type = Type(self.shape(ranks), element or self.element)
            if where is None or where(type):
                return self.fresh(type)
        raise Rejected("no such tensor")

    def shape(self, ranks=(1, 2, 3)):
        rank = self.rng.choice([r for r in ranks for _ in range(4 if r == 2 else 1)])
        for _ in range(20):
            shape = tuple(self.rng.choice(self.extents) for _ in range(rank))
            # What is open stands first.
            if self.opened and rank and self.rng.random() < 0.6:
                shape = (self.extents[0], *shape[1:])
            if Type(shape, "f32").count() <= MOST:
                return shape
        raise Rejected("no small shape")

    # Steps

    def add(self, name, operands, types, attributes=None, regions=()):
        """A step and its evaluation; its first result, or all where there are several."""
        row = OPS[name]
        if self.differentiable and not row.differentiable:
            raise Rejected(f"{name} has no derivative")
        if self.gpu and not row.gpu:
            raise Rejected(f"{name} is not for GPUs")
        for type in types:
            if type.count() > 2 * MOST:
                raise Rejected("too large")
        numbers = {i: t for i, t in enumerate(types)}
        step = Step(name, [], list(numbers), attributes or {}, list(regions))
        evaluations = []
        with torch.no_grad():
            for context, values in zip(self.contexts, self.values):
                context.distances = []
                evaluations.append(context.apply(step, numbers, [values[i] for i in operands]))
        self._check(types, evaluations)
        step.operands = list(operands)
        step.results = [self._define(type, [e[i] for e in evaluations]) for i, type in enumerate(types)]
        self.graph.steps.append(step)
        self.recent += step.results
        return step.results[0] if len(types) == 1 else step.results

    def _check(self, types, evaluations):
        self.epsilon = epsilon = max([self.epsilon, *(EPSILON[t.element] for t in types if t.is_float)])
        exact, others = evaluations[0], list(zip(self.contexts[1:], evaluations[1:]))
        for type, value, error in zip(types, exact, moved(exact, others, epsilon)):
            if type.is_float and value.numel():
                if not torch.isfinite(value).all() or float(value.abs().max()) > LARGEST:
                    raise Rejected("too large a value")
                if error > min(CONDITION * epsilon, SHARE) * float(value.abs().max()) + 1e-30:
                    raise Rejected("badly conditioned")
        for i, distance in enumerate(self.contexts[0].distances):
            error = max((float((c.distances[i] - distance).abs().max()) * (self.epsilon / EPSILON["f32"] if c.kind == "float32" else 1)
                         for c in self.contexts[1:] if distance.numel()), default=0.0)
            if distance.numel() and float(distance.min()) <= 64 * error:
                raise Rejected("too near a kink")

    def scaled(self, value, bound):
        """The value, times a power of two where it is larger than this."""
        x = self.exact(value)
        if not x.numel() or float(x.abs().max()) <= bound:
            return value
        scale = 1.0
        while float(x.abs().max()) * scale > bound:
            scale /= 2
        type = self.type(value)
        return self.add("arith.mulf", [value, self.constant(scale, type)], [type])

    # Regions

    def inside(self, inputs, evaluations, differentiable=None):
        """A Builder of a region, whose inputs have these types and evaluations (those of each context)."""
        inner = Region(self, self.differentiable if differentiable is None else differentiable)
        for i, type in enumerate(inputs):
            value = inner._define(type, [e[i] for e in evaluations])
            inner.graph.inputs.append(value)
            inner.recent.append(value)
        return inner

    def evaluations(self, values):
        return [[known[v] for v in values] for known in self.values]

    def grow(self, steps, rows):
        """Adds up to so many ops of these rows; tries again where one does not fit."""
        weights = shares(rows)
        for _ in range(steps):
            for _ in range(6):
                row = OPS[self.rng.choices(rows, weights)[0]]
                if (self.differentiable and not row.differentiable) or (self.gpu and not row.gpu):
                    continue
                try:
                    row.make(self)
                    break
                except Rejected:
                    pass


PARTS = {"elementwise": 30, "integers": 6, "structured": 28, "shapes": 22, "control": 9, "families": 15, "recurrences": 15}
"""How often a program has ops of each part of the table."""


def shares(rows):
    """The weight of each row: those of a part of the table share that part's."""
    def part(name):
        row = OPS[name]
        return "integers" if row.integer else row.make.__module__.rpartition(".")[2]
    sums: dict[str, float] = {}
    for name in rows:
        sums[part(name)] = sums.get(part(name), 0.0) + OPS[name].weight
    return [PARTS[part(name)] * OPS[name].weight / sums[part(name)] for name in rows]


class Region(Builder):
    """What a loop, a condition or a function holds: what it reads of the graph around it becomes inputs, `captured`."""

    def __init__(self, outer, differentiable):
        self.outer = outer
        self.captured: list[int] = []
        super().__init__(outer.rng, outer.element, differentiable, outer.gpu, outer.opened, outer.contexts)
        self.depth, self.epsilon = outer.depth + 1, outer.epsilon
        self.extents = outer.extents

    def fresh(self, type, **options):
        at = self.outer.like(type) if not options else self.outer.fresh(type, **options)
        return self.capture(at)

    def capture(self, at):
        if at in self.captured:
            return self.graph.inputs[-len(self.captured):][self.captured.index(at)]
        value = self._define(self.outer.type(at), [known[at] for known in self.outer.values])
        self.graph.inputs.append(value)
        self.captured.append(at)
        self.recent.insert(0, value)
        return value

    def argument(self, type, data=None):
        raise Rejected("no arguments here")


class Body(Builder):
    """The body of a linalg op: scalars, each of which is evaluated for all points at once."""

    def __init__(self, outer):
        super().__init__(outer.rng, outer.element, outer.differentiable, outer.gpu, False, outer.contexts)
        self.depth = outer.depth + 1

    def take(self, type, evaluations):
        value = self._define(type, evaluations)
        self.graph.inputs.append(value)
        self.recent.append(value)
        return value

    def fresh(self, type, **options):
        if type.is_float:
            return self.constant(self.rng.choice((-1, 1)) * self.rng.choice((0.25, 0.5, 0.75, 1.25, 2.0)), type)
        return self.constant(int(self.random(Type(None, type.element), **options)), type)

    def tensor(self, *_, element=None, **__):
        """A scalar: what functions of one element take for a tensor."""
        wanted = FLOATS if element is None else (element,)
        known = [v for v in self.recent if self.type(v).element in wanted]
        if not known:
            return self.fresh(Type(None, element or self.element))
        return self.rng.choice(known[-4:])

    def argument(self, type, data=None):
        raise Rejected("no arguments here")
