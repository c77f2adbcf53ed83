# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole programs: a function, what is asked of it, and its arguments."""

from __future__ import annotations

import contextlib
import dataclasses
import random

import torch

from . import control, elementwise, families, recurrences, shapes, structured  # noqa: F401  They fill the table.
from .build import Builder, Rejected
from .graph import OPS, Extent, Graph, Printer, Type
from .oracle import DTYPES, Expected, contexts, derivatives, moved, program_epsilon

ELEMENTS = ("f32", "f32", "f32", "f64", "bf16", "f16")


@dataclasses.dataclass
class Program:
    """@f computes the graph. With `wrt`, @g computes its results and gradients: of the first result, or, with cotangents, of all.
    With a direction, @h computes the Hessian's product with it."""

    seed: int
    graph: Graph
    arguments: list[torch.Tensor]
    wrt: list[int] = dataclasses.field(default_factory=list)
    cotangents: list[torch.Tensor] | None = None
    direction: list[torch.Tensor] | None = None
    _expected: dict[str, Expected] | None = None

    def functions(self):
        """(name, arguments, their types) of each public function."""
        types = self.graph.input_types()
        known = [("f", self.arguments, types)]
        if self.wrt:
            more = list(zip(self.cotangents, self.graph.output_types())) if self.cotangents is not None else []
            arguments, all_types = self.arguments + [x for x, _ in more], types + [t for _, t in more]
            known.append(("g", arguments, all_types))
            if self.direction is not None:
                known.append(("h", arguments + self.direction, all_types + [types[i] for i in self.wrt]))
        return known

    def text(self):
        printer = Printer()
        printer.function("f", self.graph)
        if self.wrt:
            self._derivatives(printer)
        return printer.text()

    def _derivatives(self, printer):
        types, outputs = self.graph.input_types(), self.graph.output_types()
        gradients = [types[i] for i in self.wrt]
        given, gives = list(types), list(outputs)
        middle, request = "", "ad.value_and_grad"
        names = [f"%x{i}" for i in range(len(types))]
        if self.cotangents is not None:
            request = "ad.vjp"
            more = [f"%c{i}" for i in range(len(outputs))]
            middle = f" cotangents({', '.join(more)})"
            given += outputs
        else:
            more = []

        def write(name, private, extra, body, results, values):
            parameters = ", ".join(f"{n}: {t}" for n, t in zip(names + more + [n for n, _ in extra], given + [t for _, t in extra]))
            listed = ", ".join(map(str, results))
            printer.functions.append(f"func.func {'private ' if private else ''}@{name}({parameters}) -> ({listed}) {{\n{body}"
                                     f"  return {', '.join(values)} : {listed}\n}}")

        def ask(op, callee, arguments, middle, argument_types, wrt, results):
            return (f"  %r:{len(results)} = {op} @{callee}({', '.join(arguments)}){middle} wrt {wrt}\n"
                    f"    : ({', '.join(map(str, argument_types))}) -> ({', '.join(map(str, results))})\n")

        all_results = gives + gradients
        body = ask(request, "f", names, middle, types, self.wrt, all_results)
        write("g", False, [], body, all_results, [f"%r#{i}" for i in range(len(all_results))])
        if self.direction is not None:
            write("gradient", True, [], body, gradients, [f"%r#{len(gives) + i}" for i in range(len(gradients))])
            directions = [(f"%d{i}", t) for i, t in enumerate(gradients)]
            results = gradients + gradients
            body = ask("ad.vjp", "gradient", names + more, f" cotangents({', '.join(n for n, _ in directions)})", given, self.wrt, results)
            write("h", False, directions, body, gradients, [f"%r#{len(gradients) + i}" for i in range(len(gradients))])

    def epsilon(self):
        return program_epsilon(self.graph)

    def expected(self):
        """What each function gives, with tolerances: a dict by name."""
        if self._expected is None:
            self._expected = self._evaluate()
        return self._expected

    def _evaluate(self):
        epsilon = self.epsilon()
        found = []
        for context in contexts(self.seed, noises=4, sums=True):
            context_results = derivatives(context, self.graph, self.arguments, self.wrt, self.direction, self.cotangents is None,
                                          self.cotangents)
            found.append((context, context_results))
        expected, largest = {}, max((t.count() for t in self.graph.all_types()), default=1)
        for name, take in (("f", lambda r: r[0]), ("g", lambda r: r[0] + r[1]), ("h", lambda r: r[2])):
            if name in [n for n, _, _ in self.functions()]:
                exact = take(found[0][1])
                expected[name] = Expected(exact, moved(exact, [(c, take(r)) for c, r in found[1:]], epsilon), epsilon, largest)
        return expected


LOOSE = 0.4
"""The largest tolerance, as a share of the values that it is for, of a program that is worth running."""


def generate(seed, element=None, gpu=False, family="graphs"):
    """The program of a seed: the first of its attempts that is well conditioned, derivatives included."""
    for attempt in range(100):
        try:
            program = _attempt(random.Random(f"{family}/{seed}/{attempt}"), seed, element, gpu, family)
        except Rejected:
            continue
        if all(e.finite() and e.loose() < LOOSE for e in program.expected().values()):
            return program
    raise RuntimeError(f"seed {seed} gives no program")


def _attempt(rng, seed, element, gpu, family):
    if family == "recurrences":
        # They have no second derivatives.
        mode = rng.choices(("values", "loss", "vjp"), (20, 20, 60))[0]
        b = Builder(rng, element or rng.choice(ELEMENTS), mode != "values", gpu, opened=not gpu and rng.random() < 0.2)
        recurrences.grow(b)
    else:
        mode = rng.choices(("values", "loss", "second", "vjp"), (30, 30, 25, 15))[0]
        # GPUs have hardly any functions of f64.
        b = Builder(rng, element or rng.choice([e for e in ELEMENTS if not (gpu and e == "f64")]), mode != "values", gpu, opened=rng.random() < 0.12)
        for _ in range(rng.randint(1, 4)):
            b.like(Type(b.shape(), b.element), fresh=1.0)
        b.grow(rng.randint(3, 20), [name for name, row in OPS.items() if row.make and not name.startswith("linrec")])
        if rng.random() < 0.02:
            # Each derivative is some times as long as what it is of, and what is open is compiled for the numbers of the call, too.
            _chain(b, b.rng.randint(60, 150) // (3 if mode == "second" else 1) // (2 if b.opened else 1))
    outputs = []
    if mode in ("loss", "second"):
        loss = _loss(b)
        if loss is None:
            mode = "values"
        else:
            outputs.append(loss)
    made = {v for step in b.graph.steps for v in step.results}
    candidates = [v for v in b.recent if v in made and v not in outputs and returned(b, v, mode)]
    if candidates and (not outputs or rng.random() < 0.6):
        # What was made last, and any others.
        chosen = {candidates[-1], *rng.sample(candidates, min(len(candidates), rng.choice((0, 1, 1, 2, 3))))}
        outputs += sorted(chosen)
    if not outputs:
        b.add("math.tanh", [argument := b.fresh(Type(b.shape(), b.element))], [b.type(argument)])
        outputs, mode = [b.recent[-1]], "values" if mode == "values" else "vjp"
    b.graph.outputs = outputs
    return finish(seed, b, mode)


def _chain(b, steps):
    """Many steps of three ops on one value: more ops than programs have otherwise, each of which pulls it back to the middle."""
    value = b.tensor(ranks=(1, 2))
    type = b.type(value)
    others = [b.like(type) for _ in range(3)]
    for _ in range(steps):
        with contextlib.suppress(Rejected):
            other = b.rng.choice(others)
            name, operands = b.rng.choice((("arith.addf", [value, other]), ("arith.mulf", [value, other]), ("arith.subf", [other, value]),
                                           ("math.tanh", [value]), ("math.sin", [value]), ("math.atan", [value])))
            half = b.add("arith.mulf", [b.add(name, operands, [type]), b.constant(0.5, type)], [type])
            value = b.add("arith.addf", [half, other], [type])


def returned(b, value, mode):
    type = b.type(value)
    if type.element == "index" or type.shape is None and not type.is_float:
        return False
    return mode == "values" or type.is_float


def _loss(b):
    """The sum of one loss or several."""
    total = None
    for _ in range(b.rng.choice((1, 1, 1, 2, 3))):
        before = len(b.graph.steps)
        b.grow(1, families.LOSSES)
        # One that does not fit may have left operands.
        if len(b.graph.steps) == before or not b.graph.steps[-1].op.startswith("loss."):
            continue
        loss = b.graph.steps[-1].results[0]
        if b.type(loss).shape != ():
            continue
        try:
            if total is not None and b.type(total) == b.type(loss):
                total = b.add("arith.addf", [total, loss], [b.type(loss)])
            else:
                total = loss
        except Rejected:
            pass
    return total


def finish(seed, b, mode):
    """Drops what is not needed; keeps an argument that nothing reads now and then."""
    graph = b.graph
    needed = graph.prune()
    kept = [i for i, v in enumerate(graph.inputs) if v in needed or graph.types[v].is_float and b.rng.random() < 0.2]
    arguments = [b.arguments[i] for i in kept]
    graph.inputs = [graph.inputs[i] for i in kept]
    # Whoever calls gives the extents that are open.
    opened = {e.name for t in graph.input_types() for e in t.shape or () if isinstance(e, Extent)}
    if any(isinstance(e, Extent) and e.name not in opened for t in graph.all_types() for e in t.shape or ()):
        raise Rejected("an open extent that no argument has")
    program = Program(seed, graph, arguments)
    floats = [i for i, t in enumerate(graph.input_types()) if t.is_float and t.shape is not None]
    if mode == "values" or not floats:
        return program
    program.wrt = sorted(b.rng.sample(floats, b.rng.randint(1, min(len(floats), 4))))
    types = graph.input_types()
    if mode == "vjp":
        program.cotangents = [b.random(t) for t in graph.output_types()]
    if mode == "second" or mode == "vjp" and b.rng.random() < 0.2 and not any(name.startswith("linrec") for name in graph.ops()):
        program.direction = [b.random(types[i]) for i in program.wrt]
    return program


def to_array(data, type):
    """An argument as the compiled program takes it: torch's, which has every type."""
    return data.to(DTYPES[type.element])
