# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported Triton kernels: they compute what the program says, and Triton compiles them.

Values come from ttir_interpreter.py, which reads the text that Triton prints
after parsing a kernel; the reference is Drawloom's interpreter in float64.
"""

import json

import numpy as np
import pytest

from runner import assert_close, run, tool
from test_block_programs import CASES
from ttir_interpreter import run_function

pytest.importorskip("triton")

TOLERANCE = 2e-5


def export(module, tmp_path, *options):
    path = tmp_path / "program.mlir"
    path.write_text(module)
    return json.loads(tool("drawloom-translate", "--mlir-to-ttir-json", path, *options))["functions"]


@pytest.mark.parametrize("name", CASES)
def test_block_program(tmp_path, name):
    case = CASES[name]()
    function, = export(case.module, tmp_path, "--compile-from=blocks")
    results = run_function(function, case.arguments, tmp_path)
    assert_close(results, case.run(target="interpreter"), TOLERANCE)
