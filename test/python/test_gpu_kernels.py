# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of GPU kernels, and their checks on the emulated driver: what CI runs of both."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from emulated_driver import LIBRARY
from runner import BUILD, ROOT, tool

pytest.importorskip("triton")
PROGRAM = """
func.func @double(%x: tensor<256x32xf32>) -> tensor<256x32xf32> {
  %y = arith.addf %x, %x : tensor<256x32xf32>
  return %y : tensor<256x32xf32>
}
"""


def script(*arguments):
    return subprocess.run([sys.executable, ROOT / "benchmarks" / arguments[0], *map(str, arguments[1:])], capture_output=True,
                          text=True, env={**os.environ, "DRAWLOOM_BUILD_DIR": str(BUILD)})


def test_no_cell_of_the_table_got_worse():
    done = script("gpu_kernels.py", "--check", "--quick")
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
    done = script("gpu_kernels.py", "--check", "--quick", "--only=MLP", "--against", tmp_path / "better.json")
    assert done.returncode == 1 and complaint in done.stdout, done.stdout + done.stderr


needs_driver = pytest.mark.skipif(not LIBRARY.exists() or not (BUILD / "benchmarks/libdrawloom_gpu.so").exists(),
                                  reason="the emulated driver or the runner is not built")


@needs_driver
def test_kernels_are_right_on_the_emulated_driver():
    done = script("gpu_run.py", "--emulated", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    passed, _, failed, _ = done.stdout.splitlines()[-1].split()
    # Five tables of fragments; each program is right, has the same bits twice and those of the emulator, and is taken by Triton
    # where that is its rival. Networks in bf16 have a CPU's results, too.
    networks = done.stdout.count("packed    MLP")
    assert int(passed) == 5 + 4 * done.stdout.count("packed    ") + networks - 1 >= 20 and networks and failed == "0"
    assert "left out" not in done.stdout and "GLA 64x64 forward bf16: the bits of the emulator" in done.stdout


@needs_driver
def test_a_wrong_result_fails(tmp_path):
    """With a tolerance of nothing, rounding is an error."""
    sys.path.append(str(ROOT / "benchmarks"))
    import gpu_programs
    import gpu_run
    case = next(case for case in gpu_programs.cases() if case.name == "AdamW")
    case.tolerance = 0
    gpu_run.pack(tmp_path / "pack", [case], ["sm_90a"], True)
    done = script("gpu_run.py", "--emulated", "--only=AdamW", "--folder", tmp_path / "pack")
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "8 passed, 1 failed", done.stdout + done.stderr


@needs_driver
def test_a_wrong_bias_of_a_network_in_bf16_fails(tmp_path):
    """One of 80, off by a tenth."""
    sys.path.append(str(ROOT / "benchmarks"))
    import gpu_programs
    import gpu_run
    case = next(case for case in gpu_programs.cases() if case.key == "MLP 16 relu train bf16")
    gpu_run.pack(tmp_path / "pack", [case], ["sm_90a"], True)
    path, = (tmp_path / "pack").glob("*/arguments.npz")
    with np.load(path) as stored:
        arguments = [stored[name] for name in stored.files]
    bias = next(i for i, array in enumerate(arguments) if array.shape == (16,))
    wrong = gpu_run.as_float64(arguments[bias], "bf16").astype(np.float32)
    wrong[3] += 0.1
    arguments[bias] = gpu_programs.store(wrong, "bf16")
    np.savez(path, *arguments)
    done = script("gpu_run.py", "--emulated", "--only=MLP 16 relu train bf16", "--folder", tmp_path / "pack")
    assert done.returncode == 1 and "FAIL  MLP 16 relu train bf16: rms error" in done.stdout, done.stdout + done.stderr


@needs_driver
def test_only_a_pack_that_is_carried_has_a_limit(monkeypatch, tmp_path):
    """What the emulated driver runs stays on this machine."""
    sys.path.append(str(ROOT / "benchmarks"))
    import gpu_programs
    import gpu_run
    case = next(case for case in gpu_programs.cases() if case.name == "AdamW")
    monkeypatch.setattr(gpu_run, "MOST_BYTES", 1 << 10)
    gpu_run.pack(tmp_path / "stays", [case], ["sm_90a"], True)
    with pytest.raises(gpu_run.RunError, match="MiB, more than the 0 that can be carried"):
        gpu_run.pack(tmp_path / "goes", [case], ["sm_90a"], False)


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
