# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: linalg."""

import torch

from .build import MOST, Body, Rejected
from .elementwise import ELEMENTWISE, prepare
from .graph import Type, affine_map, op


def start(b, type):
    """What sums are added to: zeros, or a value."""
    if b.rng.random() < 0.7:
        return b.constant(0 if not type.is_float else 0.0, type)
    return b.scaled(b.like(type), 4.0)


def outs(p, name, type):
    return f"outs({name} : {type}) -> {type}"


# Products. Each is said by the letters of its operands, as in einsum.


def itself(b, left, first, second):
    """The left operand, or its transpose, as the right one; None where its extents do not fit."""
    type = b.type(left)
    if type.rank != 2 or len(second) != 2:
        return None
    extents = dict(zip(first, type.shape))
    for order in ((0, 1), (1, 0)):
        shape = tuple(type.shape[i] for i in order)
        if Type(tuple(extents.get(letter, e) for letter, e in zip(second, shape)), "f32") == Type(shape, "f32"):
            return left if order == (0, 1) else b.add("linalg.transpose", [left], [Type(shape, type.element)], {"order": [1, 0]})
    return None


def product(name, ranks, forms, weight=1.0):
    """`forms`: the einsum of the plain op first, then those that its indexing maps may say."""
    dims = sorted(set(forms[0].replace(",", "").replace("->", "")), key="bmnk".index)

    def make(b):
        left = b.tensor(ranks=(ranks[0],))
        type = b.type(left)
        form = b.rng.choice([forms[0], b.rng.choice(forms)])
        first, second = form.split("->")[0].split(",")
        extents = dict(zip(first, type.shape))
        right = itself(b, left, first, second) if b.rng.random() < 0.2 else None
        if right is not None:
            extents.update(zip(second, b.type(right).shape))
        for letter in second:
            if letter not in extents:
                extents[letter] = b.rng.choice([e for e in b.extents if not isinstance(e, bool)])
        work = 1
        for extent in extents.values():
            work *= max(int(extent), 1)
        if work > 64 * MOST:
            raise Rejected("too much work")
        other = Type(tuple(extents[x] for x in second), type.element)
        if other.count() > MOST:
            raise Rejected("too large")
        right = b.like(other) if right is None else right
        result = Type(tuple(extents[x] for x in form.split("->")[1]), type.element)
        b.add(name, [b.scaled(left, 2.0), b.scaled(right, 2.0), start(b, result)], [result], {"form": form})

    def say(p):
        form, maps = p.step.attributes["form"], ""
        if form != forms[0]:
            first, rest = form.split(",")
            second, result = rest.split("->")
            maps = " indexing_maps = [" + ", ".join(affine_map(len(dims), [dims.index(x) for x in part])
                                                    for part in (first, second, result)) + "]"
        p.say(f"{name}{maps} {p.ins(slice(0, 2))} {outs(p, p.operands[2], p.type)}")

    op(name, say, lambda c, x, y, z: z + torch.einsum(c.attributes["form"], x, y), make, weight=weight)


product("linalg.matmul", (2, 2), ["mk,kn->mn", "km,kn->mn", "mk,nk->mn", "km,nk->mn"], weight=5.0)
product("linalg.batch_matmul", (3, 3), ["bmk,bkn->bmn", "bkm,bkn->bmn", "bmk,bnk->bmn"], weight=2.0)
product("linalg.matvec", (2, 1), ["mn,n->m"])
product("linalg.vecmat", (1, 2), ["m,mn->n"])
product("linalg.dot", (1, 1), ["m,m->"])
product("linalg.batch_matvec", (3, 2), ["bmk,bk->bm"])


def _make_contract(b):
    """A contraction whose operands have their dimensions in any order."""
    left = b.tensor(ranks=(2, 3))
    type = b.type(left)
    letters = "abc"[:type.rank]
    shared = b.rng.randint(1, type.rank)
    extents = dict(zip(letters, type.shape))
    kept = b.rng.sample(letters, shared)
    new = ["d"] if b.rng.random() < 0.7 else []
    if new:
        extents["d"] = b.rng.choice(b.extents)
    second = b.rng.sample(kept + new, len(kept + new))
    summed = b.rng.sample(kept, b.rng.randint(1, len(kept)))
    result = [x for x in b.rng.sample([*letters, *new], len(letters) + len(new)) if x not in summed]
    work = 1
    for extent in extents.values():
        work *= max(int(extent), 1)
    if work > 64 * MOST:
        raise Rejected("too much work")
    types = [Type(tuple(extents[x] for x in part), type.element) for part in (second, result)]
    if any(t.count() > MOST for t in types):
        raise Rejected("too large")
    form = letters + "," + "".join(second) + "->" + "".join(result)
    b.add("linalg.contract", [b.scaled(left, 2.0), b.scaled(b.like(types[0]), 2.0), start(b, types[1])], [types[1]], {"form": form})


def _say_contract(p):
    first, rest = p.step.attributes["form"].split(",")
    second, result = rest.split("->")
    dims = sorted(set(first + second))
    maps = ", ".join(affine_map(len(dims), [dims.index(x) for x in part]) for part in (first, second, result))
    p.say(f"linalg.contract indexing_maps = [{maps}] {p.ins(slice(0, 2))} {outs(p, p.operands[2], p.type)}")


op("linalg.contract", _say_contract, lambda c, x, y, z: z + torch.einsum(c.attributes["form"], x, y), _make_contract, weight=1.5)


# Sums and other reductions

REDUCTIONS = {"arith.addf": lambda x, dims: x.sum(dims), "arith.maximumf": lambda x, dims: x.amax(dims),
              "arith.minimumf": lambda x, dims: x.amin(dims)}


def ties(x, dims):
    """How far the largest element is from the next, and the smallest from the one before it, of each line."""
    kept = [i for i in range(x.dim()) if i not in dims]
    lines = x.permute(*kept, *dims).reshape(*[x.shape[i] for i in kept], -1)
    if lines.shape[-1] < 2 or not lines.numel():
        return lines.new_zeros(0)
    line = lines.sort(dim=-1).values
    return torch.minimum(line[..., -1] - line[..., -2], line[..., 1] - line[..., 0])


def _make_reduce(b):
    first = b.tensor()
    type = b.type(first)
    dims = sorted(b.rng.sample(range(type.rank), b.rng.randint(1, type.rank)))
    kind = b.rng.choice(["arith.addf"] * 4 + ["arith.maximumf", "arith.minimumf"])
    result = Type(tuple(e for i, e in enumerate(type.shape) if i not in dims), type.element)
    if kind == "arith.addf":
        init = start(b, result)
        first = b.scaled(first, 8.0)
    else:
        init = b.constant(-1024.0 if kind == "arith.maximumf" else 1024.0, result)
    b.add("linalg.reduce", [first, init], [result], {"dims": dims, "kind": kind})


def _reduce(c, x, init):
    dims, kind = c.attributes["dims"], c.attributes["kind"]
    if kind == "arith.addf":
        return init + x.sum(dims)
    if not x.numel():
        return init.clone()
    c.kink(ties(x, dims))
    return REDUCTIONS[kind](x, dims)


op("linalg.reduce", lambda p: p.say(
    f"linalg.reduce {{ {p.step.attributes['kind']} }} {p.ins(slice(0, 1))} outs({p.operands[1]} : {p.type}) "
    f"dimensions = {p.step.attributes['dims']}"), _reduce, _make_reduce, weight=4.0)


# Shapes

def _make_transpose(b):
    first = b.tensor(ranks=(2, 3))
    type = b.type(first)
    order = b.rng.sample(range(type.rank), type.rank)
    b.add("linalg.transpose", [first], [Type(tuple(type.shape[i] for i in order), type.element)], {"order": order})


op("linalg.transpose", lambda p: p.say(
    f"linalg.transpose {p.ins()} outs({p.empty(p.type)} : {p.type}) permutation = {p.step.attributes['order']}"),
   lambda c, x: x.permute(c.attributes["order"]), _make_transpose, weight=2.0)


def _make_broadcast(b):
    first = b.tensor(ranks=(0, 1, 2))
    type = b.type(first)
    shape = list(type.shape)
    added = []
    for _ in range(b.rng.randint(1, 3 - type.rank)):
        at = b.rng.randint(0, len(shape))
        added = [i + (i >= at) for i in added] + [at]
        shape.insert(at, b.rng.choice(b.extents))
    if b.rng.random() < 0.2 and type.is_open:
        raise Rejected("more of the same")
    result = Type(tuple(shape), type.element)
    if result.count() > MOST:
        raise Rejected("too large")
    b.add("linalg.broadcast", [first], [result], {"dims": sorted(added)})


def _broadcast(c, x):
    for at in c.attributes["dims"]:
        x = x.unsqueeze(at)
    return x.expand(tuple(map(int, c.types[0].shape))).clone()


op("linalg.broadcast", lambda p: p.say(
    f"linalg.broadcast {p.ins()} outs({p.empty(p.type)} : {p.type}) dimensions = {p.step.attributes['dims']}"),
   _broadcast, _make_broadcast, weight=2.0)


def _make_fill(b):
    scalar = b.fresh(Type(None, b.element))
    b.add("linalg.fill", [scalar], [Type(b.shape(), b.element)])


op("linalg.fill", lambda p: p.say(f"linalg.fill {p.ins()} {outs(p, p.empty(p.type), p.type)}"),
   lambda c, x: x.expand(tuple(map(int, c.types[0].shape))).clone(), _make_fill, weight=0.5)


# Functions of elements by name

def named(name, meaning, *wheres):
    def make(b):
        first = b.tensor()
        type = b.type(first)
        operands = [prepare(b, v, w) for v, w in zip([first, *(b.like(type) for _ in wheres[1:])], wheres)]
        b.add(name, operands, [type])
    op(name, lambda p: p.say(f"{name} {p.ins()} {outs(p, p.empty(p.type), p.type)}"), lambda c, *x: meaning(*x), make, weight=0.3)


named("linalg.exp", torch.exp, "small")
named("linalg.log", torch.log, "positive")
named("linalg.abs", torch.abs, "positive")
named("linalg.negf", torch.neg, "any")
named("linalg.sqrt", torch.sqrt, "positive")
named("linalg.rsqrt", torch.rsqrt, "positive")
named("linalg.square", torch.square, "any")
named("linalg.reciprocal", torch.reciprocal, "positive")
named("linalg.tanh", torch.tanh, "small")
named("linalg.erf", torch.erf, "small")
named("linalg.add", torch.add, "any", "any")
named("linalg.sub", torch.sub, "any", "any")
named("linalg.mul", torch.mul, "any", "any")
named("linalg.div", torch.div, "any", "positive")


def _make_map(b):
    first = b.tensor()
    type = b.type(first)
    kind = b.rng.choice(["arith.addf", "arith.mulf", "arith.subf"])
    b.add("linalg.map", [b.scaled(first, 16.0), b.scaled(b.like(type), 16.0)], [type], {"kind": kind})


op("linalg.map", lambda p: p.say(f"linalg.map {{ {p.step.attributes['kind']} }} {p.ins()} outs({p.empty(p.type)} : {p.type})"),
   lambda c, x, y: {"arith.addf": x + y, "arith.mulf": x * y, "arith.subf": x - y}[c.attributes["kind"]], _make_map, weight=0.5)


# Generic ops: any body, operands along some of the loops in any order, several results, some of which are reduced


def spread(x, dims, extents):
    """An operand as all points of the loops see it."""
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    x = x.permute(order)
    for d in range(len(extents)):
        if d not in dims:
            x = x.unsqueeze(d)
    return x.expand(tuple(map(int, extents)))


def _make_generic(b):
    first = b.tensor(ranks=(1, 2, 3))
    type = b.type(first)
    loops = type.rank if type.rank == 3 or b.rng.random() < 0.7 else type.rank + 1
    at = sorted(b.rng.sample(range(loops), type.rank))
    extents: list = [None] * loops
    order = b.rng.sample(at, len(at)) if b.rng.random() < 0.4 else at
    for d, e in zip(order, type.shape):
        extents[d] = e
    for d in range(loops):
        if extents[d] is None:
            extents[d] = b.rng.choice(b.extents)
    work = 1
    for extent in extents:
        work *= int(extent)
    if work > 2 * MOST:
        raise Rejected("too much work")
    operands, maps = [first], [order]
    for _ in range(b.rng.randint(0, 3)):
        dims = b.rng.sample(range(loops), b.rng.randint(0, loops))
        element = b.rng.choice([type.element] * 6 + ["i32", "i1"])
        operands.append(b.like(Type(tuple(extents[d] for d in dims), element)))
        maps.append(dims)
    body = Body(b)
    body.element = type.element
    for operand, dims in zip(operands, maps):
        body.take(Type(None, b.type(operand).element),
                  [spread(values[operand], dims, extents) for values in b.values])
    n = len(operands)
    body.grow(b.rng.randint(1, 5), ELEMENTWISE)
    results, out_maps, inits, kinds = [], [], [], []
    reduced = b.rng.sample(range(loops), b.rng.randint(0, loops)) if b.rng.random() < 0.5 else []
    floats = [v for v in body.recent if body.type(v).element == type.element]
    for i in range(b.rng.choice((1, 1, 1, 2, 2, 3))):
        sums = bool(reduced) and (i == 0 or b.rng.random() < 0.7)
        dims = [d for d in range(loops) if d not in reduced] if reduced and sums else list(range(loops))
        if b.rng.random() < 0.3:
            dims = b.rng.sample(dims, len(dims))
        yielded = b.rng.choice(floats[-3:]) if sums or b.rng.random() < 0.9 else b.rng.choice(body.recent)
        result = Type(tuple(extents[d] for d in dims), body.type(yielded).element)
        if sums:
            yielded = body.scaled(yielded, 8.0)
        results.append(result)
        out_maps.append(dims)
        kinds.append("sum" if sums else "map")
        # A result that is not summed has an init that nothing reads.
        inits.append(start(b, result) if sums else None)
        body.graph.outputs.append(yielded)
    if set(range(loops)) - {d for dims in [*maps, *out_maps] for d in dims}:
        raise Rejected("a loop whose extent nothing says")
    if reduced and "map" in kinds and b.gpu:
        raise Rejected("results of two kinds")
    body.graph.prune()
    b.add("linalg.generic", operands + [i for i in inits if i is not None], results,
          {"maps": maps, "out_maps": out_maps, "kinds": kinds, "extents": extents, "loops": loops, "inputs": n}, [body.graph])


def _generic(c, *operands):
    a, region, types = c.attributes, c.regions[0], c.types
    points = [spread(x, dims, a["extents"]) for x, dims in zip(operands[:a["inputs"]], a["maps"])]
    inits = iter(operands[a["inputs"]:])
    found = c.run(region, points)
    results = []
    for value, dims, kind in zip(found, a["out_maps"], a["kinds"]):
        value = value.expand(tuple(map(int, a["extents"])))
        order = sorted(dims)
        gone = [d for d in range(a["loops"]) if d not in dims]
        if kind == "sum":
            value = value.sum(gone) if gone else value
        # The dimensions that are left, in order; now in the result's.
        value = value.permute([order.index(d) for d in dims])
        results.append(next(inits) + value if kind == "sum" else value.clone())
    assert len(results) == len(types)
    return results


def _say_generic(p):
    a, region = p.step.attributes, p.step.regions[0]
    n = a["inputs"]
    given = iter(p.operands[n:])
    inits = [next(given) if kind == "sum" else p.empty(t) for kind, t in zip(a["kinds"], p.types)]
    maps = ", ".join(affine_map(a["loops"], dims) for dims in [*a["maps"], *a["out_maps"]])
    summed = {d for dims, kind in zip(a["out_maps"], a["kinds"]) if kind == "sum" for d in range(a["loops"]) if d not in dims}
    kinds = ", ".join('"reduction"' if d in summed else '"parallel"' for d in range(a["loops"]))
    types = ", ".join(map(str, p.types))
    into = f"outs({', '.join(inits)} : {types})"
    p.say(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {p.ins(slice(0, n))} {into} {{")
    names = [p.new() for _ in range(n + len(inits))]
    elements = [t.element for t in p.operand_types[:n]] + [t.element for t in p.types]
    p.line(f"^bb0({', '.join(f'{x}: {e}' for x, e in zip(names, elements))}):")
    with p.indented():
        values = p.body(region, names[:n])
        for i, kind in enumerate(a["kinds"]):
            if kind == "sum":
                values[i] = p.value(f"arith.addf {names[n + i]}, {values[i]} : {p.types[i].element}")
        p.line(f"linalg.yield {', '.join(values)} : {', '.join(t.element for t in p.types)}")
    p.line(f"}} -> {types if len(p.types) == 1 else f'({types})'}")


op("linalg.generic", _say_generic, _generic, _make_generic, weight=6.0)
