# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs Drawloom's tools from tests: NumPy arrays in, NumPy arrays out."""

import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("DRAWLOOM_BUILD_DIR", ROOT / "build"))

SANITIZED = "DRAWLOOM_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()


def preload_library(folder):
    """Builds preload_file_system.c, for LD_PRELOAD."""
    library = folder / "file_system.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, ROOT / "test/python/support/preload_file_system.c"], check=True)
    return str(library)


class ToolError(Exception):
    """A tool failed; the message is what it said."""


def tool(name, *arguments, text=None):
    """Runs a tool of the build folder and returns its standard output."""
    done = subprocess.run([BUILD / "bin" / name, *map(str, arguments)], input=text, capture_output=True, text=True)
    if done.returncode:
        raise ToolError(f"{name} failed ({done.returncode}):\n{done.stderr}")
    return done.stdout


def optimize(module, *passes):
    """The module (text) after the passes of drawloom-opt."""
    return tool("drawloom-opt", "-", *passes, text=module)


def run(module, entry, arrays, target="cpu", threads=1, float64=None, options=()):
    """The results of a function, as a list of arrays.

    `module` is a path or the text of a module. The interpreter's results come
    unrounded, as float64, unless `float64` says otherwise.
    """
    float64 = target == "interpreter" if float64 is None else float64
    with tempfile.TemporaryDirectory(prefix="drawloom-test-") as folder:
        folder = pathlib.Path(folder)
        path = module
        if isinstance(module, str):
            path = folder / "module.mlir"
            path.write_text(module)
        inputs = []
        for i, array in enumerate(arrays):
            inputs.append(folder / f"argument{i}.npy")
            # ascontiguousarray would make a scalar an array of rank 1.
            np.save(inputs[-1], np.asarray(array, order="C"))
        command = [path, f"--entry={entry}", f"--target={target}", f"--threads={threads}",
                   f"--output={folder / 'results.npz'}", *(f"--input={p}" for p in inputs), *options]
        tool("drawloom-run", *command, *(["--float64"] if float64 else []))
        with np.load(folder / "results.npz") as results:
            return [results[name] for name in results.files]


def relative_error(result, expected):
    """Largest error as a share of the largest expected magnitude; NaN counts as infinite."""
    assert result.shape == expected.shape, f"shape {result.shape} instead of {expected.shape}"
    if expected.size == 0:
        return 0.0
    error = np.max(np.abs(result.astype(np.float64) - expected))
    return float(error / max(np.max(np.abs(expected)), 1e-300)) if np.isfinite(error) else float("inf")


def assert_close(results, expected, tolerance):
    assert len(results) == len(expected)
    for i, (result, reference) in enumerate(zip(results, expected)):
        error = relative_error(result, reference)
        assert error <= tolerance, f"result {i}: error {error:.3g} above {tolerance:.3g}"
