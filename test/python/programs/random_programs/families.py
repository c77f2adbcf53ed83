# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: the ops of kan, loss, opt and block."""

import torch
import torch.nn.functional as F

from support import kan_references

from .build import MOST, Rejected
from .graph import Extent, Type, op
from .oracle import DTYPES


def wide(element):
    """What losses and tables of an element type are."""
    return "f64" if element == "f64" else "f32"


# kan

FORMS = ("abs_terms", "abs_sum", "abs_sum_eps", "abs_sum_noise")


def _make_rational(b):
    x = b.tensor(where=lambda t: t.count() > 0 and not isinstance(t.shape[-1], Extent))
    type = b.type(x)
    d = int(type.shape[-1])
    divisors = [g for g in (1, 2, 3, 4, 8) if d % g == 0]
    wide_groups = b.rng.choice(divisors)
    groups = b.rng.choice([(wide_groups, 1), (1, wide_groups), (wide_groups, wide_groups)])
    form = b.rng.choice(FORMS)
    element = b.rng.choice([type.element, wide(type.element)])
    m, n = b.rng.randint(1, 6), b.rng.randint(1, 4)
    tables = [Type((groups[0], m), element), Type((groups[1], n), element)] + [Type((groups[0], m), element)] * (form == "abs_sum_noise")
    b.add("kan.rational", [b.scaled(x, 1.25), *(b.like(t) for t in tables)], [type], {"form": form})


def _rational(c, x, a, d, noise=None):
    form = c.attributes["form"]
    # Where an absolute value bends.
    spread = kan_references.spread(d, x.shape[-1])
    if form == "abs_terms":
        c.kink(d.abs())
        c.kink(x.abs())
    else:
        powers = kan_references.powers(x, 0 if form == "abs_sum_eps" else 1, spread.shape[-1])
        c.kink((spread * powers).sum(-1).abs())
    return kan_references.rational(x, a, d, "abs_sum" if form == "abs_sum_noise" else form, noise=noise)


def _say_rational(p):
    noise = f" noise({p.operands[3]} : {p.operand_types[3]})" if len(p.operands) > 3 else ""
    form = p.step.attributes["form"]
    p.say(f"kan.rational {', '.join(p.operands[:3])} form({form}){noise} : {', '.join(map(str, p.operand_types[:3]))}")


op("kan.rational", _say_rational, _rational, _make_rational, weight=1.5)


def _make_frequency(b):
    x = b.tensor(ranks=(2,), where=lambda t: not isinstance(t.shape[1], Extent))
    type = b.type(x)
    octaves = b.rng.randint(1, 3)
    result = Type((type.shape[0], 2 * int(type.shape[1]) * octaves), type.element)
    if result.count() > MOST or not type.shape[1]:
        raise Rejected("too large")
    b.add("kan.frequency_encode", [b.scaled(x, 2.0)], [result], {"octaves": octaves})


op("kan.frequency_encode", lambda p: p.say(
    f"kan.frequency_encode {p.operands[0]} {{octaves = {p.step.attributes['octaves']}}} : {p.operand_types[0]} -> {p.type}"),
   lambda c, x: kan_references.frequency_encode(x, c.attributes["octaves"]), _make_frequency, weight=0.5)


def _make_grid(b):
    d, levels, features = b.rng.choice((2, 3)), b.rng.randint(1, 3), b.rng.choice((1, 2, 4))
    rows = b.rng.choice(b.extents)
    element = b.element
    x = b.like(Type((rows, d), element))
    # Between 0 and 1: sigmoids of anything.
    if b.rng.random() < 0.8:
        x = b.add("kan.sigmoid", [b.scaled(x, 2.0)], [b.type(x)])
    tables = b.like(Type((levels, b.rng.choice((16, 50, 64)), features), element))
    base = b.rng.choice((2, 3, 4))
    b.add("kan.grid_encode", [x, tables], [Type((rows, levels * features), element)], {"base": base, "finest": base * b.rng.choice((1, 2, 4))})


def _grid(c, x, tables):
    a = c.attributes
    levels = tables.shape[0]
    growth = (a["finest"] / a["base"]) ** (1 / (levels - 1)) if levels > 1 else 1.0
    c.kink(x.abs())
    c.kink((1 - x).abs())
    for level in range(levels):
        position = x.clamp(0, 1) * (a["base"] * growth**level - 1) + 0.5
        c.kink((position - position.round()).abs())
    return kan_references.grid_encode(x, tables, a["base"], a["finest"]).to(c.dtype)


op("kan.grid_encode", lambda p: p.say(
    f"kan.grid_encode {', '.join(p.operands)} {{base_resolution = {p.step.attributes['base']}, "
    f"finest_resolution = {p.step.attributes['finest']}}} : {', '.join(map(str, p.operand_types))} -> {p.type}"),
   _grid, _make_grid, weight=0.4)


# loss


def _make_rows(name):
    def make(b):
        x = b.tensor(where=lambda t: t.count() > 0)
        b.add(name, [b.scaled(x, 4.0)], [b.type(x)])
    return make


for _name, _function in (("loss.softmax", F.softmax), ("loss.log_softmax", F.log_softmax)):
    op(_name, lambda p: p.say(f"{p.step.op} {p.operands[0]} : {p.type}"), lambda c, x, f=_function: f(x, dim=-1), _make_rows(_name), weight=1.5)


def difference_loss(name, attributes, meaning):
    def make(b):
        x = b.tensor(ranks=(0, 1, 2, 3))
        type = b.type(x)
        b.add(name + attributes, [b.scaled(x, 4.0), b.like(type)], [Type((), wide(type.element))])

    op(name + attributes, lambda p: p.say(f"{name} {', '.join(p.operands)}{attributes} : {p.operand_types[0]} -> {p.type}"), meaning, make)


def _mse(c, x, y):
    return ((x - y) ** 2).mean() if x.numel() else (x.sum() + y.sum()) * 0


def _huber(c, x, y):
    d = x - y
    c.kink((d.abs() - 0.5).abs())
    return F.huber_loss(x, y, delta=0.5) if x.numel() else (x.sum() + y.sum()) * 0


difference_loss("loss.mse", "", _mse)
difference_loss("loss.huber", " {delta = 0.5}", _huber)


def _make_cross_entropy(b):
    x = b.tensor(ranks=(2,), where=lambda t: t.shape[1] > 0)
    type = b.type(x)
    if b.rng.random() < 0.5:
        labels = b.fresh(Type(type.shape[:1], b.rng.choice(["i32", "i64"])), low=0, high=int(type.shape[1]) - 1)
    else:
        labels = b.add("loss.softmax", [b.like(type)], [type])
    b.add("loss.softmax_cross_entropy", [b.scaled(x, 4.0), labels], [Type((), wide(type.element))])


def _cross_entropy(c, x, labels):
    if not x.numel():
        return x.sum() * 0
    return F.cross_entropy(x, labels.to(torch.int64) if not labels.is_floating_point() else labels)


op("loss.softmax_cross_entropy", lambda p: p.say(
    f"loss.softmax_cross_entropy {', '.join(p.operands)} : {', '.join(map(str, p.operand_types))} -> {p.type}"), _cross_entropy, _make_cross_entropy)

LOSSES = ["loss.mse", "loss.mse", "loss.huber {delta = 0.5}", "loss.softmax_cross_entropy"]


# opt. Operands: parameters, gradients, buffers, in turn for each kind; the rate; the step.


def _make_sgd(b):
    count = b.rng.randint(1, 2)
    params = [b.tensor(where=lambda t: not t.is_open) for _ in range(count)]
    types = [b.type(v) for v in params]
    momentum = b.rng.choice((0.0, 0.5))
    a = {"count": count, "momentum": momentum, "nesterov": momentum > 0 and b.rng.random() < 0.5, "decay": b.rng.choice((0.0, 0.125))}
    grads = [b.like(t) for t in types]
    buffers = [b.like(t) for t in types] if momentum else []
    rate = b.fresh(Type(b.rng.choice((None, ())), wide(b.element)))
    if len({t.element for t in types}) > 1:
        raise Rejected("types differ")
    b.add("opt.sgd", [*params, *grads, *buffers, rate], types + (types if momentum else []), a)


def _sgd(c, *operands):
    a, rate = c.attributes, operands[-1]
    n = a["count"]
    new_p, new_m = [], []
    for i in range(n):
        p, g = operands[i], operands[n + i]
        g = g + a["decay"] * p
        d = g
        if a["momentum"]:
            m = a["momentum"] * operands[2 * n + i] + g
            d = g + a["momentum"] * m if a["nesterov"] else m
            new_m.append(m)
        new_p.append((p - rate.to(c.dtype) * d))
    return new_p + new_m


def _say_sgd(p):
    a, n = p.step.attributes, p.step.attributes["count"]
    o = p.operands
    buffers = f" buffers({', '.join(o[2 * n:3 * n])})" if a["momentum"] else ""
    nesterov = ", nesterov" if a["nesterov"] else ""
    momentum = f" {{momentum = {a['momentum']}{nesterov}}}" if a["momentum"] else ""
    p.say(f"opt.sgd params({', '.join(o[:n])}) grads({', '.join(o[n:2 * n])}){buffers} lr({o[-1]} : {p.operand_types[-1]}) "
          f"weight_decay [{a['decay']}]{momentum} : {', '.join(map(str, p.types[:n]))}")


op("opt.sgd", _say_sgd, _sgd, _make_sgd, weight=0.6)


def _make_adamw(b):
    count = b.rng.randint(1, 2)
    params = [b.tensor(where=lambda t: not t.is_open) for _ in range(count)]
    types = [b.type(v) for v in params]
    if len({t.element for t in types}) > 1:
        raise Rejected("types differ")
    grads, first = ([b.like(t) for t in types] for _ in range(2))
    second = []
    for t in types:
        v = b.scaled(b.like(t), 2.0)
        square = b.add("arith.mulf", [v, v], [t])
        second.append(b.add("arith.addf", [square, b.constant(0.25, t)], [t]))
    rate = b.fresh(Type(b.rng.choice((None, ())), wide(b.element)))
    step = b.fresh(Type(b.rng.choice((None, ())), b.rng.choice(("i32", "i64"))), low=1, high=9)
    b.add("opt.adamw", [*params, *grads, *first, *second, rate, step], types * 3, {"count": count, "decay": b.rng.choice((0.0, 0.125))})


def _adamw(c, *operands):
    n, decay = c.attributes["count"], c.attributes["decay"]
    rate, step = operands[-2].to(c.dtype), int(operands[-1])
    beta1, beta2, epsilon = 0.75, 0.875, 1e-8
    ps, ms, vs = [], [], []
    for i in range(n):
        p, g, m, v = (operands[k * n + i] for k in range(4))
        p = p * (1 - rate * decay)
        m = m + (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g * g
        ps.append(p - rate / (1 - beta1**step) * m / (v.sqrt() / (1 - beta2**step) ** 0.5 + epsilon))
        ms.append(m), vs.append(v)
    return ps + ms + vs


def _say_adamw(p):
    n, o = p.step.attributes["count"], p.operands
    lists = " ".join(f"{name}({', '.join(o[k * n:(k + 1) * n])})" for k, name in enumerate(("params", "grads", "first", "second")))
    p.say(f"opt.adamw {lists} lr({o[-2]} : {p.operand_types[-2]}) step({o[-1]} : {p.operand_types[-1]}) "
          f"weight_decay [{p.step.attributes['decay']}] {{beta1 = 0.75, beta2 = 0.875}} : {', '.join(map(str, p.types[:n]))}")


op("opt.adamw", _say_adamw, _adamw, _make_adamw, weight=0.6)


# block


def indices(b, rows, count, unique):
    """Row numbers, some of which name no row."""
    element = b.rng.choice(["i32", "i64"])
    known = b.rng.sample(range(rows), min(rows, count)) if unique else [b.rng.randrange(rows) for _ in range(count)]
    known = [x if b.rng.random() < 0.9 else -1 for x in known]
    return b.argument(Type((len(known),), element), torch.tensor(known, dtype=DTYPES[element]))


def _make_gather(b):
    table = b.tensor(where=lambda t: not t.is_open and t.count() > 0)
    type = b.type(table)
    count = b.rng.choice(b.extents)
    if count * type.count() // type.shape[0] > MOST:
        raise Rejected("too large")
    rows = indices(b, type.shape[0], int(count), False)
    b.add("block.gather", [table, rows], [Type((int(count), *type.shape[1:]), type.element)])


def _gather(c, table, rows):
    rows = rows.to(torch.int64)
    present = (rows >= 0).reshape(-1, *[1] * (table.dim() - 1))
    return torch.where(present, table[rows.clamp(min=0)], torch.zeros((), dtype=table.dtype))


op("block.gather", lambda p: p.say(
    f"block.gather {p.operands[0]}[{p.operands[1]}] outs({p.empty(p.type)}) : {p.operand_types[0]}[{p.operand_types[1]}] -> {p.type}"),
   _gather, _make_gather)


def _make_scatter(b):
    into = b.tensor(where=lambda t: not t.is_open and t.count() > 0)
    type = b.type(into)
    adds = b.rng.random() < 0.6
    at = indices(b, type.shape[0], b.rng.randint(1, type.shape[0] + 2 * adds), not adds)
    rows = b.like(Type((b.type(at).shape[0], *type.shape[1:]), type.element))
    b.add("block.scatter", [rows, into, at], [type], {"adds": adds})


def _scatter(c, rows, into, at):
    kept = at >= 0
    at, rows = at[kept].to(torch.int64), rows[kept]
    return into.index_add(0, at, rows) if c.attributes["adds"] else into.index_copy(0, at, rows)


op("block.scatter", lambda p: p.say(
    f"block.scatter {'accumulate ' if p.step.attributes['adds'] else ''}{p.operands[0]} into {p.operands[1]}[{p.operands[2]}] : "
    f"{p.operand_types[0]} into {p.type}[{p.operand_types[2]}]"), _scatter, _make_scatter)


def _make_scan(b):
    x = b.tensor(where=lambda t: not t.is_open and t.count() > 0)
    type = b.type(x)
    kind = "add" if b.differentiable else b.rng.choice(["add", "mul", "max"])
    element = b.rng.choice([type.element, wide(type.element)])
    exclusive = kind != "max" and b.rng.random() < 0.4
    b.add("block.scan", [b.scaled(x, 1.25)], [type.of(element)],
          {"kind": kind, "exclusive": exclusive, "reverse": b.rng.random() < 0.4, "axis": b.rng.randrange(type.rank)})


def _scan(c, x):
    a = c.attributes
    axis = a["axis"]
    x = x.flip(axis) if a["reverse"] else x
    result = {"add": lambda: x.cumsum(axis), "mul": lambda: x.cumprod(axis), "max": lambda: x.cummax(axis).values}[a["kind"]]()
    if a["exclusive"]:
        first = torch.full_like(result.narrow(axis, 0, 1), 0.0 if a["kind"] == "add" else 1.0)
        result = torch.cat([first, result.narrow(axis, 0, result.shape[axis] - 1)], axis)
    return result.flip(axis) if a["reverse"] else result


def _say_scan(p):
    a = p.step.attributes
    p.say(f"block.scan {a['kind']}{' exclusive' if a['exclusive'] else ''}{' reverse' if a['reverse'] else ''} {p.operands[0]} "
          f"along {a['axis']} outs({p.empty(p.type)}) : {p.operand_types[0]} -> {p.type}")


op("block.scan", _say_scan, _scan, _make_scan)


def _make_solve(b):
    rhs = b.tensor(ranks=(2,), where=lambda t: not t.is_open and 0 < t.shape[0] <= 65 and t.count() > 0)
    type = b.type(rhs)
    n = type.shape[0]
    square = Type((n, n), type.element)
    a = {"triangle": b.rng.choice(("lower", "upper")), "transpose": b.rng.random() < 0.4, "unit": b.rng.random() < 0.5}
    matrix = b.like(square)
    # Small enough for the solution not to grow.
    matrix = b.scaled(matrix, 0.5 / max(n // 4, 1))
    if not a["unit"]:
        diagonal = [[1.5 if i == j else 0.0 for j in range(n)] for i in range(n)]
        if b.gpu and n > 8:
            raise Rejected("a large table of constants")
        matrix = b.add("arith.addf", [matrix, b.constant(diagonal, square)], [square])
    b.add("block.solve_triangular", [matrix, b.scaled(rhs, 2.0)], [type], a)


def _solve(c, matrix, rhs):
    a = c.attributes
    matrix = matrix.mT if a["transpose"] else matrix
    return torch.linalg.solve_triangular(matrix, rhs, upper=(a["triangle"] == "upper") != a["transpose"], unitriangular=a["unit"])


def _say_solve(p):
    a = p.step.attributes
    p.say(f"block.solve_triangular {a['triangle']}{' transpose' if a['transpose'] else ''}{' unit' if a['unit'] else ''} "
          f"{p.operands[0]} outs({p.operands[1]}) : {p.operand_types[0]} -> {p.type}")


op("block.solve_triangular", _say_solve, _solve, _make_solve, weight=0.7)
