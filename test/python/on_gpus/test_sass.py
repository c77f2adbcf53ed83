# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`drawloom-bench sass`: the mix of instructions of machine code."""

import pathlib

import pytest

from drawloom_bench.counts import sass
from support.runner import ROOT, tool

TEXT = """
	.section	.text.k,"ax",@progbits
.text.k:
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
        /*0010*/                   LDG.E.128.CONSTANT R4, [R2.64] ;
.L_x_1:
        /*0020*/              @!P0 LDS.U.128 R8, [R3] ;
        /*0030*/                   HMMA.16816.F32.BF16 R4, R8, R12, R4 ;
        /*0038*/              @!PT LDS RZ, [RZ] ;
        /*0040*/                   FFMA R1, R2, R3, R4 ;
        /*0050*/               @P1 BRA `(.L_x_1) ;
        /*0060*/                   STG.E.U16 [R2.64], R4 ;
        /*0070*/                   STL.64 [R1], R4 ;
        /*0080*/                   EXIT ;
.L_x_2:
        /*0090*/                   BRA `(.L_x_2);
        /*00a0*/                   NOP;
"""


def test_classes_widths_and_loops_are_told_apart():
    kernel, = sass.parse(TEXT)
    assert kernel.name == "k"
    assert kernel.counts == {"MOV": 1, "LDG.128": 1, "LDS.128": 1, "tensor": 1, "F-ops": 1, "branch": 3, "STG.16": 1, "local": 1}
    loop, = kernel.loops
    assert loop.counts == {"LDS.128": 1, "tensor": 1, "F-ops": 1, "branch": 1}
    assert kernel.exits == []


def test_early_exits_are_found():
    kernel, = sass.parse(TEXT.replace("LDG.E.128.CONSTANT R4, [R2.64] ;", "LDG.E.128.CONSTANT R4, [R2.64] ;\n"
                                      "        /*0018*/               @P0 EXIT ;"))
    assert kernel.exits == [2]


def test_collectives_under_predicates_of_lanes_are_found():
    text = TEXT.replace("HMMA.16816", "@!P2 HMMA.16816").replace("FFMA R1, R2, R3, R4 ;", "@UP0 BAR.SYNC 0x0 ;\n        /*0048*/              @P3 FFMA R1, R2, R3, R4 ;")
    kernel, = sass.parse(text)
    assert kernel.predicated == ["@!P2 HMMA.16816.F32.BF16 R4, R8, R12, R4"]


COPY = "PLOP3.LUT P2, PT, PT, PT, UP0, 0x80, 0x0"


@pytest.mark.parametrize("between, found", [
    (["ISETP.GE.AND P2, PT, R1, R2, PT", COPY], False),
    ([COPY, "FFMA R1, R2, R3, R4"], False),
    ([COPY.replace("UP0", "P0")], True),
    ([COPY, "ISETP.GE.AND P2, PT, R1, R2, PT"], True),
    ([COPY, "IADD3 R1, P2, R2, R3, RZ"], True),
    ([COPY, "R2P PR, R1, 0x7f"], True),
    (["@P0 " + COPY], True),
])
def test_copies_of_uniform_predicates_are_the_warps_own(between, found):
    lines = "".join(f"        /*{0x21 + i:04x}*/                   {one} ;\n" for i, one in enumerate([*between, "@!P2 BAR.SYNC 0x0"]))
    kernel, = sass.parse(TEXT.replace("        /*0030*/", lines + "        /*0030*/"))
    assert kernel.predicated == (["@!P2 BAR.SYNC 0x0"] if found else [])


def test_copies_of_uniform_predicates_end_at_labels():
    lines = f"        /*0011*/                   {COPY} ;\n.L_x_1:\n        /*0012*/                   @P2 BAR.SYNC 0x0 ;\n"
    kernel, = sass.parse(TEXT.replace(".L_x_1:\n", lines))
    assert kernel.predicated == ["@P2 BAR.SYNC 0x0"]


@pytest.mark.parametrize("instruction, group", [("LDSM.16.M88.4 R4, [R2]", "LDSM"), ("LDGDEPBAR", "BAR"),
                                                ("STSM.16.M88.4 [R2], R4", "STSM.128"), ("STSM.16.MT88.2 [R2], R4", "STSM.64"),
                                                ("STSM.16.M88 [R2], R4", "STSM.32"),
                                                ("LDGSTS.E.BYPASS.128 [R1], [R2.64]", "LDGSTS.128"),
                                                ("LDG.E.U8 R1, [R2.64]", "LDG.8"), ("FFMA2 R0, R1, R2, R3", "packed"),
                                                ("HGMMA.64x64x16.F32.BF16 R24", "tensor"), ("IMAD R1, R2, R3, R4", "integer"),
                                                ("FROBNICATE R1", "other"), ("LDC R1, c[0x0][0x28]", "constant")])
def test_longest_name_decides(instruction, group):
    assert sass.classify(instruction) == group


def test_machine_code_of_a_kernel_is_counted(tmp_path):
    triton = pytest.importorskip("triton")
    ptxas = pathlib.Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    tool("drawloom-translate", "--mlir-to-bundle", "--arch=sm_80,sm_90a", f"--ptxas={ptxas}", f"--bundle-dir={tmp_path / 'b'}",
         ROOT / "test/codegen/nvptx/emit/Inputs/add.mlir")
    found = sass.cubins(tmp_path / "b")
    assert [path.parent.name for path in found] == ["sm_80", "sm_90a"]
    for path in found:
        kernel, = sass.disassemble(path)
        assert kernel.counts["LDG.32"] == 2 and kernel.counts["STG.32"] == 1 and kernel.counts["F-ops"] == 1
        assert "local" not in kernel.counts


def test_what_is_no_cubin_is_an_error(tmp_path):
    (tmp_path / "x.cubin").write_bytes(b"nothing")
    pytest.importorskip("triton")
    with pytest.raises(sass.SassError, match="x.cubin"):
        sass.disassemble(tmp_path / "x.cubin")
