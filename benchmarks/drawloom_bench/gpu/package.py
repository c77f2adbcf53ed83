# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package with CUDA tensors of torch: the cases of test/python/on_gpus/torch_on_gpus.py. A pack has the package unpacked, as a
wheel holds it; a run on the emulated driver takes that of the build folder."""

import os
import pathlib
import re
import sys
import zipfile

FILES = ("on_gpus/torch_on_gpus.py", "on_gpus/real_torch.py", "on_gpus/__init__.py")
# Enough for a test of this stage: test/python/on_gpus/test_torch_cuda.py has all of them on the emulated driver.
EMULATED_CASES = ("op_on_the_second_device", "a_captured_backward_pass")


def names(folder):
    """Of all cases, in a folder that has the files."""
    return re.findall(r"@case\ndef (\w+)", (folder / FILES[0]).read_text())


def unpack(wheel, other, folder):
    """Into the pack: Drawloom's wheel and what it depends on (nanobind-backend) for the other machine's Python."""
    for file in (wheel, other):
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)


def run(request):
    """One case, in this process."""
    sys.path[:0] = request["paths"]
    os.environ["DRAWLOOM_TEST_DEVICES"] = "emulated" if request["emulated"] else "real"
    os.environ.setdefault("DRAWLOOM_CACHE", str(pathlib.Path(request["pack"]) / "cache"))
    try:
        from on_gpus import torch_on_gpus
    except ImportError as error:
        return "skipped", f"the package or torch cannot be imported: {error}", {}
    try:
        raised = torch_on_gpus.outcome(request["subject"])
    except torch_on_gpus.Skipped as error:
        return "skipped", str(error), {}
    if raised is None:
        return "ok", "as on the CPU", {}
    return "wrong", raised.strip().splitlines()[-1][:300], {"raised": raised}
