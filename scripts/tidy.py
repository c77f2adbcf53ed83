#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy on the files that changed.

These are the files that differ from the commit at which this branch left
origin's main one, and the 40 whose last commit is the newest: a rule by the
history alone, so that the verdict does not depend on how fast a machine is.
--all examines every file; one takes up to ten seconds, since most checks read
the whole precompiled header.

What a file's verdict depends on (its own text, every header of the project, the
list of checks) is hashed; verdicts without findings are kept in the user's
cache folder, and what has one is not examined again.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path("build")
NEWEST = 40


def git_lines(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def changed(files):
    """Those of `files` that are examined without --all."""
    recent = dict.fromkeys(name for name in git_lines("log", "--format=", "--name-only", "-n", "500") if name in files)
    base = subprocess.run(["git", "merge-base", "HEAD", "origin/HEAD"], capture_output=True, text=True).stdout.strip()
    return {*list(recent)[:NEWEST], *git_lines("diff", "--name-only", base or "HEAD")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    # What parsing needs.
    subprocess.run(["scripts/build.sh", "DrawloomPch", "drawloom-headers"], check=True)

    shared = hashlib.sha256(pathlib.Path(".clang-tidy").read_bytes())
    for name in sorted(git_lines("ls-files", "*.h", "*.td")):
        shared.update(pathlib.Path(name).read_bytes())
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    cache = cache / "drawloom-tidy"
    cache.mkdir(parents=True, exist_ok=True)

    def verdict_file(name):
        text = shared.copy()
        text.update(pathlib.Path(name).read_bytes())
        return cache / text.hexdigest()

    compiled = (BUILD / "compile_commands.json").read_text()
    files = [name for name in git_lines("ls-files", "*.cpp") if f"/{name}\"" in compiled]
    asked = set(files) if options.all else changed(set(files)) & set(files)
    waiting = [name for name in files if name in asked and not verdict_file(name).exists()]

    def run(name):
        result = subprocess.run(["clang-tidy-22", "--quiet", "-p", str(BUILD), name],
                                capture_output=True, text=True)
        if result.returncode == 0:
            verdict_file(name).touch()
        else:
            print(result.stdout, result.stderr, sep="", flush=True)
        return result.returncode == 0

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = list(pool.map(run, waiting)).count(False)
    print(f"clang-tidy: {len(asked)} of {len(files)} files asked for, {len(asked) - len(waiting)} of them unchanged "
          f"since they passed, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
