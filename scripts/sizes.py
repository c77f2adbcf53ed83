#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds functions and classes that are too large.

A function has at most 100 lines, from its name to its closing brace, a class at
most 40 methods. Of a class in C++ count the functions that its body declares or
defines, of one in Python the methods that are no operators such as __add__.

universal-ctags says where functions and classes begin and end. Each finding is
a line: the place, the name, the size and the limit. A function is split into
steps that have names; a class by what its parts are responsible for.
"""

import argparse
import collections
import json
import subprocess
import sys

LINES = 100
METHODS = 40

# Functions here write down the text of one program, from its first line to its
# last: what it computes is seen best in one piece.
TEXTS = "test/block-programs/"

# Classes that are one thing, with the methods that they may have.
WHOLE = {
    # The state machine of a store. Each of its commands, and each completion,
    # changes records, blocks, slots and transfers together, under one lock.
    ("runtime/offload/Core.h", "Core"): 93,
}


def tags():
    """Returns what ctags finds in the C++ and Python files of the repository."""
    files = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.py"], check=True, capture_output=True).stdout
    found = subprocess.run(["ctags", "--output-format=json", "--fields=+neKsS", "--kinds-C++=+p",
                            "--languages=C++,Python", "--langmap=C++:.cpp.h", "-L", "-", "-f", "-"],
                           input=files, check=True, capture_output=True).stdout
    return [json.loads(line) for line in found.splitlines()]


def is_function(tag):
    # A method in Python is of the same kind as a field in C++. Lambdas have the
    # name __anon and a number.
    kinds = ("function", "member") if tag["path"].endswith(".py") else ("function", "prototype")
    return tag["kind"] in kinds and not tag["name"].startswith("__anon")


def is_operator(name):
    return name.startswith("__") and name.endswith("__")


def long_functions(functions):
    for tag in functions:
        # A lambda of Python that has a name has no end.
        lines = tag.get("end", tag["line"]) - tag["line"] + 1
        if lines > LINES and not tag["path"].startswith(TEXTS):
            yield tag, f"function {tag['name']} has {lines} lines, {LINES} are the limit"


def large_classes(classes, functions):
    inside = collections.defaultdict(list)
    for tag in functions:
        if not is_operator(tag["name"]):
            inside[tag["path"], tag.get("scope")].append(tag["line"])
    for tag in classes:
        separator = "." if tag["path"].endswith(".py") else "::"
        name = separator.join(filter(None, (tag.get("scope"), tag["name"])))
        methods = sum(tag["line"] <= line <= tag["end"] for line in inside[tag["path"], name])
        limit = WHOLE.get((tag["path"], tag["name"]), METHODS)
        if methods > limit:
            yield tag, f"class {tag['name']} has {methods} methods, {limit} are the limit"


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    found = tags()
    functions = [tag for tag in found if is_function(tag)]
    classes = [tag for tag in found if tag["kind"] in ("class", "struct")]
    findings = [*long_functions(functions), *large_classes(classes, functions)]
    for tag, finding in findings:
        print(f"{tag['path']}:{tag['line']}: {finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
