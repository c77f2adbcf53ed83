#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses and verifies every example of the documentation.

check_examples.py --opt=DRAWLOOM_OPT [--root=FOLDER] collects the fenced mlir
blocks of op and pass descriptions (*.td) and of Markdown files, and runs them
through drawloom-opt. A block is either a whole program or a piece of a function's
body; what a piece uses without defining it is given a definition whose type comes
from the parser's own complaint. A block of a Markdown page that leaves something
out, written `...`, is an excerpt and is not run; op descriptions have none.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import textwrap

SPLIT = "// -----"
FENCE = re.compile(r"^[ \t]*```mlir[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
ERROR = re.compile(r"^<stdin>:(\d+):(\d+): error: ([^\n]*)", re.MULTILINE)
PRIOR_TYPE = re.compile(
    r"use of value '(%[\w$.-]+)' expects different type than prior uses: '(.*)' vs '(.*)'")
NAME = re.compile(r"%[\w$.-]+")
FOLDERS = ("dialects", "passes", "codegen", "lib", "docs", "examples")


class Example:
    def __init__(self, path, line, text):
        self.path, self.line, self.text = path, line, text
        self.whole = re.search(r"^\s*(func\.func|module|llvm\.func)\b", text, re.MULTILINE)
        self.given = {}
        self.error = None

    def program(self):
        if self.whole:
            return self.text
        lines = self.text.splitlines()
        aliases = [line for line in lines if re.match(r"[#!][\w.]+ *=", line)]
        body = [line for line in lines if line not in aliases]
        definitions = [f'  {name} = "example.value"() : () -> ({kind})'
                       for name, kind in self.given.items()]
        end = [] if any(re.match(r"\s*(func\.)?return\b", line) for line in body) else ["  return"]
        return "\n".join([*aliases, "func.func @example() {", *definitions, *body, *end, "}"]) + "\n"

    def learn(self, line, column, message):
        """Gives a value the example uses a definition; False where it cannot."""
        prior = PRIOR_TYPE.search(message)
        if prior and self.given.get(prior[1]) == prior[3]:
            self.given[prior[1]] = prior[2]
            return True
        if "use of undeclared SSA value name" in message and not self.whole:
            name = NAME.match(self.program().splitlines()[line - 1], column - 1)
            if name and name[0] not in self.given:
                self.given[name[0]] = "none"
                return True
        return False


def collect(root):
    examples = []
    files = [root / "README.md", root / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        files += sorted((root / folder).rglob("*.td")) + sorted((root / folder).rglob("*.md"))
    for path in files:
        if not path.exists():
            continue
        text = path.read_text()
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            for part in match[1].split(SPLIT):
                examples.append(Example(path.relative_to(root), line, textwrap.dedent(part)))
    return examples


def run(opt, examples):
    """One process for all; {example's number: [(line, column, message)]}."""
    starts, text = [], ""
    for example in examples:
        starts.append(text.count("\n") + 1)
        text += example.program().rstrip("\n") + "\n" + SPLIT + "\n"
    result = subprocess.run([opt, "--allow-unregistered-dialect", "--split-input-file", "-o",
                             os.devnull], input=text, text=True, capture_output=True)
    errors = {}
    for line, column, message in ERROR.findall(result.stderr):
        number = max(i for i, first in enumerate(starts) if first <= int(line))
        errors.setdefault(number, []).append(
            (int(line) - starts[number] + 1, int(column), message))
    if result.returncode != 0 and not errors:
        sys.exit(f"{opt} failed:\n{result.stderr}")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opt", required=True)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--at-least", type=int, default=1, help="fail with fewer examples than this")
    options = parser.parse_args()
    examples = collect(options.root)
    excerpts = [example for example in examples
                if "..." in example.text and example.path.suffix == ".md"]
    examples = [example for example in examples if example not in excerpts]
    waiting = list(examples)
    while waiting:
        again = []
        for number, errors in run(options.opt, waiting).items():
            example = waiting[number]
            if any([example.learn(*error) for error in errors]):
                again.append(example)
            else:
                line, _, message = errors[0]
                source = example.program().splitlines()
                example.error = f"{message}\n    {source[line - 1].strip()}"
        waiting = again
    failures = [example for example in examples if example.error]
    for example in failures:
        print(f"{example.path}:{example.line}: error: {example.error}")
    print(f"{len(examples) - len(failures)} of {len(examples)} examples parse and verify"
          + (f"; {len(excerpts)} excerpts were not run" if excerpts else ""))
    return 1 if failures or len(examples) < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
