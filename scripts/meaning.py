#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the lit tests that compare meaning.

  scripts/meaning.py [--least=FOLDER:PERCENT]... [--list] [FOLDER...]

A test compares meaning where one of its RUN lines executes functions on inputs
and compares what they compute: before and after passes (--verify-semantics),
compiled and interpreted (--compare=interpreter), or with check ops
(--interpret-checks). A test of errors has no meaning to compare: all of its
commands are meant to fail or to report. It counts among all files; the second
share leaves it out. Tests of a dialect's ops do not count.

Fails where less than PERCENT of all files of a folder compare meaning.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPARES = re.compile(r"--verify-semantics\b(?!-)|--interpret-checks\b|--compare=interpreter\b")
RUN = re.compile(r"^\W*RUN:\s*(.*)$", re.MULTILINE)
TOOL = re.compile(r"\bdrawloom-(opt|run|translate)\b")


def commands(text):
    """The commands of RUN lines, continued ones joined."""
    joined = "\n".join(RUN.findall(text)).replace("\\\n", " ")
    return [line for line in joined.split("\n") if TOOL.search(line)]


def is_meant_to_fail(command, text):
    if re.search(r"(^|[|&;]\s*)not\s", command):
        return True
    return "-verify-diagnostics" in command and "expected-error" in text


def classify(path):
    """"compares", "error" or "text"; None for a file that runs nothing."""
    text = path.read_text()
    found = commands(text)
    if not found:
        return None
    wanted = [command for command in found if not is_meant_to_fail(command, text)]
    if any(COMPARES.search(command) for command in wanted):
        return "compares"
    return "text" if wanted else "error"


def is_of_dialect(path):
    """Tests lie in test/ as what they test does in the tree. Those of a dialect parse, print and verify: no pass changes anything."""
    tests = ROOT / "test"
    return path.is_relative_to(tests) and any((ROOT / path.parent.relative_to(tests)).glob("*Dialect.td"))


def count(folder):
    kinds = {}
    for path in sorted((ROOT / folder).rglob("*.mlir")):
        if "Inputs" not in path.parts and not is_of_dialect(path) and (kind := classify(path)):
            kinds.setdefault(kind, []).append(path)
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--least", action="append", default=[], metavar="FOLDER:PERCENT")
    parser.add_argument("--list", action="store_true", help="name the files that do not compare meaning")
    options = parser.parse_args()
    least = dict(entry.rsplit(":", 1) for entry in options.least)
    failed = False
    for folder in options.folders or list(least) or ["test/passes", "test/codegen"]:
        kinds = count(folder)
        compares, errors = len(kinds.get("compares", [])), len(kinds.get("error", []))
        files = sum(map(len, kinds.values()))
        if files == 0:
            sys.exit(f"{folder} has no lit test")
        share = 100 * compares / files
        others = f"{100 * compares / (files - errors):.1f} % of the {files - errors} that are not of errors" if errors < files else "all are of errors"
        print(f"{folder}: {compares} of {files} files compare meaning, {share:.1f} %; {others}")
        if options.list:
            for path in kinds.get("text", []):
                print(f"  {path}")
        if share < float(least.get(folder, 0)):
            print(f"{folder}: at least {least[folder]} % must; --list names the others")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
