# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The smallest part of a program that still fails.

Steps are replaced by arguments that hold what the steps gave, rounded to their types. Then results, gradients
and arguments go, and the steps of regions.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools

import torch

from .graph import Type
from .oracle import Context
from .program import to_array


def values(program):
    """Every value of the function, in float64."""
    context, graph = Context("exact"), program.graph
    known = dict(zip(graph.inputs, (context.given(a, t) for a, t in zip(program.arguments, graph.input_types()))))
    with torch.no_grad():
        for step in graph.steps:
            known.update(zip(step.results, context.apply(step, graph.types, [known[i] for i in step.operands])))
    return known


def with_graph(program, graph, arguments, wrt=None, direction=None, cotangents=None):
    smaller = dataclasses.replace(program, graph=graph, arguments=arguments, wrt=program.wrt if wrt is None else wrt,
                                  direction=program.direction if direction is None else direction,
                                  cotangents=program.cotangents if cotangents is None else cotangents, _expected=None)
    return smaller


def without_unused(program):
    """Drops dead steps, and arguments that nothing reads and no gradient is asked for."""
    graph = copy.deepcopy(program.graph)
    needed = graph.prune()
    kept = [i for i, v in enumerate(graph.inputs) if v in needed or i in program.wrt]
    graph.inputs = [graph.inputs[i] for i in kept]
    return with_graph(program, graph, [program.arguments[i] for i in kept], wrt=[kept.index(i) for i in program.wrt])


def argument_for(program, step, known):
    """The program with the results of a step as arguments, or None where they cannot be."""
    graph = copy.deepcopy(program.graph)
    at = graph.steps[step]
    types = [graph.types[v] for v in at.results]
    if any(t.element == "index" for t in types):
        return None
    arguments = list(program.arguments)
    new = []
    for value, type in zip(at.results, types):
        data = to_array(known[value].detach(), type)
        data = data.to(torch.float64) if type.is_float else data
        if type.shape is None:
            # Scalars are taken out of tensors, as the generator has it.
            if at.op == "tensor.extract":
                return None
            tensor = graph.new(Type((), type.element))
            graph.inputs.append(tensor)
            new.append(dataclasses.replace(at, op="tensor.extract", operands=[tensor], results=[value], attributes={}, regions=[]))
        else:
            graph.inputs.append(value)
        arguments.append(data)
    graph.steps[step:step + 1] = new
    return with_graph(program, graph, arguments)


def by_operand(program, step):
    """Programs in which an operand of a step takes the place of its result."""
    at = program.graph.steps[step]
    for result, operand in itertools.product(at.results[:1], at.operands):
        if program.graph.types[result] == program.graph.types[operand] and len(at.results) == 1:
            graph = copy.deepcopy(program.graph)
            del graph.steps[step]
            for other in graph.steps:
                other.operands = [operand if v == result else v for v in other.operands]
            graph.outputs = [operand if v == result else v for v in graph.outputs]
            yield with_graph(program, graph, program.arguments)


def inner_steps(program):
    """Programs in which a step of a region has gone: one of its operands takes its place."""
    def regions(graph, path=()):
        for i, step in enumerate(graph.steps):
            for j, region in enumerate(step.regions):
                yield (*path, (i, j)), region
                yield from regions(region, (*path, (i, j)))

    for path, region in regions(program.graph):
        for k in reversed(range(len(region.steps))):
            at = region.steps[k]
            for operand in at.operands:
                if len(at.results) == 1 and region.types[operand] == region.types[at.results[0]]:
                    graph = copy.deepcopy(program.graph)
                    inner = graph
                    for i, j in path:
                        inner = inner.steps[i].regions[j]
                    del inner.steps[k]
                    for other in inner.steps:
                        other.operands = [operand if v == at.results[0] else v for v in other.operands]
                    inner.outputs = [operand if v == at.results[0] else v for v in inner.outputs]
                    inner.prune()
                    yield with_graph(program, graph, program.arguments)
                    break


def earlier_results(program):
    """Programs that give an operand of the step that made a result in place of that result."""
    graph = program.graph
    for i, value in enumerate(graph.outputs):
        for step in graph.steps:
            for operand in step.operands if value in step.results else ():
                type = graph.types[operand]
                if type.shape is None or operand in graph.inputs or program.wrt and type != graph.types[value]:
                    continue
                smaller = copy.deepcopy(graph)
                smaller.outputs[i] = operand
                yield with_graph(program, smaller, program.arguments)


def smaller_programs(program):
    """Programs with a little less, those with much less first."""
    if program.direction is not None:
        yield dataclasses.replace(program, direction=None, _expected=None)
    if program.wrt:
        yield dataclasses.replace(program, wrt=[], direction=None, cotangents=None, _expected=None)
    outputs = program.graph.outputs
    for i in reversed(range(len(outputs))):
        if len(outputs) > 1 and (i or not program.wrt or program.cotangents is not None):
            graph = copy.deepcopy(program.graph)
            del graph.outputs[i]
            cotangents = program.cotangents and program.cotangents[:i] + program.cotangents[i + 1:]
            yield with_graph(program, graph, program.arguments, cotangents=cotangents)
    for i in range(len(program.wrt)):
        if len(program.wrt) > 1:
            yield dataclasses.replace(program, wrt=program.wrt[:i] + program.wrt[i + 1:],
                                      direction=program.direction and program.direction[:i] + program.direction[i + 1:], _expected=None)
    known = values(program)
    for step in reversed(range(len(program.graph.steps))):
        if (smaller := argument_for(program, step, known)) is not None:
            yield smaller
        yield from by_operand(program, step)
    yield from earlier_results(program)
    yield from inner_steps(program)


def measure(program):
    text = program.text()
    return program.graph.size(), len(program.graph.outputs) + len(program.wrt), len(program.arguments), len(text)


def shrink(program, fails, limit=300):
    """A program that still fails, by `fails(program)`, and has nothing left that can go. At most `limit` trials."""
    program, trials = without_unused(program), 0
    again = True
    while again and trials < limit:
        again = False
        for candidate in smaller_programs(program):
            try:
                candidate = without_unused(candidate)
                if measure(candidate) >= measure(program):
                    continue
                candidate.expected()
            except Exception:  # Not a program any more.
                continue
            trials += 1
            if fails(candidate):
                program, again = candidate, True
                break
            if trials >= limit:
                break
    return program


