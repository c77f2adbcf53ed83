# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random expressions of structured weights, as `slr` programs and in NumPy.

    test/python/structured/trees.py --count 10000 --seed 7      # beyond what pytest tries
    test/python/structured/trees.py --by emulator --jobs 2      # on the emulated GPU; or in the interpreter

What a program gives is compared with x W in double precision, where W is made by its definition; gradients with
that of a complex step, each leaf's in a random direction.
"""

import argparse
import functools
import math
import multiprocessing
import sys
import time

import numpy as np

from drawloom.structured import Pattern
from support import runner

EXTENTS = (1, 2, 3, 4, 6, 8, 9, 12, 16, 33)
ROWS = (0, 1, 2, 7, 16, 33, 65)


def type_of(shape, element):
    return "tensor<" + "x".join(map(str, (*shape, element))) + ">"


def leaf_type(leaf, element):
    return type_of(leaf.shape, {"int8": "i8", "int32": "i32"}.get(str(leaf.dtype), element))


NF4 = np.float32([-1, -0.696192801, -0.525073051, -0.394917488, -0.284441382, -0.18477343, -0.0910500363, 0,
                  0.0795802996, 0.160930201, 0.246112302, 0.337915242, 0.440709829, 0.562617004, 0.722956836, 1])
FP4 = np.float32([0, 0.00520833349, 0.666666687, 1, 0.333333343, 0.5, 0.166666672, 0.25])


def small_float(code, exponent_bits, mantissa_bits):
    """By its definition; what is no number is left out by who draws codes."""
    exponent, mantissa = (code & 0x7F) >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    size = np.where(exponent > 0, np.ldexp(1 + mantissa / (1 << mantissa_bits), exponent - bias),
                    np.ldexp(mantissa / (1 << mantissa_bits), 1 - bias))
    return np.where(code & 0x80, -size, size)


def signed(bits):
    return lambda code: np.where(code >= 1 << (bits - 1), code - (1 << bits), code)


# By format: bits, values of codes.
FORMATS = {
    "nf4": (4, lambda code: NF4[code]), "fp4": (4, lambda code: np.where(code & 8, -1, 1) * FP4[code & 7]),
    **{f"uint{b}": (b, lambda code: code) for b in (1, 2, 4, 8)}, **{f"int{b}": (b, signed(b)) for b in (2, 4, 8)},
    "f8e4m3fn": (8, lambda code: small_float(code, 4, 3)), "f8e5m2": (8, lambda code: small_float(code, 5, 2)),
}
PACKINGS = "low_first", "high_first", "parts"


def unpacked(codes, groups, bits, packing):
    """[K, bytes] -> the codes [K, groups, of a group]."""
    per = 8 // bits
    parts = [(codes.astype(np.uint8).reshape(len(codes), groups, -1).astype(np.int64) >> (bits * c)) & ((1 << bits) - 1) for c in range(per)]
    if packing == "parts":
        return np.concatenate(parts, 2)
    return np.stack(parts if packing == "low_first" else parts[::-1], 3).reshape(len(codes), groups, -1)


class Tree:
    """An expression: lines of MLIR, leaves, and the matrix that these make."""

    def __init__(self, rng, element="f32", without=()):
        self.rng = rng
        self.element = element
        self.without = without
        self.lines = []
        self.leaves = []
        # By how much the rounding of what is added grows where columns that almost vanish are normalised.
        self.cancellation = 1.0

    def emit(self, text):
        self.lines.append(text)
        return f"%v{len(self.lines) - 1}"

    def line(self, op, operands, types, attributes=""):
        return self.emit(f"slr.{op} {', '.join(operands)}{attributes} : {', '.join(types)}")

    def leaf(self, *shape):
        return self.given(self.rng.uniform(-1, 1, shape))

    def given(self, leaf):
        self.leaves.append(leaf)
        return len(self.leaves) - 1

    def type(self, i):
        return leaf_type(self.leaves[i], self.element)

    def term(self, inputs, outputs, depth):
        """The name of a new term, and a function of the leaves that gives its matrix."""
        makers = self.combinators(inputs, outputs) if depth > 0 and self.rng.random() < 0.85 else self.kinds(inputs, outputs)
        makers = [maker for maker in makers if maker.__name__ not in self.without]
        return makers[self.rng.integers(len(makers))](inputs, outputs, depth)

    def kinds(self, inputs, outputs):
        makers = [self.dense]
        if inputs == outputs:
            makers += [self.diagonal, self.identity, self.permute]
        if math.gcd(inputs, outputs) > 1:
            makers += [self.block_diagonal] * 2
        if inputs > outputs and inputs % outputs == 0:
            makers.append(self.fold)
        if inputs >= outputs:
            makers.append(self.select)
        makers += [self.quantized, self.sparse, self.sparse]
        if any(outputs % m == 0 for m in range(2, 9)):
            makers.append(self.n_of_m)
        return makers

    def combinators(self, inputs, outputs):
        makers = [self.sum, self.product, self.product, self.scale, self.transpose, self.hadamard, self.normalize_columns]
        if outputs > 1:
            makers.append(self.concat)
        if any(inputs % a == 0 for a in range(2, inputs)) or any(outputs % c == 0 for c in range(2, outputs)):
            makers += [self.kronecker] * 2
        return makers

    def dense(self, inputs, outputs, _):
        i = self.leaf(inputs, outputs)
        return self.emit(f"slr.dense %a{i} : {type_of((inputs, outputs), self.element)}"), lambda leaves: leaves[i]

    def diagonal(self, inputs, _, __):
        i = self.leaf(inputs)
        return self.emit(f"slr.diagonal %a{i} : {type_of((inputs,), self.element)}"), lambda leaves: np.diag(leaves[i])

    def identity(self, inputs, _, __):
        return self.emit(f"slr.identity {inputs}"), lambda leaves: np.eye(inputs)

    def permute(self, inputs, _, __):
        shape, left = [], inputs
        while left > 1 and len(shape) < 3:
            part = int(self.rng.choice([d for d in range(1, left + 1) if left % d == 0]))
            shape.append(part)
            left //= part
        shape.append(left)
        order = [int(d) for d in self.rng.permutation(len(shape))]
        name = self.emit(f"slr.permute {shape} by {order}")
        return name, lambda leaves: np.eye(inputs).reshape(inputs, *shape).transpose(0, *(d + 1 for d in order)).reshape(inputs, inputs)

    def block_diagonal(self, inputs, outputs, _):
        common = math.gcd(inputs, outputs)
        count = int(self.rng.choice([d for d in range(2, common + 1) if common % d == 0]))
        i = self.leaf(count, inputs // count, outputs // count)

        def matrix(leaves):
            full = np.zeros((inputs, outputs), leaves[i].dtype)
            for g, block in enumerate(leaves[i]):
                full[g * block.shape[0]:(g + 1) * block.shape[0], g * block.shape[1]:(g + 1) * block.shape[1]] = block
            return full

        return self.emit(f"slr.block_diagonal %a{i} : {type_of((count, inputs // count, outputs // count), self.element)}"), matrix

    def fold(self, inputs, outputs, _):
        name = self.emit(f"slr.fold {inputs} into {inputs // outputs} parts")
        return name, lambda leaves: np.tile(np.eye(outputs), (inputs // outputs, 1))

    def select(self, inputs, outputs, _):
        offset = int(self.rng.integers(inputs - outputs + 1))
        name = self.emit(f"slr.select {outputs} from {offset} of {inputs}")
        return name, lambda leaves: np.eye(inputs)[:, offset:offset + outputs]

    def quantized(self, inputs, outputs, depth):
        format_ = str(self.rng.choice([f for f, (bits, _) in FORMATS.items() if outputs % (8 // bits) == 0]))
        bits, values = FORMATS[format_]
        count = outputs * bits // 8
        groups = int(self.rng.choice([d for d in range(1, count + 1) if count % d == 0]))
        packing, offset = str(self.rng.choice(PACKINGS)), self.rng.random() < 0.5
        # Eights of bits near zero: finite floats of some size.
        codes = self.rng.integers(0, 256, (inputs, count)).astype(np.uint8)
        if format_.startswith("f8"):
            codes = (codes & 0x80) | codes % 0x48
        c = self.given(codes.astype(np.int8))
        s = self.given(self.rng.uniform(-1, 1, (inputs, groups)) / 2 ** (bits - 1 if "int" in format_ else 0))
        o = self.leaf(inputs, groups) if offset else None
        names, types = [f"%a{c}", "scales", f"%a{s}"], [self.type(c), self.type(s)]
        if offset:
            names, types = [*names, "offsets", f"%a{o}"], [*types, self.type(o)]

        def matrix(leaves):
            made = values(unpacked(leaves[c].astype(np.uint8), groups, bits, packing)) * leaves[s][:, :, None]
            return (made + leaves[o][:, :, None] if offset else made).reshape(inputs, outputs)

        return self.emit(f"slr.quantized {format_} {' '.join(names)} packing {packing} : {', '.join(types)}"), matrix

    def n_of_m(self, inputs, outputs, _):
        m = int(self.rng.choice([m for m in range(2, 9) if outputs % m == 0]))
        n = int(self.rng.integers(1, m + 1))
        v = self.leaf(inputs, outputs // m, n)
        p = self.given(self.rng.integers(0, m, (inputs, outputs // m, n)).astype(np.int8))

        def matrix(leaves):
            made = np.zeros((inputs, outputs // m, m), leaves[v].dtype)
            for i in range(n):
                made += np.eye(m)[leaves[p][:, :, i]] * leaves[v][:, :, i, None]
            return made.reshape(inputs, outputs)

        return self.emit(f"slr.n_of_m %a{v} at %a{p} of {m} : {self.type(v)}, {self.type(p)}"), matrix

    def sparse(self, inputs, outputs, _):
        p, q = (int(self.rng.choice([d for d in range(1, e + 1) if e % d == 0])) if self.rng.random() < 0.5 else 1 for e in (inputs, outputs))
        mask = self.rng.random((inputs // p, outputs // q)) < self.rng.choice([0.1, 0.5, 1.0])
        pattern = Pattern.of_mask(mask)
        single = p * q == 1 and self.rng.random() < 0.5
        v = self.leaf(*((len(pattern),) if single else (len(pattern), p, q)))
        arrays = [self.given(array) for array in pattern.arrays]

        def matrix(leaves):
            made = np.zeros((inputs // p, p, outputs // q, q), leaves[v].dtype)
            made.transpose(0, 2, 1, 3)[mask] = leaves[v].reshape(-1, p, q)
            return made.reshape(inputs, outputs)

        return self.emit(f"slr.sparse %a{v} at ({', '.join(f'%a{i}' for i in arrays)}) : {self.type(v)}, "
                         f"({', '.join(self.type(i) for i in arrays)})"), matrix

    def sum(self, inputs, outputs, depth):
        parts = [self.term(inputs, outputs, depth - 1) for _ in range(self.rng.integers(1, 4))]
        name = self.line("sum", [p[0] for p in parts], [f"!slr.term<{inputs}x{outputs}>"] * len(parts))
        return name, lambda leaves: sum(p[1](leaves) for p in parts)

    def product(self, inputs, outputs, depth):
        widths = [inputs, *(int(self.rng.choice(EXTENTS)) for _ in range(self.rng.integers(0, 3))), outputs]
        parts = [self.term(a, b, depth - 1) for a, b in zip(widths, widths[1:])]
        name = self.line("product", [p[0] for p in parts], [f"!slr.term<{a}x{b}>" for a, b in zip(widths, widths[1:])])

        def matrix(leaves):
            made = parts[0][1](leaves)
            for part in parts[1:]:
                made = made @ part[1](leaves)
            return made

        return name, matrix

    def scale(self, inputs, outputs, depth):
        of, factor = self.term(inputs, outputs, depth - 1), float(self.rng.choice([-1.5, 0.25, 0.0, 2.0]))
        return self.emit(f"slr.scale {of[0]} by {factor:e} : !slr.term<{inputs}x{outputs}>"), lambda leaves: factor * of[1](leaves)

    def transpose(self, inputs, outputs, depth):
        of = self.term(outputs, inputs, depth - 1)
        return self.emit(f"slr.transpose {of[0]} : !slr.term<{outputs}x{inputs}>"), lambda leaves: of[1](leaves).T

    def concat(self, inputs, outputs, depth):
        cut = int(self.rng.integers(1, outputs))
        parts = [self.term(inputs, n, depth - 1) for n in (cut, outputs - cut)]
        name = self.line("concat", [p[0] for p in parts], [f"!slr.term<{inputs}x{n}>" for n in (cut, outputs - cut)])
        return name, lambda leaves: np.concatenate([p[1](leaves) for p in parts], 1)

    def kronecker(self, inputs, outputs, depth):
        k = int(self.rng.choice([d for d in range(1, inputs + 1) if inputs % d == 0]))
        n = int(self.rng.choice([d for d in range(1, outputs + 1) if outputs % d == 0]))
        shapes = (k, n), (inputs // k, outputs // n)
        left, right = (self.term(*shape, depth - 1) for shape in shapes)
        name = self.emit(f"slr.kronecker {left[0]}, {right[0]} : !slr.term<{k}x{n}>, !slr.term<{inputs // k}x{outputs // n}>")
        return name, lambda leaves: np.kron(left[1](leaves), right[1](leaves))

    def hadamard(self, inputs, outputs, depth):
        left, right = (self.term(inputs, outputs, depth - 1) for _ in range(2))
        kind = f"!slr.term<{inputs}x{outputs}>"
        return self.emit(f"slr.hadamard {left[0]}, {right[0]} : {kind}, {kind}"), lambda leaves: left[1](leaves) * right[1](leaves)

    def normalize_columns(self, inputs, outputs, depth):
        # Columns of some length: a matrix is among what is added.
        parts = [self.term(inputs, outputs, depth - 1), self.dense(inputs, outputs, 0)]
        kind = f"!slr.term<{inputs}x{outputs}>"
        of = self.line("sum", [p[0] for p in parts], [kind] * 2)
        i = self.leaf(outputs)
        name = self.emit(f"slr.normalize_columns {of} to %a{i} : {kind}, {type_of((outputs,), self.element)}")

        def matrix(leaves):
            summed = [p[1](leaves) for p in parts]
            made = sum(summed)
            length = np.sqrt((made * made).sum(0))
            self.cancellation = max(self.cancellation, (np.abs(np.stack(summed)).sum((0, 1)) / np.abs(length)).max())
            return made * (leaves[i] / length)

        return name, matrix


class Program:
    """A random tree's program: its value, all gradients, and its matrix. `without`: terms that are not drawn."""

    def __init__(self, seed, element="f32", depth=3, association=None, without=()):
        rng = np.random.default_rng(seed)
        self.inputs, self.outputs = (int(e) for e in rng.choice(EXTENTS, 2))
        self.rows = int(rng.choice(ROWS))
        self.tree = tree = Tree(rng, element, without)
        root, self.matrix = tree.term(self.inputs, self.outputs, depth)
        self.leaves = tree.leaves
        self.x = rng.uniform(-1, 1, (self.rows, self.inputs))
        self.g = rng.uniform(-1, 1, (self.rows, self.outputs))
        self.rng = rng
        association = association or str(rng.choice(["auto", "auto", "parts", "matrix"]))
        types = [leaf_type(leaf, element) for leaf in self.leaves]
        self.trains = [i for i, leaf in enumerate(self.leaves) if leaf.dtype == np.float64]
        x, y, m = (type_of(s, element) for s in (self.x.shape, self.g.shape, (self.inputs, self.outputs)))
        arguments = "".join(f", %b{i}: {t}" for i, t in enumerate(types))
        names = ", ".join(f"%b{i}" for i in range(len(types)))
        region = "{\n  ^bb0" + ("(" + ", ".join(f"%a{i}: {t}" for i, t in enumerate(types)) + ")" if types else "") + ":\n" + "".join(
            f"    %v{i} = {line}\n" for i, line in enumerate(tree.lines)) + f"    slr.yield {root} : !slr.term<{self.inputs}x{self.outputs}>\n  }}"
        wanted = ", ".join(map(str, [0, *(i + 1 for i in self.trains)]))
        everything, kinds = ", ".join([x, *types]), ", ".join([x, *(types[i] for i in self.trains)])
        gradients = "".join(f", %d{i}" for i in self.trains)
        self.text = f"""
func.func private @layer(%x: {x}{arguments}) -> {y} {{
  %y = slr.linear %x({names}) attributes {{association = "{association}"}} {region} : {x}, ({', '.join(types)}) -> {y}
  return %y : {y}
}}
func.func @all(%x: {x}, %g: {y}{arguments}) -> ({y}, {kinds}, {m}) {{
  %y, %dx{gradients} = ad.vjp @layer(%x{''.join(f', %b{i}' for i in range(len(types)))}) cotangents(%g) wrt [{wanted}]
      : ({everything}) -> ({y}, {kinds})
  %m = slr.materialize({names}) {region} : ({', '.join(types)}) -> {m}
  return %y, %dx{gradients}, %m : {y}, {kinds}, {m}
}}
"""
        self.type = np.float32 if element == "f32" else np.float64

    def arguments(self):
        return [np.asarray(a, self.type if a.dtype == np.float64 else None) for a in (self.x, self.g, *self.leaves)]

    def differences(self, results):
        """What is wrong with the results: (what, error, of what size)."""
        x, g, *leaves = (np.asarray(a, np.float64 if a.dtype == self.type else None) for a in self.arguments())
        w = self.matrix(leaves)
        size = (np.abs(w).sum() + 1) * self.tree.cancellation
        yield "value", np.abs(results[0] - x @ w).max(initial=0), size
        yield "gradient of x", np.abs(results[1] - g @ w.T).max(initial=0), size
        yield "matrix", np.abs(results[-1] - w).max(initial=0), size
        for result, i in zip(results[2:-1], self.trains):
            direction = self.rng.uniform(-1, 1, leaves[i].shape)
            moved = list(leaves)
            # Of an analytic function f(a + i h) = f(a) + i h f'(a) + O(h^2), and nothing cancels however small h is.
            moved[i] = leaves[i] + 1e-30j * direction
            slope = (g * (x @ self.matrix(moved))).sum().imag / 1e-30
            given = float((np.asarray(result, np.float64) * direction).sum())
            yield f"gradient of leaf {i}", abs(given - slope), np.abs(result).sum() * self.tree.cancellation + size * max(self.rows, 1)


# What computes a program: the CPU's code in this process, or drawloom-run for the interpreter (in double precision) and the emulated GPU.
TARGETS = "cpu", "interpreter", "emulator"


def failures(seed, element="f32", isa=None, by="cpu", **options):
    """What a program does wrong, in words."""
    program = Program(seed, element, **options)
    if by == "cpu":
        import drawloom

        results = drawloom.compile(program.text, isa=isa, cache=False).all(*program.arguments())
    else:
        results = runner.run(program.text, "all", program.arguments(), target=by)
    tolerance = {"f32": (2e-5, 5e-4), "f64": (1e-13, 1e-11)}["f64" if by == "interpreter" else element]
    return [f"seed {seed}: {what} is off by {error:.3g}, of {size:.3g}" for what, error, size in program.differences(results)
            if not error <= tolerance["leaf" in what] * size]


def attempt(seed, **options):
    """What is wrong, in words."""
    try:
        return failures(seed, "f64" if seed % 5 == 4 else "f32", **options)
    except Exception as error:  # Every one is a finding.
        return [f"seed {seed}: {error}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="how many trees (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (default: 0)")
    parser.add_argument("--by", choices=TARGETS, default="cpu", help="what computes them (default: cpu)")
    parser.add_argument("--isa", help="compile for this instruction set (default: this machine's)")
    parser.add_argument("--without", nargs="*", default=(), metavar="TERM", help="draw none of these terms")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes (default: 1)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no tree after this time (default: until all are tried)")
    parser.add_argument("--print", action="store_true", help="only print the first program")
    options = parser.parse_args()
    if options.print:
        print(Program(options.seed, "f64" if options.seed % 5 == 4 else "f32", without=options.without).text)
        return 0
    end, tried, wrong = time.monotonic() + 60 * options.minutes, 0, 0
    try_one = functools.partial(attempt, isa=options.isa, by=options.by, without=options.without)
    with multiprocessing.Pool(options.jobs) as pool:
        for found in pool.imap(try_one, range(options.seed, options.seed + options.count)):
            tried, wrong = tried + 1, wrong + bool(found)
            for text in found:
                print(text, flush=True)
            if sys.stderr.isatty():
                print(f"\r{tried} of {options.count}, {wrong} wrong", end="", file=sys.stderr)
            if time.monotonic() > end:
                break
    print(f"{tried} trees, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
