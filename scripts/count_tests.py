#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums JUnit files: count_tests.py NAME=FILE... The last line is "N passed, N failed".

A file that is missing, unreadable or without a single test counts as one
failure: a suite that did not run must not look like one that passed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    """(passed, failed, skipped) of one JUnit file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    total_passed = total_failed = 0
    print()
    for argument in sys.argv[1:]:
        name, path = argument.split("=", 1)
        try:
            passed, failed, skipped = count(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"{name}: no result ({error})")
            passed, failed, skipped = 0, 1, 0
        if passed + failed == 0:
            print(f"{name}: not one test ran")
            failed = 1
        print(f"{name}: {passed} passed, {failed} failed, {skipped} skipped on this machine")
        total_passed += passed
        total_failed += failed
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main())
