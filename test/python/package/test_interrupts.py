# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C while a program is compiled, and file systems that lack what a disk has."""

import os
import signal
import subprocess

import numpy as np
import pytest

from support.runner import BUILD, SANITIZED, preload_library

FIT = BUILD / "bin" / "embed-fit"
LAYERS = 3


def network():
    """A program that takes some tenths of a second to compile."""
    x, w = "tensor<256x32xf32>", "tensor<32x32xf32>"
    layers = "".join(f"""
  %z{i} = linalg.matmul ins(%h{i}, %w : {x}, {w}) outs(%zero : {x}) -> {x}
  %h{i + 1} = kan.silu %z{i} : {x}""" for i in range(LAYERS))
    return f"""
func.func private @loss(%h0: {x}, %w: {w}) -> tensor<f32> {{
  %zero = arith.constant dense<0.0> : {x}{layers}
  %l = loss.mse %h{LAYERS}, %h0 : {x} -> tensor<f32>
  return %l : tensor<f32>
}}
func.func @step(%x: {x}, %w: {w}) -> (tensor<f32>, {w}) {{
  %l, %dw = ad.value_and_grad @loss(%x, %w) wrt [1] : ({x}, {w}) -> (tensor<f32>, {w})
  return %l, %dw : tensor<f32>, {w}
}}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "network.mlir"
    path.write_text(network())
    return path


def commands(source, folder):
    """What each tool does for long, all of its files below `folder`."""
    passes = ["--differentiate", "--inline", "--canonicalize", "--decompose-graph", "--merge-elementwise"]
    return {
        "run": [BUILD / "bin/drawloom-run", source, "--random", f"--cache={folder}/cache",
                f"--output={folder}/results"],
        "run-dumps": [BUILD / "bin/drawloom-run", source, "--random", f"--dump-phases-to={folder}/phases"],
        "opt": [BUILD / "bin/drawloom-opt", *passes * 4, source, "-o", folder / "out.mlir"],
        "translate": [BUILD / "bin/drawloom-translate", "--mlir-to-object", source, "-o", folder / "out.o"],
        "embed": [FIT],
    }


def start(command, folder, **environment):
    # A process in the background of a shell ignores SIGINT, and its children do.
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "DRAWLOOM_CACHE": str(folder / "cache"), **environment},
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def files_in(folder):
    # pruneCache's own mark of when it last looked is no part of any result.
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*")
            if f.is_file() and f.name != "llvmcache.timestamp"}


@pytest.fixture(scope="module")
def preload(tmp_path_factory):
    return preload_library(tmp_path_factory.mktemp("preload"))


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer has a malloc of its own")
@pytest.mark.parametrize("tool", ["run", "run-dumps", "opt", "translate", "embed"])
def test_interrupt_leaves_whole_files_or_none(tmp_path, source, preload, tool):
    whole = tmp_path / "whole"
    whole.mkdir()
    process = start(commands(source, whole)[tool], whole, LD_PRELOAD=preload, PRELOAD_COUNT=str(tmp_path / "count"))
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    expected = files_in(whole)
    allocations = int((tmp_path / "count").read_text())
    for percent in (5, 30, 50, 70, 90):
        folder = tmp_path / f"at-{percent}"
        folder.mkdir()
        process = start(commands(source, folder)[tool], folder, LD_PRELOAD=preload,
                        PRELOAD_AT=str(allocations * percent // 100))
        _, errors = process.communicate()
        assert process.returncode == -signal.SIGINT, errors
        for name, contents in files_in(folder).items():
            assert contents == expected[name], f"{name} after {percent} %"
        # What is left does not stand in the way of the next one.
        process = start(commands(source, folder)[tool], folder)
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert files_in(folder) == expected


def start_lacking(preload, lacks, command, folder):
    return start(command, folder, LD_PRELOAD=preload, PRELOAD=lacks, PRELOAD_FOLDER=str(folder / "cache"))


@pytest.mark.parametrize("moment", ["interrupt-write", "interrupt-link"])
@pytest.mark.parametrize("tool", ["run", "embed"])
def test_interrupt_amid_a_cache_entry_leaves_nothing_of_it(tmp_path, source, preload, tool, moment):
    command = commands(source, tmp_path)[tool]
    process = start_lacking(preload, moment, command, tmp_path)
    process.communicate()
    assert process.returncode == -signal.SIGINT
    assert files_in(tmp_path) == {}
    process = start(command, tmp_path)
    process.communicate()
    assert process.returncode == 0
    assert len(files_in(tmp_path / "cache")) == 1


def test_interrupt_amid_results_keeps_the_old_ones(tmp_path, source, preload):
    (tmp_path / "cache").mkdir()
    results = tmp_path / "cache" / "results.npz"
    command = [BUILD / "bin/drawloom-run", source, "--random", f"--output={results}"]
    start(command, tmp_path).communicate()
    expected = files_in(tmp_path)
    assert list(expected) == ["cache/results.npz"]
    for moment in ("interrupt-write", "interrupt-rename"):
        process = start_lacking(preload, moment, [*command, "--seed=1"], tmp_path)
        process.communicate()
        assert process.returncode == -signal.SIGINT
        assert files_in(tmp_path) == expected


def cached_run(source, folder):
    return [BUILD / "bin/drawloom-run", source, "--random", f"--cache={folder}/cache", f"--output={folder}/r.npz"]


@pytest.mark.parametrize("lacks", ["no-unnamed,no-link,no-locks", "no-link,no-locks"])
def test_cache_needs_neither_links_nor_locks(tmp_path, source, preload, lacks):
    for _ in range(2):
        process = start_lacking(preload, lacks, cached_run(source, tmp_path), tmp_path)
        _, errors = process.communicate()
        assert process.returncode == 0 and errors == ""
        (entry,) = (tmp_path / "cache").glob("llvmcache-*")
        written = entry.stat().st_mtime_ns
    assert entry.stat().st_mtime_ns == written
    # A damaged entry is replaced there, too.
    entry.write_bytes(entry.read_bytes()[:-100])
    process = start_lacking(preload, lacks, cached_run(source, tmp_path), tmp_path)
    assert "cut off" in process.communicate()[1]
    process = start_lacking(preload, lacks, cached_run(source, tmp_path), tmp_path)
    assert process.communicate()[1] == ""


@pytest.mark.parametrize("lacks, reason", [
    ("no-create", "Read-only file system"),
    ("no-write", "No space left on device"),
    ("no-unnamed,no-write", "No space left on device"),
    ("no-unnamed,no-rename", "Input/output error"),
    ("no-link,no-rename", "Input/output error"),
])
def test_cache_that_cannot_be_written_is_noted(tmp_path, source, preload, lacks, reason):
    (tmp_path / "cache").mkdir()
    process = start_lacking(preload, lacks, cached_run(source, tmp_path), tmp_path)
    _, errors = process.communicate()
    assert process.returncode == 0
    assert "remark: the program is not kept in the cache" in errors and errors.rstrip().endswith(reason)
    assert list((tmp_path / "cache").glob("llvmcache-*")) == []
    with np.load(tmp_path / "r.npz") as results:
        assert np.isfinite(results["result0"])
