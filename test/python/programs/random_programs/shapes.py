# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: tensor."""

import torch

from .build import MOST, Rejected
from .graph import Extent, Type, op
from .oracle import DTYPES


def closed(type):
    """Slices, pads and reshapes are of shapes that the program says."""
    return not type.is_open


# Slices. An offset is a number, or a scalar argument of type index made of an integer.


def cut(x, a, offsets):
    return tuple(slice(int(o), int(o) + (int(n) - 1) * s + 1 if n else int(o), s) for o, n, s in zip(offsets, a["sizes"], a["strides"]))


def choose_slice(b, type):
    """Offsets, sizes, strides, which of the dimensions go, and the operands that are offsets."""
    if not type.count():
        raise Rejected("upstream verifies that each offset is below its extent")
    offsets, sizes, strides, operands = [], [], [], []
    whole = b.rng.random() < 0.3
    moving = b.rng.random() < 0.35
    for axis, extent in enumerate(type.shape):
        extent = int(extent)
        if whole and axis and b.rng.random() < 0.8:
            offsets.append(0), sizes.append(extent), strides.append(1)
            continue
        size = b.rng.choice([1, extent, b.rng.randint(1, extent), b.rng.randint(1, extent), max(extent // 2, 1)])
        stride = b.rng.choice((2, 3)) if b.rng.random() < 0.15 and size > 1 else 1
        while (size - 1) * stride + 1 > extent:
            size -= 1
        most = extent - (size - 1) * stride - 1
        offset = b.rng.choice([0, most, b.rng.randint(0, most)])
        if moving and b.rng.random() < 0.6:
            operands.append(index(b, offset))
            offset = None
        offsets.append(offset), sizes.append(size), strides.append(stride)
    dropped = [i for i, n in enumerate(sizes) if n == 1 and b.rng.random() < 0.4]
    if len(dropped) == len(sizes) and sizes:
        dropped = dropped[1:]
    return {"offsets": offsets, "sizes": sizes, "strides": strides, "dropped": dropped}, operands


def index(b, x):
    """A value of type index that the compiler does not know."""
    element = b.rng.choice(["i32", "i64"])
    scalar = b.fresh(Type(None, element), low=x, high=x)
    return b.add("arith.index_cast", [scalar], [Type(None, "index")])


op("arith.index_cast", lambda p: p.say(f"arith.index_cast {p.operands[0]} : {p.operand_types[0]} to {p.type}"),
   lambda c, x: x.to(DTYPES[c.types[0].element]))


def located(a, given):
    given = iter(given)
    return [next(given) if o is None else o for o in a["offsets"]]


def say_slice(p, given):
    a = p.step.attributes
    offsets = ", ".join(str(o) for o in located(a, given))
    return f"[{offsets}] [{', '.join(map(str, a['sizes']))}] [{', '.join(map(str, a['strides']))}]"


def _make_extract_slice(b):
    source = b.tensor(where=closed)
    type = b.type(source)
    attributes, operands = choose_slice(b, type)
    shape = tuple(n for i, n in enumerate(attributes["sizes"]) if i not in attributes["dropped"])
    b.add("tensor.extract_slice", [source, *operands], [Type(shape, type.element)], attributes)


op("tensor.extract_slice", lambda p: p.say(
    f"tensor.extract_slice {p.operands[0]}{say_slice(p, p.operands[1:])} : {p.operand_types[0]} to {p.type}"),
   lambda c, x, *given: x[cut(x, c.attributes, located(c.attributes, given))].reshape(tuple(map(int, c.types[0].shape))).clone(),
   _make_extract_slice, weight=4.0)


def _make_insert_slice(b):
    into = b.tensor(where=closed)
    type = b.type(into)
    attributes, operands = choose_slice(b, type)
    shape = tuple(n for i, n in enumerate(attributes["sizes"]) if i not in attributes["dropped"])
    source = b.like(Type(shape, type.element))
    b.add("tensor.insert_slice", [source, into, *operands], [type], attributes)


def _insert_slice(c, x, into, *given):
    result = into.clone()
    result[cut(into, c.attributes, located(c.attributes, given))] = x.reshape(c.attributes["sizes"])
    return result


op("tensor.insert_slice", lambda p: p.say(
    f"tensor.insert_slice {p.operands[0]} into {p.operands[1]}{say_slice(p, p.operands[2:])} : {p.operand_types[0]} into {p.type}"),
   _insert_slice, _make_insert_slice, weight=4.0)


# Elements


def choose_indices(b, type):
    if not type.count():
        raise Rejected("no element")
    moving = b.rng.random() < 0.4
    at = [b.rng.randrange(int(e)) for e in type.shape]
    operands = [index(b, x) if moving else None for x in at]
    return {"at": [None if o is not None else x for o, x in zip(operands, at)]}, [o for o in operands if o is not None]


def say_indices(p, given):
    given = iter(given)
    return ", ".join(next(given) if x is None else p.index(x) for x in p.step.attributes["at"])


def places(a, given):
    given = iter(given)
    return tuple(int(next(given)) if x is None else x for x in a["at"])


def _make_extract(b):
    source = b.tensor(ranks=(0, 1, 2), where=closed)
    type = b.type(source)
    attributes, operands = choose_indices(b, type)
    scalar = b.add("tensor.extract", [source, *operands], [Type(None, type.element)], attributes)
    if b.rng.random() < 0.5:
        b.add("tensor.splat", [scalar], [Type(b.shape((1, 2)), type.element)])


def _extract(c, x, *given):
    return x[places(c.attributes, given)] if c.attributes else x


op("tensor.extract", lambda p: p.say(
    f"tensor.extract {p.operands[0]}[{say_indices(p, p.operands[1:]) if p.step.attributes else ''}] : {p.operand_types[0]}"),
   _extract, _make_extract, weight=1.0)


def _make_insert(b):
    into = b.tensor(ranks=(0, 1, 2), where=closed)
    type = b.type(into)
    attributes, operands = choose_indices(b, type)
    b.add("tensor.insert", [b.fresh(Type(None, type.element)), into, *operands], [type], attributes)


def _insert(c, x, into, *given):
    result = into.clone()
    result[places(c.attributes, given)] = x
    return result


op("tensor.insert", lambda p: p.say(f"tensor.insert {p.operands[0]} into {p.operands[1]}[{say_indices(p, p.operands[2:])}] : {p.type}"),
   _insert, _make_insert, weight=0.7)


def _make_splat(b):
    b.add("tensor.splat", [b.like(Type(None, b.element))], [Type(b.shape(), b.element)])


op("tensor.splat", lambda p: p.say(
    f"tensor.splat {p.operands[0]}" + ("" if not p.type.is_open else f"[{', '.join(p.index(e) for e in p.type.shape if isinstance(e, Extent))}]")
    + f" : {p.type}"),
   lambda c, x: x.expand(tuple(map(int, c.types[0].shape))).clone(), _make_splat, weight=0.7, gpu=False)


def _make_from_elements(b):
    count = b.rng.randint(1, 4)
    b.add("tensor.from_elements", [b.fresh(Type(None, b.element)) for _ in range(count)], [Type((count,), b.element)])


op("tensor.from_elements", lambda p: p.say(f"tensor.from_elements {', '.join(p.operands)} : {p.type}"),
   lambda c, *x: torch.stack(x), _make_from_elements, weight=0.4, gpu=False)


# Whole shapes


def _make_pad(b):
    source = b.tensor(ranks=(1, 2, 3), where=closed)
    type = b.type(source)
    low = [b.rng.choice((0, 0, 1, 3)) for _ in type.shape]
    high = [b.rng.choice((0, 1, 2, 5)) for _ in type.shape]
    with_value = b.rng.random() < 0.5
    if b.gpu:
        # GPUs pad with zeros, at the end.
        low, with_value = [0] * type.rank, False
    shape = tuple(int(e) + l + h for e, l, h in zip(type.shape, low, high))
    if Type(shape, "f32").count() > MOST:
        raise Rejected("too large")
    b.add("tensor.pad", [source], [Type(shape, type.element)], {"low": low, "high": high, "value": 0.5 if with_value else 0.0})


def _pad(c, x):
    a = c.attributes
    sides = [n for l, h in zip(reversed(a["low"]), reversed(a["high"])) for n in (l, h)]
    return torch.nn.functional.pad(x, sides, value=a["value"])


def _say_pad(p):
    a = p.step.attributes
    value = p.constant(a["value"], Type(None, p.type.element))
    p.say(f"tensor.pad {p.operands[0]} low[{', '.join(map(str, a['low']))}] high[{', '.join(map(str, a['high']))}] {{")
    p.line(f"^bb0({', '.join(f'{p.new()}: index' for _ in a['low'])}):")
    p.line(f"  tensor.yield {value} : {p.type.element}")
    p.line(f"}} : {p.operand_types[0]} to {p.type}")


op("tensor.pad", _say_pad, _pad, _make_pad, weight=2.0)


def _make_concat(b):
    first = b.tensor(where=closed)
    type = b.type(first)
    axis = b.rng.randrange(type.rank)
    operands = [first]
    for _ in range(b.rng.randint(1, 2)):
        shape = list(type.shape)
        shape[axis] = b.rng.choice([shape[axis], b.rng.choice(b.extents)])
        other = Type(tuple(int(e) for e in shape), type.element)
        if other.count() > MOST:
            raise Rejected("too large")
        operands.append(b.like(other))
    shape = list(type.shape)
    shape[axis] = sum(int(b.type(v).shape[axis]) for v in operands)
    b.add("tensor.concat", operands, [Type(tuple(shape), type.element)], {"axis": axis})


op("tensor.concat", lambda p: p.say(
    f"tensor.concat dim({p.step.attributes['axis']}) {', '.join(p.operands)} : ({', '.join(map(str, p.operand_types))}) -> {p.type}"),
   lambda c, *x: torch.cat(x, c.attributes["axis"]), _make_concat, weight=2.0, gpu=False)


def groups_of(b, count, into):
    """Cuts `count` dimensions into `into` groups of neighbours."""
    ends = sorted(b.rng.sample(range(1, count), into - 1)) + [count]
    return [list(range(lo, hi)) for lo, hi in zip([0, *ends], ends)]


def _make_collapse(b):
    source = b.tensor(ranks=(2, 3), where=closed)
    type = b.type(source)
    groups = groups_of(b, type.rank, b.rng.randint(1, type.rank - 1))
    shape = []
    for group in groups:
        extent = 1
        for i in group:
            extent *= int(type.shape[i])
        shape.append(extent)
    b.add("tensor.collapse_shape", [source], [Type(tuple(shape), type.element)], {"groups": groups})


op("tensor.collapse_shape", lambda p: p.say(
    f"tensor.collapse_shape {p.operands[0]} {p.step.attributes['groups']} : {p.operand_types[0]} into {p.type}"),
   lambda c, x: x.reshape(tuple(map(int, c.types[0].shape))), _make_collapse, weight=1.5)


def _make_expand(b):
    source = b.tensor(ranks=(1, 2), where=closed)
    type = b.type(source)
    groups, shape = [], []
    for extent in map(int, type.shape):
        divisors = [d for d in range(1, extent + 1) if extent % d == 0] or [1]
        if b.rng.random() < 0.6 and len(shape) < 3:
            d = b.rng.choice(divisors)
            pair = [d, extent // d]
        else:
            pair = [extent]
        groups.append(list(range(len(shape), len(shape) + len(pair))))
        shape += pair
    if len(shape) == type.rank or len(shape) > 3:
        raise Rejected("no more dimensions")
    b.add("tensor.expand_shape", [source], [Type(tuple(shape), type.element)], {"groups": groups})


op("tensor.expand_shape", lambda p: p.say(
    f"tensor.expand_shape {p.operands[0]} {p.step.attributes['groups']} output_shape {list(map(int, p.type.shape))} : "
    f"{p.operand_types[0]} into {p.type}"),
   lambda c, x: x.reshape(tuple(map(int, c.types[0].shape))), _make_expand, weight=1.5)
