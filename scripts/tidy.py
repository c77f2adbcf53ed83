#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy on the files whose text changed since they last passed.

What a file's verdict depends on (its own text, every header of the project, the
list of checks) is hashed; verdicts without findings are kept in the user's
cache folder, so that a fresh clone does not start from nothing. Files are taken
by the date of their last commit, newest first, until the time is up.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time

BUILD = pathlib.Path("build-tidy")


def configure():
    """A build folder of clang's own, for its flags and its precompiled header.

    Only what parsing needs is built: generated headers and that header.
    """
    if not (BUILD / "build.ninja").exists():
        subprocess.run(
            ["cmake", "-S", ".", "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_C_COMPILER=clang-22",
             "-DCMAKE_CXX_COMPILER=clang++-22"], check=True, stdout=subprocess.DEVNULL)
    else:
        # A dialect that is new since then has headers that this build does not know of.
        subprocess.run(["cmake", str(BUILD)], check=True, stdout=subprocess.DEVNULL)
    targets = subprocess.run(["ninja", "-C", str(BUILD), "-t", "targets", "all"], check=True,
                             capture_output=True, text=True).stdout
    generated = re.findall(r"^(Drawloom\w+IncGen): phony", targets, re.MULTILINE)
    subprocess.run(["ninja", "-C", str(BUILD), "DrawloomPch", *generated], check=True,
                   stdout=subprocess.DEVNULL)


def git_lines(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def newest_first(files):
    rank = {}
    for line in git_lines("log", "--format=", "--name-only", "-n", "300"):
        rank.setdefault(line, len(rank))
    return sorted(files, key=lambda file: rank.get(file, len(rank)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240)
    options = parser.parse_args()
    configure()

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
    waiting = [name for name in newest_first(files) if not verdict_file(name).exists()]
    end = time.monotonic() + options.seconds

    def run(name):
        if time.monotonic() > end:
            return None
        result = subprocess.run(["clang-tidy-22", "--quiet", "-p", str(BUILD), name],
                                capture_output=True, text=True)
        if result.returncode == 0:
            verdict_file(name).touch()
        else:
            print(result.stdout, result.stderr, sep="", flush=True)
        return result.returncode == 0

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(run, waiting))
    late = verdicts.count(None)
    failed = verdicts.count(False)
    print(f"clang-tidy: {len(waiting) - late} of {len(files)} files examined now, "
          f"{len(files) - len(waiting)} unchanged since they passed, {failed} with findings"
          + (f", {late} left for the next run (time is up)" if late else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
