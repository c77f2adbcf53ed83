# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs compiled for NVIDIA GPUs and run by the CUDA runtime, on the emulated driver."""

import os
import subprocess

import numpy as np
import pytest

from support.emulated_driver import LIBRARY, needs_driver
from support.runner import BUILD, ROOT, tool


def launch(source, *options, **environment):
    return subprocess.run([BUILD / "bin/drawloom-run", source, "--random", "--target=cuda", *options], capture_output=True,
                          text=True, env={**os.environ, **environment})


@pytest.fixture(scope="module", params=["mlp-backward", "gla-chunk-loop", "rgcn-layer"])
def bundle(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    source = ROOT / f"test/block-programs/{request.param}.mlir"
    tool("drawloom-translate", source, "--mlir-to-bundle", "--bundle-modules", "--arch=sm_80,sm_90a", f"--bundle-dir={folder}/b")
    return source, f"{folder}/b/sm_80:{folder}/b/sm_90a"


@needs_driver
@pytest.mark.parametrize("isa", ["native", "sm_80"])
def test_block_program_runs_as_on_the_emulator(bundle, isa, tmp_path):
    """The same kernels, so the same bits: here from cubins, through the CUDA runtime."""
    source, modules = bundle
    done = launch(source, f"--isa={isa}", f"--output={tmp_path}/cuda.npz", DRAWLOOM_LIBCUDA=str(LIBRARY),
                  DRAWLOOM_EMULATED_MODULES=modules)
    assert done.returncode == 0, done.stderr
    tool("drawloom-run", source, "--random", "--target=emulator", f"--output={tmp_path}/emulator.npz")
    # Not the files as they are: archives hold times.
    with np.load(tmp_path / "cuda.npz") as cuda, np.load(tmp_path / "emulator.npz") as emulator:
        assert cuda.files == emulator.files
        assert all(cuda[name].tobytes() == emulator[name].tobytes() for name in cuda.files)


@needs_driver
def test_kernel_that_the_driver_does_not_know_is_an_error(bundle):
    source, _ = bundle
    done = launch(source, DRAWLOOM_LIBCUDA=str(LIBRARY), DRAWLOOM_EMULATED_MODULES="/nowhere")
    assert done.returncode == 1 and "NO_BINARY_FOR_GPU" in done.stderr, done.stderr


def test_missing_driver_is_an_error():
    done = launch(ROOT / "test/block-programs/lora.mlir", DRAWLOOM_LIBCUDA="/there/is/no/libcuda.so.1")
    assert done.returncode == 1 and "there is no CUDA driver" in done.stderr, done.stderr


@needs_driver
@pytest.mark.parametrize("fault, text", [("no-device", "no cuda-capable device"), ("old-driver", "or newer is needed"),
                                         ("out-of-memory", "memory"), ("late-failure", "the last kernel")])
def test_fault_of_the_driver_is_an_error(bundle, fault, text):
    source, modules = bundle
    done = launch(source, "--isa=sm_80", DRAWLOOM_LIBCUDA=str(LIBRARY), DRAWLOOM_EMULATED_MODULES=modules,
                  DRAWLOOM_EMULATED_FAULT=fault)
    assert done.returncode == 1 and text in done.stderr.lower(), done.stderr
