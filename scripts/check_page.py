#!/usr/bin/env python3
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what a Markdown page tells its reader to do.

check_page.py PAGE --folder=FOLDER --prefix=PREFIX goes through the page's fenced
blocks in their order, in an empty folder. A block whose fence names a file, as in
```c++ file=gelu.cpp, is written to it; a block of sh is run, with PREFIX (where
Drawloom is installed) in the environment and its tools on PATH, and must succeed; a
block of text right after it is what it prints. A sh block whose fence says
needs=MODULE is left out where Python has no such module.
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

FENCE = re.compile(r"^```([a-z+]+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--at-least", type=int, default=1, help="blocks of sh that the page has")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    environment = {**os.environ, "PREFIX": str(options.prefix), "PYTHON": sys.executable,
                   "PATH": f"{options.prefix}/bin{os.pathsep}{os.environ['PATH']}"}
    text = options.page.read_text()
    printed, ran = None, 0
    for language, info, contents in FENCE.findall(text):
        words = dict(word.split("=", 1) for word in info.split() if "=" in word)
        if "file" in words:
            (options.folder / words["file"]).write_text(contents)
        elif language == "sh":
            ran += 1
            printed = None
            if "needs" in words and not importlib.util.find_spec(words["needs"]):
                continue
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", contents], cwd=options.folder, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                sys.exit(f"{options.page}: this fails ({done.returncode}):\n{contents}{done.stdout}{done.stderr}")
            printed = done.stdout
        elif language == "text" and printed is not None:
            if not printed.endswith(contents):
                sys.exit(f"{options.page}: what is said to be printed\n{contents}is\n{printed}")
            printed = None
    if ran < options.at_least:
        sys.exit(f"{options.page}: {ran} blocks of sh, of {options.at_least}")


if __name__ == "__main__":
    main()
