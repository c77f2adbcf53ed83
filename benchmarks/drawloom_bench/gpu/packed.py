# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what a pack holds."""

import json
import pathlib

import numpy as np

from drawloom_bench.gpu import runtime


def load(path):
    """The arrays of a file; of one result there is but one."""
    stored = np.load(path)
    if not hasattr(stored, "files"):
        return [stored]
    with stored:
        return [stored[name] for name in stored.files]


def details(request):
    """The folder of a case and what case.json says."""
    folder = pathlib.Path(request["folder"])
    return folder, json.loads((folder / "case.json").read_text())


def library_of(request):
    return runtime.Library(pathlib.Path(request["pack"]) / runtime.LIBRARY)
