# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs exported Triton kernels on NumPy arrays, without a GPU.

What is run is the text that Triton itself prints after it has parsed and
verified a kernel, so that the exporter and this file share nothing but Triton's
definition of its ops. Beyond the values it checks what a GPU would not say:
that no address outside of a buffer is touched, that two programs never store to
one place, and that a barrier stands between a store and every other access of
the same place within a program.
"""

import dataclasses
import itertools
import math
import re

import numpy as np

# Counts the stretches between barriers, of all programs of all kernels.
EPOCHS = itertools.count()


class TtirError(Exception):
    """The kernel does something that a GPU would get wrong, or this file cannot read it."""


DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.float32, "i1": np.bool_, "i8": np.int8,
          "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}


def round_to(element, array):
    """bf16 is held in float32, rounded to its values."""
    if element != "bf16":
        return np.asarray(array).astype(DTYPES[element])
    bits = np.asarray(array, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(np.asarray(array, np.float32)), np.float32(np.nan), rounded)


@dataclasses.dataclass
class Type:
    element: str
    shape: tuple
    pointer: bool


def parse_type(text):
    text = text.strip()
    shape = ()
    if text.startswith("tensor<"):
        text = text[len("tensor<"):-1]
        extents = re.match(r"(\d+x)*", text).group(0)
        shape = tuple(int(e) for e in extents.split("x")[:-1])
        text = text[len(extents):]
    pointer = text.startswith("!tt.ptr<")
    if pointer:
        text = text[len("!tt.ptr<"):-1]
    if text not in DTYPES:
        raise TtirError(f"unknown type {text}")
    return Type(text, shape, pointer)


def split_types(text):
    out, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<(") - (c in ">)" and text[i - 1] != "-")
        if c == "," and depth == 0:
            out.append(text[start:i])
            start = i + 1
    return [parse_type(t) for t in [*out, text[start:]] if t.strip()]


class Memory:
    """A buffer as one line of elements, and who touched it."""

    def __init__(self, array, element):
        self.data = np.ascontiguousarray(array).reshape(-1)
        self.element = element
        self.stored = np.full(self.data.size, -1, np.int64)  # epoch of the last store
        self.loaded = np.full(self.data.size, -1, np.int64)
        self.owner = np.full(self.data.size, -1, np.int64)  # program of the last store


@dataclasses.dataclass
class Pointer:
    memory: Memory
    offset: np.ndarray


@dataclasses.dataclass
class Op:
    name: str
    results: list
    line: str
    regions: list = dataclasses.field(default_factory=list)
    arguments: list = dataclasses.field(default_factory=list)  # of each region's block


class Parser:
    def __init__(self, text):
        self.lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        self.at = 0

    def next(self):
        self.at += 1
        return self.lines[self.at - 1]

    def function(self):
        while True:
            line = self.next()
            match = re.match(r"tt\.func public @(\w+)\((.*)\) (?:attributes \{.*\} )?\{$", line)
            if match:
                break
        parameters = []
        for name, kind in re.findall(r"(%[\w-]+): (!tt\.ptr<\w+>|\w+)", match.group(2)):
            parameters.append((name, parse_type(kind)))
        body, _ = self.block()
        return match.group(1), parameters, body

    def block(self):
        """Ops up to the line that closes the block, which is returned too."""
        ops, arguments = [], []
        while True:
            line = self.next()
            if line.startswith("}"):
                return (arguments, ops), line
            if line.startswith("^bb0("):
                arguments = re.findall(r"(%[\w-]+): ", line)
                continue
            ops.append(self.op(line))

    def op(self, line):
        results, rest = [], line
        match = re.match(r"(%[\w-]+)(?::(\d+))? = (.*)", line)
        if match:
            name, count, rest = match.groups()
            results = [name] if not count else [f"{name}#{i}" for i in range(int(count))]
        name = re.match(r'"?([\w.]+)"?', rest).group(1)
        op = Op(name, results, rest)
        if rest.endswith("{") or rest.endswith("({"):
            while True:
                block, closing = self.block()
                op.regions.append(block)
                if not closing.endswith("{"):
                    op.line += " " + closing
                    break
        return op


UNARY = {"absf": np.abs, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt,
         "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "floor": np.floor, "ceil": np.ceil,
         "erf": np.vectorize(math.erf, otypes=[np.float64])}
LIBDEVICE = {"tanh": np.tanh, "log1p": np.log1p, "expm1": np.expm1, "log10": np.log10, "tan": np.tan, "atan": np.arctan,
             "atan2": np.arctan2, "pow": np.power, "cbrt": np.cbrt, "sinh": np.sinh, "cosh": np.cosh, "rint": np.rint,
             "trunc": np.trunc, "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
             "erfc": np.vectorize(math.erfc, otypes=[np.float64])}


def truncating_division(a, b):
    b = np.where(b == 0, 1, b)
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -quotient, quotient)


BINARY = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "remf": np.fmod,
          "maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax, "minnumf": np.fmin, "addi": np.add,
          "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
          "maxsi": np.maximum, "minsi": np.minimum, "shli": np.left_shift, "shrsi": np.right_shift,
          "divsi": truncating_division, "remsi": lambda a, b: a - truncating_division(a, b) * b,
          "floordivsi": lambda a, b: a // np.where(b == 0, 1, b), "ceildivsi": lambda a, b: -(-a // np.where(b == 0, 1, b)),
          "maxui": lambda a, b: unsigned(np.maximum, a, b), "minui": lambda a, b: unsigned(np.minimum, a, b),
          "divui": lambda a, b: unsigned(lambda x, y: x // np.where(y == 0, 1, y), a, b),
          "remui": lambda a, b: unsigned(lambda x, y: x % np.where(y == 0, 1, y), a, b),
          "shrui": lambda a, b: unsigned(np.right_shift, a, b)}


def unsigned(function, a, b):
    kind = np.dtype(f"u{a.dtype.itemsize}")
    return function(a.view(kind), b.view(kind)).view(a.dtype)


INTEGER_PREDICATES = {"eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal, "sgt": np.greater,
                      "sge": np.greater_equal}


def compare_integers(predicate, a, b):
    if predicate in INTEGER_PREDICATES:
        return INTEGER_PREDICATES[predicate](a, b)
    kind = np.dtype(f"u{a.dtype.itemsize}")
    return INTEGER_PREDICATES["s" + predicate[1:]](a.view(kind), b.view(kind))


def compare_floats(predicate, a, b):
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in ("uno", "ord"):
        return unordered == (predicate == "uno")
    plain = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
             "ge": np.greater_equal}[predicate[1:]](a, b)
    return plain | unordered if predicate[0] == "u" else plain & ~unordered


class Kernel:
    """A parsed kernel; `run` executes all its programs, one after another."""

    def __init__(self, text):
        self.name, self.parameters, self.body = Parser(text).function()
        self.epoch = next(EPOCHS)

    def run(self, arguments, programs):
        """`arguments`: a Memory for each pointer, a number for each scalar."""
        for argument in arguments:
            if isinstance(argument, Memory):
                argument.owner[:] = -1
        with np.errstate(all="ignore"):
            for program in range(programs):
                self.program, self.epoch = program, next(EPOCHS)
                env = {}
                for (name, kind), value in zip(self.parameters, arguments):
                    env[name] = (Pointer(value, np.int64(0)) if kind.pointer
                                 else np.asarray(value).astype(DTYPES[kind.element]))
                self.run_block(self.body[1], env)

    def run_block(self, ops, env):
        """The operands of the terminator."""
        for op in ops:
            if op.name in ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return"):
                return [env[v] for v in self.operands(op.line.rsplit(" : ", 1)[0])]
            values = self.execute(op, env)
            if len(values) != len(op.results):
                raise TtirError(f"{op.line}: {len(values)} results")
            env.update(zip(op.results, values))
        return []

    @staticmethod
    def operands(text):
        return re.findall(r"%[\w-]+(?:#\d+)?", text)

    def execute(self, op, env):
        method = getattr(self, op.name.replace(".", "_"), None)
        if method is not None:
            return method(op, env)
        dialect, name = op.name.split(".", 1)
        head, kind = op.line.rsplit(" : ", 1)
        values = [env[v] for v in self.operands(head)]
        if dialect == "arith" and name in BINARY:
            return [round_to(parse_type(kind).element, BINARY[name](*values))]
        if dialect == "math" and name in UNARY:
            return [round_to(parse_type(kind).element, UNARY[name](values[0]))]
        if dialect == "arith" and " to " in kind:
            to = parse_type(kind.split(" to ")[1]).element
            value = values[0]
            if name == "extui" and value.dtype != np.bool_:
                value = value.view(f"u{value.dtype.str[1:]}")
            if name in ("fptosi", "fptoui"):
                value = np.trunc(np.nan_to_num(value.astype(np.float64)))
            if name == "extsi" and value.dtype == np.bool_:
                value = -value.astype(np.int8)
            if name == "trunci" and to == "i1":
                value = value & 1
            return [round_to(to, value)]
        raise TtirError(f"unknown op: {op.line}")

    # arith and math

    def arith_constant(self, op, env):
        text = op.line[len("arith.constant "):]
        if text in ("true", "false"):
            return [np.bool_(text == "true")]
        literal, kind = text.rsplit(" : ", 1)
        kind = parse_type(kind)
        literal = re.sub(r"^dense<(.*)>$", r"\1", literal)
        if literal in ("true", "false"):
            value = np.bool_(literal == "true")
        elif literal.startswith("0x") and kind.element[0] in "fb":
            width = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16}[kind.element]
            bits = np.array(int(literal, 16), f"u{width // 8}")
            value = (bits.astype(np.uint32) << 16).view(np.float32) if kind.element == "bf16" else bits.view(DTYPES[kind.element])
        elif kind.element[0] in "fb":
            value = round_to(kind.element, float(literal))
        else:
            value = np.array(int(literal)).astype(DTYPES[kind.element])
        return [np.broadcast_to(value, kind.shape).copy() if kind.shape else np.asarray(value)[()]]

    def compare(self, op, env, function):
        predicate = op.line.split()[1].rstrip(",")
        a, b = (env[v] for v in self.operands(op.line))
        return [function(predicate, a, b)]

    def arith_cmpi(self, op, env):
        return self.compare(op, env, compare_integers)

    def arith_cmpf(self, op, env):
        return self.compare(op, env, compare_floats)

    def arith_select(self, op, env):
        condition, a, b = (env[v] for v in self.operands(op.line))
        return [np.where(condition, a, b)]

    def math_fma(self, op, env):
        head, kind = op.line.rsplit(" : ", 1)
        a, b, c = (np.asarray(env[v], np.float64) for v in self.operands(head))
        return [round_to(parse_type(kind).element, a * b + c)]

    # tt: shapes

    def tt_get_program_id(self, op, env):
        # A number, or one for each dimension of the grid.
        place = self.program if isinstance(self.program, tuple) else (self.program, 0, 0)
        return [np.int32(place["xyz".index(op.line.split()[1])])]

    def tt_make_range(self, op, env):
        end = int(re.search(r"end = (\d+)", op.line).group(1))
        return [np.arange(end, dtype=np.int32)]

    def result_type(self, op):
        return parse_type(op.line.rsplit(" -> ", 1)[1])

    def tt_splat(self, op, env):
        shape, value = self.result_type(op).shape, env[self.operands(op.line)[0]]
        if isinstance(value, Pointer):
            return [Pointer(value.memory, np.full(shape, value.offset))]
        return [np.full(shape, value)]

    def tt_broadcast(self, op, env):
        return [np.broadcast_to(env[self.operands(op.line)[0]], self.result_type(op).shape)]

    def tt_expand_dims(self, op, env):
        axis = int(re.search(r"axis = (\d+)", op.line).group(1))
        return [np.expand_dims(env[self.operands(op.line)[0]], axis)]

    def tt_reshape(self, op, env):
        return [env[self.operands(op.line)[0]].reshape(self.result_type(op).shape)]

    def tt_trans(self, op, env):
        order = [int(i) for i in re.search(r"array<i32: ([\d, ]+)>", op.line).group(1).split(",")]
        return [np.transpose(env[self.operands(op.line)[0]], order)]

    def tt_bitcast(self, op, env):
        to = self.result_type(op)
        return [np.ascontiguousarray(env[self.operands(op.line)[0]]).view(DTYPES[to.element]).reshape(to.shape)[()]]

    def tt_extern_elementwise(self, op, env):
        to = self.result_type(op)
        symbol = re.search(r'symbol = "__nv_(\w+)"', op.line).group(1)
        if to.element == "f32":
            symbol = symbol[:-1]
        values = [env[v] for v in self.operands(op.line.split("{")[0])]
        return [round_to(to.element, LIBDEVICE[symbol](*values))]

    def tt_gather(self, op, env):
        source, indices = (env[v] for v in self.operands(op.line))
        axis = int(re.search(r"axis = (\d+)", op.line).group(1))
        if indices.min() < 0 or indices.max() >= source.shape[axis]:
            raise TtirError(f"gather out of bounds: {op.line}")
        for i, (a, b) in enumerate(zip(source.shape, indices.shape)):
            if i != axis and a != b:
                raise TtirError(f"gather of other shapes: {op.line}")
        return [np.take_along_axis(source, indices.astype(np.int64), axis)]

    def combiner(self, op, env):
        (names, ops), = op.regions

        def combine(a, b):
            return self.run_block(ops, {**env, **dict(zip(names, (a, b)))})[0]

        return combine

    def tt_reduce(self, op, env):
        value = env[self.operands(op.line)[0]]
        axis = int(re.search(r"axis = (\d+)", op.line).group(1))
        combine = self.combiner(op, env)
        value = np.moveaxis(value, axis, 0)
        # Pairwise, as a tree of threads does it.
        while value.shape[0] > 1:
            half = value.shape[0] // 2
            value = combine(value[:half], value[half:])
        return [value[0]]

    def tt_scan(self, op, env):
        value = env[self.operands(op.line)[0]]
        axis = int(re.search(r"axis = (\d+)", op.line).group(1))
        combine = self.combiner(op, env)
        value = np.moveaxis(value, axis, 0)
        if "reverse = true" in op.line:
            value = value[::-1]
        rows = [value[0]]
        for row in value[1:]:
            rows.append(combine(rows[-1], row))
        if "reverse = true" in op.line:
            rows.reverse()
        return [np.moveaxis(np.stack(rows), 0, axis)]

    def tt_dot(self, op, env):
        a, b, c = (env[v] for v in self.operands(op.line))
        kind = np.result_type(c)
        return [(c + np.matmul(a.astype(kind), b.astype(kind))).astype(kind)]

    # tt: memory

    def tt_addptr(self, op, env):
        pointer, offset = (env[v] for v in self.operands(op.line))
        return [Pointer(pointer.memory, pointer.offset + offset.astype(np.int64))]

    def places(self, op, pointer, mask):
        offset = np.asarray(pointer.offset)
        mask = np.broadcast_to(True if mask is None else mask, offset.shape)
        inside = (offset >= 0) & (offset < pointer.memory.data.size)
        if np.any(mask & ~inside):
            raise TtirError(f"{self.name}, program {self.program}: outside of the buffer: {op.line}")
        return offset, mask

    def tt_load(self, op, env):
        names = self.operands(op.line)
        pointer = env[names[0]]
        mask = env[names[1]] if len(names) > 1 else None
        offset, mask = self.places(op, pointer, mask)
        touched = offset[mask]
        if np.any(pointer.memory.stored[touched] == self.epoch):
            raise TtirError(f"{self.name}: no barrier between a store and {op.line}")
        pointer.memory.loaded[touched] = self.epoch
        data = pointer.memory.data
        out = np.empty(offset.shape, data.dtype)
        out[...] = np.nan if data.dtype.kind == "f" else -77
        if len(names) > 2:
            out[...] = env[names[2]]
        out[mask] = data[touched]
        return [out[()]]

    def tt_store(self, op, env):
        names = self.operands(op.line)
        pointer, value = env[names[0]], env[names[1]]
        offset, mask = self.places(op, pointer, env[names[2]] if len(names) > 2 else None)
        touched = offset[mask]
        memory = pointer.memory
        if np.unique(touched).size != touched.size:
            raise TtirError(f"{self.name}: one store writes twice to one place: {op.line}")
        if np.any((memory.owner[touched] != -1) & (memory.owner[touched] != self.program)):
            raise TtirError(f"{self.name}: two programs store to one place: {op.line}")
        if np.any(memory.stored[touched] == self.epoch) or np.any(memory.loaded[touched] == self.epoch):
            raise TtirError(f"{self.name}: no barrier between another access and {op.line}")
        memory.owner[touched] = self.program
        memory.stored[touched] = self.epoch
        memory.data[touched] = np.broadcast_to(value, offset.shape)[mask]
        return []

    def gpu_barrier(self, op, env):
        self.epoch = next(EPOCHS)
        return []

    # scf

    def scf_for(self, op, env):
        head = op.line
        counter, lower, upper, step = re.match(r"scf\.for (%[\w-]+) = (%\S+) to (%\S+) step (%\S+)", head).groups()
        pairs = re.search(r"iter_args\((.*?)\) ->", head)
        pairs = re.findall(r"(%[\w-]+) = (%[\w-]+(?:#\d+)?)", pairs.group(1)) if pairs else []
        carried = [env[init] for _, init in pairs]
        (_, ops), = op.regions
        for i in range(int(env[lower]), int(env[upper]), int(env[step])):
            inner = {**env, counter: np.asarray(i).astype(np.asarray(env[lower]).dtype)[()]}
            inner.update(zip((name for name, _ in pairs), carried))
            carried = self.run_block(ops, inner)
        return carried

    def scf_if(self, op, env):
        condition = env[self.operands(op.line)[0]]
        if not condition and len(op.regions) == 1:
            return []
        return self.run_block(op.regions[0 if condition else 1][1], dict(env))

    def scf_while(self, op, env):
        pairs = re.findall(r"(%[\w-]+) = (%[\w-]+(?:#\d+)?)", re.match(r"scf\.while \((.*?)\) :", op.line).group(1))
        values = [env[init] for _, init in pairs]
        (_, before), (names, after) = op.regions
        while True:
            flag, *values = self.run_block(before, {**env, **dict(zip((n for n, _ in pairs), values))})
            if not flag:
                return values
            values = self.run_block(after, {**env, **dict(zip(names, values))})


def parse_with_triton(text, folder):
    """What Triton prints after parsing and verifying a kernel."""
    from triton._C import libtriton

    path = folder / "kernel.ttir"
    path.write_text(text)
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    module = libtriton.ir.parse_mlir_module(str(path), context)
    module.context = context
    return module.str_nodebug()


def run_function(function, arguments, folder):
    """The results of an exported function (an entry of the JSON) for NumPy arguments."""
    memories = []
    results = {}
    for buffer in function["buffers"]:
        kind = DTYPES["i8" if buffer["element"] == "i1" else buffer["element"]]
        if buffer["kind"] == "argument":
            array = round_to(buffer["element"], arguments[buffer["index"]]).astype(kind).copy()
        elif buffer["kind"] == "constant":
            array = np.frombuffer(bytes.fromhex(buffer["data"]), kind).reshape(buffer["shape"]).copy()
        else:
            # What nobody wrote must not look like a result.
            array = np.full(buffer["shape"], np.nan if np.dtype(kind).kind == "f" else 99, kind)
        memories.append(Memory(array, buffer["element"]))
        if buffer["kind"] == "result":
            results[buffer["index"]] = (memories[-1], buffer["shape"])
    for kernel in function["kernels"]:
        parsed = Kernel(parse_with_triton(kernel["ttir"], folder))
        values = [memories[p["buffer"]] if "buffer" in p else arguments[p["argument"]] for p in kernel["parameters"]]
        parsed.run(values, kernel["grid"][0])
    return [results[i][0].data.reshape(results[i][1]) for i in range(len(results))]
