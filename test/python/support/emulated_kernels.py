# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for the emulated driver, which executes no machine code: it finds a kernel's MLIR by the kernel's image."""

import os
import subprocess

from support.runner import BUILD


def install(sources, folder, arch="sm_90a"):
    """Makes known what compiling these sources, (name, text), for GPUs gives. False where it cannot be compiled."""
    os.makedirs(folder)
    for name, text in sources:
        with open(f"{folder}/{name}", "wb") as file:
            file.write(text)
    # An image has the names of its sources: here they are as the compiler is told.
    done = subprocess.run([BUILD / "bin/drawloom-translate", "--mlir-to-bundle", "--bundle-modules", f"--arch={arch}", "--bundle-dir=b",
                           *[name for name, _ in sources]], cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        known = os.environ.get("DRAWLOOM_EMULATED_MODULES", "")
        os.environ["DRAWLOOM_EMULATED_MODULES"] = f"{folder}/b/{arch}" + (f":{known}" if known else "")
    return done.returncode == 0
