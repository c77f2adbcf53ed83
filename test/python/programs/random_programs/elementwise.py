# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: functions of one element, on tensors, scalars and in the bodies of linalg ops.

A row is a line. `where` says what an operand has to be, and how it is made so: "any"; "small", at most 2; "unit", at most 0.75;
"positive", "above" (one), "near" (between 0.5 and 3.5); "signed", away from zero where the function has a kink there.
"""

import numpy as np
import torch
import torch.nn.functional as F

from .build import Rejected
from .graph import INTEGERS, OPS, Type, dense, number, op
from .oracle import DTYPES


def prepare(b, value, where):
    """A value of the same type that is fit for a function."""
    type = b.type(value)
    if where == "any":
        return b.scaled(value, 16.0)
    if where == "small":
        return b.scaled(value, 2.0)
    if where == "unit":
        return b.scaled(value, 0.75)
    if where in ("positive", "above", "near"):
        value = b.scaled(value, 1.5)
        square = b.add("arith.mulf", [value, value], [type])
        return b.add("arith.addf", [square, b.constant(1.5 if where == "above" else 0.5, type)], [type])
    if where == "signed":
        x = b.exact(value)
        if x.numel() and float(x.abs().min()) < 0.1:
            # The sign of an argument, which is exact, and the size of the value.
            size = prepare(b, value, "positive")
            return b.add("arith.mulf", [size, b.fresh(type)], [type])
        return value
    raise ValueError(where)


def plain(name, attributes=""):
    """%r = name %a, %b : type"""
    return lambda p: p.say(f"{name} {', '.join(p.operands)}{attributes} : {p.type}")


def function(name, meaning, *wheres, attributes="", kink=None, text=None, **more):
    """A function of floats: its meaning in torch, and what each operand has to be."""
    wheres = wheres or ("any",)

    def make(b):
        first = b.tensor(ranks=(0, 1, 2, 3))
        type = b.type(first)
        operands = [prepare(b, v, w) for v, w in zip([first, *(b.like(type) for _ in wheres[1:])], wheres)]
        b.add(row, operands, [type])

    def evaluate(c, *operands):
        if kink:
            c.kink(kink(*operands))
        return meaning(*operands)

    row = name + attributes
    more.setdefault("weight", 1.0)
    op(row, text or plain(name, attributes), evaluate, make, **more)


def zero(x):
    return x.abs()


def apart(x, y):
    return (x - y).abs()


def to_integer(x):
    return (x - torch.round(x)).abs()


def to_half(x):
    return (x - torch.floor(x) - 0.5).abs()


function("arith.negf", lambda x: -x)
function("arith.addf", lambda x, y: x + y, "any", "any", weight=3.0)
function("arith.subf", lambda x, y: x - y, "any", "any", weight=2.0)
function("arith.mulf", lambda x, y: x * y, "any", "any", weight=3.0)
function("arith.divf", lambda x, y: x / y, "any", "positive", weight=2.0)
function("arith.remf", torch.fmod, "any", "positive", kink=lambda x, y: to_integer(x / y), gpu=False)
function("arith.maximumf", torch.maximum, "any", "any", kink=apart)
function("arith.minimumf", torch.minimum, "any", "any", kink=apart)
function("arith.maxnumf", torch.maximum, "any", "any", kink=apart)
function("arith.minnumf", torch.minimum, "any", "any", kink=apart)
function("math.absf", torch.abs, "signed", kink=zero)
function("math.acos", torch.acos, "unit")
function("math.acosh", torch.acosh, "above")
function("math.asin", torch.asin, "unit")
function("math.asinh", torch.asinh)
function("math.atan", torch.atan)
function("math.atan2", torch.atan2, "any", "positive")
function("math.atanh", torch.atanh, "unit")
function("math.cbrt", lambda x: torch.sign(x) * torch.abs(x).pow(1 / 3), "signed", kink=zero)
function("math.ceil", torch.ceil, kink=to_integer)
function("math.clampf", lambda x, low, high: torch.minimum(torch.maximum(x, low), high), "any", "small", "above",
         kink=lambda x, low, high: torch.minimum(apart(x, low), apart(x, high)),
         text=lambda p: p.say(f"math.clampf {p.operands[0]} to [{p.operands[1]}, {p.operands[2]}] : {p.type}"))
function("math.copysign", torch.copysign, "signed", "signed", kink=lambda x, y: torch.minimum(zero(x), zero(y)))
function("math.cos", torch.cos)
function("math.cosh", torch.cosh, "small")
function("math.erf", torch.erf)
function("math.erfc", torch.erfc, "small")
function("math.exp", torch.exp, "small", weight=2.0)
function("math.exp2", torch.exp2, "small")
function("math.expm1", torch.expm1, "small")
function("math.floor", torch.floor, kink=to_integer)
function("math.fma", lambda x, y, z: x * y + z, "any", "any", "any")
function("math.log", torch.log, "positive")
function("math.log10", torch.log10, "positive")
function("math.log1p", torch.log1p, "unit")
function("math.log2", torch.log2, "positive")
function("math.powf", torch.pow, "positive", "small")
function("math.round", lambda x: torch.sign(x) * torch.floor(x.abs() + 0.5), kink=to_half)
function("math.roundeven", torch.round, kink=to_half)
function("math.rsqrt", torch.rsqrt, "positive")
function("math.sin", torch.sin, weight=2.0)
function("math.sinh", torch.sinh, "small")
function("math.sqrt", torch.sqrt, "positive")
function("math.tan", torch.tan, "unit")
function("math.tanh", torch.tanh, "small", weight=2.0)
function("math.trunc", torch.trunc, kink=to_integer)


def activation(name, meaning, where="small", attributes="", kink=None):
    function(f"kan.{name}", meaning, where, attributes=f" {{{attributes}}}" if attributes else "", kink=kink)


activation("cospi", lambda x: torch.cos(torch.pi * x))
activation("elu", F.elu, "signed", kink=zero)
activation("elu", lambda x: F.elu(x, 0.5), "signed", "alpha = 0.5", kink=zero)
activation("gelu", F.gelu)
activation("gelu", lambda x: F.gelu(x, approximate="tanh"), "small", 'approximate = "tanh"')
activation("leaky_relu", F.leaky_relu, "signed", kink=zero)
activation("relu", torch.relu, "signed", kink=zero)
activation("sigmoid", torch.sigmoid)
activation("silu", F.silu)
activation("sine", torch.sin)
activation("sine", lambda x: torch.sin(3.0 * x), "small", "omega = 3.0")
activation("sinpi", lambda x: torch.sin(torch.pi * x))
activation("snake", lambda x: x + torch.sin(x) ** 2)
# PyTorch's is linear from the threshold on; float64 shows the difference at its default, 20.
activation("softplus", lambda x: F.softplus(x, threshold=40.0))
activation("softplus", lambda x: F.softplus(x, 2.0, threshold=40.0), "small", "beta = 2.0")
activation("square", lambda x: x * x)
activation("tanh", torch.tanh)


# Constants


def _constant(c):
    return c.given(torch.tensor(c.attributes["value"], dtype=torch.float64), c.types[0]) if c.types[0].is_float else \
        torch.tensor(c.attributes["value"]).to(_dtype(c.types[0]))


def _dtype(type):
    return DTYPES[type.element]


def _spread(c):
    """A constant of a whole tensor may be said by one number."""
    value, type = _constant(c), c.types[0]
    return value.expand(tuple(map(int, type.shape))).clone() if type.shape is not None else value


def _say_constant(p):
    value, type = p.step.attributes["value"], p.type
    if type.is_open:
        empty = p.empty(type)
        scalar = p.constant(value, Type(None, type.element))
        p.say(f"linalg.fill ins({scalar} : {type.element}) outs({empty} : {type}) -> {type}")
    elif type.shape is not None:
        p.say(f"arith.constant dense<{dense(value, type.element)}> : {type}")
    else:
        p.say(f"arith.constant {number(value, type.element)}" + ("" if type.element == "i1" else f" : {type}"))


def _make_table(b):
    """A table of numbers that every type holds exactly."""
    shape = b.shape((1, 2))
    type = Type(shape, b.element)
    if type.is_open or type.count() > (64 if b.gpu else 512) or b.depth and type.count() == 0:
        raise Rejected("no table of this shape")

    def table(shape):
        return [table(shape[1:]) for _ in range(shape[0])] if shape else b.rng.choice((-1, 1)) * b.rng.randint(2, 10) / 8
    if not type.count():
        raise Rejected("an empty table")
    b.constant(table([int(e) for e in shape]), type)


op("arith.constant", _say_constant, _spread, _make_table, weight=0.5)


# Comparisons and choices

COMPARE = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}


def _make_compare(b):
    first = b.tensor(ranks=(0, 1, 2))
    type = b.type(first)
    kind = b.rng.choice(["olt", "ole", "ogt", "oge", "ult", "ule", "ugt", "uge", "one", "une", "oeq", "ueq"])
    second = b.like(type)
    if kind[1:] in ("eq", "ne") and second == first:
        raise Rejected("the same")
    b.add("arith.cmpf", [first, second], [type.of("i1")], {"kind": kind})


def _compare(c, x, y):
    c.kink(apart(x, y))
    return COMPARE[c.attributes["kind"][1:]](x, y)


op("arith.cmpf", lambda p: p.say(f"arith.cmpf {p.step.attributes['kind']}, {', '.join(p.operands)} : {p.operand_types[0]}"),
   _compare, _make_compare)


def _make_select(b):
    first = b.tensor(ranks=(0, 1, 2, 3))
    type = b.type(first)
    b.add("arith.select", [b.like(type.of("i1")), first, b.like(type)], [type])


def _say_select(p):
    condition, _, _ = p.operand_types
    types = f"{condition}, {p.type}" if p.type.shape is not None else f"{p.type}"
    p.say(f"arith.select {', '.join(p.operands)} : {types}")


op("arith.select", _say_select, lambda c, k, x, y: torch.where(k, x, y), _make_select, weight=2.0)


# Conversions

def convert(name, targets):
    def make(b):
        first = b.tensor(ranks=(0, 1, 2, 3))
        type = b.type(first)
        if not targets[type.element] or b.gpu and "f64" in targets[type.element]:
            raise Rejected("no such type")
        b.add(name, [b.scaled(first, 100.0)], [type.of(b.rng.choice(targets[type.element]))])
    op(name, lambda p: p.say(f"{name} {p.operands[0]} : {p.operand_types[0]} to {p.type}"), lambda c, x: x.clone(), make, weight=0.7)


convert("arith.extf", {"bf16": ["f32"], "f16": ["f32"], "f32": ["f64"], "f64": []})
convert("arith.truncf", {"f64": ["f32"], "f32": ["bf16", "f16"], "bf16": [], "f16": []})


def _make_from_integer(b):
    first = b.tensor(ranks=(0, 1, 2), element=b.rng.choice(INTEGERS[1:3]))
    x = b.exact(first)
    if x.numel() and int(x.abs().max()) > 100:
        raise Rejected("too large for every float")
    b.add(b.rng.choice(["arith.sitofp", "arith.uitofp"]) if not x.numel() or int(x.min()) >= 0 else "arith.sitofp", [first],
          [b.type(first).of(b.element)])


def _make_to_integer(b):
    first = b.tensor(ranks=(0, 1, 2))
    name = "arith.fptosi"
    if b.exact(first).numel() and float(b.exact(first).min()) > 0.1:
        name = b.rng.choice(["arith.fptosi", "arith.fptoui"])
    b.add(name, [b.scaled(first, 100.0)], [b.type(first).of(b.rng.choice(["i32", "i64", "i8"]))])


def _to_integer(c, x):
    c.kink(to_integer(x))
    return torch.trunc(x.detach()).to(_dtype(c.types[0]))


def _conversion(p):
    p.say(f"{p.step.op} {p.operands[0]} : {p.operand_types[0]} to {p.type}")


for _name in ("arith.sitofp", "arith.uitofp"):
    op(_name, _conversion, lambda c, x: x.to(c.dtype), _make_from_integer, integer=True, weight=3.0)
for _name in ("arith.fptosi", "arith.fptoui"):
    op(_name, _conversion, _to_integer, _make_to_integer, integer=True, weight=2.0)


# Integers

BITS = {"i64": 64, "i32": 32, "i8": 8, "i1": 1}


def _unsigned(x):
    return x.view(f"u{x.dtype.itemsize}") if x.dtype != bool else x


def integer(name, meaning, where="any", elements=("i64", "i32", "i8")):
    """A function of integers, in NumPy, with or without signs; `where`: what the second operand has to be."""
    def make(b):
        first = b.tensor(ranks=(0, 1, 2), element=b.rng.choice(elements))
        type = b.type(first)
        if where == "any":
            second = b.like(type)
        else:
            second = b.fresh(type, low=1, high=7) if where == "positive" else b.fresh(type, low=0, high=BITS[type.element] - 1)
        b.add(name, [first, second], [type])

    def evaluate(c, x, y):
        with np.errstate(all="ignore"):
            return torch.from_numpy(np.array(meaning(x.numpy(), y.numpy())))
    op(name, plain(name), evaluate, make, integer=True)


def unsigned(meaning):
    return lambda x, y: np.asarray(meaning(_unsigned(x), _unsigned(y))).view(x.dtype)


def _truncated(x, y):
    """x / y towards zero, for y > 0."""
    return x // y + ((x < 0) & (x % y != 0)).astype(x.dtype)


ALL = ("i64", "i32", "i8", "i1")
integer("arith.addi", lambda x, y: x + y)
integer("arith.subi", lambda x, y: x - y)
integer("arith.muli", lambda x, y: x * y)
integer("arith.andi", lambda x, y: x & y, elements=ALL)
integer("arith.ori", lambda x, y: x | y, elements=ALL)
integer("arith.xori", lambda x, y: x ^ y, elements=ALL)
integer("arith.maxsi", np.maximum)
integer("arith.minsi", np.minimum)
integer("arith.maxui", unsigned(np.maximum))
integer("arith.minui", unsigned(np.minimum))
integer("arith.divsi", _truncated, "positive")
integer("arith.divui", unsigned(np.floor_divide), "positive")
integer("arith.floordivsi", lambda x, y: x // y, "positive")
integer("arith.ceildivsi", lambda x, y: x // y + (x % y != 0).astype(x.dtype), "positive")
integer("arith.remsi", lambda x, y: x - y * _truncated(x, y), "positive")
integer("arith.remui", unsigned(np.remainder), "positive")
integer("arith.shli", np.left_shift, "shift")
integer("arith.shrsi", np.right_shift, "shift")
integer("arith.shrui", unsigned(np.right_shift), "shift")


INTEGER_COMPARE = {"eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal,
                   "ult": np.less, "ule": np.less_equal, "ugt": np.greater, "uge": np.greater_equal}


def _make_integer_compare(b):
    first = b.tensor(ranks=(0, 1, 2), element=b.rng.choice(INTEGERS[:3]))
    type = b.type(first)
    b.add("arith.cmpi", [first, b.like(type)], [type.of("i1")], {"kind": b.rng.choice(sorted(INTEGER_COMPARE))})


def _integer_compare(c, x, y):
    kind = c.attributes["kind"]
    x, y = (_unsigned(v.numpy()) if kind[0] == "u" else v.numpy() for v in (x, y))
    return torch.from_numpy(np.asarray(INTEGER_COMPARE[kind](x, y)))


op("arith.cmpi", lambda p: p.say(f"arith.cmpi {p.step.attributes['kind']}, {', '.join(p.operands)} : {p.operand_types[0]}"),
   _integer_compare, _make_integer_compare, integer=True, weight=3.0)


def _make_resize(b):
    first = b.tensor(ranks=(0, 1, 2), element=b.rng.choice(INTEGERS))
    type = b.type(first)
    width = BITS[type.element]
    wider = [e for e in INTEGERS if BITS[e] > width]
    narrower = [e for e in INTEGERS if BITS[e] < width and e != "i1"]
    name = b.rng.choice(["arith.extsi", "arith.extui"] * bool(wider) + ["arith.trunci"] * bool(narrower))
    b.add(name, [first], [type.of(b.rng.choice(narrower if name == "arith.trunci" else wider))])


def _extend_unsigned(c, x):
    return torch.from_numpy(np.asarray(_unsigned(x.numpy())).astype(f"i{_dtype(c.types[0]).itemsize}"))


def _extend_signed(c, x):
    return (-x.to(torch.int64) if x.dtype == torch.bool else x).to(_dtype(c.types[0]))


op("arith.extsi", _conversion, _extend_signed, _make_resize, integer=True)
op("arith.extui", _conversion, _extend_unsigned, _make_resize, integer=True)
op("arith.trunci", _conversion, lambda c, x: x.to(_dtype(c.types[0])), _make_resize, integer=True)

# What bodies of linalg ops may hold.
ELEMENTWISE = [name for name, row in OPS.items() if row.make and row.make.__module__ == __name__ and name != "arith.constant"]
