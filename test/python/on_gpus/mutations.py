# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks GPU kernels one place at a time and counts who notices.

A test of the emulator and of the kernels at once: a change that neither the
emulator's report nor the results show is one that tests would let pass.

    for m in mutations(text): ...           # every changed text
    score = judge(text, run)                # run(text) -> report or None, and results
    print(score)
"""

import collections
import dataclasses
import re

import numpy as np


@dataclasses.dataclass
class Mutation:
    kind: str
    line: int
    what: str
    text: str


@dataclasses.dataclass
class Score:
    """Of each kind: how many the emulator reported, how many only gave other
    results, and those that nobody noticed."""

    reported: collections.Counter
    wrong: collections.Counter
    unnoticed: list

    def total(self, kinds=None):
        kinds = kinds or self.kinds()
        silent = sum(m.kind in kinds for m in self.unnoticed)
        return sum(self.reported[k] + self.wrong[k] for k in kinds) + silent

    def kinds(self):
        return sorted({*self.reported, *self.wrong, *(m.kind for m in self.unnoticed)})

    def __str__(self):
        lines = [f"{'kind':24} {'changed':>8} {'reported':>9} {'wrong':>6} {'unnoticed':>10}"]
        for kind in self.kinds():
            silent = sum(m.kind == kind for m in self.unnoticed)
            lines.append(
                f"{kind:24} {self.total([kind]):8} {self.reported[kind]:9} {self.wrong[kind]:6} {silent:10}"
            )
        lines += [f"  unnoticed: line {m.line}: {m.what}" for m in self.unnoticed]
        return "\n".join(lines)


# Lines that may go: what synchronises has no results.
REMOVED = {
    "barrier": r"nvvm\.barrier0|nvvm\.barrier\b(?!.*->)",
    "warp barrier": r"nvvm\.bar\.warp\.sync",
    "wait": r"nvvm\.cp\.async\.wait\.group",
    "commit": r"nvvm\.cp\.async\.commit\.group",
    "fence": r"nvvm\.memory\.barrier|llvm\.fence",
}

# Parts of lines that may change: pattern, replacement.
CHANGED = {
    "wait for one less": (r"(nvvm\.cp\.async\.wait\.group )(\d+)", lambda m: m[1] + str(int(m[2]) + 1)),
    "copied bytes": (r"(nvvm\.cp\.async\.shared\.global .*cache = \w+), %\w+ (: .*), i32", lambda m: m[1] + " " + m[2]),
    "comparison": (
        r'(llvm\.icmp "[su])(lt|le|gt|ge)"',
        lambda m: m[1] + {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}[m[2]] + '"',
    ),
    "swizzle": (r"= llvm\.xor (%\w+), (%\w+) : i32", lambda m: f"= llvm.or {m[1]}, {m[1]} : i32"),
    "matrix layout": (
        r"(nvvm\.(?:ld|st)matrix .*mma_layout<)(row|col)(>)",
        lambda m: m[1] + {"row": "col", "col": "row"}[m[2]] + m[3],
    ),
}

# What the functions below change, by what they know of the other lines.
ORDER = [*REMOVED, "wait for one less", "copied bytes", "mask", "mask of values", "comparison", "swizzle", "matrix layout",
         "thread bits", "stride", "shared offset", "global offset"]

DEFINITION = re.compile(r"^\s*(%\w+) = ")
ADDRESS = re.compile(r"(.*= llvm\.getelementptr (?:inbounds |nusw |nuw )*)(%\w+)\[(-?\d+|%\w+)\](.*!llvm\.ptr<([13])>.*)")
# Bytes that offsets are shifted by: no access becomes misaligned.
SHIFT = 16


class Text:
    """What is known of the lines of a module with one kernel."""

    def __init__(self, lines):
        self.constants, self.threads, self.fields, loops = {}, set(), set(), set()
        self.branches, self.pointers, self.others = set(), set(), set()
        block, headers, tests = None, set(), {}
        for line in lines:
            label = re.match(r"\s*(\^\w+)", line)
            if label:
                block = label[1]
                headers.add(block)
            if found := re.search(r"(%\w+) = llvm\.mlir\.constant\((-?\d+) : (?:i32|index|i64)\)", line):
                self.constants[found[1]] = int(found[2])
            elif found := re.search(r"(%\w+) = nvvm\.read\.ptx\.sreg\.tid\.x", line):
                self.threads.add(found[1])
            elif found := re.search(r"(%\w+) = llvm\.lshr (%\w+), %\w+ : i32", line):
                if found[2] in self.threads:
                    self.threads.add(found[1])
            elif found := re.search(r"(%\w+) = llvm\.and (%\w+), %\w+ : i32", line):
                if found[2] in self.threads:
                    self.fields.add(found[1])
            elif found := re.search(r"llvm\.cond_br (%\w+)", line):
                self.branches.add(found[1])
                tests[block] = found[1]
                loops |= headers & set(re.findall(r"\^\w+", line))
            elif found := re.search(r"llvm\.select (%\w+), .* : i1, (.*)", line):
                (self.pointers if "ptr" in found[2] else self.others).add(found[1])
            elif found := re.search(r"llvm\.br (\^\w+)", line):
                # To a block that came before: a loop.
                if found[1] in headers:
                    loops.add(found[1])
        self.loops = {tests[block] for block in loops if block in tests}

    def changes(self, line):
        """(kind, changed line) of what needs to be known."""
        found = re.match(r"\s*(%\w+) = llvm\.(icmp|and|or) .*", line)
        if found and (found[2] == "icmp" or line.endswith(": i1")) and found[1] not in self.loops:
            constant = f"{found[1]} = llvm.mlir.constant(true) : i1"
            if found[1] in self.branches | self.pointers:
                yield "mask", constant
            elif found[1] in self.others:
                yield "mask of values", constant
        if found := re.match(r"\s*(%\w+) = llvm\.(and|lshr|mul) (%\w+), (%\w+)( overflow<.*>)? : i32", line):
            value = self.constants.get(found[4])
            kind, other = None, None
            if value is not None and found[3] in self.threads and found[2] == "and":
                # One bit less.
                kind, other = "thread bits", value & (value - 1)
            elif value is not None and found[3] in self.threads and found[2] == "lshr":
                kind, other = "thread bits", value + 1
            elif value is not None and found[3] in self.fields and found[2] == "mul":
                kind, other = "stride", value + (8 if value % 8 == 0 else 1)
            if kind:
                yield kind, (f"%changed = llvm.mlir.constant({other} : i32) : i32 "
                             f"{found[1]} = llvm.{found[2]} {found[3]}, %changed : i32")
        if found := ADDRESS.match(line):
            kind = "shared offset" if found[5] == "3" else "global offset"
            if re.fullmatch(r"-?\d+", found[3]):
                yield kind, f"{found[1]}{found[2]}[{int(found[3]) + SHIFT}]{found[4]}"
            else:
                pointer = f"!llvm.ptr<{found[5]}>"
                yield kind, (f"%changed = llvm.getelementptr {found[2]}[{SHIFT}] : ({pointer}) -> {pointer}, i8 "
                             f"{found[1].strip()} %changed[{found[3]}]{found[4]}")


def mutations(text, kinds=None):
    """Every text that differs from `text` in one place."""
    lines = text.split("\n")
    known = Text(lines)

    def changed(kind, number, line):
        before, after = lines[number].strip(), line.strip()
        what = f"without {before}" if not after else f"{before}  ->  {after}"
        return Mutation(kind, number + 1, what, "\n".join([*lines[:number], line, *lines[number + 1 :]]))

    for number, line in enumerate(lines):
        for kind, pattern in REMOVED.items():
            if (kinds is None or kind in kinds) and re.search(pattern, line):
                yield changed(kind, number, "")
        for kind, (pattern, replacement) in CHANGED.items():
            if kinds is None or kind in kinds:
                after = re.sub(pattern, replacement, line)
                if after != line:
                    yield changed(kind, number, after)
        for kind, after in known.changes(line):
            if kinds is None or kind in kinds:
                yield changed(kind, number, after)


def probes(text, mutation):
    """Pairs of a reason why a change could have no effect, and a text that the emulator reports unless that is the
    reason: the kernel reads the null pointer as soon as it is not."""
    lines = text.split("\n")
    before, after = lines[mutation.line - 1], mutation.text.split("\n")[mutation.line - 1]
    name = DEFINITION.match(before)
    memory = re.search(r"(%\w+): !llvm\.ptr<1> {[^}]*readonly", text) or re.search(r"(%\w+): !llvm\.ptr<1>", text)
    if not name or not memory:
        return

    def read(pointer):
        return f" %probed = llvm.load volatile {pointer} : !llvm.ptr<1> -> i8"

    def replaced(line):
        return "\n".join([*lines[: mutation.line - 1], line, *lines[mutation.line :]])

    null = " %null = llvm.mlir.zero : !llvm.ptr<1>"
    kind = re.search(r": (i1|i32|i64)$", after)
    if "llvm.icmp" in before:
        kind = re.match(r"(i1)", "i1")
    if kind:
        # Both numbers, and the null pointer where they differ.
        other = re.sub(rf"{re.escape(name[1])} = ", "%other = ", after.strip())
        yield "no thread computes another number", replaced(
            f'{before} {other} %same = llvm.icmp "eq" {name[1]}, %other : {kind[1]}{null}'
            f" %where = llvm.select %same, {memory[1]}, %null : i1, !llvm.ptr<1>{read('%where')}")
    yield "no thread comes there", replaced(f"{before}{null}{read('%null')}")


def judge(text, run, kinds=None, tolerance=0.0):
    """Runs `text`, which must be right, and each of its mutations.

    `run(text)` gives what the emulator reports, None where it reports nothing,
    and the results as a list of arrays.
    """
    report, expected = run(text)
    if report is not None:
        raise ValueError(f"the kernel is wrong before any change: {report}")
    score = Score(collections.Counter(), collections.Counter(), [])
    for mutation in mutations(text, kinds):
        report, results = run(mutation.text)
        if report is not None:
            score.reported[mutation.kind] += 1
        elif all(np.allclose(a, b, rtol=0, atol=tolerance) for a, b in zip(results, expected, strict=True)):
            score.unnoticed.append(mutation)
        else:
            score.wrong[mutation.kind] += 1
    return score
