# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of GPU kernels: what CI runs of it."""

import json
import os
import subprocess

import pytest

from support.runner import BUILD, ROOT, tool

pytest.importorskip("triton")
PROGRAM = """
func.func @double(%x: tensor<256x32xf32>) -> tensor<256x32xf32> {
  %y = arith.addf %x, %x : tensor<256x32xf32>
  return %y : tensor<256x32xf32>
}
"""


def script(*arguments):
    return subprocess.run([ROOT / "benchmarks/drawloom-bench", "gpu-kernels", *map(str, arguments)], capture_output=True,
                          text=True, env={**os.environ, "DRAWLOOM_BUILD_DIR": str(BUILD)})


def test_no_cell_of_the_table_got_worse():
    done = script("--check", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr


def better(results, cell, value):
    for rows in results["cases"].values():
        for row in rows.values():
            for kernel in row.get("kernels", {}).values():
                kernel[cell] = value
    return results


@pytest.mark.parametrize("cell, value, complaint", [
    ("tensor", 1, "MLP 64 relu forward bf16, sm_90a, tensor instructions: 1 before"),
    ("shared", 1024, "MLP 64 relu forward bf16, sm_90a, bytes of shared memory: 1024 before"),
    ("stores", {"256": 1}, "MLP 64 relu forward bf16, sm_90a, mean bytes of global stores: 256.0 before"),
])
def test_a_worse_cell_is_named(tmp_path, cell, value, complaint):
    stored = json.loads((ROOT / "benchmarks/results/gpu-kernels.json").read_text())
    (tmp_path / "better.json").write_text(json.dumps(better(stored, cell, value)))
    done = script("--check", "--quick", "--only=MLP", "--against", tmp_path / "better.json")
    assert done.returncode == 1 and complaint in done.stdout, done.stdout + done.stderr


def test_counts_of_accesses_go_to_a_file(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM)
    command = [BUILD / "bin/drawloom-run", tmp_path / "p.mlir", "--random", "--target=emulator"]
    counts = tmp_path / "counts"
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "DRAWLOOM_EMULATOR_COUNTS": str(counts)})
    launch, = map(json.loads, counts.read_text().splitlines())
    assert launch["kernel"].startswith("double") and launch["blocks"] >= 1
    # 256 * 32 numbers are read and written once, 8 to a sector.
    assert sum(site["ideal"] for site in launch["sites"] if not site["shared"]) == 2 * 1024
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "DRAWLOOM_EMULATOR_COUNTS": str(tmp_path / "none" / "counts")})
    assert done.returncode != 0 and "DRAWLOOM_EMULATOR_COUNTS" in done.stderr


def test_counts_of_some_blocks_are_those_of_all_by_their_share(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM.replace("256", "16384"))

    def count(**environment):
        path = tmp_path / f"counts{len(environment)}"
        subprocess.run([BUILD / "bin/drawloom-run", tmp_path / "p.mlir", "--random", "--target=emulator"], check=True, capture_output=True,
                       env={**os.environ, "DRAWLOOM_EMULATOR_COUNTS": str(path), **environment})
        launch, = map(json.loads, path.read_text().splitlines())
        return launch["blocks"], sum(site["accesses"] for site in launch["sites"])

    (blocks, accesses), (some, of_some) = count(), count(DRAWLOOM_EMULATOR_BLOCKS="3")
    assert some == 3 < blocks and of_some * blocks == accesses * some


def test_bundles_of_programs_hold_their_plan(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM)
    tool("drawloom-translate", "--mlir-to-bundle", "--arch=sm_80", f"--bundle-dir={tmp_path / 'b'}", tmp_path / "p.mlir")
    arch, = json.loads((tmp_path / "b" / "bundle.json").read_text())["architectures"]
    entry, = arch["plan"]["entries"]
    assert entry["name"] == "double"
    assert [step["kernel"] for step in entry["steps"]] == [kernel["name"] for kernel in arch["kernels"]]
