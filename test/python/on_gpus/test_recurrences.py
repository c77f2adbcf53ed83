# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of recurrences on GPUs: a cell is what it was, and their kernels are found, compiled and counted without a GPU."""

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess

import pytest

from support.runner import BUILD, ROOT

pytest.importorskip("triton")
from drawloom_bench.counts import fla as fla_kernels  # noqa: E402
from drawloom_bench.counts import triton as gpu_triton  # noqa: E402


def script(*arguments):
    return subprocess.run([ROOT / "benchmarks/drawloom-bench", "gpu-recurrences", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "DRAWLOOM_BUILD_DIR": str(BUILD)})


def test_a_cell_did_not_get_worse():
    done = script("--check", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_worse_cell_is_named(tmp_path):
    stored = json.loads((ROOT / "benchmarks/results/gpu-recurrences.json").read_text())
    row = stored["cases"]["GLA 64x64 forward bf16"]["sm_90a"]
    row["run"]["all"] //= 2
    (tmp_path / "better.json").write_text(json.dumps(stored))
    done = script("--check", "--quick", "--against", tmp_path / "better.json")
    assert done.returncode == 1 and f"executed instructions: {row['run']['all']} before" in done.stdout, done.stdout + done.stderr


def test_no_cell_executes_less_than_its_products():
    """The state is written and read: 2 K V multiply-adds of a token and head, 32 in an instruction, or 2048 on tensor cores, 1024 of TF32."""
    stored = json.loads((ROOT / "benchmarks/results/gpu-recurrences.json").read_text())
    tokens = stored["shape"]["batch"] * stored["shape"]["tokens"] * stored["shape"]["heads"]
    assert stored["cases"]
    for key, rows in stored["cases"].items():
        keys, values = map(int, re.search(r"(\d+)x(\d+)", key).groups())
        for arch, row in rows.items():
            least = tokens * 2 * keys * values / {"f32": 32, "tf32": 1024, "bf16": 2048}[key.split()[-1]]
            assert "error" in row or row["run"] is None or row["run"]["all"] > least, (key, arch)


@pytest.fixture(scope="module")
def recording():
    """One process, which takes seconds to import the package."""
    if importlib.util.find_spec("fla") is None:
        pytest.skip("flash-linear-attention is not installed")
    with fla_kernels.Launches("sm_90a") as one:
        yield one


@pytest.fixture(scope="module")
def launches(recording):
    """Of GLA, B = 2, T = 256, H = 2, K = V = 64."""
    return recording.ask("gla", "bf16", [2, 256, 2, 64, 64])


def test_launches_of_both_passes_are_recorded(launches):
    assert [one["name"] for one in launches["forward"]] == [
        "chunk_local_cumsum_vector_kernel", "chunk_fwd_kernel_h", "chunk_gla_fwd_A_kernel_intra_sub_inter",
        "chunk_gla_fwd_A_kernel_intra_sub_intra", "chunk_gla_fwd_kernel_o"]
    assert {"chunk_bwd_kernel_dh", "chunk_gla_bwd_kernel_intra"} <= {one["name"] for one in launches["backward"]}
    states = launches["forward"][1]
    # A block of 64 x 64 covers a state; what is smaller is tried only after that.
    assert states["tried"][0]["tuned"] == {"BK": 64, "BV": 64} and states["tried"][0]["grid"] == [4, 1, 1]
    # k, v and the states of 4 chunks in bf16, cumulative decays in f32.
    tokens = 2 * 256 * 2
    assert states["tried"][0]["bytes"] == tokens * 64 * (2 + 2 + 4) + tokens // 64 * 64 * 64 * 2


def test_loops_and_early_returns_are_counted(launches):
    by_name = {one["name"]: one["tried"][0] for one in launches["forward"] + launches["backward"]}
    # The states go through 4 chunks of 64 tokens; of 4 x 4 squares of scores 6 are below the diagonal.
    assert fla_kernels.turns_of(by_name["chunk_fwd_kernel_h"]) == ([4.0], 1.0)
    assert fla_kernels.turns_of(by_name["chunk_gla_fwd_A_kernel_intra_sub_inter"])[1] == 6 / 16
    # Of 4 sub-chunks one has 0, 1, 2 and 3 before it, and as many behind it; 16 tokens in each.
    turns, share = fla_kernels.turns_of(by_name["chunk_gla_bwd_kernel_intra"])
    assert (turns, share) == ([1.5, 16.0, 1.5, 16.0], 1.0)


def test_a_kernel_is_compiled_and_counted(launches, tmp_path):
    cumulative = launches["forward"][0]
    with gpu_triton.Compiler(tmp_path) as compiler:
        found = fla_kernels.count(cumulative, "sm_90a", compiler)
    assert found["local"] == 0 and found["registers"] > 0 and found["tried"] == len(cumulative["tried"])
    # 64 numbers of a token and head are read and written once, 4 at most of them by a lane at once.
    assert found["run"]["global"] >= 2 * 256 * 2 * 64 * 2 / 32 / 4
    assert found["run"]["tensor"] == 0 and found["run"]["all"] > found["run"]["global"]


def without(monkeypatch, package, version=None):
    installed = importlib.metadata.version

    def found(name):
        if name != package:
            return installed(name)
        if version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(importlib.metadata, "version", found)


def test_a_missing_package_is_named(monkeypatch):
    without(monkeypatch, "flash-linear-attention")
    with pytest.raises(fla_kernels.FlaError, match="flash-linear-attention is not installed; pip install .*==0.6.0, or --keep-fla"):
        fla_kernels.Launches("sm_90a")


def test_another_version_is_named(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda _: fla_kernels.VERSION)
    without(monkeypatch, "fla-core", "0.5.1")
    with pytest.raises(fla_kernels.FlaError, match="fla-core is 0.5.1, the table is of 0.6.0; pip install"):
        fla_kernels.check_installed()


def test_what_the_package_raises_is_passed_on(recording):
    with pytest.raises(fla_kernels.FlaError, match="flash-linear-attention, gla f8"):
        recording.ask("gla", "f8", [1, 64, 1, 64, 64])


def test_an_unknown_cell_is_an_error(tmp_path):
    done = script("--check", "--only=nothing like it")
    assert done.returncode == 2 and "no case has 'nothing like it' in its name; names are like" in done.stderr
    done = script("--check", "--against", tmp_path / "none.json")
    assert done.returncode == 2 and "has no results to compare with; write them with --write" in done.stderr
