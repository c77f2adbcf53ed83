# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: loops, conditions and calls. Their regions are graphs, grown as programs are."""

import torch

from .build import Rejected
from .graph import OPS, Extent, Type, op
from .shapes import index

INDEX = Type(None, "index")


def rows_inside(b):
    """What regions hold: everything, but loops in loops in loops."""
    return [name for name, row in OPS.items() if row.make and (b.depth < 2 or not name.startswith(("scf.", "func.")))]


def output(inner, type, after):
    """A value of a type that the region made, or one that it makes of such a value."""
    made = [v for v in inner.recent if inner.type(v) == type and v not in inner.graph.inputs]
    if made:
        return inner.rng.choice(made[-2:])
    value = after if after is not None else inner.fresh(type)
    if inner.rng.random() < 0.2:
        return value
    if type.is_float:
        return inner.add("kan.tanh", [value], [type])
    return inner.add("arith.addi" if type.element != "i1" else "arith.xori", [value, inner.fresh(type)], [type])


def carried_values(b):
    values = []
    for _ in range(b.rng.choice((1, 1, 2))):
        if b.rng.random() < 0.25:
            value = b.fresh(Type(None, b.element))
        else:
            value = b.tensor(ranks=(0, 1, 2))
        values.append(value)
    return values


# Loops. Operands: the number of iterations where it is not known, what is carried, what is captured.


def _make_for(b):
    carried = carried_values(b)
    trips = b.rng.choice((0, 1, 2, 3, 3, 4, 5))
    types = [b.type(v) for v in carried]
    inner = b.inside([INDEX, *types], [[torch.tensor(0), *known] for known in b.evaluations(carried)])
    inner.recent.remove(inner.graph.inputs[0])
    if b.rng.random() < 0.4:
        as_integer = inner.add("arith.index_cast", [inner.graph.inputs[0]], [Type(None, "i32")])
        inner.add("arith.sitofp", [as_integer], [Type(None, b.element)])
    tables = [v for v in b.recent if (t := b.type(v)).shape and t.is_float and t.rank <= 3 and not t.is_open and t.shape[0] >= max(trips, 1)]
    if tables and b.rng.random() < 0.5:
        table = inner.capture(b.rng.choice(tables))
        shape = inner.type(table).shape
        inner.add("tensor.extract_slice", [table, inner.graph.inputs[0]], [Type(shape[1:], inner.type(table).element)],
                  {"offsets": [None] + [0] * (len(shape) - 1), "sizes": [1, *shape[1:]], "strides": [1] * len(shape), "dropped": [0]})
    inner.grow(b.rng.randint(1, 4), rows_inside(inner))
    inner.graph.outputs = [output(inner, t, inner.graph.inputs[1 + i]) for i, t in enumerate(types)]
    inner.graph.prune()
    bound = []
    # The way back of a loop keeps what it carried, in memory whose size has to be known.
    if b.rng.random() < 0.3 and not b.differentiable:
        bound = [index(b, trips)]
    b.add("scf.for", [*bound, *carried, *inner.captured], types, {"trips": None if bound else trips, "carried": len(carried)}, [inner.graph])


def _for(c, *operands):
    a, region = c.attributes, c.regions[0]
    trips = a["trips"]
    if trips is None:
        trips, operands = int(operands[0]), operands[1:]
    values, captured = list(operands[:a["carried"]]), operands[a["carried"]:]
    for i in range(trips):
        values = c.run(region, [torch.tensor(i), *values, *captured])
    return [v.clone() for v in values]


def _say_for(p):
    a, region = p.step.attributes, p.step.regions[0]
    operands = p.operands
    if a["trips"] is None:
        bound, operands = operands[0], operands[1:]
    else:
        bound = p.index(a["trips"])
    zero, one = p.index(0), p.index(1)
    counter, names = p.new(), [p.new() for _ in range(a["carried"])]
    carried = ", ".join(f"{n} = {v}" for n, v in zip(names, operands))
    types = ", ".join(map(str, p.types))
    p.say(f"scf.for {counter} = {zero} to {bound} step {one} iter_args({carried}) -> ({types}) {{")
    with p.indented():
        values = p.body(region, [counter, *names, *operands[a["carried"]:]])
        p.line(f"scf.yield {', '.join(values)} : {types}")
    p.line("}")


op("scf.for", _say_for, _for, _make_for, weight=2.5)


# Loops that write a result row by row: into memory that nothing has written, or over a value. Operands: that value, what is captured.


def _make_rows(b):
    type = Type(b.shape((1, 2)), b.element)
    if type.is_open or type.count() == 0 or type.shape[0] > 17:
        raise Rejected("too many rows")
    row = Type(type.shape[1:], type.element)
    known = [v for v in b.recent if b.type(v) == type]
    over = [b.rng.choice(known)] if known and b.rng.random() < 0.3 else []
    inner = b.inside([INDEX], [[torch.tensor(0)] for _ in b.contexts])
    counter = inner.graph.inputs[0]
    inner.recent.remove(counter)
    tables = [v for v in b.recent if (t := b.type(v)).shape and t.is_float and t.rank <= 3 and not t.is_open and t.count() > 0 and t.shape[0] >= type.shape[0]]
    table = inner.capture(b.rng.choice(tables) if tables else b.fresh(type))
    shape = inner.type(table).shape
    inner.add("tensor.extract_slice", [table, counter], [Type(shape[1:], inner.type(table).element)],
              {"offsets": [None] + [0] * (len(shape) - 1), "sizes": [1, *shape[1:]], "strides": [1] * len(shape), "dropped": [0]})
    inner.grow(b.rng.randint(1, 4), rows_inside(inner))
    inner.graph.outputs = [output(inner, row, None)]
    inner.graph.prune()
    b.add("scf.for rows", [*over, *inner.captured], [type], {"over": len(over), "backwards": b.rng.random() < 0.2}, [inner.graph])


def _rows(c, *operands):
    captured = operands[c.attributes["over"]:]
    rows = [c.run(c.regions[0], [torch.tensor(i), *captured])[0] for i in range(int(c.types[0].shape[0]))]
    return torch.stack(rows[::-1] if c.attributes["backwards"] else rows)


def _say_rows(p):
    a, region = p.step.attributes, p.step.regions[0]
    start = p.operands[0] if a["over"] else p.empty(p.type)
    shape = [int(e) for e in p.type.shape]
    zero, one, bound = p.index(0), p.index(1), p.index(shape[0])
    counter, carried = p.new(), p.new()
    p.say(f"scf.for {counter} = {zero} to {bound} step {one} iter_args({carried} = {start}) -> ({p.type}) {{")
    with p.indented():
        row, = p.body(region, [counter, *p.operands[a["over"]:]])
        at = p.value(f"arith.subi {p.index(shape[0] - 1)}, {counter} : index") if a["backwards"] else counter
        rest = shape[1:]
        if rest:
            row_type = Type(tuple(p.type.shape[1:]), p.type.element)
            offsets, sizes, ones = ([at] + ["0"] * len(rest), [1, *rest], [1] * len(shape))
            written = p.value(f"tensor.insert_slice {row} into {carried}[{', '.join(offsets)}] [{', '.join(map(str, sizes))}] "
                              f"[{', '.join(map(str, ones))}] : {row_type} into {p.type}")
        else:
            element = p.value(f"tensor.extract {row}[] : {Type((), p.type.element)}")
            written = p.value(f"tensor.insert {element} into {carried}[{at}] : {p.type}")
        p.line(f"scf.yield {written} : {p.type}")
    p.line("}")


op("scf.for rows", _say_rows, _rows, _make_rows, weight=1.5)


def _make_while(b):
    carried = carried_values(b)
    types = [b.type(v) for v in carried]
    limit = b.fresh(Type(None, "i32"), low=0, high=4)
    inner = b.inside(types, b.evaluations(carried))
    inner.grow(b.rng.randint(1, 4), rows_inside(inner))
    inner.graph.outputs = [output(inner, t, inner.graph.inputs[i]) for i, t in enumerate(types)]
    inner.graph.prune()
    b.add("scf.while", [limit, *carried, *inner.captured], types, {"carried": len(carried)}, [inner.graph])


def _while(c, limit, *operands):
    n = c.attributes["carried"]
    values, captured = list(operands[:n]), operands[n:]
    for _ in range(int(limit)):
        values = c.run(c.regions[0], [*values, *captured])
    return [v.clone() for v in values]


def _say_while(p):
    n, region = p.step.attributes["carried"], p.step.regions[0]
    zero, one = p.constant(0, Type(None, "i32")), p.constant(1, Type(None, "i32"))
    before, after = ([p.new() for _ in range(n + 1)] for _ in range(2))
    types = ["i32", *map(str, p.types)]
    count = p.new()
    carried = ", ".join(f"{a} = {v}" for a, v in zip(before, [zero, *p.operands[1:n + 1]]))
    p.line(f"{', '.join([count, *p.results])} = scf.while ({carried}) : ({', '.join(types)}) -> ({', '.join(types)}) {{")
    with p.indented():
        more = p.value(f"arith.cmpi slt, {before[0]}, {p.operands[0]} : i32")
        p.line(f"scf.condition({more}) {', '.join(before)} : {', '.join(types)}")
    p.line("} do {")
    p.line(f"^bb0({', '.join(f'{a}: {t}' for a, t in zip(after, types))}):")
    with p.indented():
        values = p.body(region, [*after[1:], *p.operands[n + 1:]])
        next = p.value(f"arith.addi {after[0]}, {one} : i32")
        p.line(f"scf.yield {', '.join([next, *values])} : {', '.join(types)}")
    p.line("}")


op("scf.while", _say_while, _while, _make_while, weight=1.0, differentiable=False, gpu=False)


# Conditions. Operands: the condition, what either side captures.


def _make_if(b):
    condition = b.like(Type(None, "i1"))
    known = [b.tensor(ranks=(0, 1, 2)) for _ in range(b.rng.choice((1, 1, 2)))]
    types = [b.type(v) for v in known]
    sides = []
    for _ in range(2):
        inner = b.inside([], [[] for _ in b.contexts])
        for v in known:
            if b.rng.random() < 0.7:
                inner.capture(v)
        inner.grow(b.rng.randint(0, 3), rows_inside(inner))
        inner.graph.outputs = [output(inner, t, None) for t in types]
        inner.graph.prune()
        sides.append(inner)
    b.add("scf.if", [condition, *sides[0].captured, *sides[1].captured], types, {"first": len(sides[0].captured)},
          [side.graph for side in sides])


def _if(c, condition, *captured):
    n = c.attributes["first"]
    found = c.run(c.regions[0], captured[:n]) if bool(condition) else c.run(c.regions[1], captured[n:])
    return [v.clone() for v in found]


def _say_if(p):
    n, types = p.step.attributes["first"], ", ".join(map(str, p.types))
    p.say(f"scf.if {p.operands[0]} -> ({types}) {{")
    for region, captured, end in ((p.step.regions[0], p.operands[1:n + 1], "} else {"), (p.step.regions[1], p.operands[n + 1:], "}")):
        with p.indented():
            p.line(f"scf.yield {', '.join(p.body(region, captured))} : {types}")
        p.line(end)


op("scf.if", _say_if, _if, _make_if, weight=2.0)


# Calls


def _make_call(b):
    inner = b.inside([], [[] for _ in b.contexts])
    inner.extents = [int(e) if not isinstance(e, Extent) else 3 for e in b.extents]
    inner.opened = False
    for _ in range(b.rng.randint(1, 3)):
        inner.capture(b.tensor())
    inner.grow(b.rng.randint(1, 5), rows_inside(inner))
    made = [v for v in inner.recent if inner.type(v).shape is not None and inner.type(v).is_float]
    if not made:
        raise Rejected("nothing to return")
    inner.graph.outputs = b.rng.sample(made[-4:], min(len(made), b.rng.choice((1, 1, 2))))
    inner.graph.prune()
    b.add("func.call", list(inner.captured), inner.graph.output_types(), {}, [inner.graph])


def _say_call(p):
    name = f"called{next(p.calls)}"
    p.function(name, p.step.regions[0], private=True)
    types = ", ".join(map(str, p.types))
    p.say(f"func.call @{name}({', '.join(p.operands)}) : ({', '.join(map(str, p.operand_types))}) -> ({types})")


op("func.call", _say_call, lambda c, *x: [v.clone() for v in c.run(c.regions[0], x)], _make_call, weight=1.5)
