# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are broken one place at a time are reported; `drawloom-bench gpu-mutations` does it for all programs."""

import subprocess

from drawloom_bench.counts import mutations as gpu_mutations
from on_gpus import mutations
from support.emulated_driver import needs_driver
from support.runner import ROOT


@needs_driver
def test_the_emulator_reports_changes_of_some_programs():
    done = subprocess.run([ROOT / "benchmarks/drawloom-bench", "gpu-mutations", "--quick", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(gpu_mutations.QUICK)} of" in done.stdout


def program(**verdicts):
    numbers = {verdict: verdicts.get(verdict.replace(" ", "_"), 0) for verdict in gpu_mutations.VERDICTS}
    survivors = [{"kernel": "k", "line": 1, "kind": "barrier", "change": "without it", "verdict": "unnoticed", "why": ""}]
    return {"p": {"kinds": {"barrier": {"places": 100, "tried": sum(numbers.values()), **numbers, "by": {"race": numbers["reported"]}}},
                  "survivors": survivors * numbers["unnoticed"]}}


def test_the_check_fails_where_too_little_is_reported(capsys):
    assert gpu_mutations.check(program(reported=19, wrong=1, no_effect=30)) == 0
    # Of barriers and the like, and of all.
    assert gpu_mutations.check(program(reported=18, wrong=2, no_effect=30)) == 2
    assert "18 of 20" in capsys.readouterr().out
    assert gpu_mutations.check(program(reported=99, unnoticed=1)) == 1
    assert "without it" in capsys.readouterr().out


def test_the_page_has_the_table_of_the_results():
    assert gpu_mutations.table(gpu_mutations.load()) in gpu_mutations.PAGE.read_text()


LOOP = """llvm.func @k(%x: !llvm.ptr<1> {llvm.readonly}) {
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %lane = llvm.and %t, %c31 : i32
  %row = llvm.mul %lane, %c4 : i32
  llvm.br ^bb1(%c4 : i32)
^bb1(%i: i32):
  %again = llvm.icmp "slt" %i, %c31 : i32
  llvm.cond_br %again, ^bb2, ^bb4
^bb2:
  %in = llvm.icmp "slt" %lane, %c4 : i32
  llvm.cond_br %in, ^bb3, ^bb1(%c31 : i32)
^bb3:
  nvvm.barrier0
  %p = llvm.getelementptr %x[%row] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %q = llvm.getelementptr inbounds %p[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.br ^bb1(%c31 : i32)
^bb4:
  llvm.return
}"""


def test_changes_are_of_the_places_that_they_name():
    found = {}
    for mutation in mutations.mutations(LOOP):
        found.setdefault(mutation.kind, []).append(mutation.line)
    assert {kind: sorted(lines) for kind, lines in found.items()} == {
        "barrier": [15], "comparison": [9, 12],
        # That of the loop is none.
        "mask": [12],
        "thread bits": [5], "stride": [6], "global offset": [16, 17]}
