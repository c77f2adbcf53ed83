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
    "predicate": (r"llvm\.cond_br (%[\w#]+), (\^\w+), (\^\w+)(.*)$", lambda m: "llvm.br " + m[2] + m[4]),
    "copied bytes": (r"(nvvm\.cp\.async\.shared\.global .*cache = \w+), %\w+ (: .*), i32", lambda m: m[1] + " " + m[2]),
    "comparison": (
        r'(llvm\.icmp "[su])(lt|le|gt|ge)"',
        lambda m: m[1] + {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}[m[2]] + '"',
    ),
    "swizzle": (r"= llvm\.xor (%\w+), (%\w+) : i32", lambda m: f"= llvm.or {m[1]}, {m[1]} : i32"),
    "offset": (
        r"(llvm\.getelementptr (?:inbounds )?%\w+\[)(\d+)(\] : \(!llvm\.ptr<3>\))",
        lambda m: m[1] + str(int(m[2]) + 16) + m[3],
    ),
    "matrix layout": (
        r"(nvvm\.(?:ld|st)matrix .*mma_layout<)(row|col)(>)",
        lambda m: m[1] + {"row": "col", "col": "row"}[m[2]] + m[3],
    ),
}


def mutations(text, kinds=None):
    """Every text that differs from `text` in one place."""
    lines = text.split("\n")

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
