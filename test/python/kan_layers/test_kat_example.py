# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example examples/kat, in small: it trains both models alike and leaves its pictures."""

import re
import subprocess
import sys

from PIL import Image

from support.runner import ROOT

SCRIPT = ROOT / "examples" / "kat" / "kat.py"


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def test_both_models_learn_alike_and_pictures_are_left(tmp_path):
    done = run("--epochs=6", "--seeds=1", "--depth=1", "--width=32", "--threads=1", "--no-compile", f"--output={tmp_path}")
    assert done.returncode == 0, done.stderr[-2000:]
    ours, plain = (float(x) for x in re.findall(r"accuracy ([0-9.]+) %", done.stdout))
    # Ten digits: chance is 10 %. The two differ by rounding, which 66 steps enlarge.
    assert ours > 40 and abs(ours - plain) < 15
    assert "a training step with Drawloom" in done.stdout and "torch: " in done.stdout
    for name in ("training", "activations", "digits"):
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert min(picture.size) > 200 and len(picture.getcolors(1 << 20)) > 8


def test_numbers_that_cannot_be_are_refused():
    for argument, words in (("--epochs=0", "it is 1 or more"), ("--width=30", "multiple of 8"), ("--epoch=3", "unrecognized")):
        done = run(argument)
        assert done.returncode == 2 and words in done.stderr
