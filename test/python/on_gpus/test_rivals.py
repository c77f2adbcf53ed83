# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sides that the kernel table and benchmarks/gpu.sh compare: how often loops turn, what rivals need."""

import subprocess
import sys

import numpy as np
import pytest

from drawloom_bench.counts import sass, trip_counts
from drawloom_bench.counts import triton as gpu_triton
from drawloom_bench.gpu import rivals
from drawloom_bench.programs import gpu as gpu_programs
from drawloom_bench.programs.gpu_recurrences import Cell
from drawloom_bench.report import kernels as gpu_page
from support.runner import ROOT

# A loop of two loads and an inner one of one load, as nvdisasm prints them.
CODE = """
	.section	.text.k,"ax",@progbits
	//## File "k.ttir", line 2
        /*0000*/                   LDG.E R4, [R2.64] ;
.L_x_1:
	//## File "k.ttir", line 4
        /*0010*/                   LDG.E.128 R4, [R2.64] ;
        /*0020*/                   LDG.E.128 R8, [R2.64] ;
.L_x_2:
	//## File "k.ttir", line 6
        /*0030*/                   LDS.64 R8, [R3] ;
        /*0040*/                   FFMA R1, R2, R3, R4 ;
        /*0050*/               @P1 BRA `(.L_x_2) ;
	//## File "k.ttir", line 8
        /*0060*/               @P1 BRA `(.L_x_1) ;
        /*0070*/                   EXIT ;
"""
TTIR = """tt.func public @k(%arg0: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) : i64 {
    %1 = tt.load %arg0 : !tt.ptr<i32>
    scf.for %j = %c0 to %m step %c1 : i64 {
      gpu.barrier
    }
    scf.yield %a : f32
  }
  tt.return
}"""
WIDTHS = {"32": 4, "64": 8, "128": 16}


RETURNS = """module {
  tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: i32) {
    %c1_i32 = arith.constant 1 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.cmpi sge, %0, %arg1 : i32
    cf.cond_br %2, ^bb1, ^bb2
  ^bb1:  // 2 preds: ^bb0, ^bb2
    tt.return
  ^bb2:  // pred: ^bb0
    %3 = arith.cmpi sgt, %1, %0 : i32
    cf.cond_br %3, ^bb3, ^bb1
  ^bb3:  // pred: ^bb2
    scf.for %arg2 = %c1_i32 to %1 step %c1_i32  : i32 {
      gpu.barrier
    }
    tt.return
  }
}"""


def test_programs_that_return_early_are_told_from_others():
    run = gpu_triton.Turns(RETURNS)
    assert run.axes == {0, 1}
    # Programs x < 2, y > x of 4 x 3 x 5: y = 1 and 2, and y = 2, with loops from 1 to y.
    assert run.a_program([None, 2], (4, 3, 5)) == pytest.approx([2 / 12])
    assert run.share == pytest.approx(3 / 12)


def test_other_branches_are_refused():
    with pytest.raises(gpu_triton.TritonError, match="no early returns"):
        gpu_triton.Turns(RETURNS.replace("^bb3, ^bb1", "^bb3, ^bb2"))


def test_what_early_returns_skip_is_not_executed():
    # One exit is the early return's, the other stands before the last store and ends with the program.
    text = CODE.replace("        /*0000*/", "        /*0000*/               @P0 EXIT ;\n        /*0008*/")
    text = text.replace("        /*0070*/", "        /*0068*/               @P2 EXIT ;\n        /*0070*/")
    code, = sass.parse(text)
    returns = TTIR.replace("%c0 = arith.constant 0 : i64", "cf.cond_br %b, ^bb1, ^bb2")
    whole, half = (gpu_triton.executed(code, returns, [6.0, 12.0], share) for share in (1.0, 0.5))
    # The load in front of the loops and the last two exits; loops are averages already.
    assert sum(whole.values()) - sum(half.values()) == 1.5
    with pytest.raises(gpu_triton.TritonError, match="return early was not found"):
        gpu_triton.executed(sass.parse(CODE)[0], TTIR, [6.0, 12.0], 0.5)


def test_accesses_under_conditions_do_not_count_against_others():
    code, = sass.parse(CODE.replace("LDS.64 R8, [R3] ;", "LDS.64 R8, [R3] ;\n\t//## File \"k.ttir\", line 7\n"
                                    "        /*0038*/              @!P0 STS.64 [R3], R8 ;"))
    # The store is done in one of three turns.
    counted = {("load", 2): 2 * 4, ("load", 4): 2 * 5 * 32, ("shared load", 6): 2 * 15 * 8, ("shared load", 7): 0,
               ("shared store", 7): 2 * 5 * 8}
    assert trip_counts.turns(code, WIDTHS, counted, 2)[0] == pytest.approx(5)


def test_bytes_of_arguments_are_those_of_their_types():
    # As the plans of bundles number them: bf16, f32, bool.
    assert [gpu_programs.plan_bytes({"element": kind, "shape": [3, 5]}) for kind in (2, 1, 7)] == [30, 60, 15]


def test_loops_turn_as_often_as_accesses_were_counted():
    code, = sass.parse(CODE)
    # Two warps, 5 turns of the outer loop and 15 of the inner one.
    counted = {("load", 2): 2 * 4, ("load", 4): 2 * 5 * 32, ("shared load", 6): 2 * 15 * 8}
    assert trip_counts.turns(code, WIDTHS, counted, 2) == pytest.approx([5, 15])
    # Lines that ptxas gave to another op still count for the kind.
    counted = {("load", 2): 2 * 4, ("load", 4): 2 * 5 * 32, ("shared load", 9): 2 * 15 * 8}
    assert trip_counts.turns(code, WIDTHS, counted, 2) == pytest.approx([5, 15])


@pytest.mark.parametrize("where, shared, expected", [("llvm.load at a/b.mlir:20:13", True, ("shared load", 20)),
                                                     ("llvm.store at b.mlir:3:1", False, ("store", 3)),
                                                     ("nvvm.ldmatrix at b.mlir:4:1", True, ("matrix load", 4)),
                                                     ("nvvm.stmatrix at b.mlir:5:1", True, ("shared store", 5)),
                                                     ("llvm.load", False, ("load", 0))])
def test_places_of_accesses_are_read(where, shared, expected):
    assert trip_counts.site(where, shared) == expected


def test_tritons_loops_are_those_of_its_source():
    code, = sass.parse(CODE)
    assert gpu_triton.source_loops(TTIR) == [[3, 9, None], [5, 7, 0]]
    counts = gpu_triton.grouped(gpu_triton.executed(code, TTIR, [10, 30]))
    # One before; two loads and a branch ten times; a load, an addition and a branch thirty times; the end.
    assert counts["all"] == 1 + 10 * 3 + 30 * 3 + 1
    assert counts["global"] == 21 and counts["shared"] == 30 and counts["tensor"] == 0


def test_control_flow_alone_says_how_often_loops_turn(tmp_path):
    """Program p of three turns p + 2 times, its inner loop as often as memory says: 1, 2, 3, ..."""
    kernel = {"grid": [3, 1, 1], "parameters": [{"buffer": 0}], "ttir": "scf.for"}
    function = {"buffers": [{"kind": "argument", "index": 0, "element": "i32", "shape": [8], "data": ""}]}
    text = """tt.func public @k(%arg0: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %p = tt.get_program_id x : i32
  %n = arith.addi %p, %c2 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %at = tt.addptr %arg0, %i : !tt.ptr<i32>, i32
    %m = tt.load %at : !tt.ptr<i32>
    scf.for %j = %c0 to %m step %c1 : i32 {
      gpu.barrier
    }
  }
  tt.return
}"""
    turns = gpu_triton.turns_of(kernel, function, text, lambda: [np.arange(1, 9, dtype=np.int32)])
    assert turns == [(2 + 3 + 4) / 3, (3 + 6 + 10) / 3]


def test_averages_say_where_triton_spills():
    def row(total):
        return {"run": {"all": total}, "local": 0}

    results = {"rows": {"a": 10, "b": 10}, "cases": {"a": {"sm_90a": row(100)}, "b": {"sm_90a": row(400)}},
               "triton": {"a": {"sm_90a": row(400)}, "b": {"sm_90a": {**row(100), "local": 3}}}}
    text = gpu_page.averages(results, "sm_90a")
    assert "geometric mean 1.00 over 2 programs. In 1 of the 2, our kernels execute no more instructions than Triton's" in text
    assert "the 1 programs that Triton compiles without local memory, the mean is 0.25" in text
    assert gpu_page.rival_cells(results["cases"]["b"]["sm_90a"], results["triton"]["b"]["sm_90a"], 10) == ["40.0", "10.0*", "4.00"]


def gpu(*arguments):
    return subprocess.run([ROOT / "benchmarks/gpu.sh", *map(str, arguments)], capture_output=True, text=True)


def test_flashkat_is_taken_from_a_folder(tmp_path):
    kernels = tmp_path / "rational_kat" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "flash_rational_triton.py").write_text(
        "class FlashRationalTriton1DGroup:\n    @staticmethod\n    def apply(x, a, b):\n        return x + a + b\n")
    assert rivals.flashkat(tmp_path)(1, 2, 3) == 6
    assert str(tmp_path) not in sys.path
    done = gpu("--emulated", "--flashkat", tmp_path / "none")
    assert done.returncode == 2 and "has no package 'rational_kat'; name a checkout of" in done.stderr
    (kernels / "flash_rational_triton.py").write_text("import a_module_that_is_missing\n")
    done = gpu("--emulated", "--flashkat", tmp_path)
    assert done.returncode == 2 and "fails: ModuleNotFoundError" in done.stderr and not done.stdout


def test_flash_linear_attention_is_taken_from_a_folder(monkeypatch, tmp_path):
    """A package of that name, whose operator gives what it gets, and the recurrence's arguments in the order that theirs takes."""
    done = gpu("--emulated", "--fla", tmp_path)
    assert done.returncode == 2 and "has no package 'fla'; name the folder of: pip install" in done.stderr
    for name in ("gated_delta_rule", "gla", "simple_gla"):
        (tmp_path / "fla" / "ops" / name).mkdir(parents=True)
        for package in ("fla", "fla/ops"):
            (tmp_path / package / "__init__.py").touch()
        (tmp_path / "fla" / "ops" / name / "__init__.py").write_text(
            f"def chunk_{name}(q, k, v, g, *more):\n    return (q, k, v, g, more), None\n")
    rivals.Folders(fla=tmp_path).check()
    monkeypatch.setattr(sys, "path", list(sys.path))
    installed = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "fla"}
    monkeypatch.setattr(rivals, "to_torch", lambda torch, array, element: array.shape)
    taken = []
    monkeypatch.setattr(rivals, "step_of", lambda torch, network, x, p, cotangent: taken.append((network(x, p), cotangent)))
    for cell in (Cell("gla", 8, 16, "bf16", "train"), Cell("gated_delta", 8, 16, "bf16", "forward")):
        arguments = cell.arguments(np.random.default_rng(1), 128)
        assert list(rivals.of_fla(None, cell.case, arguments, tmp_path)) == ["flash-linear-attention"]
    keys, values = (1, 64, 2, 8), (1, 64, 2, 16)
    assert taken == [((keys, keys, values, keys, ()), values), ((keys, keys, values, (1, 64, 2), ((1, 64, 2),)), None)]
    for name in [name for name in sys.modules if name.split(".")[0] == "fla"]:
        del sys.modules[name]
    sys.modules.update(installed)


@pytest.mark.parametrize("key, names", [
    ("MLP 64 rational train bf16", ["torch", "torch.compile", "GELU block"]), ("GLA 128x256 train bf16", ["flash-linear-attention"]),
    ("rational forward bf16", ["torch", "torch.compile", "FlashKAT"]), ("RGCN layer f32", [])])
def test_every_case_names_its_rivals(tmp_path, key, names):
    """Triton is one where the pack has the program for it."""
    assert rivals.of(key, tmp_path, {"flashkat": "there"}) == names
    (tmp_path / "ttir.json.gz").touch()
    assert rivals.of(key, tmp_path, {"flashkat": "there"}) == names + ["Triton"] * ("GLA 128" not in key)


@pytest.mark.parametrize("key", ["rational forward f32", "rational backward f32", "MLP 64 rational train f32", "LoRA 768 f32", "CSR product f32",
                                 "block-sparse product f32"])
def test_torchs_programs_compute_what_ours_do(monkeypatch, key):
    """Rivals and references are two ways to the same numbers."""
    torch = pytest.importorskip("torch")
    from drawloom_bench.gpu import cases, checks, reference
    case = next(case for case in cases.all_cases() if case.key == key)
    case.rows = case.small
    monkeypatch.setattr(torch.Tensor, "cuda", lambda tensor: tensor)
    arguments = case.arguments(np.random.default_rng(3), case.small)
    found = rivals.of_torch(torch, case, arguments)["torch"]()
    found = [tensor.detach().double().numpy() for tensor in (found if isinstance(found, tuple) else [found]) if tensor is not None]
    expected = reference.reference(case, arguments, case.small, "cpu").expected
    # Of what trains, torch gives the gradients alone.
    assert checks.error_of(found, expected[-len(found):], checks.largest) <= case.tolerance


def test_exported_programs_come_back_as_they_were(tmp_path):
    function = {"name": "f", "kernels": [], "buffers": [{"data": "00ff"}]}
    rivals.write_exported(tmp_path / "t.json.gz", function)
    assert rivals.read_exported(tmp_path / "t.json.gz") == function
